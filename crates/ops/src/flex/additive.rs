//! Additive scores and their gradient: the hidden units of a pair are made, used and forgotten in registers.

use std::borrow::Cow;

use burn_flex::FlexTensor;

use super::activation::{Function, with_function};
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::{Activation, AdditiveGradients};

/// What the scores are made of: rows of H units each, H a multiple of [`LANES`].
struct Parts<'a> {
    /// `[R, N, H]`
    queries: Cow<'a, [f32]>,
    /// `[G, M, H]`
    keys: Cow<'a, [f32]>,
    /// `[H]`
    weights: Cow<'a, [f32]>,
    /// H before it was padded.
    units: usize,
    /// R, N, G, M.
    shape: [usize; 4],
}

impl<'a> Parts<'a> {
    fn new(queries: &'a FlexTensor, keys: &'a FlexTensor, weights: &'a FlexTensor) -> Self {
        let units = size(weights, 0);
        let padded = |tensor: &'a FlexTensor| pad(elements(tensor), units);
        Self {
            queries: padded(queries),
            keys: padded(keys),
            weights: padded(weights),
            units,
            shape: [
                size(queries, 0),
                size(queries, 1),
                size(keys, 0),
                size(keys, 1),
            ],
        }
    }

    fn width(&self) -> usize {
        self.weights.len()
    }
}

/// Rows of `units` with zeros after them, up to a multiple of [`LANES`]: f(0) · 0 adds nothing.
fn pad(rows: &[f32], units: usize) -> Cow<'_, [f32]> {
    let width = units.next_multiple_of(LANES);
    if width == units {
        return Cow::Borrowed(rows);
    }
    let mut padded = vec![0.0; rows.len() / units * width];
    let pairs = padded.chunks_exact_mut(width).zip(rows.chunks_exact(units));
    pairs.for_each(|(padded, row)| padded[..units].copy_from_slice(row));
    Cow::Owned(padded)
}

/// The inverse of [`pad`], into a tensor.
fn unpad<const D: usize>(rows: Vec<f32>, width: usize, shape: [usize; D]) -> FlexTensor {
    let mut output = zeros(shape);
    let pairs = output.storage_mut::<f32>().chunks_exact_mut(shape[D - 1]);
    let pairs = pairs.zip(rows.chunks_exact(width));
    pairs.for_each(|(row, padded)| row.copy_from_slice(&padded[..row.len()]));
    output
}

/// See [`crate::Backend::additive_scores`].
pub fn scores(
    queries: &FlexTensor,
    keys: &FlexTensor,
    weights: &FlexTensor,
    activation: Activation,
) -> FlexTensor {
    let parts = Parts::new(queries, keys, weights);
    let [_, n, g, m] = parts.shape;
    let mut output = zeros([g, n, m]);
    dispatch!(score(activation, &parts, output.storage_mut()));
    output
}

