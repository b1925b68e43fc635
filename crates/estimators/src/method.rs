//! All estimators by name.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise, Relaxable};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{
    Arm, Arms, Chains, Control, Controls, ControlsConfig, Disarm, Estimate, EstimateError,
    GumbelSoftmax, Half, Jsa, Layered, Learned, Model, Msc, MuProp, Nvil, Rebar, Reinforce, Rloo,
    Rws, SlopeAnnealed, StraightThrough, Vimco, WakeSleep, Weighted, Weighting, estimate,
    estimate_logits, estimate_pathwise,
};

/// An estimator chosen at run time. A new one is its own file, a variant of its family, and a line in [`Method::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Coefficients on log p and log q from log-weights.
    Weighted(Weighted),
    /// [`Nvil`].
    Nvil(Nvil),
    /// [`MuProp`].
    MuProp(MuProp),
    /// [`Rebar`] and RELAX.
    Rebar(Rebar),
    /// [`GumbelSoftmax`], soft or straight-through.
    GumbelSoftmax(GumbelSoftmax),
    /// [`StraightThrough`].
    StraightThrough(StraightThrough),
    /// One that is defined for bits alone.
    OfBits(OfBits),
}

/// An estimator for bits, chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfBits {
    /// [`Arm`].
    Arm(Arm),
    /// [`Disarm`].
    Disarm(Disarm),
    /// [`Arms`].
    Arms(Arms),
    /// [`SlopeAnnealed`], its slope growing with the epochs.
    SlopeAnnealed,
    /// [`Half`].
    Half(Half),
}

/// What a method is given for one batch.
pub struct Batch<'a, B: AutodiffBackend, S: ?Sized> {
    /// Data `[batch, visible]`.
    pub x: Tensor<B, 2>,
    /// Their chains, for a method in its second stage.
    pub chains: Option<Chains<'a, S>>,
    /// K.
    pub particles: usize,
    /// The epoch, from 0, for what changes with it.
    pub epoch: u64,
}

impl Method {
    /// Every method and its name.
    pub const NAMES: [(&str, Self); 28] = [
        ("jsa", Self::Weighted(Weighted::Jsa(Jsa::MIS))),
        ("jsa-mtmis", Self::Weighted(Weighted::JsaMtmis(Jsa::MTMIS))),
        (
            "jsa-frozen-reference",
            Self::Weighted(Weighted::JsaFrozenReference(Jsa::FROZEN_REFERENCE)),
        ),
        ("msc", Self::Weighted(Weighted::Msc(Msc))),
        ("ws", Self::Weighted(Weighted::WakeSleep(WakeSleep))),
        ("rws", Self::Weighted(Weighted::Rws(Rws::WAKE))),
        ("rws-sleep", Self::Weighted(Weighted::Rws(Rws::SLEEP))),
        (
            "rws-wake-sleep",
            Self::Weighted(Weighted::Rws(Rws::WAKE_SLEEP)),
        ),
        (
            "reinforce",
            Self::Weighted(Weighted::Reinforce(Reinforce { centred: false })),
        ),
        (
            "reinforce-centred",
            Self::Weighted(Weighted::Reinforce(Reinforce { centred: true })),
        ),
        ("rloo", Self::Weighted(Weighted::Rloo(Rloo))),
        (
            "vimco",
            Self::Weighted(Weighted::Vimco(Vimco { arithmetic: false })),
        ),
        (
            "vimco-arithmetic",
            Self::Weighted(Weighted::Vimco(Vimco { arithmetic: true })),
        ),
        ("nvil", Self::Nvil(Nvil { normalise: true })),
        ("muprop", Self::MuProp(MuProp)),
        ("arm", Self::OfBits(OfBits::Arm(Arm))),
        ("disarm", Self::OfBits(OfBits::Disarm(Disarm))),
        ("arms", Self::OfBits(OfBits::Arms(Arms))),
        (
            "rebar",
            Self::Rebar(Rebar {
                control: Control::Relaxed,
                tied: false,
            }),
        ),
        (
            "rebar-tied",
            Self::Rebar(Rebar {
                control: Control::Relaxed,
                tied: true,
            }),
        ),
        (
            "relax",
            Self::Rebar(Rebar {
                control: Control::RelaxedAndFree,
                tied: false,
            }),
        ),
        (
            "relax-tied",
            Self::Rebar(Rebar {
                control: Control::RelaxedAndFree,
                tied: true,
            }),
        ),
        (
            "relax-all",
            Self::Rebar(Rebar {
                control: Control::Free,
                tied: false,
            }),
        ),
        (
            "gumbel-softmax",
            Self::GumbelSoftmax(GumbelSoftmax {
                temperature: 2.0 / 3.0,
                hard: false,
            }),
        ),
        (
            "st-gumbel-softmax",
            Self::GumbelSoftmax(GumbelSoftmax {
                temperature: 1.0,
                hard: true,
            }),
        ),
        ("straight-through", Self::StraightThrough(StraightThrough)),
        ("slope-annealed", Self::OfBits(OfBits::SlopeAnnealed)),
        ("half", Self::OfBits(OfBits::Half(Half))),
    ];

