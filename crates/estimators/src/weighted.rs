//! The weighted family: coefficients on log p and log q from log-weights. Its estimators, chosen at run time.

mod chains;
mod coupled;
pub(crate) mod estimate;
mod jsa;
mod msc;
mod ovis;
mod reinforce;
mod rloo;
pub(crate) mod rws;
mod states;
mod tvo;
mod vargrad;
mod vimco;
mod wake_sleep;
mod weighting;

use helmholtz_random::Chance;
use helmholtz_samplers::{FrozenReferenceMis, Mis, Mtmis};

use crate::Description;

pub use chains::{Chains, refresh, scatter};
pub use coupled::CoupledChains;
pub use estimate::{Estimate, EstimateError, dreams, estimate};
pub use jsa::{Jsa, JsaKernel};
pub use msc::Msc;
pub use ovis::{Ovis, OvisMonteCarlo};
pub use reinforce::Reinforce;
pub use rloo::Rloo;
pub use rws::Rws;
pub use tvo::Tvo;
pub use vargrad::VarGrad;
pub use vimco::Vimco;
pub use wake_sleep::WakeSleep;
pub use weighting::{Coefficient, Outcome, Weighting};

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
    /// [`VarGrad`].
    VarGrad(VarGrad),
    /// [`Vimco`].
    Vimco(Vimco),
    /// [`Ovis`].
    Ovis(Ovis),
    /// [`OvisMonteCarlo`].
    OvisMonteCarlo(OvisMonteCarlo),
    /// [`Tvo`].
    Tvo(Tvo),
}

/// What the same call gives of whichever estimator it is; after `as`, made a [`Weighted`] again.
macro_rules! delegate {
    ($self:ident as Weighted, $estimator:ident => $call:expr) => {
        match $self {
            Weighted::Jsa($estimator) => Weighted::Jsa($call),
            Weighted::JsaMtmis($estimator) => Weighted::JsaMtmis($call),
            Weighted::JsaFrozenReference($estimator) => Weighted::JsaFrozenReference($call),
            Weighted::Msc($estimator) => Weighted::Msc($call),
            Weighted::WakeSleep($estimator) => Weighted::WakeSleep($call),
            Weighted::Rws($estimator) => Weighted::Rws($call),
            Weighted::Reinforce($estimator) => Weighted::Reinforce($call),
            Weighted::Rloo($estimator) => Weighted::Rloo($call),
            Weighted::VarGrad($estimator) => Weighted::VarGrad($call),
            Weighted::Vimco($estimator) => Weighted::Vimco($call),
            Weighted::Ovis($estimator) => Weighted::Ovis($call),
            Weighted::OvisMonteCarlo($estimator) => Weighted::OvisMonteCarlo($call),
            Weighted::Tvo($estimator) => Weighted::Tvo($call),
        }
    };
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
            Weighted::VarGrad($estimator) => $call,
            Weighted::Vimco($estimator) => $call,
            Weighted::Ovis($estimator) => $call,
            Weighted::OvisMonteCarlo($estimator) => $call,
            Weighted::Tvo($estimator) => $call,
        }
    };
}

impl Weighting for Weighted {
    fn description(&self) -> Description {
        delegate!(self, e => e.description())
    }

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

    fn awake(self) -> Self {
        delegate!(self as Weighted, e => e.awake())
    }

    fn with_stage1_extra(self, extra: bool) -> Self {
        delegate!(self as Weighted, e => e.with_stage1_extra(extra))
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
