//! The score function of the importance-weighted bound, without a baseline.

use helmholtz_random::Chance;
use helmholtz_samplers::log_sum_exp;

use crate::weighted::rws::{non_finite, softmax};
use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Σ_k (L̂ − w̃_k) ∇ log q(h_k | x) and Σ_k w̃_k ∇ log p(x, h_k), with L̂ = ln (1/K) Σ_k w_k and w̃ = softmax(ℓ) (Mnih & Rezende 2016):
/// what [`Vimco`](crate::Vimco) takes its baselines from.
///
/// Unbiased for the gradient of the K-sample bound. All particles have the same signal L̂, so that its variance grows with K; with one
/// particle it is [`Reinforce`](crate::Reinforce) with ℓ − 1 for ℓ. A particle whose ℓ is not finite has weight zero and is counted in
/// [`Outcome::info`]; where none has weight, the signal is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReinforceBound;

impl Weighting for ReinforceBound {
    fn description(&self) -> Description {
        Description {
            name: "reinforce-bound",
            label: "REINFORCE (bound)",
            idea: "score function of the K-sample bound without a baseline",
            target: Target::Bound,
        }
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let finite = log_w.iter().copied().filter(|l| l.is_finite());
        let bound = log_sum_exp(finite) - (log_w.len() as f64).ln();
        let signal = if bound.is_finite() { bound } else { 0.0 };
        for (coefficient, weight) in coefficients.iter_mut().zip(softmax(log_w)) {
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

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    fn weighed(log_w: &[f64]) -> (Vec<Coefficient>, Outcome) {
        let mut coefficients = vec![Coefficient::default(); log_w.len()];
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        let outcome = ReinforceBound.weigh(log_w, false, &mut chance, &mut coefficients);
        (coefficients, outcome)
    }

    #[test]
    fn the_signal_is_the_bound_less_its_direct_derivative() {
        let w = [0.3f64, 2.0, 0.7];
        let (found, outcome) = weighed(&w.map(f64::ln));
        for (w, found) in w.iter().zip(found) {
            assert!((found.theta - w / 3.0).abs() < 1e-15);
            assert!((found.phi - (0.0 - w / 3.0)).abs() < 1e-15);
        }
        assert_eq!(outcome, Outcome::default());
        // A factor of all weights is in the signal alone.
        let (found, _) = weighed(&w.map(|w| w.ln() + 5.0));
        assert!(found.iter().all(|c| (c.phi + c.theta - 5.0).abs() < 1e-14));
    }

    #[test]
    fn one_particle_has_its_own_logarithm_and_impossible_ones_have_no_weight() {
        assert_eq!(
            weighed(&[-4.0]).0,
            [Coefficient {
                theta: 1.0,
                phi: -5.0
            }]
        );
        for bad in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
            let (found, outcome) = weighed(&[bad, -3.0]);
            let bound = -3.0 - 2f64.ln();
            assert_eq!(
                found[0],
                Coefficient {
                    theta: 0.0,
                    phi: bound
                }
            );
            assert_eq!(
                found[1],
                Coefficient {
                    theta: 1.0,
                    phi: bound - 1.0
                }
            );
            assert_eq!(outcome.info.non_finite, 1);
            assert_eq!(weighed(&[bad; 2]).0, [Coefficient::default(); 2]);
        }
    }
}
