//! Markovian score climbing (Naesseth, Lindsten & Blei 2020).

use helmholtz_random::Chance;
use helmholtz_samplers::{Cis, IndexKernel, Visits};

use crate::weighted::rws::{non_finite, softmax};
use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Conditional importance sampling keeps the chain: among S particles, the retained state and S − 1 proposals, the next
/// state is J ~ w̃ = softmax(ℓ). Both gradients are Σ_s w̃_s ∇ at all S, the mean over J (Naesseth et al. 2020, algorithm 2;
/// θ by the same weights is an extension).
///
/// K = S. Without a retained state (before the chains are started) it is [`Rws`](crate::Rws)'s wake phase. A particle whose ℓ is
/// not finite has weight zero; if none is finite the chain stays, and its state has all of the weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Msc;

impl Weighting for Msc {
    fn description(&self) -> Description {
        Description {
            name: "msc",
            label: "MSC",
            idea: "conditional importance sampling moves the chain",
            target: Target::Inclusive,
        }
    }

    fn proposals(&self, particles: usize, retained: bool) -> usize {
        particles.saturating_sub(usize::from(retained))
    }

    fn least_particles(&self, retained: bool) -> usize {
        if retained { 2 } else { 1 }
    }

    fn keeps_chains(&self) -> bool {
        true
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        for (coefficient, weight) in coefficients.iter_mut().zip(softmax(log_w)) {
            *coefficient = Coefficient {
                theta: weight,
                phi: weight,
            };
        }
        if !retained {
            return Outcome {
                state: 0,
                info: non_finite(log_w),
            };
        }
        if log_w.iter().all(|l| !l.is_finite()) {
            coefficients[0] = Coefficient {
                theta: 1.0,
                phi: 1.0,
            };
        }
        let mut visits = Vec::with_capacity(1);
        let info = Cis.run(log_w[0], &log_w[1..], chance, &mut visits);
        Outcome {
            state: Visits::new(&visits).last(),
            info,
        }
    }
}
