//! The gradients of a linear layer, from the rows that have one.

use std::mem::MaybeUninit;

use burn_flex::{Flex, FlexTensor};

use super::live::live_rows;
use super::product::product;
use super::{elements, size, written, zeros};
use crate::LinearGradients;
use crate::threads::{block, each, threads};

/// How long an element takes to be copied, in multiplications of a product.
const COST: usize = 32;

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
    let source = elements(tensor);
    written([count, width], |room| {
        by_rows(room, width, |first, room| {
            let from = rows.partition_point(|&n| n < first);
            let given = rows[from..]
                .iter()
                .zip(source[from * width..].chunks_exact(width));
            let mut given = given.peekable();
            for (n, out) in (first..).zip(room.chunks_exact_mut(width)) {
                match given.next_if(|&(&row, _)| row == n) {
                    Some((_, row)) => _ = out.write_copy_of_slice(row),
                    None => out.fill(MaybeUninit::new(0.0)),
                }
            }
        });
    })
}

fn gather(tensor: &FlexTensor, rows: &[usize]) -> FlexTensor {
    let width = size(tensor, 1);
    let source = elements(tensor);
    written([rows.len(), width], |room| {
        by_rows(room, width, |first, room| {
            for (out, &n) in room.chunks_exact_mut(width).zip(&rows[first..]) {
                out.write_copy_of_slice(&source[n * width..][..width]);
            }
        });
    })
}

/// Does `of` for blocks of rows, each with the number of its first, which share the threads.
fn by_rows(
    room: &mut [MaybeUninit<f32>],
    width: usize,
    of: impl Fn(usize, &mut [MaybeUninit<f32>]) + Sync,
) {
    let threads = threads(room.len() * COST);
    let block = block(room.len() / width.max(1), threads);
    let blocks = room.chunks_mut((block * width).max(1));
    each(threads, blocks, |number, room| of(number * block, room));
}
