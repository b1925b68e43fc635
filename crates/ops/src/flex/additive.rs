//! Additive scores and their gradient: the hidden units of a key with all queries are made, used and forgotten.

use burn::tensor::TensorData;
use burn_flex::{Flex, FlexTensor};

use super::activation::{Function, with_function};
use super::columns::{Lanes, spread, total};
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::{Activation, AdditiveGradients};

/// What the scores are made of.
struct Parts<'a> {
    /// `[R, H, N]`, N padded to a multiple of [`LANES`]: queries side by side, a unit after the other.
    queries: Vec<f32>,
    /// `[G, M, H]`
    keys: &'a [f32],
    /// `[H]`
    weights: &'a [f32],
    /// R, N, G, M.
    shape: [usize; 4],
}

impl<'a> Parts<'a> {
    fn new(queries: &FlexTensor, keys: &'a FlexTensor, weights: &'a FlexTensor) -> Self {
        let (n, units) = (size(queries, 1), size(weights, 0));
        let padded = n.next_multiple_of(LANES);
        let mut columns = vec![0.0; size(queries, 0) * units * padded];
        let groups = elements(queries).chunks_exact(n * units);
        for (columns, group) in columns.chunks_exact_mut(units * padded).zip(groups) {
            spread(group, units, columns);
        }
        Self {
            queries: columns,
            keys: elements(keys),
            weights: elements(weights),
            shape: [size(queries, 0), n, size(keys, 0), size(keys, 1)],
        }
    }

    /// N, padded.
    fn padded(&self) -> usize {
        self.shape[1].next_multiple_of(LANES)
    }

    /// Where the queries of this group of keys are.
    fn queries_of(&self, group: usize) -> std::ops::Range<usize> {
        let length = self.weights.len() * self.padded();
        let first = group % self.shape[0] * length;
        first..first + length
    }
}

/// See [`crate::Backend::additive_scores`].
pub fn scores(
    queries: &FlexTensor,
    keys: &FlexTensor,
    weights: &FlexTensor,
    activation: Activation,
) -> FlexTensor {
    let [n, g, m] = [size(queries, 1), size(keys, 0), size(keys, 1)];
    let mut output = zeros([g, n, m]);
    if n * m * size(weights, 0) == 0 {
        return output;
    }
    let parts = Parts::new(queries, keys, weights);
    dispatch!(score(activation, &parts, output.storage_mut()));
    output
}