    /// The same method with this many stage-I particles beyond K, where it has a stage I ([`Jsa::stage1_extra`]).
    pub fn with_stage1_extra(self, extra: bool) -> Self {
        match self {
            Self::Weighted(weighted) => Self::Weighted(weighted.with_stage1_extra(extra)),
            other => other,
        }
    }

    /// Whether a chain per datum is kept in its second stage.
    pub fn keeps_chains(&self) -> bool {
        matches!(self, Self::Weighted(weighted) if weighted.keeps_chains())
    }

    /// The least particle number K for which it is defined, with chain states at hand or not.
    pub fn least_particles(&self, retained: bool) -> usize {
        match self {
            Self::Weighted(weighted) => weighted.least_particles(retained),
            Self::OfBits(OfBits::Arms(_)) => 2,
            _ => 1,
        }
    }

    /// What it learns beside the model.
    pub fn controls(&self) -> ControlsConfig {
        match self {
            Self::Nvil(_) => Nvil::CONTROLS,
            Self::MuProp(_) => MuProp::CONTROLS,
            Self::Rebar(rebar) => rebar.controls(),
            _ => ControlsConfig::default(),
        }
    }

    /// One gradient estimate. What is learned must be what [`Method::controls`] names.
    ///
    /// # Errors
    /// [`EstimateError`].
    ///
    /// # Panics
    /// If `learned` is not this method's.
    pub fn estimate<B, M, S>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B>,
        S: ChainStore + ?Sized,
    {
        let Learned { controls, moments } = learned;
        let controls =
            || -> &Controls<B> { controls.as_ref().expect("this method's controls were made") };
        let Batch {
            x,
            chains,
            particles: k,
            epoch,
        } = batch;
        match self {
            Self::Weighted(weighted) => estimate(weighted, model, x, chains, k, noise, chance),
            Self::Nvil(nvil) => nvil.estimate(model, controls(), moments, x, k, noise),
            Self::MuProp(muprop) => muprop.estimate(model, controls(), x, k, noise),
            Self::Rebar(rebar) => rebar.estimate(model, controls(), x, k, noise),
            Self::GumbelSoftmax(gumbel) => estimate_pathwise(gumbel, model, x, k, noise),
            Self::StraightThrough(through) => estimate_pathwise(through, model, x, k, noise),
            Self::OfBits(of_bits) => {
                M::Variables::estimate_of_bits(*of_bits, model, x, k, epoch, noise)
            }
        }
    }
}

/// Latents of models for which an estimator may be chosen at run time.
pub trait Latent: Relaxable {
    /// One gradient estimate by an estimator for bits, where these are bits.
    ///
    /// # Errors
    /// [`EstimateError::NotBits`] where they are not, and what the estimator reports.
    fn estimate_of_bits<B, M>(
        method: OfBits,
        model: &M,
        x: Tensor<B, 2>,
        particles: usize,
        epoch: u64,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B> + Layered<B, Variables = Self>;
}

impl Latent for Bits {
    fn estimate_of_bits<B, M>(
        method: OfBits,
        model: &M,
        x: Tensor<B, 2>,
        particles: usize,
        epoch: u64,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B> + Layered<B, Variables = Self>,
    {
        let k = particles;
        match method {
            OfBits::Arm(arm) => estimate_logits(&arm, model, x, k, noise),
            OfBits::Disarm(disarm) => estimate_logits(&disarm, model, x, k, noise),
            OfBits::Arms(arms) => estimate_logits(&arms, model, x, k, noise),
            OfBits::SlopeAnnealed => {
                estimate_pathwise(&SlopeAnnealed::at_epoch(epoch), model, x, k, noise)
            }
            OfBits::Half(half) => estimate_pathwise(&half, model, x, k, noise),
        }
    }
}

/// A name that no estimator has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method `{name}`; choose one of {}", Names)]
pub struct UnknownMethod {
    /// The name that was asked for.
    pub name: String,
}

struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Method::NAMES.map(|(name, _)| name).join(", "))
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, method)| *method)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_an_unknown_one_lists_them() {
        for (name, method) in Method::NAMES {
            assert_eq!(name.parse(), Ok(method));
        }
        let error = "jas".parse::<Method>().unwrap_err().to_string();
        assert!(
            error.contains("`jas`") && error.contains("jsa-mtmis, jsa-frozen-reference"),
            "{error}"
        );
    }
}
