//! REINFORCE with leave-one-out baselines, on the ELBO.

use helmholtz_random::Chance;

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// (1/K) Σ_k (ℓ_k − mean_{j≠k} ℓ_j) ∇ log q(h_k | x) and (1/K) Σ_k ∇ log p(x, h_k): unbiased for ∇ELBO, K ≥ 2
/// (Kool, van Hoof & Welling 2019).
///
/// This is what the released code of joint stochastic approximation (Ou & Song 2020) runs under the name "VIMCO". There it is written
/// K/(K−1) · (ℓ_k − mean_j ℓ_j), which is the same number. Log-weights must be finite: another gives NaN or infinite coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rloo;

impl Weighting for Rloo {
    fn description(&self) -> Description {
        Description {
            name: "rloo",
            label: "RLOO",
            idea: "leave-one-out baselines: what JSA's paper and code call VIMCO",
            target: Target::Elbo,
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
        let count = log_w.len() as f64;
        let sum: f64 = log_w.iter().sum();
        for (coefficient, &l) in coefficients.iter_mut().zip(log_w) {
            *coefficient = Coefficient {
                theta: 1.0 / count,
                phi: (l - (sum - l) / (count - 1.0)) / count,
            };
        }
        Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    #[test]
    fn the_leave_one_out_signal_is_the_rescaled_centred_one() {
        let log_w = [-3.0, 1.5, -0.2, 7.0];
        let (count, mean) = (4.0, log_w.iter().sum::<f64>() / 4.0);
        let mut coefficients = [Coefficient::default(); 4];
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        Rloo.weigh(&log_w, false, &mut chance, &mut coefficients);
        for (coefficient, l) in coefficients.iter().zip(log_w) {
            let centred = count / (count - 1.0) * (l - mean) / count;
            assert!((coefficient.phi - centred).abs() < 1e-14);
        }
    }
}
