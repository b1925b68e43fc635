//! Joint stochastic approximation.

use helmholtz_random::Chance;
use helmholtz_samplers::{FrozenReferenceMis, IndexKernel, Mis, Mtmis, Visits};

use crate::{Coefficient, Description, Outcome, Target, Weighting};

/// Ascends log p and log q at the states of a Markov chain that leaves p(h | x) invariant and proposes from q. Both
/// gradients are posterior expectations by the Fisher identity, and chain states replace posterior draws (Xu & Ou
/// 2016; Ou & Song 2020).
///
/// Each particle's two coefficients are α_j = #{visits of state j} / #visits. With a retained state (stage II) the chain starts there.
/// Without one (stage I) the first proposal is its own start, and only counts where the chain stays in it
/// after a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jsa<K> {
    /// The kernel.
    pub kernel: K,
    /// Stage I: propose one particle more than K, so that the chain makes K moves and not K − 1. The released Bernoulli
    /// code makes K − 1; the released categorical code intends K.
    pub stage1_extra: bool,
}

impl Jsa<Mis> {
    /// With Metropolis independence moves, one a proposal.
    pub const MIS: Self = Self {
        kernel: Mis,
        stage1_extra: false,
    };
}

impl Jsa<Mtmis> {
    /// With one multiple-trial move among all proposals.
    pub const MTMIS: Self = Self {
        kernel: Mtmis,
        stage1_extra: false,
    };
}

impl Jsa<FrozenReferenceMis> {
    /// With the kernel of the released categorical script, which does not leave the posterior invariant.
    pub const FROZEN_REFERENCE: Self = Self {
        kernel: FrozenReferenceMis,
        stage1_extra: false,
    };
}

/// A kernel that JSA may move its chains with.
pub trait JsaKernel: IndexKernel {
    /// What JSA with this kernel is, and claims; unless stated, the name of the kernel's type and no claim.
    fn jsa(&self) -> Description {
        Description::of_type::<Self>()
    }
}

impl JsaKernel for Mis {
    fn jsa(&self) -> Description {
        Description {
            name: "jsa",
            label: "JSA",
            idea: "chain states, moved by Metropolis independence sampling",
            target: Target::Inclusive,
        }
    }
}

impl JsaKernel for Mtmis {
    fn jsa(&self) -> Description {
        Description {
            name: "jsa-mtmis",
            label: "JSA (MTMIS)",
            idea: "chain states, moved by one multiple-trial step",
            target: Target::Inclusive,
        }
    }
}

impl JsaKernel for FrozenReferenceMis {
    fn jsa(&self) -> Description {
        Description {
            name: "jsa-frozen-reference",
            label: "JSA (frozen reference)",
            idea: "ablation: the accept test of released code, which is not invariant",
            target: Target::Nothing,
        }
    }
}

impl<K: JsaKernel> Weighting for Jsa<K> {
    fn description(&self) -> Description {
        self.kernel.jsa()
    }

    fn proposals(&self, particles: usize, retained: bool) -> usize {
        particles + usize::from(self.stage1_extra && !retained)
    }

    fn least_particles(&self, retained: bool) -> usize {
        // Without a chain state the first proposal is the start, and there must be another to move to.
        if retained || self.stage1_extra { 1 } else { 2 }
    }

    fn keeps_chains(&self) -> bool {
        true
    }

    fn with_stage1_extra(self, extra: bool) -> Self {
        Self {
            stage1_extra: extra,
            ..self
        }
    }

    fn weigh(
        &self,
        log_w: &[f64],
        _retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let mut visits = Vec::with_capacity(log_w.len());
        let info = self.kernel.run(log_w[0], &log_w[1..], chance, &mut visits);
        let visits = Visits::new(&visits);
        let alphas = visits.coefficients(log_w.len());
        for (coefficient, alpha) in coefficients.iter_mut().zip(alphas) {
            *coefficient = Coefficient {
                theta: alpha,
                phi: alpha,
            };
        }
        Outcome {
            state: visits.last(),
            info,
        }
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    #[test]
    fn a_rejected_start_counts_and_an_accepted_one_does_not() {
        let mut chance = Stream::new(1, Purpose::new("test"), [0, 0]);
        let mut coefficients = [Coefficient::default(); 3];
        let jsa = Jsa::MIS;
        let outcome = jsa.weigh(&[0.0, -400.0, -400.0], true, &mut chance, &mut coefficients);
        assert_eq!((outcome.state, coefficients[0].theta), (0, 1.0));
        let outcome = jsa.weigh(&[0.0, 1.0, 2.0], true, &mut chance, &mut coefficients);
        assert_eq!(outcome.state, 2);
        assert_eq!(coefficients.map(|c| c.theta), [0.0, 0.5, 0.5]);
        assert_eq!(coefficients.map(|c| c.phi), [0.0, 0.5, 0.5]);
    }

    #[test]
    fn stage_1_makes_one_move_less_than_it_has_proposals() {
        assert_eq!(Jsa::MIS.proposals(2, false), 2);
        let extra = Jsa {
            stage1_extra: true,
            ..Jsa::MIS
        };
        assert_eq!(
            (extra.proposals(2, false), extra.proposals(2, true)),
            (3, 2)
        );
    }
}
