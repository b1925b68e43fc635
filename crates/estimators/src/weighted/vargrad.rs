//! VarGrad: the gradient of the log-variance loss.

use helmholtz_random::Chance;

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// 1/(K−1) Σ_k (ℓ_k − ℓ̄) ∇ log q(h_k | x) and (1/K) Σ_k ∇ log p(x, h_k), with ℓ̄ = (1/K) Σ_k ℓ_k. The former is the gradient in
/// φ of minus half ℓ's sample variance over draws from a q that is held (Richter, Boustati, Nüsken, Ruiz & Akyildiz 2020,
/// equation 10).
///
/// It is [`Rloo`](crate::Rloo) under another name: (ℓ_k − ℓ̄) / (K−1) = (ℓ_k − mean_{j≠k} ℓ_j) / K. So it is unbiased for
/// ∇ELBO, K ≥ 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VarGrad;

impl Weighting for VarGrad {
    fn description(&self) -> Description {
        Description {
            name: "vargrad",
            label: "VarGrad",
            idea: "the gradient of the variance of ℓ: `rloo` under another name",
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
        let mean = log_w.iter().sum::<f64>() / count;
        for (coefficient, l) in coefficients.iter_mut().zip(log_w) {
            *coefficient = Coefficient {
                theta: 1.0 / count,
                phi: (l - mean) / (count - 1.0),
            };
        }
        Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;
    use crate::Rloo;

    fn weighed(estimator: &impl Weighting, log_w: &[f64]) -> Vec<Coefficient> {
        let mut coefficients = vec![Coefficient::default(); log_w.len()];
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        estimator.weigh(log_w, false, &mut chance, &mut coefficients);
        coefficients
    }

    #[test]
    fn vargrad_is_rloo() {
        for log_w in [
            &[-3.0, 1.5][..],
            &[-3.0, 1.5, -0.2, 7.0],
            &[2.0, 2.0, 2.0, 2.0, -80.0],
        ] {
            let pairs = weighed(&VarGrad, log_w).into_iter();
            for (own, rloo) in pairs.zip(weighed(&Rloo, log_w)) {
                assert_eq!(own.theta, rloo.theta);
                assert!((own.phi - rloo.phi).abs() < 1e-14 * (1.0 + rloo.phi.abs()));
            }
        }
    }

    #[test]
    fn vargrad_is_the_gradient_of_half_the_sample_variance() {
        let log_w = [-3.0, 1.5, -0.2, 7.0];
        // φ enters ℓ as −log q, and log q of the k-th draw moves by as much as φ does.
        let variance = |log_w: &[f64]| {
            let count = log_w.len() as f64;
            let mean = log_w.iter().sum::<f64>() / count;
            let squares = log_w.iter().map(|l| (l - mean) * (l - mean));
            squares.sum::<f64>() / (count - 1.0)
        };
        let step = 1e-6;
        for (k, coefficient) in weighed(&VarGrad, &log_w).iter().enumerate() {
            let moved = |by: f64| {
                let mut log_w = log_w;
                log_w[k] -= by;
                -0.5 * variance(&log_w)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((slope - coefficient.phi).abs() < 1e-8);
        }
    }
}
