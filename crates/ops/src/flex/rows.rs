//! Row operations on Bernoulli logits: log-probability (with its derivative), its adjoint, and sampling.

use burn_flex::FlexTensor;

use super::bits::{Rows, unpack_row};
use super::exp::{EXP_IS_ZERO, exp_of_negative};
use super::{LANES, dispatch, elements, multiply_add, size, zeros};

/// Lane products of (1 + e^−|a|) ≤ 2 are turned into a logarithm after this many factors: 2⁶⁰ per lane fits f32, and the
/// product of the 16 lanes, 2⁹⁶⁰, fits f64.
const FLUSH: usize = 60;

/// See [`crate::Backend::bernoulli_log_prob`]; the derivative v − σ(a) goes to `residual` if given.
pub fn log_prob(
    logits: &FlexTensor,
    values: &FlexTensor,
    residual: Option<&mut [f32]>,
) -> FlexTensor {
    let (width, count) = (size(logits, 1), size(logits, 0).max(size(values, 0)));
    let mut output = zeros([count]);
    let (logits, log_prob) = (elements(logits), output.storage_mut());
    let values = Cyclic::new(elements(values), width);
    match residual {
        Some(residual) => dispatch!(rows_with_residual(
            width, logits, values, log_prob, residual
        )),
        None => dispatch!(rows(width, logits, values, log_prob)),
    }
    output
}

/// [`log_prob`] of packed bits.
pub fn log_prob_of_bits(
    logits: &[f32],
    bits: Rows<'_>,
    log_prob: &mut [f32],
    residual: Option<&mut [f32]>,
) {
    let width = bits.columns();
    let values = Unpacked {
        bits,
        row: vec![0.0; width],
    };
    match residual {
        Some(residual) => dispatch!(rows_with_residual(
            width, logits, values, log_prob, residual
        )),
        None => dispatch!(rows(width, logits, values, log_prob)),
    }
}

/// Rows of values, repeated without end.
trait ValueRows {
    fn row(&mut self, n: usize) -> &[f32];
}

impl ValueRows for Cyclic<'_> {
    #[inline(always)]
    fn row(&mut self, n: usize) -> &[f32] {
        Cyclic::row(self, n)
    }
}

/// Packed bits, a row of which at a time are numbers.
struct Unpacked<'a> {
    bits: Rows<'a>,
    row: Vec<f32>,
}

impl ValueRows for Unpacked<'_> {
    #[inline(always)]
    fn row(&mut self, n: usize) -> &[f32] {
        unpack_row(self.bits.row(n % self.bits.count()), &mut self.row);
        &self.row
    }
}

#[inline(always)]
fn rows<const FMA: bool>(
    (width, logits, mut values, log_prob): (usize, &[f32], impl ValueRows, &mut [f32]),
) {
    let logits = Cyclic::new(logits, width);
    if logits.rows == log_prob.len() {
        for (n, out) in log_prob.iter_mut().enumerate() {
            *out = row::<FMA>(logits.row(n), values.row(n), |_, _| {}) as f32;
        }
    } else {
        let logarithms: Vec<f64> = (0..logits.rows)
            .map(|n| logarithms::<FMA>(logits.row(n)))
            .collect();
        for (n, out) in log_prob.iter_mut().enumerate() {
            let linear = linear::<FMA>(logits.row(n), values.row(n));
            *out = (linear - logarithms[n % logits.rows]) as f32;
        }
    }
}

#[inline(always)]
fn rows_with_residual<const FMA: bool>(
    (width, logits, mut values, log_prob, residual): (
        usize,
        &[f32],
        impl ValueRows,
        &mut [f32],
        &mut [f32],
    ),
) {
    let logits = Cyclic::new(logits, width);
    let residual_rows = residual.chunks_exact_mut(width);
    for (n, (out, residual)) in log_prob.iter_mut().zip(residual_rows).enumerate() {
        *out = row::<FMA>(logits.row(n), values.row(n), |first, derivative| {
            let columns = &mut residual[first..];
            match columns.first_chunk_mut::<LANES>() {
                Some(columns) => *columns = *derivative,
                None => columns.copy_from_slice(&derivative[..columns.len()]),
            }
        }) as f32;
    }
}

/// Rows of a matrix, repeated without end.
pub(super) struct Cyclic<'a> {
    elements: &'a [f32],
    pub(super) width: usize,
    pub(super) rows: usize,
}

impl<'a> Cyclic<'a> {
    #[inline(always)]
    pub(super) fn new(elements: &'a [f32], width: usize) -> Self {
        Self {
            elements,
            width,
            rows: elements.len() / width,
        }
    }

    #[inline(always)]
    pub(super) fn row(&self, n: usize) -> &'a [f32] {
        &self.elements[n % self.rows * self.width..][..self.width]
    }
}

