//! The estimators of the weighted family, chosen at run time.

use helmholtz_random::Chance;
use helmholtz_samplers::{FrozenReferenceMis, Mis, Mtmis};

use crate::{Coefficient, Jsa, Msc, Outcome, Reinforce, Rloo, Rws, Vimco, WakeSleep, Weighting};

/// A weighted estimator chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighted {
    /// [`Jsa`] with Metropolis independence moves.
    Jsa(Jsa<Mis>),
    /// [`Jsa`] with the multiple-trial move.
    JsaMtmis(Jsa<Mtmis>),
    /// [`Jsa`] with the released code's defect, an ablation.
    JsaFrozenReference(Jsa<FrozenReferenceMis>),
    /// [`Msc`].
    Msc(Msc),
    /// [`WakeSleep`].
    WakeSleep(WakeSleep),
    /// [`Rws`].
    Rws(Rws),
    /// [`Reinforce`].
    Reinforce(Reinforce),
    /// [`Rloo`].
    Rloo(Rloo),
    /// [`Vimco`].
    Vimco(Vimco),
}

impl Weighted {
    /// The same method with this many stage-I particles beyond K, where it has a stage I ([`Jsa::stage1_extra`]).
    pub fn with_stage1_extra(self, extra: bool) -> Self {
        match self {
            Self::Jsa(jsa) => Self::Jsa(Jsa {
                stage1_extra: extra,
                ..jsa
            }),
            Self::JsaMtmis(jsa) => Self::JsaMtmis(Jsa {
                stage1_extra: extra,
                ..jsa
            }),
            Self::JsaFrozenReference(jsa) => Self::JsaFrozenReference(Jsa {
                stage1_extra: extra,
                ..jsa
            }),
            other => other,
        }
    }

    /// The same method without a sleep phase, where it has one.
    pub fn awake(self) -> Self {
        match self {
            Self::WakeSleep(_) => Self::WakeSleep(WakeSleep { sleep: false }),
            Self::Rws(rws) => Self::Rws(Rws {
                sleep: false,
                ..rws
            }),
            other => other,
        }
    }
}

/// Calls the same method of whichever estimator it is.
macro_rules! delegate {
    ($self:ident, $estimator:ident => $call:expr) => {
        match $self {
            Weighted::Jsa($estimator) => $call,
            Weighted::JsaMtmis($estimator) => $call,
            Weighted::JsaFrozenReference($estimator) => $call,
            Weighted::Msc($estimator) => $call,
            Weighted::WakeSleep($estimator) => $call,
            Weighted::Rws($estimator) => $call,
            Weighted::Reinforce($estimator) => $call,
            Weighted::Rloo($estimator) => $call,
            Weighted::Vimco($estimator) => $call,
        }
    };
}

impl Weighting for Weighted {
    fn proposals(&self, particles: usize, retained: bool) -> usize {
        delegate!(self, e => e.proposals(particles, retained))
    }

    fn least_particles(&self, retained: bool) -> usize {
        delegate!(self, e => e.least_particles(retained))
    }

    fn centres(&self) -> bool {
        delegate!(self, e => e.centres())
    }

    fn sleeps(&self) -> bool {
        delegate!(self, e => e.sleeps())
    }

    fn keeps_chains(&self) -> bool {
        delegate!(self, e => e.keeps_chains())
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut impl Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        delegate!(self, e => e.weigh(log_w, retained, chance, coefficients))
    }
}
