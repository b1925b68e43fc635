//! Row operations on categorical logits: log-probability (with its derivative), and sampling.
//!
//! What belongs to the logits alone is done once a row of them, however many rows of values or uniforms they meet.

use burn_flex::FlexTensor;

mod moves;
mod single;

pub use moves::moves;

use super::exp::{EXP_IS_ZERO, exp};
use super::rows::Cyclic;
use super::{LANES, dispatch, elements, size, zeros};

/// The product of normalisers, each at most the number of classes, is turned into a logarithm beyond this.
const FLUSH: f64 = 1e200;

/// See [`crate::Backend::categorical_log_prob`]; the derivative z − softmax(φ) goes to `residual` if given.
pub fn log_prob(
    logits: &FlexTensor,
    values: &FlexTensor,
    classes: usize,
    residual: Option<&mut [f32]>,
) -> FlexTensor {
    let mut output = zeros([size(logits, 0).max(size(values, 0))]);
    let rows = Cyclic::new(elements(logits), size(logits, 1));
    let values = Cyclic::new(elements(values), size(values, 1));
    let log_prob = output.storage_mut();
    dispatch!(score(classes, rows, values, log_prob, residual));
    output
}

#[inline(always)]
fn score<const FMA: bool>(
    (classes, logits, values, log_prob, mut residual): (
        usize,
        Cyclic<'_>,
        Cyclic<'_>,
        &mut [f32],
        Option<&mut [f32]>,
    ),
) {
    if logits.width == classes - 1 {
        return single::score::<FMA>((classes, logits, values, log_prob, residual));
    }
    let mut row = Row::new(logits.width / (classes - 1), classes);
    for m in 0..logits.rows {
        row.set::<FMA>(logits.row(m));
        let normaliser = row.normaliser();
        if residual.is_some() {
            row.normalise();
        }
        for n in (m..log_prob.len()).step_by(logits.rows) {
            let values = values.row(n);
            log_prob[n] = (dot(values, &row.logits) - normaliser) as f32;
            if let Some(residual) = &mut residual {
                let residual = &mut residual[n * logits.width..][..logits.width];
                row.subtract_from(values, residual);
            }
        }
    }
}

/// See [`crate::Backend::sample_categorical`].
pub fn sample(logits: &FlexTensor, uniforms: &FlexTensor, classes: usize) -> FlexTensor {
    let [count, variables] = [0, 1].map(|dimension| size(uniforms, dimension));
    let mut output = zeros([count, variables * classes]);
    let rows = Cyclic::new(elements(logits), size(logits, 1));
    let (uniforms, values) = (elements(uniforms), output.storage_mut());
    dispatch!(invert(classes, rows, uniforms, values));
    output
}

