//! Row operations on Bernoulli logits: log-probability (with its derivative), its adjoint, and sampling.

use burn_flex::FlexTensor;

use super::exp::{EXP_IS_ZERO, exp};
use super::words::{Rows, unpack_row};
use super::{LANES, dispatch, elements, multiply_add, size, zeros};
use crate::threads::{block, each, threads};

/// Lane products of (1 + e^−|a|) ≤ 2 are turned into a logarithm after this many factors: 2⁶⁰ per lane fits f32, and the
/// product of the 16 lanes, 2⁹⁶⁰, fits f64.
const FLUSH: usize = 60;

/// How long an element takes, in multiplications of a product.
const COST: usize = 128;

/// See [`crate::Backend::bernoulli_log_prob`].
pub fn log_prob(logits: &FlexTensor, values: &FlexTensor) -> FlexTensor {
    log_prob_of(logits, Cyclic::new(elements(values), size(logits, 1)))
}

/// See [`crate::Backend::bernoulli_log_prob_and_residual`].
pub fn log_prob_and_residual(logits: FlexTensor, values: &FlexTensor) -> (FlexTensor, FlexTensor) {
    let width = size(&logits, 1);
    log_prob_and_residual_of(logits, Cyclic::new(elements(values), width))
}

/// Of rows of values, numbers or bits.
pub(super) fn log_prob_of(logits: &FlexTensor, values: impl ValueRows + Sync) -> FlexTensor {
    let (few, width) = (size(logits, 0), size(logits, 1));
    let count = few.max(values.count());
    let mut output = zeros([count]);
    let (logits, log_prob) = (elements(logits), output.storage_mut::<f32>());
    if few < count {
        dispatch!(rows_of_few(width, logits, values, log_prob));
        return output;
    }
    let threads = threads(count * width * COST);
    let block = block(count, threads);
    each(threads, log_prob.chunks_mut(block), |number, log_prob| {
        let first = number * block;
        let logits = &logits[first * width..][..log_prob.len() * width];
        dispatch!(rows(width, logits, (&values, first), log_prob));
    });
    output
}

/// Of rows of values, numbers or bits; the logits' memory becomes the residual's where they are as many.
pub(super) fn log_prob_and_residual_of(
    mut logits: FlexTensor,
    values: impl ValueRows + Sync,
) -> (FlexTensor, FlexTensor) {
    let (few, width) = (size(&logits, 0), size(&logits, 1));
    let count = few.max(values.count());
    let mut output = zeros([count]);
    if few < count {
        let mut repeated = zeros([count, width]);
        let block = elements(&logits);
        let copies = repeated.storage_mut::<f32>().chunks_exact_mut(block.len());
        copies.for_each(|copy| copy.copy_from_slice(block));
        logits = repeated;
    }
    let threads = threads(count * width * COST);
    let block = block(count, threads);
    let residual = logits.storage_mut::<f32>();
    let blocks = residual.chunks_mut((block * width).max(1));
    let blocks = blocks.zip(output.storage_mut::<f32>().chunks_mut(block));
    each(threads, blocks, |number, (residual, output)| {
        let first = number * block;
        dispatch!(rows_to_residuals(width, residual, (&values, first), output));
    });
    (output, logits)
}

/// Rows of values, repeated without end.
pub(super) trait ValueRows {
    /// How many there are.
    fn count(&self) -> usize;

    /// Row n, in memory that is there or in `scratch`.
    fn row<'a>(&'a self, n: usize, scratch: &'a mut [f32]) -> &'a [f32];
}

impl ValueRows for Cyclic<'_> {
    fn count(&self) -> usize {
        self.rows
    }

    #[inline(always)]
    fn row<'a>(&'a self, n: usize, _: &'a mut [f32]) -> &'a [f32] {
        Cyclic::row(self, n)
    }
}

impl ValueRows for Rows<'_> {
    fn count(&self) -> usize {
        Rows::count(self)
    }

    #[inline(always)]
    fn row<'a>(&'a self, n: usize, scratch: &'a mut [f32]) -> &'a [f32] {
        unpack_row(Rows::row(self, n % Rows::count(self)), scratch);
        scratch
    }
}

/// As many rows of logits as of log-probabilities, with the values from a first row on.
#[inline(always)]
fn rows<const FMA: bool>(
    (width, logits, (values, first), log_prob): (
        usize,
        &[f32],
        (&impl ValueRows, usize),
        &mut [f32],
    ),
) {
    let scratch = &mut vec![0.0; width];
    let logits = logits.chunks_exact(width);
    for (n, (a, out)) in logits.zip(log_prob).enumerate() {
        let v = values.row(first + n, scratch);
        *out = exact_if_small(row::<FMA>(a, v, None), a, v) as f32;
    }
}

