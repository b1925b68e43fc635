//! Softmaxes of rows, and sigmoids: exponentials as vector instructions.

use burn_flex::FlexTensor;

use super::columns::{Lanes, total};
use super::exp::{EXP_IS_ZERO, exp};
use super::rows::sigmoid as sigmoids;
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product.
const COST: usize = 128;

/// See [`crate::Backend::softmax_rows`].
pub fn softmax(mut x: FlexTensor, temperature: &FlexTensor) -> FlexTensor {
    let (rows, width) = (size(&x, 0), size(&x, 1).max(1));
    let inverse = 1.0 / elements(temperature)[0];
    let threads = threads(rows * width * COST);
    let blocks = x
        .storage_mut::<f32>()
        .chunks_mut(block(rows, threads) * width);
    each(threads, blocks, |_, x| {
        dispatch!(normalise(width, inverse, x))
    });
    x
}

/// Softmaxes of rows times this scale.
#[inline(always)]
fn normalise<const FMA: bool>((width, scale, x): (usize, f32, &mut [f32])) {
    for row in x.chunks_exact_mut(width) {
        let greatest = greatest(row);
        let mut sums: Lanes = [0.0; LANES];
        let (chunks, rest) = row.as_chunks_mut::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                chunk[lane] = weight::<FMA>((chunk[lane] - greatest) * scale);
                sums[lane] += chunk[lane];
            }
        }
        if !rest.is_empty() {
            let mut last = padded(rest);
            for lane in 0..LANES {
                last[lane] = weight::<FMA>((last[lane] - greatest) * scale);
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
pub fn softmax_backward(
    x: Option<&FlexTensor>,
    temperature: &FlexTensor,
    output: &FlexTensor,
    mut grad: FlexTensor,
) -> (FlexTensor, Option<FlexTensor>) {
    let (rows, width) = (size(output, 0), size(output, 1).max(1));
    let scale = 1.0 / elements(temperature)[0];
    let threads = threads(rows * width * COST);
    let block = block(rows, threads) * width;
    let blocks = elements(output).chunks(block);
    let blocks = blocks.zip(grad.storage_mut::<f32>().chunks_mut(block));
    each(threads, blocks, |_, (y, g)| centre(width, scale, y, g));
    let of_temperature = x.map(|x| {
        let slope = slope(elements(x), elements(&grad), GROUP * width, threads);
        let mut of_temperature = zeros([1, 1]);
        of_temperature.storage_mut::<f32>()[0] = (-f64::from(scale) * slope) as f32;
        of_temperature
    });
    (grad, of_temperature)
}

/// g becomes g_x = y ∘ (g − Σ y g) · scale.
fn centre(width: usize, scale: f32, y: &[f32], g: &mut [f32]) {
    for (y, g) in y.chunks_exact(width).zip(g.chunks_exact_mut(width)) {
        let mean: f32 = y.iter().zip(&*g).map(|(y, g)| y * g).sum();
        let pairs = g.iter_mut().zip(y);
        pairs.for_each(|(g, y)| *g = y * (*g - mean) * scale);
    }
}

/// Rows whose products are one term of a sum, for any number of threads.
const GROUP: usize = 64;

/// Σ a b, in f64 over terms of so many elements, which are of f32.
fn slope(a: &[f32], b: &[f32], length: usize, threads: usize) -> f64 {
    let mut terms = vec![0.0f32; a.len().div_ceil(length)];
    let block = terms.len().div_ceil(threads).max(1);
    let blocks = a.chunks(block * length).zip(b.chunks(block * length));
    let blocks = blocks.zip(terms.chunks_mut(block));
    each(threads, blocks, |_, ((a, b), terms)| {
        let pairs = a.chunks(length).zip(b.chunks(length));
        for (term, (a, b)) in terms.iter_mut().zip(pairs) {
            dispatch!(add_products(a, b, term));
        }
    });
    terms.into_iter().map(f64::from).sum()
}

#[inline(always)]
fn add_products<const FMA: bool>((a, b, term): (&[f32], &[f32], &mut f32)) {
    *term = dot::<FMA>(a, b);
}

/// Σ a b, in lanes.
#[inline(always)]
fn dot<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut sums: Lanes = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = multiply_add::<FMA>(a[lane], b[lane], sums[lane]);
        }
    }
    for (sum, (&a, &b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *sum = multiply_add::<FMA>(a, b, *sum);
    }
    total(&sums)
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
