//! Moments weighted by softmaxes, summed over the candidates that are present. What a candidate adds is made once for all particles.

use burn_flex::FlexTensor;

use super::columns::{Column, Lanes, ROWS, transpose, untranspose};
use super::softmax::normalise;
use super::{LANES, dispatch, elements, multiply_add, size, zeros};

/// B, P, M, D.
#[derive(Clone, Copy)]
struct Shape {
    instances: usize,
    candidates: usize,
    clusters: usize,
    values: usize,
}

impl Shape {
    fn of(logits: &FlexTensor, values: &FlexTensor) -> Self {
        let [instances, candidates, clusters] = [0, 1, 2].map(|at| size(logits, at));
        Self {
            instances,
            candidates,
            clusters,
            values: size(values, 2),
        }
    }

    /// 1 + 2 D.
    fn moments(self) -> usize {
        1 + 2 * self.values
    }

    /// M (1 + 2 D).
    fn width(self) -> usize {
        self.clusters * self.moments()
    }
}

/// See [`crate::Backend::softmax_moments`].
pub fn sums(logits: &FlexTensor, values: &FlexTensor, present: &FlexTensor) -> FlexTensor {
    let shape = Shape::of(logits, values);
    let dims = [
        size(present, 0),
        shape.instances,
        shape.clusters,
        shape.moments(),
    ];
    let mut output = zeros(dims);
    if shape.candidates > 0 {
        let parts = [logits, values, present].map(elements);
        dispatch!(sum(shape, parts, output.storage_mut()));
    }
    output
}

#[inline(always)]
fn sum<const FMA: bool>(
    (shape, [logits, values, present], sums): (Shape, [&[f32]; 3], &mut [f32]),
) {
    let (width, candidates) = (shape.width(), shape.candidates);
    let blocks = width.div_ceil(LANES);
    let mut rows = vec![[0.0; LANES]; candidates * blocks];
    let instances = logits
        .chunks_exact(candidates * shape.clusters)
        .zip(values.chunks_exact(candidates * shape.values));
    for (instance, (logits, values)) in instances.enumerate() {
        products::<FMA>(shape, [logits, values], rows.as_flattened_mut());
        let particles = present
            .chunks_exact(candidates)
            .zip(sums.chunks_exact_mut(width));
        let own = particles.skip(instance).step_by(shape.instances);
        for (present, sums) in own {
            for (block, sums) in sums.chunks_mut(LANES).enumerate() {
                let sum = weighted::<FMA>(present, &rows[block..], blocks);
                sums.copy_from_slice(&sum[..sums.len()]);
            }
        }
    }
}

/// Σ weight · row over every `blocks`th row, in four sums at a time.
#[inline(always)]
fn weighted<const FMA: bool>(weights: &[f32], rows: &[Lanes], blocks: usize) -> Lanes {
    let mut parts = [[0.0f32; LANES]; 4];
    let (fours, rest) = weights.as_chunks::<4>();
    for (four, weights) in fours.iter().enumerate() {
        for (part, &weight) in weights.iter().enumerate() {
            let row = &rows[(4 * four + part) * blocks];
            for lane in 0..LANES {
                parts[part][lane] = multiply_add::<FMA>(weight, row[lane], parts[part][lane]);
            }
        }
    }
    for (at, &weight) in rest.iter().enumerate() {
        let row = &rows[(4 * fours.len() + at) * blocks];
        for lane in 0..LANES {
            parts[0][lane] = multiply_add::<FMA>(weight, row[lane], parts[0][lane]);
        }
    }
    let [a, b, c, d] = parts;
    std::array::from_fn(|lane| (a[lane] + b[lane]) + (c[lane] + d[lane]))
}

/// γ_pm (1, t_p, t_p²) of each candidate, a padded row each.
#[inline(always)]
fn products<const FMA: bool>(shape: Shape, [logits, values]: [&[f32]; 2], rows: &mut [f32]) {
    let Shape {
        clusters,
        values: d,
        ..
    } = shape;
    let moments = shape.moments();
    let padded = shape.width().next_multiple_of(LANES);
    let nothing = [0.0f32; ROWS];
    let mut columns = vec![nothing; clusters + d];
    let mut all = vec![nothing; padded];
    let parts = logits.chunks(ROWS * clusters).zip(values.chunks(ROWS * d));
    for ((logits, values), rows) in parts.zip(rows.chunks_mut(ROWS * padded)) {
        let (weights, of_values) = columns.split_at_mut(clusters);
        transpose(logits, weights);
        transpose(values, of_values);
        normalise::<FMA>(weights, logits.len() / clusters);
        for (weight, all) in weights.iter().zip(all.chunks_exact_mut(moments)) {
            all[0] = *weight;
            let (sums, squares) = all[1..].split_at_mut(d);
            for ((value, sum), square) in of_values.iter().zip(sums).zip(squares) {
                for at in 0..ROWS {
                    sum[at] = weight[at] * value[at];
                    square[at] = sum[at] * value[at];
                }
            }
        }
        untranspose(&all, rows);
    }
}

