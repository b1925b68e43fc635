//! The bias of a linear layer in place, and the gradients of its parameters from the rows that have a gradient.

use burn::tensor::ops::FloatTensorOps;
use burn_flex::{Flex, FlexTensor};

use super::{dispatch, elements, size, zeros};

/// Adds the bias to each row.
pub fn add_bias(mut rows: FlexTensor, bias: &FlexTensor) -> FlexTensor {
    dispatch!(add_to_rows(elements(bias), rows.storage_mut()));
    rows
}

#[inline(always)]
fn add_to_rows<const FMA: bool>(bias: &[f32], rows: &mut [f32]) {
    for row in rows.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(r, &b)| *r += b);
    }
}

/// xᵀ g and Σ_n g. Rows of g that are zero throughout are left out of the product.
pub fn parameters_backward(mut x: FlexTensor, mut grad: FlexTensor) -> (FlexTensor, FlexTensor) {
    let (count, width) = (size(&grad, 0), size(&grad, 1));
    let live: Vec<usize> = elements(&grad)
        .chunks_exact(width)
        .enumerate()
        .filter(|(_, row)| row.iter().any(|&g| g != 0.0))
        .map(|(n, _)| n)
        .collect();
    if live.len() < count {
        x = gather(&x, &live);
        grad = gather(&grad, &live);
    }
    let mut bias = zeros([width]);
    dispatch!(sum_rows(elements(&grad), bias.storage_mut()));
    if live.is_empty() {
        return (zeros([size(&x, 1), width]), bias);
    }
    (Flex::float_matmul(x.transpose(0, 1), grad), bias)
}

fn gather(tensor: &FlexTensor, rows: &[usize]) -> FlexTensor {
    let width = size(tensor, 1);
    let source = elements(tensor);
    let mut output = zeros([rows.len(), width]);
    for (out, &n) in output
        .storage_mut::<f32>()
        .chunks_exact_mut(width)
        .zip(rows)
    {
        out.copy_from_slice(&source[n * width..][..width]);
    }
    output
}

#[inline(always)]
fn sum_rows<const FMA: bool>(rows: &[f32], sum: &mut [f32]) {
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(s, &r)| *s += r);
    }
}
