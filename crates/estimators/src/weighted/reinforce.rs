//! REINFORCE: the score-function estimator without a baseline.

use helmholtz_random::Chance;

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// (1/K) Σ_k ℓ_k ∇ log q(h_k | x) and (1/K) Σ_k ∇ log p(x, h_k): unbiased for ∇ELBO (Williams 1992).
///
/// The derivative of −log q inside ℓ has mean zero and is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reinforce {
    /// Subtract from ℓ its mean over the mini-batch. Slightly biased: each datum's own ℓ is in that mean.
    pub centred: bool,
}

impl Weighting for Reinforce {
    fn description(&self) -> Description {
        match self.centred {
            false => Description {
                name: "reinforce",
                label: "REINFORCE",
                idea: "score function without a baseline",
                target: Target::Elbo,
            },
            true => Description {
                name: "reinforce-centred",
                label: "REINFORCE (centred)",
                idea: "score function less the mean of the mini-batch (slightly biased)",
                target: Target::Nothing,
            },
        }
    }

    fn centres(&self) -> bool {
        self.centred
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        _chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let share = 1.0 / log_w.len() as f64;
        for (coefficient, &l) in coefficients.iter_mut().zip(log_w) {
            *coefficient = Coefficient {
                theta: share,
                phi: share * l,
            };
        }
        Outcome::default()
    }
}