/// See [`crate::Backend::softmax_moments_backward`].
pub fn backward(
    mut logits: FlexTensor,
    mut values: FlexTensor,
    present: &FlexTensor,
    grad: &FlexTensor,
) -> [FlexTensor; 2] {
    let shape = Shape::of(&logits, &values);
    if shape.candidates > 0 {
        let data = [present, grad].map(elements);
        let (of_logits, of_values) = (logits.storage_mut(), values.storage_mut());
        dispatch!(differentiate(shape, data, of_logits, of_values));
    }
    [logits, values]
}

/// With G_pmj = Σ_l w_lp g_lmj and a_m = Σ_j G_mj (1, t, t²)_j: γ_m (a_m − Σ_k γ_k a_k) in place of the logits, and
/// Σ_m γ_m (G_m + 2 t ∘ G'_m) in place of the values, G' being of the squares.
#[inline(always)]
fn differentiate<const FMA: bool>(
    (shape, [present, grad], logits, values): (Shape, [&[f32]; 2], &mut [f32], &mut [f32]),
) {
    let Shape {
        candidates,
        clusters,
        values: d,
        instances,
    } = shape;
    let (width, blocks) = (shape.width(), shape.width().div_ceil(LANES));
    let particles = present.len() / (instances * candidates);
    let mut grads = vec![[0.0; LANES]; particles * blocks];
    let mut rows = vec![[0.0; LANES]; candidates * blocks];
    let parts = logits
        .chunks_exact_mut(candidates * clusters)
        .zip(values.chunks_exact_mut(candidates * d));
    for (instance, (logits, values)) in parts.enumerate() {
        let of = |particle: usize| particle * instances + instance;
        for (particle, to) in grads.chunks_exact_mut(blocks).enumerate() {
            let own = &grad[of(particle) * width..][..width];
            to.as_flattened_mut()[..width].copy_from_slice(own);
        }
        for (candidate, rows) in rows.chunks_exact_mut(blocks).enumerate() {
            for (block, row) in rows.iter_mut().enumerate() {
                let mut sum = [0.0f32; LANES];
                for particle in 0..particles {
                    let weight = present[of(particle) * candidates + candidate];
                    let grad = &grads[particle * blocks + block];
                    for lane in 0..LANES {
                        sum[lane] = multiply_add::<FMA>(weight, grad[lane], sum[lane]);
                    }
                }
                *row = sum;
            }
        }
        through_products::<FMA>(shape, rows.as_flattened(), logits, values);
    }
}

/// The gradients in logits and values from those of each candidate's products, in padded rows.
#[inline(always)]
fn through_products<const FMA: bool>(
    shape: Shape,
    rows: &[f32],
    logits: &mut [f32],
    values: &mut [f32],
) {
    let Shape {
        clusters,
        values: d,
        ..
    } = shape;
    let moments = shape.moments();
    let padded = shape.width().next_multiple_of(LANES);
    let nothing = [0.0f32; ROWS];
    let [mut weights, mut slopes] = [(); 2].map(|()| vec![nothing; clusters]);
    let [mut columns, mut of_values] = [(); 2].map(|()| vec![nothing; d]);
    let mut grads = vec![nothing; padded];
    let parts = logits
        .chunks_mut(ROWS * clusters)
        .zip(values.chunks_mut(ROWS * d));
    for ((logits, values), rows) in parts.zip(rows.chunks(ROWS * padded)) {
        transpose(logits, &mut weights);
        transpose(values, &mut columns);
        transpose(rows, &mut grads);
        normalise::<FMA>(&mut weights, logits.len() / clusters);
        of_values.fill(nothing);
        let mut mean = nothing;
        let of_clusters = grads.chunks_exact(moments).zip(&weights);
        for ((grads, weight), slope) in of_clusters.zip(&mut slopes) {
            *slope = grads[0];
            let (sums, squares) = grads[1..].split_at(d);
            let pairs = sums.iter().zip(squares).zip(&columns);
            for (((sum, square), value), of_value) in pairs.zip(&mut of_values) {
                add_moments::<FMA>([sum, square, value, weight], slope, of_value);
            }
            for at in 0..ROWS {
                mean[at] = multiply_add::<FMA>(weight[at], slope[at], mean[at]);
            }
        }
        for (weight, slope) in weights.iter().zip(&mut slopes) {
            let numbers = slope.iter_mut().zip(weight).zip(&mean);
            numbers.for_each(|((slope, weight), mean)| *slope = weight * (*slope - mean));
        }
        untranspose(&slopes, logits);
        untranspose(&of_values, values);
    }
}

/// slope + G t + G' t², and of_value + γ (G + 2 t G').
#[inline(always)]
fn add_moments<const FMA: bool>(
    [sum, square, value, weight]: [&Column; 4],
    slope: &mut Column,
    of_value: &mut Column,
) {
    for at in 0..ROWS {
        let line = multiply_add::<FMA>(square[at], value[at], sum[at]);
        slope[at] = multiply_add::<FMA>(line, value[at], slope[at]);
        let steep = multiply_add::<FMA>(square[at], value[at], line);
        of_value[at] = multiply_add::<FMA>(weight[at], steep, of_value[at]);
    }
}