/// Fewer rows of logits than of values.
#[inline(always)]
fn rows_of_few<const FMA: bool>(
    (width, logits, values, log_prob): (usize, &[f32], impl ValueRows, &mut [f32]),
) {
    let logits = Cyclic::new(logits, width);
    let scratch = &mut vec![0.0; width];
    // A loop of its own: what `collect` calls is compiled without the instruction set.
    let mut likelier = vec![0.0; width];
    let mut logarithms = Vec::with_capacity(logits.rows);
    for n in 0..logits.rows {
        logarithms.push(self::logarithms::<FMA>(logits.row(n), &mut likelier));
    }
    for (n, out) in log_prob.iter_mut().enumerate() {
        let (a, v) = (logits.row(n), values.row(n, scratch));
        let log_prob = linear::<FMA>(a, v) - logarithms[n % logits.rows];
        *out = exact_if_small(log_prob, a, v) as f32;
    }
}

/// Rows of logits become rows of v − σ(a), with the values from a first row on.
#[inline(always)]
fn rows_to_residuals<const FMA: bool>(
    (width, rows, (values, first), log_prob): (
        usize,
        &mut [f32],
        (&impl ValueRows, usize),
        &mut [f32],
    ),
) {
    let (scratch, logits) = (&mut vec![0.0; width], &mut vec![0.0; width]);
    let rows = rows.chunks_exact_mut(width).zip(log_prob);
    for (n, (residual, out)) in rows.enumerate() {
        logits.copy_from_slice(residual);
        let values = values.row(first + n, scratch);
        *out = exact_if_small(row::<FMA>(logits, values, Some(residual)), logits, values) as f32;
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

/// Columns that are worked on together. What one step leaves for the next stays in the first cache, and each step is a loop that
/// a machine of few registers keeps in them.
const STRETCH: usize = 8 * LANES;

/// Σ v·a − max(a, 0) − ln Π (1 + e^−|a|): one logarithm for many terms. Summed in f32 lanes, then f64. The derivative v − σ(a) goes
/// to `residual` if given.
#[inline(always)]
fn row<const FMA: bool>(logits: &[f32], values: &[f32], mut residual: Option<&mut [f32]>) -> f64 {
    let mut sums = RowSums::new();
    let (logit_stretches, logit_tail) = logits.as_chunks::<STRETCH>();
    let (value_stretches, value_tail) = values.as_chunks::<STRETCH>();
    for (index, (a, v)) in logit_stretches.iter().zip(value_stretches).enumerate() {
        let exponentials = sums.add::<FMA>(a, v, STRETCH);
        if let Some(residual) = &mut residual {
            let out = &mut residual[index * STRETCH..][..STRETCH];
            residuals::<FMA>(a, v, &exponentials, out.as_chunks_mut().0);
        }
    }
    if !logit_tail.is_empty() {
        let (a, v) = (padded(logit_tail, CERTAIN), padded(value_tail, 0.0));
        let len = logit_tail.len();
        let exponentials = sums.add::<FMA>(&a, &v, len.next_multiple_of(LANES));
        if let Some(residual) = &mut residual {
            let mut own = [[0.0; STRETCH]];
            residuals::<FMA>(&a, &v, &exponentials, &mut own);
            residual[logits.len() - len..].copy_from_slice(&own[0][..len]);
        }
    }
    sums.total()
}

/// Log-probabilities nearer to zero than this many nats a column are summed again. What a factor 1 + e^−|a| rounds off is up
/// to 2⁻²⁴, no small part of ln(1 + e^−|a|) once |a| is beyond 10.
const SMALL: f64 = 1.0 / 1024.0;

/// The log-probability of a row, or [`exact`] where its error would be no small part of it.
#[inline(always)]
fn exact_if_small(log_prob: f64, logits: &[f32], values: &[f32]) -> f64 {
    if log_prob > -SMALL * logits.len() as f64 {
        exact(logits, values)
    } else {
        log_prob
    }
}

/// Σ (v·a − max(a, 0)) − ln(1 + e^−|a|) in f64.
#[cold]
#[inline(never)]
fn exact(logits: &[f32], values: &[f32]) -> f64 {
    let pairs = logits.iter().zip(values);
    let term = |(&a, &v): (&f32, &f32)| {
        let (a, v) = (f64::from(a), f64::from(v));
        (v * a - a.max(0.0)) - (-a.abs()).exp().ln_1p()
    };
    pairs.map(term).sum()
}

/// The sums of a row so far.
struct RowSums {
    linear: [f32; LANES],
    product: [f32; LANES],
    /// Factors of each lane's product.
    factors: usize,
    logarithms: f64,
}

impl RowSums {
    #[inline(always)]
    fn new() -> Self {
        Self {
            linear: [0.0; LANES],
            product: [1.0; LANES],
            factors: 0,
            logarithms: 0.0,
        }
    }

    /// Adds the first `len` columns, a multiple of [`LANES`]; e^−|a| of all.
    #[inline(always)]
    fn add<const FMA: bool>(
        &mut self,
        a: &[f32; STRETCH],
        v: &[f32; STRETCH],
        len: usize,
    ) -> [f32; STRETCH] {
        let mut exponentials = [0.0f32; STRETCH];
        for (e, &a) in exponentials.iter_mut().zip(a) {
            *e = exp::<FMA>(-a.abs());
        }
        let mut linear = self.linear;
        for (a, v) in a[..len]
            .as_chunks::<LANES>()
            .0
            .iter()
            .zip(v.as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                linear[lane] += multiply_add::<FMA>(v[lane], a[lane], -a[lane].max(0.0));
            }
        }
        self.linear = linear;
        let mut product = self.product;
        for e in exponentials[..len].as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                product[lane] *= 1.0 + e[lane];
            }
            self.factors += 1;
            if self.factors == FLUSH {
                self.logarithms += logarithm_of_product(&product);
                product = [1.0; LANES];
                self.factors = 0;
            }
        }
        self.product = product;
        exponentials
    }

    #[inline(always)]
    fn total(&self) -> f64 {
        sum(&self.linear) - (self.logarithms + logarithm_of_product(&self.product))
    }
}