/// Σ v·a − max(a, 0) − ln Π (1 + e^−|a|): one logarithm for many terms. Summed in f32 lanes, then f64. `derivative` is
/// given v − σ(a) from each multiple of [`LANES`] columns on; beyond the last column it means nothing.
#[inline(always)]
fn row<const FMA: bool>(
    logits: &[f32],
    values: &[f32],
    mut derivative: impl FnMut(usize, &[f32; LANES]),
) -> f64 {
    let mut linear = [0.0f32; LANES];
    let mut product = [1.0f32; LANES];
    let mut lanes =
        |column: usize, a: &[f32; LANES], v: &[f32; LANES], product: &mut [f32; LANES]| {
            let mut residual = [0.0f32; LANES];
            for lane in 0..LANES {
                let (a, v) = (a[lane], v[lane]);
                let e = exp_of_negative::<FMA>(-a.abs());
                linear[lane] += multiply_add::<FMA>(v, a, -a.max(0.0));
                product[lane] *= 1.0 + e;
                residual[lane] = v - sigmoid_from(a, e);
            }
            derivative(column, &residual);
        };
    let (logit_chunks, logit_tail) = logits.as_chunks::<LANES>();
    let (value_chunks, value_tail) = values.as_chunks::<LANES>();
    let mut logarithms = 0.0f64;
    for (index, (a, v)) in logit_chunks.iter().zip(value_chunks).enumerate() {
        lanes(index * LANES, a, v, &mut product);
        if index % FLUSH == FLUSH - 1 {
            logarithms += logarithm_of_product(&product);
            product = [1.0; LANES];
        }
    }
    if !logit_tail.is_empty() {
        let (a, v) = (padded(logit_tail, CERTAIN), padded(value_tail, 0.0));
        lanes(logits.len() - logit_tail.len(), &a, &v, &mut product);
    }
    sum(&linear) - (logarithms + logarithm_of_product(&product))
}

/// The part of [`row`] that depends on the values: Σ v·a − max(a, 0).
#[inline(always)]
fn linear<const FMA: bool>(logits: &[f32], values: &[f32]) -> f64 {
    let mut linear = [0.0f32; LANES];
    let (logit_chunks, logit_tail) = logits.as_chunks::<LANES>();
    let (value_chunks, value_tail) = values.as_chunks::<LANES>();
    for (a, v) in logit_chunks.iter().zip(value_chunks) {
        for lane in 0..LANES {
            linear[lane] += multiply_add::<FMA>(v[lane], a[lane], -a[lane].max(0.0));
        }
    }
    if !logit_tail.is_empty() {
        let (a, v) = (padded(logit_tail, CERTAIN), padded(value_tail, 0.0));
        for lane in 0..LANES {
            linear[lane] += multiply_add::<FMA>(v[lane], a[lane], -a[lane].max(0.0));
        }
    }
    sum(&linear)
}

/// The part of [`row`] that does not: ln Π (1 + e^−|a|), which is minus the log-probability of the likelier bits.
#[inline(always)]
fn logarithms<const FMA: bool>(logits: &[f32]) -> f64 {
    let likelier: Vec<f32> = logits.iter().map(|&a| f32::from(a > 0.0)).collect();
    -row::<FMA>(logits, &likelier, |_, _| {})
}

/// A logit so negative that a zero bit is certain: what pads a row adds nothing.
const CERTAIN: f32 = -1e3;

/// The end of a row, filled up.
#[inline(always)]
fn padded(tail: &[f32], with: f32) -> [f32; LANES] {
    let mut lanes = [with; LANES];
    lanes[..tail.len()].copy_from_slice(tail);
    lanes
}

#[inline(always)]
fn sum(lanes: &[f32; LANES]) -> f64 {
    lanes.iter().map(|&lane| f64::from(lane)).sum()
}

#[inline(always)]
fn logarithm_of_product(lanes: &[f32; LANES]) -> f64 {
    lanes
        .iter()
        .map(|&lane| f64::from(lane))
        .product::<f64>()
        .ln()
}

/// σ(a), given e = e^−|a|.
#[inline(always)]
fn sigmoid_from(a: f32, e: f32) -> f32 {
    let inverse = 1.0 / (1.0 + e);
    if a >= 0.0 { inverse } else { e * inverse }
}

/// See [`crate::Backend::fold_rows`].
pub fn fold(weights: &FlexTensor, mut rows: FlexTensor, folded: usize) -> FlexTensor {
    let width = size(&rows, 1);
    if size(&rows, 0) == folded {
        let scaled = rows.storage_mut::<f32>();
        dispatch!(scale_rows(elements(weights), scaled, width));
        return rows;
    }
    let mut output = zeros([folded, width]);
    dispatch!(accumulate_rows(
        elements(weights),
        elements(&rows),
        output.storage_mut(),
        width
    ));
    output
}

#[inline(always)]
fn scale_rows<const FMA: bool>((weights, rows, width): (&[f32], &mut [f32], usize)) {
    for (&weight, row) in weights.iter().zip(rows.chunks_exact_mut(width)) {
        if weight == 0.0 {
            row.fill(0.0);
        } else {
            row.iter_mut().for_each(|r| *r *= weight);
        }
    }
}