/// Sets the ones of `values`, which are zero.
#[inline(always)]
fn invert<const FMA: bool>(
    (classes, logits, uniforms, values): (usize, Cyclic<'_>, &[f32], &mut [f32]),
) {
    if logits.width == classes - 1 {
        return single::invert::<FMA>((classes, logits, uniforms, values));
    }
    let variables = logits.width / (classes - 1);
    let mut row = Row::new(variables, classes);
    for m in 0..logits.rows {
        row.set::<FMA>(logits.row(m));
        row.accumulate();
        for n in (m..uniforms.len() / variables).step_by(logits.rows) {
            let uniforms = &uniforms[n * variables..][..variables];
            let values = values[n * variables * classes..].chunks_exact_mut(classes);
            for ((&u, cumulative), value) in uniforms.iter().zip(row.by_variable()).zip(values) {
                let (total, cumulative) = cumulative.split_last().expect("a class");
                let scaled = u * total;
                let below = cumulative.iter().map(|&f| usize::from(scaled < f));
                value[cumulative.len() - below.sum::<usize>()] = 1.0;
            }
        }
    }
}

/// What follows from one row of logits.
pub(super) struct Row {
    classes: usize,
    /// φ of all classes, the pinned ones too: `[V, C]`.
    logits: Vec<f32>,
    /// e^(φ − m), m the largest φ of a variable; then what is made of them in place: `[V, C]`.
    weights: Vec<f32>,
    /// m: `[V]`.
    largest: Vec<f32>,
}

impl Row {
    pub(super) fn new(variables: usize, classes: usize) -> Self {
        Self {
            classes,
            logits: vec![0.0; variables * classes],
            weights: vec![0.0; variables * classes],
            largest: vec![0.0; variables],
        }
    }

    #[inline(always)]
    fn by_variable(&self) -> impl Iterator<Item = &[f32]> {
        self.weights.chunks_exact(self.classes)
    }

    #[inline(always)]
    pub(super) fn set<const FMA: bool>(&mut self, logits: &[f32]) {
        let all = self.logits.chunks_exact_mut(self.classes);
        let shifted = self.weights.chunks_exact_mut(self.classes);
        let variables = all.zip(shifted).zip(&mut self.largest);
        for (((all, shifted), largest), own) in variables.zip(logits.chunks_exact(self.classes - 1))
        {
            all[1..].copy_from_slice(own);
            *largest = all.iter().copied().fold(0.0, f32::max);
            for (shifted, logit) in shifted.iter_mut().zip(all) {
                *shifted = *logit - *largest;
            }
        }
        for weight in &mut self.weights {
            let e = exp::<FMA>(*weight);
            *weight = if *weight < EXP_IS_ZERO { 0.0 } else { e };
        }
    }

    /// Σ_v m + ln Σ_c e^(φ − m): one logarithm for many variables, in f64.
    #[inline(always)]
    fn normaliser(&self) -> f64 {
        let (mut sum, mut product) = (0.0, 1.0f64);
        for (&largest, weights) in self.largest.iter().zip(self.by_variable()) {
            sum += f64::from(largest);
            product *= f64::from(weights.iter().sum::<f32>());
            if product > FLUSH {
                sum += product.ln();
                product = 1.0;
            }
        }
        sum + product.ln()
    }

    /// φ − m − ln Σ_c e^(φ − m): `[V, C]`.
    #[inline(always)]
    pub(super) fn log_probabilities(&self, out: &mut [f32]) {
        let own = self.logits.chunks_exact(self.classes);
        let variables = own.zip(self.by_variable()).zip(&self.largest);
        for (((logits, weights), largest), out) in variables.zip(out.chunks_exact_mut(self.classes))
        {
            let logarithm = weights.iter().sum::<f32>().ln();
            let pairs = out.iter_mut().zip(logits);
            pairs.for_each(|(out, logit)| *out = logit - largest - logarithm);
        }
    }

    /// Weights become probabilities.
    #[inline(always)]
    fn normalise(&mut self) {
        for weights in self.weights.chunks_exact_mut(self.classes) {
            let inverse = 1.0 / weights.iter().sum::<f32>();
            weights.iter_mut().for_each(|w| *w *= inverse);
        }
    }

    /// Weights become cumulative weights.
    #[inline(always)]
    fn accumulate(&mut self) {
        for weights in self.weights.chunks_exact_mut(self.classes) {
            let mut sum = 0.0;
            weights.iter_mut().for_each(|w| {
                sum += *w;
                *w = sum;
            });
        }
    }

    /// values − probabilities without the first classes.
    #[inline(always)]
    fn subtract_from(&self, values: &[f32], residual: &mut [f32]) {
        let values = values.chunks_exact(self.classes);
        let residual = residual.chunks_exact_mut(self.classes - 1);
        for ((values, probabilities), residual) in values.zip(self.by_variable()).zip(residual) {
            let pairs = values[1..].iter().zip(&probabilities[1..]);
            for (r, (z, p)) in residual.iter_mut().zip(pairs) {
                *r = z - p;
            }
        }
    }
}

/// Σ a b, in f64: exact products, and for one-hot values an exact sum of few terms.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += f64::from(a[lane]) * f64::from(b[lane]);
        }
    }
    let tail = a_tail.iter().zip(b_tail);
    let tail: f64 = tail.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2⁻²⁴, the relative error of one rounding.
    const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

    /// The bounds of the tests in `tests/tests/ops`, for the row pass and the sampling compiled with or without fused multiply-add.
    /// There are one row of logits and two of values, which the uniforms ¼ and ¾ draw.
    fn check<const FMA: bool>() {
        for (variables, classes) in [(1, 2), (1, 3), (3, 5), (20, 10), (40, 17)] {
            for scale in [1.0, 80.0, 1e4] {
                let free = classes - 1;
                let unit = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 504.5 - 1.0;
                let logits: Vec<f32> = (0..variables * free).map(|i| scale * unit(i)).collect();
                let mut values = vec![0.0; 2 * variables * classes];
                let uniforms = [vec![0.25; variables], vec![0.75; variables]].concat();
                let rows = || Cyclic::new(&logits, variables * free);
                invert::<FMA>((classes, rows(), &uniforms, &mut values));
                let (mut log_prob, mut residual) = ([0.0; 2], vec![0.0; 2 * variables * free]);
                let drawn = Cyclic::new(&values, variables * classes);
                let out = Some(residual.as_mut_slice());
                score::<FMA>((classes, rows(), drawn, &mut log_prob, out));

                let bound = 1.5 * classes as f64 + 5.0;
                for (n, u) in [0.25, 0.75].into_iter().enumerate() {
                    let mut expected = 0.0;
                    for v in 0..variables {
                        let phi = |c: usize| match c {
                            0 => 0.0,
                            _ => f64::from(logits[v * free + c - 1]),
                        };
                        let largest = (0..classes).map(phi).fold(0.0, f64::max);
                        let weight = |c: usize| (phi(c) - largest).exp();
                        let total: f64 = (0..classes).map(weight).sum();
                        let below = |c: usize| (0..c).map(weight).sum::<f64>() / total;
                        let value = &values[(n * variables + v) * classes..][..classes];
                        let class = value.iter().position(|&z| z == 1.0).expect("a class");
                        let slack = 2.0 * bound * ROUNDING;
                        assert!(below(class) <= u + slack && u < below(class + 1) + slack);
                        expected += weight(class).ln() - total.ln();
                        for c in 1..classes {
                            let found = residual[(n * variables + v) * free + c - 1];
                            let expected = f64::from(value[c]) - weight(c) / total;
                            let error = (f64::from(found) - expected).abs();
                            assert!(error <= ROUNDING * (bound + 9.0));
                        }
                    }
                    let error = (f64::from(log_prob[n]) - expected).abs();
                    assert!(error <= ROUNDING * (variables as f64 * bound + expected.abs()));
                }
            }
        }
    }

    #[test]
    fn machines_with_and_without_fused_multiply_add_keep_the_bounds() {
        check::<true>();
        check::<false>();
    }
}
