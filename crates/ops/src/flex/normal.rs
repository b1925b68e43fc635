//! Log-densities of data under normals.

use std::f64::consts::PI;

use burn_flex::{Flex, FlexTensor};

use super::columns::{Lanes, spread, total};
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::OwnNormalGradients;

/// See [`crate::Backend::normal_log_probs`].
pub fn log_probs(values: &FlexTensor, means: &FlexTensor, precisions: &FlexTensor) -> FlexTensor {
    let [n, g, m] = [size(values, 1), size(means, 0), size(means, 1)];
    let shape = [n, m, size(values, 2)];
    let mut output = zeros([g, n, m]);
    let parts = [values, means, precisions].map(elements);
    dispatch!(score(shape, parts, output.storage_mut()));
    output
}

#[inline(always)]
fn score<const FMA: bool>(
    ([n, m, d], [values, means, precisions], log_probs): ([usize; 3], [&[f32]; 3], &mut [f32]),
) {
    let constant = d as f32 * (2.0 * PI).ln() as f32;
    let of_normals = means
        .chunks_exact(m * d)
        .zip(precisions.chunks_exact(m * d));
    let groups = log_probs.chunks_exact_mut(n * m).zip(of_normals);
    let mut norms = vec![0.0; m];
    for (group, (log_probs, (means, precisions))) in groups.enumerate() {
        for (norm, precisions) in norms.iter_mut().zip(precisions.chunks_exact(d)) {
            *norm = precisions.iter().map(|tau| tau.ln()).sum::<f32>() - constant;
        }
        let first = group * n * d % values.len();
        for datum in 0..n {
            let value = &values[first + datum * d..][..d];
            for cluster in 0..m {
                let own = cluster * d..(cluster + 1) * d;
                let pairs = means[own.clone()].iter().zip(&precisions[own]);
                let energy = value
                    .iter()
                    .zip(pairs)
                    .map(|(x, (mu, tau))| (x - mu) * (x - mu) * tau);
                log_probs[datum * m + cluster] = 0.5 * (norms[cluster] - energy.sum::<f32>());
            }
        }
    }
}

/// See [`crate::Backend::own_normal_log_probs`].
pub fn own_log_probs(
    values: &FlexTensor,
    classes: &FlexTensor,
    means: &FlexTensor,
    precisions: &FlexTensor,
) -> FlexTensor {
    let [r, n, d] = [0, 1, 2].map(|at| size(values, at));
    let [g, m] = [0, 1].map(|at| size(means, at));
    let mut output = zeros([g, n]);
    if n * m * d > 0 {
        let parts = [values, classes, means, precisions].map(elements);
        dispatch!(score_own([r, n, m, d], parts, output.storage_mut()));
    }
    output
}

/// All data side by side, under one normal after the other.
#[inline(always)]
fn score_own<const FMA: bool>(
    ([r, n, m, d], [values, classes, means, precisions], log_probs): (
        [usize; 4],
        [&[f32]; 4],
        &mut [f32],
    ),
) {
    let constant = d as f32 * (2.0 * PI).ln() as f32;
    let padded = n.next_multiple_of(LANES);
    let mut data = vec![0.0; r * d * padded];
    let groups = values.chunks_exact(n * d);
    for (values, to) in groups.zip(data.chunks_exact_mut(d * padded)) {
        spread(values, d, to);
    }
    let mut own = vec![0.0; m * padded];
    let [mut energy, mut sums] = [(); 2].map(|()| vec![0.0f32; padded]);
    let normals = means
        .chunks_exact(d)
        .zip(precisions.chunks_exact(d))
        .collect::<Vec<_>>();
    let groups = log_probs.chunks_exact_mut(n).zip(normals.chunks_exact(m));
    for (group, (log_probs, normals)) in groups.enumerate() {
        let data = &data[group % r * d * padded..][..d * padded];
        spread(&classes[group * n * m..][..n * m], m, &mut own);
        sums.fill(0.0);
        for (own, (means, precisions)) in own.chunks_exact(padded).zip(normals) {
            energy.fill(0.0);
            let dimensions = data.chunks_exact(padded).zip(*means).zip(*precisions);
            for ((x, mu), tau) in dimensions {
                for (energy, x) in energy.iter_mut().zip(x) {
                    let away = x - mu;
                    *energy = multiply_add::<FMA>(away * away, *tau, *energy);
                }
            }
            let norm = precisions.iter().map(|tau| tau.ln()).sum::<f32>() - constant;
            for ((sum, energy), &c) in sums.iter_mut().zip(&energy).zip(own) {
                let term = c * 0.5 * (norm - energy);
                // Another's density counts for nothing, whatever it is.
                *sum += if c == 0.0 { 0.0 } else { term };
            }
        }
        log_probs.copy_from_slice(&sums[..n]);
    }
}

