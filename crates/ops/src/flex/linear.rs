//! The gradients of a linear layer, from the rows that have one.

use burn_flex::{Flex, FlexTensor};

use super::live::live_rows;
use super::product::product;
use super::{elements, size, zeros};
use crate::LinearGradients;

/// See [`crate::Backend::fused_linear_backward`]. Rows of g that are zero throughout take no part in the products.
pub fn backward(
    x: Option<FlexTensor>,
    weight: Option<FlexTensor>,
    grad: FlexTensor,
) -> LinearGradients<Flex> {
    let (count, width) = (size(&grad, 0), size(&grad, 1));
    let mut bias = zeros([width]);
    let live = live_rows(elements(&grad), bias.storage_mut());
    let sparse = live.len() < count;
    let grad = if sparse { gather(&grad, &live) } else { grad };
    let input = weight.map(|weight| {
        let inputs = size(&weight, 0);
        match live.is_empty() {
            true => zeros([count, inputs]),
            false => {
                let product = product(&grad, &weight.transpose(0, 1), None);
                if sparse {
                    scatter(&product, &live, count)
                } else {
                    product
                }
            }
        }
    });
    let parameters = x.map(|x| {
        let weight = match live.is_empty() {
            true => zeros([size(&x, 1), width]),
            false if sparse => product(&gather(&x, &live).transpose(0, 1), &grad, None),
            false => product(&x.transpose(0, 1), &grad, None),
        };
        (weight, bias)
    });
    LinearGradients { input, parameters }
}

/// xᵀ g over the `live` rows, those of g that are not zero throughout.
pub fn weight_gradient(x: &FlexTensor, grad: &FlexTensor, live: &[usize]) -> FlexTensor {
    if live.is_empty() {
        return zeros([size(x, 1), size(grad, 1)]);
    }
    if live.len() == size(grad, 0) {
        return product(&x.transpose(0, 1), grad, None);
    }
    product(&gather(x, live).transpose(0, 1), &gather(grad, live), None)
}

/// `rows` of a tensor of zeros `[count, ..]` set to the rows given.
fn scatter(tensor: &FlexTensor, rows: &[usize], count: usize) -> FlexTensor {
    let width = size(tensor, 1);
    let mut output = zeros([count, width]);
    let target = output.storage_mut::<f32>();
    for (row, &n) in elements(tensor).chunks_exact(width).zip(rows) {
        target[n * width..][..width].copy_from_slice(row);
    }
    output
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
