//! VIMCO (Mnih & Rezende 2016): the importance-weighted bound with a local baseline for each particle.

use helmholtz_random::Chance;
use helmholtz_samplers::log_sum_exp;

use crate::rws::softmax;
use crate::{Coefficient, Outcome, Weighting};

/// With L̂ = ln (1/K) Σ_k w_k and L̂^{−k} the same with w_k replaced by the geometric (or arithmetic) mean of the others:
/// Σ_k (L̂ − L̂^{−k} − w̃_k) ∇ log q(h_k | x) and Σ_k w̃_k ∇ log p(x, h_k), w̃ = softmax(ℓ).
///
/// Unbiased for the gradient of the K-sample bound, K ≥ 2. The term −w̃_k is the direct derivative of the bound through
/// the log-weights; its mean is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vimco {
    /// Replace w_k by the arithmetic mean of the others.
    pub arithmetic: bool,
}

impl Weighting for Vimco {
    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut impl Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let weights = softmax(log_w);
        for (coefficient, (signal, weight)) in coefficients
            .iter_mut()
            .zip(signals(log_w, self.arithmetic).zip(weights))
        {
            *coefficient = Coefficient {
                theta: weight,
                phi: signal - weight,
            };
        }
        Outcome::default()
    }
}

/// L̂ − L̂^{−k}, by one log-sum-exp over K terms for each k: never as a difference of exponentials.
fn signals(log_w: &[f64], arithmetic: bool) -> impl Iterator<Item = f64> {
    let bound = log_sum_exp(log_w.iter().copied());
    let others = log_w.len() as f64 - 1.0;
    (0..log_w.len()).map(move |k| {
        let rest = || {
            log_w
                .iter()
                .enumerate()
                .filter(move |(j, _)| *j != k)
                .map(|(_, &l)| l)
        };
        let mean = match arithmetic {
            true => log_sum_exp(rest()) - others.ln(),
            false => rest().sum::<f64>() / others,
        };
        bound - log_sum_exp(rest().chain([mean]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_two_particles_the_bound_without_one_is_the_other() {
        let log_w = [-2.5, 0.75];
        let bound = log_sum_exp(log_w) - 2f64.ln();
        let left_out: Vec<f64> = signals(&log_w, false).map(|s| bound - s).collect();
        assert!((left_out[0] - log_w[1]).abs() < 1e-14);
        assert!((left_out[1] - log_w[0]).abs() < 1e-14);
    }

    #[test]
    fn one_dominating_weight_stays_finite() {
        let signals: Vec<f64> = signals(&[0.0, -300.0, -301.0], false).collect();
        // Without the first, the terms are −300, −301 and their mean −300.5.
        let rest = (1.0f64 + (-1.0f64).exp() + (-0.5f64).exp()).ln();
        assert!((signals[0] - (300.0 - rest)).abs() < 1e-10);
        assert!(signals[1].abs() < 1e-12 && signals[2].abs() < 1e-12);
    }
}