#[inline(always)]
fn score<const FMA: bool>((f, parts, scores): (Activation, &Parts<'_>, &mut [f32])) {
    with_function!(f, score_by::<FMA>((parts, scores)));
}

#[inline(always)]
fn score_by<const FMA: bool, F: Function>(f: F, (parts, scores): (&Parts<'_>, &mut [f32])) {
    let ([_, n, _, m], units, padded) = (parts.shape, parts.weights.len(), parts.padded());
    let mut sums = vec![0.0f32; padded];
    let groups = scores
        .chunks_exact_mut(n * m)
        .zip(parts.keys.chunks_exact(m * units));
    for (group, (scores, keys)) in groups.enumerate() {
        let queries = &parts.queries[parts.queries_of(group)];
        for (at, key) in keys.chunks_exact(units).enumerate() {
            sums.fill(0.0);
            let units = queries.chunks_exact(padded).zip(key).zip(parts.weights);
            for ((query, &k), &w) in units {
                for (sum, &q) in sums.iter_mut().zip(query) {
                    *sum = multiply_add::<FMA>(w, f.value::<FMA>(q + k), *sum);
                }
            }
            let column = scores[at..].iter_mut().step_by(m);
            column.zip(&sums).for_each(|(score, &sum)| *score = sum);
        }
    }
}

/// See [`crate::Backend::additive_scores_backward`].
pub fn backward(
    queries: &FlexTensor,
    keys: &FlexTensor,
    weights: &FlexTensor,
    activation: Activation,
    grad: &FlexTensor,
) -> AdditiveGradients<Flex> {
    let [r, n, g, m] =
        [(queries, 0), (queries, 1), (keys, 0), (keys, 1)].map(|(t, at)| size(t, at));
    let units = size(weights, 0);
    if n * m * units == 0 {
        return AdditiveGradients {
            queries: zeros([r, n, units]),
            keys: zeros([g, m, units]),
            weights: zeros([units]),
        };
    }
    let parts = Parts::new(queries, keys, weights);
    let mut sums = Sums {
        queries: vec![0.0; parts.queries.len()],
        keys: vec![0.0; parts.keys.len()],
        weights: vec![[0.0; LANES]; units],
    };
    dispatch!(differentiate(activation, &parts, elements(grad), &mut sums));
    let padded = parts.padded();
    let mut of_queries = vec![0.0; r * n * units];
    let groups = sums.queries.chunks_exact(units * padded);
    for (columns, rows) in groups.zip(of_queries.chunks_exact_mut(n * units)) {
        for (unit, column) in columns.chunks_exact(padded).enumerate() {
            let rows = rows.chunks_exact_mut(units).zip(column);
            rows.for_each(|(row, &g)| row[unit] = g);
        }
    }
    let tensor = |values: Vec<f32>, shape: &[usize]| {
        FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
    };
    AdditiveGradients {
        queries: tensor(of_queries, &[r, n, units]),
        keys: tensor(sums.keys, &[g, m, units]),
        weights: tensor(sums.weights.iter().map(total).collect(), &[units]),
    }
}

/// Gradients, laid out as [`Parts`] are.
struct Sums {
    queries: Vec<f32>,
    keys: Vec<f32>,
    weights: Vec<Lanes>,
}

#[inline(always)]
fn differentiate<const FMA: bool>(
    (f, parts, grad, sums): (Activation, &Parts<'_>, &[f32], &mut Sums),
) {
    with_function!(f, differentiate_by::<FMA>((parts, grad, sums)));
}

/// With t = f(q + k): g w f' for both arguments, g t for the weight. A coefficient g of zero is exactly nothing.
#[inline(always)]
fn differentiate_by<const FMA: bool, F: Function>(
    f: F,
    (parts, grad, sums): (&Parts<'_>, &[f32], &mut Sums),
) {
    let ([_, n, _, m], units, padded) = (parts.shape, parts.weights.len(), parts.padded());
    let mut column = vec![0.0f32; padded];
    let keys = parts.keys.chunks_exact(m * units);
    let groups = keys.zip(sums.keys.chunks_exact_mut(m * units));
    for (group, ((keys, key_sums), grad)) in groups.zip(grad.chunks_exact(n * m)).enumerate() {
        let own = parts.queries_of(group);
        let (queries, query_sums) = (&parts.queries[own.clone()], &mut sums.queries[own]);
        let pairs = keys
            .chunks_exact(units)
            .zip(key_sums.chunks_exact_mut(units));
        for (at, (key, key_sums)) in pairs.enumerate() {
            let of_key = grad[at..].iter().step_by(m);
            column.iter_mut().zip(of_key).for_each(|(to, &g)| *to = g);
            if column.iter().all(|&g| g == 0.0) {
                continue;
            }
            let queries = queries.chunks_exact(padded);
            let queries = queries.zip(query_sums.chunks_exact_mut(padded));
            let numbers = key.iter().zip(key_sums).zip(parts.weights);
            let numbers = numbers.zip(&mut sums.weights);
            for ((query, query_sums), (((&k, key_sum), &w), weight_sum)) in queries.zip(numbers) {
                let (query, _) = query.as_chunks::<LANES>();
                let (query_sums, _) = query_sums.as_chunks_mut::<LANES>();
                let (grad, _) = column.as_chunks::<LANES>();
                let (mut of_key, mut of_weight) = ([0.0f32; LANES], *weight_sum);
                for ((q, query_sums), g) in query.iter().zip(query_sums).zip(grad) {
                    // Copies, which no store of this loop can change.
                    let (q, g, mut sums) = (*q, *g, *query_sums);
                    for lane in 0..LANES {
                        let t = f.value::<FMA>(q[lane] + k);
                        let live = g[lane] != 0.0;
                        let d = g[lane] * w * f.slope::<FMA>(t);
                        let d = if live { d } else { 0.0 };
                        let t = if live { g[lane] * t } else { 0.0 };
                        sums[lane] += d;
                        of_key[lane] += d;
                        of_weight[lane] += t;
                    }
                    *query_sums = sums;
                }
                *key_sum += total(&of_key);
                *weight_sum = of_weight;
            }
        }
    }
}