/// See [`crate::Backend::own_normal_log_probs_backward`], of values, classes and the output's gradient.
pub fn own_backward(
    data: &[FlexTensor; 3],
    normals: &[FlexTensor; 2],
    of_values: bool,
) -> OwnNormalGradients<Flex> {
    let [r, n, d] = [0, 1, 2].map(|at| size(&data[0], at));
    let [g, m] = [0, 1].map(|at| size(&normals[0], at));
    let mut sums = normals.each_ref().map(|_| zeros([g, m, d]));
    let mut pulls = of_values.then(|| zeros([r, n, d]));
    if n * m * d > 0 {
        let [values, classes, grad] = data.each_ref().map(elements);
        let [means, precisions] = normals.each_ref().map(elements);
        let parts = [values, classes, grad, means, precisions];
        let [of_means, of_precisions] = &mut sums;
        let to = OwnSums {
            means: of_means.storage_mut(),
            precisions: of_precisions.storage_mut(),
            values: pulls.as_mut().map(FlexTensor::storage_mut),
        };
        dispatch!(differentiate([r, n, m, d], parts, to));
    }
    OwnNormalGradients {
        values: pulls,
        normals: sums,
    }
}

/// Where the gradients go.
struct OwnSums<'a> {
    means: &'a mut [f32],
    precisions: &'a mut [f32],
    values: Option<&'a mut [f32]>,
}

/// A coefficient g of zero, and another's normal, are exactly nothing.
#[inline(always)]
fn differentiate<const FMA: bool>(
    ([r, n, m, d], [values, classes, grad, means, precisions], mut to): (
        [usize; 4],
        [&[f32]; 5],
        OwnSums<'_>,
    ),
) {
    let padded = n.next_multiple_of(LANES);
    let [mut data, mut own] = [d, m].map(|columns| vec![0.0f32; columns * padded]);
    let mut weights = vec![0.0f32; padded];
    for (group, grad) in grad.chunks_exact(n).enumerate() {
        let first = group % r * n * d;
        spread(&values[first..][..n * d], d, &mut data);
        spread(&classes[group * n * m..][..n * m], m, &mut own);
        for (cluster, own) in own.chunks_exact(padded).enumerate() {
            let pairs = weights.iter_mut().zip(own).zip(grad);
            pairs.for_each(|((weight, c), g)| *weight = c * g);
            let count: f32 = weights.iter().sum();
            for (k, x) in data.chunks_exact(padded).enumerate() {
                let at = (group * m + cluster) * d + k;
                let (mu, tau) = (means[at], precisions[at]);
                let [sum, squares] = moments::<FMA>(&weights, x, mu);
                to.means[at] = tau * sum;
                let norm = if count == 0.0 { 0.0 } else { count / tau };
                to.precisions[at] = 0.5 * (norm - squares);
                if let Some(of_values) = &mut to.values {
                    let to = of_values[first + k..].iter_mut().step_by(d);
                    for ((to, x), &weight) in to.zip(x).zip(&weights[..n]) {
                        let pull = weight * tau * (x - mu);
                        *to -= if weight == 0.0 { 0.0 } else { pull };
                    }
                }
            }
        }
    }
}

/// Σ w δ and Σ w δ² with δ = x − μ.
#[inline(always)]
fn moments<const FMA: bool>(weights: &[f32], x: &[f32], mu: f32) -> [f32; 2] {
    let (mut sums, mut squares): (Lanes, Lanes) = ([0.0; LANES], [0.0; LANES]);
    let (weights, x) = (weights.as_chunks::<LANES>().0, x.as_chunks::<LANES>().0);
    for (weights, x) in weights.iter().zip(x) {
        for lane in 0..LANES {
            // What has no weight counts for nothing, whatever it is.
            let away = if weights[lane] == 0.0 {
                0.0
            } else {
                x[lane] - mu
            };
            let term = weights[lane] * away;
            sums[lane] += term;
            squares[lane] = multiply_add::<FMA>(term, away, squares[lane]);
        }
    }
    [total(&sums), total(&squares)]
}