/// v − σ(a), given e^−|a|.
#[inline(always)]
fn residuals<const FMA: bool>(
    a: &[f32; STRETCH],
    v: &[f32; STRETCH],
    exponentials: &[f32; STRETCH],
    out: &mut [[f32; STRETCH]],
) {
    for out in out {
        for at in 0..STRETCH {
            out[at] = v[at] - sigmoid_from(a[at], exponentials[at]);
        }
    }
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
        let (a, v) = (
            padded::<LANES>(logit_tail, CERTAIN),
            padded::<LANES>(value_tail, 0.0),
        );
        for lane in 0..LANES {
            linear[lane] += multiply_add::<FMA>(v[lane], a[lane], -a[lane].max(0.0));
        }
    }
    sum(&linear)
}

/// The part of [`row`] that does not: ln Π (1 + e^−|a|), which is minus the log-probability of the likelier bits.
#[inline(always)]
fn logarithms<const FMA: bool>(logits: &[f32], likelier: &mut [f32]) -> f64 {
    for (likelier, &a) in likelier.iter_mut().zip(logits) {
        *likelier = if a > 0.0 { 1.0 } else { 0.0 };
    }
    -row::<FMA>(logits, likelier, None)
}

/// A logit so negative that a zero bit is certain: what pads a row adds nothing.
const CERTAIN: f32 = -1e3;

/// The end of a row, filled up.
#[inline(always)]
fn padded<const N: usize>(tail: &[f32], with: f32) -> [f32; N] {
    let mut lanes = [with; N];
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
        let threads = threads(folded * width * COST / 2);
        let block = block(folded, threads);
        let scaled = rows.storage_mut::<f32>().chunks_mut((block * width).max(1));
        let blocks = elements(weights).chunks(block).zip(scaled);
        each(threads, blocks, |_, (weights, scaled)| {
            dispatch!(scale_rows(weights, scaled, width));
        });
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

/// Logits become their sigmoids.
#[inline(always)]
pub fn sigmoid<const FMA: bool>((logits,): (&mut [f32],)) {
    for a in logits {
        let sigma = sigmoid_from(*a, exp::<FMA>(-a.abs()));
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

    /// The bounds of the tests in `tests/tests/ops`, for the row pass compiled with or without fused multiply-add.
    fn check_rows<const FMA: bool>() {
        for width in (1..40).chain([784, 960, 2000]) {
            for scale in [1.0, 80.0, 1e4] {
                let (logits, bits) = row_of(width, scale);
                let (mut log_prob, mut residual) = ([0.0], logits.clone());
                let of = |v| Cyclic::new(v, width);
                rows_to_residuals::<FMA>((width, &mut residual, (&of(&bits), 0), &mut log_prob));
                let mut alone = [0.0];
                rows::<FMA>((width, &logits, (&of(&bits), 0), &mut alone));
                assert_eq!(log_prob, alone);
                // The same logits for two rows of values.
                let (mut both, values) = ([0.0; 2], [bits.clone(), logits.clone()].concat());
                rows_of_few::<FMA>((width, &logits, of(&values), &mut both));
                rows::<FMA>((width, &logits, (&of(&values), 1), &mut alone));
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