#[inline(always)]
fn accumulate_rows<const FMA: bool>(
    (weights, rows, output, width): (&[f32], &[f32], &mut [f32], usize),
) {
    let folded = output.len() / width;
    for (n, (&weight, row)) in weights.iter().zip(rows.chunks_exact(width)).enumerate() {
        if weight != 0.0 {
            let out = &mut output[n % folded * width..][..width];
            out.iter_mut()
                .zip(row)
                .for_each(|(o, &r)| *o = multiply_add::<FMA>(weight, r, *o));
        }
    }
}

/// σ of the logits.
pub fn probabilities(logits: &FlexTensor) -> Vec<f32> {
    let mut probabilities = elements(logits).to_vec();
    dispatch!(sigmoid(probabilities.as_mut_slice()));
    probabilities
}

/// See [`crate::Backend::sample_bernoulli`]; the uniforms' storage becomes the bits'.
pub fn sample(logits: &FlexTensor, mut uniforms: FlexTensor) -> FlexTensor {
    let probabilities = probabilities(logits);
    dispatch!(threshold(probabilities.as_slice(), uniforms.storage_mut()));
    uniforms
}

#[inline(always)]
fn sigmoid<const FMA: bool>((logits,): (&mut [f32],)) {
    for a in logits {
        let sigma = sigmoid_from(*a, exp_of_negative::<FMA>(-a.abs()));
        *a = if *a < EXP_IS_ZERO { 0.0 } else { sigma };
    }
}

#[inline(always)]
fn threshold<const FMA: bool>((probabilities, uniforms): (&[f32], &mut [f32])) {
    for block in uniforms.chunks_exact_mut(probabilities.len()) {
        for (u, &p) in block.iter_mut().zip(probabilities) {
            *u = if *u < p { 1.0 } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2⁻²⁴, the relative error of one rounding.
    const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

    /// Logits in ±scale, and bits.
    fn row_of(width: usize, scale: f32) -> (Vec<f32>, Vec<f32>) {
        let unit = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0;
        let logits = (0..width).map(|i| scale * unit(i)).collect();
        let bits = (0..width).map(|i| f32::from(u8::from(i % 3 == 0)));
        (logits, bits.collect())
    }

    fn sigma(a: f32) -> f64 {
        1.0 / (1.0 + (-f64::from(a)).exp())
    }

    /// The bounds of the tests in `tests/ops`, for the row pass compiled with or without fused multiply-add.
    fn check_rows<const FMA: bool>() {
        for width in (1..40).chain([784, 960, 2000]) {
            for scale in [1.0, 80.0, 1e4] {
                let (logits, bits) = row_of(width, scale);
                let (mut log_prob, mut residual) = ([0.0], vec![0.0; width]);
                let of = |v| Cyclic::new(v, width);
                rows_with_residual::<FMA>((
                    width,
                    &logits,
                    of(&bits),
                    &mut log_prob,
                    &mut residual,
                ));
                let mut alone = [0.0];
                rows::<FMA>((width, &logits, of(&bits), &mut alone));
                assert_eq!(log_prob, alone);
                // The same logits for two rows of values.
                let (mut both, values) = ([0.0; 2], [bits.clone(), logits.clone()].concat());
                rows::<FMA>((width, &logits, of(&values), &mut both));
                rows::<FMA>((width, &logits, of(&logits), &mut alone));
                assert_eq!(both, [log_prob[0], alone[0]]);

                let pairs = || logits.iter().zip(&bits).map(|(&a, &v)| (f64::from(a), v));
                let term =
                    |(a, v): (f64, f32)| f64::from(v) * a - a.max(0.0) - (-a.abs()).exp().ln_1p();
                let expected: f64 = pairs().map(term).sum();
                let size: f64 = pairs().map(|(a, _)| a.abs()).sum();
                let columns = width as f64;
                let bound = (columns / 16.0 + 5.0) * size + 6.0 * columns + expected.abs();
                assert!((f64::from(log_prob[0]) - expected).abs() <= ROUNDING * bound);
                for ((&a, &v), &r) in logits.iter().zip(&bits).zip(&residual) {
                    assert!((f64::from(r) - (f64::from(v) - sigma(a))).abs() <= 8.0 * ROUNDING);
                }
            }
        }
    }

    /// σ to 8 roundings, and the fold of two rows onto one.
    fn check_sigmoid_and_fold<const FMA: bool>() {
        let (mut logits, bits) = row_of(2000, 80.0);
        let given = logits.clone();
        sigmoid::<FMA>((&mut logits,));
        for (&a, &found) in given.iter().zip(&logits) {
            assert!((f64::from(found) / sigma(a) - 1.0).abs() <= 8.0 * ROUNDING);
        }
        let mut folded = vec![0.0; 1000];
        accumulate_rows::<FMA>((&[0.5, -2.0], &bits, &mut folded, 1000));
        for (i, &found) in folded.iter().enumerate() {
            assert_eq!(found, 0.5 * bits[i] - 2.0 * bits[1000 + i]);
        }
    }

    #[test]
    fn machines_with_fused_multiply_add_keep_the_bounds() {
        check_rows::<true>();
        check_sigmoid_and_fold::<true>();
    }

    #[test]
    fn machines_without_fused_multiply_add_keep_the_bounds() {
        check_rows::<false>();
        check_sigmoid_and_fold::<false>();
    }
}