#[inline(always)]
fn score<const FMA: bool>((f, parts, scores): (Activation, &Parts<'_>, &mut [f32])) {
    with_function!(f, score_by::<FMA>((parts, scores)));
}

#[inline(always)]
fn score_by<const FMA: bool, F: Function>(f: F, (parts, scores): (&Parts<'_>, &mut [f32])) {
    let ([r, n, _, m], width) = (parts.shape, parts.width());
    let (weights, _) = parts.weights.as_chunks::<LANES>();
    let groups = scores
        .chunks_exact_mut(n * m)
        .zip(parts.keys.chunks_exact(m * width));
    for (group, (scores, keys)) in groups.enumerate() {
        let queries = parts.queries[group % r * n * width..][..n * width].chunks_exact(width);
        for (scores, query) in scores.chunks_exact_mut(m).zip(queries) {
            let (query, _) = query.as_chunks::<LANES>();
            for (score, key) in scores.iter_mut().zip(keys.chunks_exact(width)) {
                let (key, _) = key.as_chunks::<LANES>();
                let mut sum = [0.0f32; LANES];
                for ((q, k), w) in query.iter().zip(key).zip(weights) {
                    for lane in 0..LANES {
                        let t = f.value::<FMA>(q[lane] + k[lane]);
                        sum[lane] = multiply_add::<FMA>(w[lane], t, sum[lane]);
                    }
                }
                *score = total(&sum);
            }
        }
    }
}

/// The sum of all lanes, in halves.
#[inline(always)]
pub fn total(lanes: &[f32; LANES]) -> f32 {
    let mut lanes = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// See [`crate::Backend::additive_scores_backward`].
pub fn backward(
    queries: &FlexTensor,
    keys: &FlexTensor,
    weights: &FlexTensor,
    activation: Activation,
    grad: &FlexTensor,
) -> AdditiveGradients<burn_flex::Flex> {
    let parts = Parts::new(queries, keys, weights);
    let ([r, n, g, m], width) = (parts.shape, parts.width());
    let mut sums = Sums {
        queries: vec![0.0; parts.queries.len()],
        keys: vec![0.0; parts.keys.len()],
        weights: vec![0.0; width],
    };
    dispatch!(differentiate(activation, &parts, elements(grad), &mut sums));
    AdditiveGradients {
        queries: unpad(sums.queries, width, [r, n, parts.units]),
        keys: unpad(sums.keys, width, [g, m, parts.units]),
        weights: unpad(sums.weights, width, [parts.units]),
    }
}

/// Gradients, laid out as [`Parts`] are.
struct Sums {
    queries: Vec<f32>,
    keys: Vec<f32>,
    weights: Vec<f32>,
}

#[inline(always)]
fn differentiate<const FMA: bool>(
    (f, parts, grad, sums): (Activation, &Parts<'_>, &[f32], &mut Sums),
) {
    with_function!(f, differentiate_by::<FMA>((parts, grad, sums)));
}

/// With t = f(q + k): g w f' for both arguments, g t for the weight.
#[inline(always)]
fn differentiate_by<const FMA: bool, F: Function>(
    f: F,
    (parts, grad, sums): (&Parts<'_>, &[f32], &mut Sums),
) {
    let ([r, n, _, m], width) = (parts.shape, parts.width());
    let (weights, _) = parts.weights.as_chunks::<LANES>();
    let (weight_totals, _) = sums.weights.as_chunks_mut::<LANES>();
    let keys = parts.keys.chunks_exact(m * width);
    let groups = keys.zip(sums.keys.chunks_exact_mut(m * width));
    for (group, ((keys, key_sums), grad)) in groups.zip(grad.chunks_exact(n * m)).enumerate() {
        let mut weight_sums = vec![[0.0f32; LANES]; weights.len()];
        let own = group % r * n * width..(group % r + 1) * n * width;
        let queries = parts.queries[own.clone()].chunks_exact(width);
        let queries = queries.zip(sums.queries[own].chunks_exact_mut(width));
        for ((query, query_sums), grad) in queries.zip(grad.chunks_exact(m)) {
            let (query, _) = query.as_chunks::<LANES>();
            let (query_sums, _) = query_sums.as_chunks_mut::<LANES>();
            let keys = keys.chunks_exact(width);
            let keys = keys.zip(key_sums.chunks_exact_mut(width));
            for ((key, key_sums), &g) in keys.zip(grad) {
                // A coefficient of zero is exactly nothing.
                if g == 0.0 {
                    continue;
                }
                let (key, _) = key.as_chunks::<LANES>();
                let (key_sums, _) = key_sums.as_chunks_mut::<LANES>();
                for chunk in 0..weights.len() {
                    let (q, k, w) = (&query[chunk], &key[chunk], &weights[chunk]);
                    let query_sums = &mut query_sums[chunk];
                    let (key_sums, weight_sums) = (&mut key_sums[chunk], &mut weight_sums[chunk]);
                    for lane in 0..LANES {
                        let t = f.value::<FMA>(q[lane] + k[lane]);
                        let d = g * w[lane] * f.slope::<FMA>(t);
                        query_sums[lane] += d;
                        key_sums[lane] += d;
                        weight_sums[lane] = multiply_add::<FMA>(g, t, weight_sums[lane]);
                    }
                }
            }
        }
        for (total, sum) in weight_totals.iter_mut().zip(&weight_sums) {
            (0..LANES).for_each(|lane| total[lane] += sum[lane]);
        }
    }
}
