//! VIMCO: the importance-weighted bound with a local baseline for each particle.

use helmholtz_random::Chance;
use helmholtz_samplers::log_sum_exp;

use crate::weighted::rws::{non_finite, softmax};
use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// The estimates are Σ_k (L̂ − L̂^{−k} − w̃_k) ∇ log q(h_k | x) and Σ_k w̃_k ∇ log p(x, h_k) (Mnih & Rezende 2016).
/// Here L̂ = ln (1/K) Σ_k w_k and w̃ = softmax(ℓ). L̂^{−k} is L̂ with w_k replaced by the geometric (or arithmetic)
/// mean of the others.
///
/// A particle whose ℓ is not finite has weight zero and is counted in [`Outcome::info`]. Where the weights of all others are zero
/// L̂^{−k} is −∞, and 0 is taken for it: any baseline will do that does not depend on h_k. Where all weights are zero, so is the
/// signal.
///
/// Unbiased for the gradient of the K-sample bound, K ≥ 2. The term −w̃_k is the direct derivative of the bound through
/// the log-weights; its mean is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vimco {
    /// Replace w_k by the arithmetic mean of the others.
    pub arithmetic: bool,
}

impl Weighting for Vimco {
    fn description(&self) -> Description {
        match self.arithmetic {
            false => Description {
                name: "vimco",
                label: "VIMCO",
                idea: "local baselines on the K-sample bound",
                target: Target::Bound,
            },
            true => Description {
                name: "vimco-arithmetic",
                label: "VIMCO (arithmetic)",
                idea: "VIMCO with the arithmetic mean of the other weights",
                target: Target::Bound,
            },
        }
    }

    fn least_particles(&self, _retained: bool) -> usize {
        2
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
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
        Outcome {
            state: 0,
            info: non_finite(log_w),
        }
    }
}

/// L̂ − L̂^{−k}, by one log-sum-exp over K terms for each k: never as a difference of exponentials.
fn signals(log_w: &[f64], arithmetic: bool) -> impl Iterator<Item = f64> {
    let or_zero = |&l: &f64| if l.is_finite() { l } else { f64::NEG_INFINITY };
    let log_w: Vec<f64> = log_w.iter().map(or_zero).collect();
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
        let without = log_sum_exp(rest().chain([mean]));
        match (bound.is_finite(), without.is_finite()) {
            (true, true) => bound - without,
            (true, false) => bound - (others + 1.0).ln(),
            (false, _) => 0.0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_two_particles_the_bound_without_one_is_the_other() {
        let log_w = [-2.5, 0.75];
        let bound = log_sum_exp(log_w) - 2f64.ln();
        let excluded: Vec<f64> = signals(&log_w, false).map(|s| bound - s).collect();
        assert!((excluded[0] - log_w[1]).abs() < 1e-14);
        assert!((excluded[1] - log_w[0]).abs() < 1e-14);
    }

    #[test]
    fn one_dominating_weight_stays_finite() {
        let signals: Vec<f64> = signals(&[0.0, -300.0, -301.0], false).collect();
        // Without the first, the terms are −300, −301 and their mean −300.5.
        let rest = (1.0f64 + (-1.0f64).exp() + (-0.5f64).exp()).ln();
        assert!((signals[0] - (300.0 - rest)).abs() < 1e-10);
        assert!(signals[1].abs() < 1e-12 && signals[2].abs() < 1e-12);
    }

    #[test]
    fn the_only_possible_particle_has_the_bound_as_its_signal() {
        for impossible in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
            for arithmetic in [false, true] {
                let signals = |log_w: &[f64]| -> Vec<f64> { signals(log_w, arithmetic).collect() };
                let of_two = signals(&[-3.0, impossible]);
                // L̂ = −3 − ln 2, and without the second the first stands twice.
                assert!((of_two[0] + 3.0 + 2f64.ln()).abs() < 1e-14);
                assert!((of_two[1] + 2f64.ln()).abs() < 1e-14);
                let of_three = signals(&[impossible, -3.0, impossible]);
                assert!((of_three[1] + 3.0 + 3f64.ln()).abs() < 1e-14);
                assert_eq!(signals(&[impossible; 3]), [0.0; 3]);
            }
        }
    }
}
