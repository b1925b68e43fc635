//! Sums of numbers that are given by their logarithms.

use std::borrow::Borrow;

/// ln Σ exp(`log_terms`), with the maximum subtracted first; of a slice or of any iterator of numbers.
///
/// -inf terms are zeros, and the sum of nothing is -inf. A NaN or +inf term makes the sum NaN or +inf.
///
/// ```
/// use helmholtz_samplers::log_sum_exp;
/// let log_weights = vec![0.0, 3f64.ln()];
/// assert!((log_sum_exp(&log_weights) - 4f64.ln()).abs() < 1e-15);
/// assert_eq!(log_sum_exp([-1000.0, f64::NEG_INFINITY]), -1000.0);
/// assert!((log_sum_exp([800.0, 800.0]) - (800.0 + 2f64.ln())).abs() < 1e-12);
/// ```
pub fn log_sum_exp<I>(log_terms: I) -> f64
where
    I: IntoIterator<Item: Borrow<f64>>,
    I::IntoIter: Clone,
{
    let log_terms = log_terms.into_iter().map(|l| *l.borrow());
    let max = log_terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if max.is_infinite() {
        // All zeros or a +inf; the plain sum keeps these, and a NaN beside them.
        return log_terms.fold(max, |sum, l| if l.is_nan() { l } else { sum });
    }
    max + log_terms.map(|l| (l - max).exp()).sum::<f64>().ln()
}

/// The effective sample size (Σ w)² / Σ w² of weights given by their logarithms, between 1 and their number (Kish, 1965;
/// of importance weights Liu, 1996).
///
/// Only finite log-weights count, as nothing else can be chosen by a kernel; with none, it is 0.
pub fn effective_sample_size(log_weights: &[f64]) -> f64 {
    let finite = || log_weights.iter().copied().filter(|l| l.is_finite());
    let max = finite().fold(f64::NEG_INFINITY, f64::max);
    let (sum, squares) = finite()
        .map(|l| (l - max).exp())
        .fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    if squares > 0.0 {
        sum * sum / squares
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    #[test]
    fn a_sum_of_one_term_is_that_term_exactly() {
        for l in [0.1, -745.0, 1e300, NINF, f64::INFINITY] {
            assert_eq!(log_sum_exp([l]), l);
        }
    }

    #[test]
    fn extremes_do_not_overflow_or_vanish() {
        assert_eq!(log_sum_exp([0.0, -300.0]), 0.0);
        assert_eq!(log_sum_exp([80.0, 380.0]), 380.0);
        assert_eq!(log_sum_exp([-80.0; 4]), -80.0 + 4f64.ln());
        assert_eq!(log_sum_exp([f64::MAX, f64::MAX]), f64::MAX);
        assert_eq!(log_sum_exp([NINF, NINF]), NINF);
        assert_eq!(log_sum_exp([0.0; 0]), NINF);
    }

    #[test]
    fn nan_is_not_lost() {
        for terms in [
            [0.0, f64::NAN],
            [f64::NAN, NINF],
            [NINF, f64::NAN],
            [f64::INFINITY, f64::NAN],
        ] {
            assert!(log_sum_exp(terms).is_nan());
        }
    }

    #[test]
    fn effective_sample_size_counts_equal_weights_and_ignores_scale() {
        assert_eq!(effective_sample_size(&[-700.0; 5]), 5.0);
        assert_eq!(effective_sample_size(&[0.0, -300.0, NINF]), 1.0);
        let two_to_one = effective_sample_size(&[2f64.ln(), 0.0]);
        assert!((two_to_one - 9.0 / 5.0).abs() < 1e-15);
        assert_eq!(effective_sample_size(&[f64::NAN, NINF]), 0.0);
        assert_eq!(effective_sample_size(&[]), 0.0);
    }
}
