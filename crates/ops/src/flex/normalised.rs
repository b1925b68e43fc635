//! Softmaxes of long rows, and sigmoids: exponentials as vector instructions.

use burn_flex::FlexTensor;

use super::columns::{Lanes, total};
use super::exp::{EXP_IS_ZERO, exp};
use super::rows::sigmoid as sigmoids;
use super::{LANES, dispatch, elements, size};
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product.
const COST: usize = 128;

/// See [`crate::Backend::softmax_rows`].
pub fn softmax(mut x: FlexTensor) -> FlexTensor {
    let (rows, width) = (size(&x, 0), size(&x, 1).max(1));
    let threads = threads(rows * width * COST);
    let blocks = x
        .storage_mut::<f32>()
        .chunks_mut(block(rows, threads) * width);
    each(threads, blocks, |_, x| dispatch!(normalise(width, x)));
    x
}

#[inline(always)]
fn normalise<const FMA: bool>((width, x): (usize, &mut [f32])) {
    for row in x.chunks_exact_mut(width) {
        let greatest = greatest(row);
        let mut sums: Lanes = [0.0; LANES];
        let (chunks, rest) = row.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                chunk[lane] = weight::<FMA>(chunk[lane] - greatest);
                sums[lane] += chunk[lane];
            }
        }
        if !rest.is_empty() {
            let mut last = padded(rest);
            for lane in 0..LANES {
                last[lane] = weight::<FMA>(last[lane] - greatest);
                sums[lane] += last[lane];
            }
            rest.copy_from_slice(&last[..rest.len()]);
        }
        let inverse = 1.0 / total(&sums);
        row.iter_mut().for_each(|x| *x *= inverse);
    }
}

#[inline(always)]
fn weight<const FMA: bool>(x: f32) -> f32 {
    let e = exp::<FMA>(x);
    if x < EXP_IS_ZERO { 0.0 } else { e }
}

#[inline(always)]
fn greatest(row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut most = padded(rest);
    for chunk in chunks {
        for lane in 0..LANES {
            most[lane] = greater(most[lane], chunk[lane]);
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            most[lane] = greater(most[lane], most[lane + half]);
        }
        half /= 2;
    }
    most[0]
}

/// Not `max`, whose rule for what is no number is none of vector instructions.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// Fewer numbers than a register has, in a whole one: a loop over the few would be one number after the other.
#[inline(always)]
fn padded(few: &[f32]) -> Lanes {
    let mut all = [f32::NEG_INFINITY; LANES];
    all[..few.len()].copy_from_slice(few);
    all
}

/// See [`crate::Backend::softmax_rows_backward`].
pub fn softmax_backward(output: &FlexTensor, mut grad: FlexTensor) -> FlexTensor {
    let width = size(output, 1).max(1);
    let threads = threads(size(output, 0) * width * COST);
    let block = block(size(output, 0), threads) * width;
    let blocks = elements(output).chunks(block);
    let blocks = blocks.zip(grad.storage_mut::<f32>().chunks_mut(block));
    each(threads, blocks, |_, (output, grad)| {
        let rows = output.chunks_exact(width);
        for (y, g) in rows.zip(grad.chunks_exact_mut(width)) {
            let mean: f32 = y.iter().zip(&*g).map(|(y, g)| y * g).sum();
            g.iter_mut().zip(y).for_each(|(g, y)| *g = y * (*g - mean));
        }
    });
    grad
}

/// See [`crate::Backend::fused_sigmoid`].
pub fn sigmoid(mut x: FlexTensor) -> FlexTensor {
    dispatch!(sigmoids(x.storage_mut()));
    x
}

/// See [`crate::Backend::fused_sigmoid_backward`].
pub fn sigmoid_backward(output: &FlexTensor, mut grad: FlexTensor) -> FlexTensor {
    let pairs = grad.storage_mut::<f32>().iter_mut().zip(elements(output));
    pairs.for_each(|(g, y)| *g *= y * (1.0 - y));
    grad
}
