//! Sums weighted by softmaxes, and their gradient: the weights are made, used and forgotten.

use burn_flex::FlexTensor;

use super::columns::{
    Column, Lanes, ROWS, add, add_all, add_products, total, transpose, untranspose,
};
use super::exp::exp;
use super::{LANES, dispatch, elements, multiply_add, size, zeros};

/// See [`crate::Backend::softmax_sums`].
pub fn sums(logits: &FlexTensor, values: &FlexTensor) -> FlexTensor {
    let [n, m, d] = [size(logits, 1), size(logits, 2), size(values, 2)];
    let mut output = zeros([size(logits, 0), m, 1 + d]);
    if n == 0 {
        return output;
    }
    let groups = elements(logits).chunks_exact(n * m);
    let groups = groups.zip(elements(values).chunks_exact(n * d));
    let sums = output.storage_mut::<f32>().chunks_exact_mut(m * (1 + d));
    for ((logits, values), sums) in groups.zip(sums) {
        dispatch!(sum([m, d], [logits, values], sums));
    }
    output
}

#[inline(always)]
fn sum<const FMA: bool>(([m, d], [logits, values], sums): ([usize; 2], [&[f32]; 2], &mut [f32])) {
    let nothing = [0.0f32; ROWS];
    let (mut weights, mut columns) = (vec![nothing; m], vec![nothing; d]);
    let mut parts: Vec<Lanes> = vec![[0.0; LANES]; sums.len()];
    for (logits, values) in logits.chunks(ROWS * m).zip(values.chunks(ROWS * d)) {
        transpose(logits, &mut weights);
        transpose(values, &mut columns);
        normalise::<FMA>(&mut weights, logits.len() / m);
        for (weight, parts) in weights.iter().zip(parts.chunks_exact_mut(1 + d)) {
            add_all(&mut parts[0], weight);
            for (column, part) in columns.iter().zip(&mut parts[1..]) {
                add_products::<FMA>(part, weight, column);
            }
        }
    }
    let totals = sums.iter_mut().zip(&parts);
    totals.for_each(|(sum, part)| *sum = total(part));
}

/// The softmax over columns of logits, of the first rows; nothing in the others.
#[inline(always)]
pub fn normalise<const FMA: bool>(logits: &mut [Column], rows: usize) {
    let mut greatest = logits[0];
    for column in &logits[1..] {
        let pairs = greatest.iter_mut().zip(column);
        pairs.for_each(|(most, &logit)| *most = if logit > *most { logit } else { *most });
    }
    let mut norm = [0.0f32; ROWS];
    for column in logits.iter_mut() {
        for ((logit, most), norm) in column.iter_mut().zip(&greatest).zip(&mut norm) {
            *logit = exp::<FMA>(*logit - most);
            *norm += *logit;
        }
    }
    norm.iter_mut().for_each(|norm| *norm = 1.0 / *norm);
    for column in logits {
        let pairs = column.iter_mut().zip(&norm);
        pairs.for_each(|(weight, norm)| *weight *= norm);
        column[rows..].fill(0.0);
    }
}

/// See [`crate::Backend::softmax_sums_backward`].
pub fn backward(
    mut logits: FlexTensor,
    mut values: FlexTensor,
    grad: &FlexTensor,
) -> [FlexTensor; 2] {
    let [n, m, d] = [size(&logits, 1), size(&logits, 2), size(&values, 2)];
    if n == 0 {
        return [logits, values];
    }
    let groups = logits.storage_mut::<f32>().chunks_exact_mut(n * m);
    let groups = groups.zip(values.storage_mut::<f32>().chunks_exact_mut(n * d));
    let grads = elements(grad).chunks_exact(m * (1 + d));
    for ((logits, values), grad) in groups.zip(grads) {
        dispatch!(differentiate([m, d], grad, logits, values));
    }
    [logits, values]
}

/// With a_m = g_m0 + Σ_d g_md v_d: γ_m (a_m − Σ_k γ_k a_k) in place of the logits, Σ_m γ_m g_md in place of the values.
#[inline(always)]
fn differentiate<const FMA: bool>(
    ([m, d], grad, logits, values): ([usize; 2], &[f32], &mut [f32], &mut [f32]),
) {
    let nothing = [0.0f32; ROWS];
    let [mut weights, mut slopes] = [(); 2].map(|()| vec![nothing; m]);
    let [mut columns, mut of_values] = [(); 2].map(|()| vec![nothing; d]);
    let blocks = logits.chunks_mut(ROWS * m);
    for (logits, values) in blocks.zip(values.chunks_mut(ROWS * d)) {
        transpose(logits, &mut weights);
        transpose(values, &mut columns);
        normalise::<FMA>(&mut weights, logits.len() / m);
        of_values.fill(nothing);
        let mut mean = nothing;
        for ((grad, weight), slope) in grad.chunks_exact(1 + d).zip(&weights).zip(&mut slopes) {
            slope.fill(grad[0]);
            for ((&g, column), of_value) in grad[1..].iter().zip(&columns).zip(&mut of_values) {
                add::<FMA>(slope, g, column);
                add::<FMA>(of_value, g, weight);
            }
            for ((mean, &a), &weight) in mean.iter_mut().zip(&*slope).zip(weight) {
                *mean = multiply_add::<FMA>(weight, a, *mean);
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
