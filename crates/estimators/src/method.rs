//! All estimators by name.

use std::fmt;
use std::str::FromStr;

use helmholtz_distributions::{Bits, Classes, Mixed, Noise, Relaxable};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Layer};

use crate::{
    Ar, Arm, Arms, Ars, Arsm, Chains, Concrete, Controls, ControlsConfig, Disarm, DisarmBound,
    DoubleCv, Estimate, EstimateError, GumbelSoftmax, Half, Layered, Learned, LearnedGumbelSoftmax,
    Model, MuProp, Nvil, Race, Rebar, ReinMax, Rodeo, SlopeAnnealed, StraightThrough, Weighted,
    Weighting, estimate, estimate_leave_one_out, estimate_logits, estimate_logits_with_kl,
    estimate_pathwise, estimate_pathwise_with_kl,
};

/// An estimator chosen at run time. A new one is its own file, a variant of its family, and an entry of
/// [`Method::CATALOGUE`].
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
    /// [`LearnedGumbelSoftmax`].
    LearnedGumbelSoftmax,
    /// [`StraightThrough`].
    StraightThrough(StraightThrough),
    /// [`ReinMax`].
    ReinMax(ReinMax),
    /// [`Ar`].
    Ar(Ar),
    /// [`Ars`].
    Ars(Ars),
    /// [`Arsm`].
    Arsm(Arsm),
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
    /// [`DisarmBound`].
    DisarmBound(DisarmBound),
    /// [`DoubleCv`].
    DoubleCv(DoubleCv),
    /// [`Rodeo`].
    Rodeo(Rodeo),
    /// [`Concrete`].
    Concrete(Concrete),
    /// [`SlopeAnnealed`], its slope growing with the epochs.
    SlopeAnnealed,
    /// [`Half`].
    Half(Half),
}

/// What a method is given for one batch.
pub struct Batch<'a, B: AutodiffBackend, S: ?Sized> {
    /// Data `[batch, visible]`.
    pub x: Values<B>,
    /// Their chains, for a method in its second stage; none for one that keeps none.
    pub chains: Option<Chains<'a, S>>,
    /// K.
    pub particles: usize,
    /// The epoch, from 0, for what changes with it.
    pub epoch: u64,
    /// Whether KL(q ‖ p(h)) is in closed form, by a method that [takes it so](Method::takes_analytic_kl), of a model of one
    /// stochastic layer.
    pub analytic_kl: bool,
}

impl Method {
    /// The same method with this many stage-I particles beyond K, where it has a stage I ([`Jsa::stage1_extra`](crate::Jsa::stage1_extra)).
    pub fn with_stage1_extra(self, extra: bool) -> Self {
        match self {
            Self::Weighted(weighted) => Self::Weighted(weighted.with_stage1_extra(extra)),
            other => other,
        }
    }

    /// The same method without a sleep phase, where it has one: for those who dream apart from it ([`dreams`](crate::dreams)).
    pub fn awake(self) -> Self {
        match self {
            Self::Weighted(weighted) => Self::Weighted(weighted.awake()),
            other => other,
        }
    }

    /// Whether the inference model also learns from dreams.
    pub fn sleeps(&self) -> bool {
        matches!(self, Self::Weighted(weighted) if weighted.sleeps())
    }

    /// Whether a chain per datum is kept in its second stage.
    pub fn keeps_chains(&self) -> bool {
        matches!(self, Self::Weighted(weighted) if weighted.keeps_chains())
    }

    /// The least particle number K for which it is defined, with chain states at hand or not.
    pub fn least_particles(&self, retained: bool) -> usize {
        match self {
            Self::Weighted(weighted) => weighted.least_particles(retained),
            Self::OfBits(OfBits::Arms(_) | OfBits::DoubleCv(_) | OfBits::Rodeo(_)) => 2,
            _ => 1,
        }
    }

    /// Values of f = log p(x, h) − log q(h | x), relaxed or not, that the estimate for one datum is made of: with K
    /// particles, `layers` stochastic layers, and a chain state at hand or not. With C classes,
    /// [`evaluations_of_classes`](Self::evaluations_of_classes) says more.
    ///
    /// Not counted: dreams, derivatives of f and values that are computed again for them, learned baselines and control variates,
    /// and the draw at which the estimators of logit gradients let θ learn.
    pub fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize {
        match self {
            Self::Weighted(weighted) => {
                weighted.proposals(particles, retained) + usize::from(retained)
            }
            Self::MuProp(_) => particles + layers,
            Self::OfBits(OfBits::Arm(_) | OfBits::Disarm(_) | OfBits::DisarmBound(_))
            | Self::Ars(_)
            | Self::Arsm(_) => 2 * particles * layers,
            Self::OfBits(OfBits::Arms(_)) | Self::Ar(_) => particles * layers,
            Self::Rebar(rebar) => rebar.evaluations() * particles * layers,
            Self::Nvil(_)
            | Self::GumbelSoftmax(_)
            | Self::LearnedGumbelSoftmax
            | Self::StraightThrough(_)
            | Self::ReinMax(_) => particles,
            Self::OfBits(
                OfBits::DoubleCv(_)
                | OfBits::Rodeo(_)
                | OfBits::Concrete(_)
                | OfBits::SlopeAnnealed
                | OfBits::Half(_),
            ) => particles,
        }
    }

    /// Values of f a datum and layer with C classes, as a formula, where they depend on C; [`evaluations`](Self::evaluations)
    /// are those for bits, C = 2.
    pub fn evaluations_of_classes(&self) -> Option<&'static str> {
        match self {
            Self::Ars(_) => Some("C K"),
            Self::Arsm(_) => Some("(C (C − 1)/2 + 1) K"),
            _ => None,
        }
    }

    /// The model as it is tested after so many epochs of training: with the annealed slope of the last, where the slope is the
    /// model's own ([`Layered::sloped`]).
    pub fn tested<B: Backend, M: Layered<B>>(&self, model: M, epochs: u64) -> M {
        let slope = match self {
            Self::OfBits(OfBits::SlopeAnnealed) => {
                SlopeAnnealed::at_epoch(epochs.saturating_sub(1)).slope
            }
            _ => return model,
        };
        model.sloped(slope).unwrap_or(model)
    }

    /// Whether it can be given the divergence in closed form: the estimators whose released code is.
    pub fn takes_analytic_kl(&self) -> bool {
        match self {
            Self::GumbelSoftmax(_)
            | Self::LearnedGumbelSoftmax
            | Self::StraightThrough(_)
            | Self::ReinMax(_)
            | Self::Ar(_)
            | Self::Ars(_)
            | Self::Arsm(_) => true,
            Self::Weighted(_)
            | Self::Nvil(_)
            | Self::MuProp(_)
            | Self::Rebar(_)
            | Self::OfBits(_) => false,
        }
    }

    /// What it learns beside the model.
    pub fn controls(&self) -> ControlsConfig {
        match self {
            Self::Nvil(_) => Nvil::CONTROLS,
            Self::MuProp(_) => MuProp::CONTROLS,
            Self::Rebar(rebar) => rebar.controls(),
            Self::LearnedGumbelSoftmax => GumbelSoftmax::LEARNED,
            Self::OfBits(OfBits::DoubleCv(_)) => DoubleCv::CONTROLS,
            Self::OfBits(OfBits::Rodeo(_)) => Rodeo::CONTROLS,
            _ => ControlsConfig::AS_THE_MODEL,
        }
    }

    /// One gradient estimate. What is learned must be what [`Method::controls`] names.
    ///
    /// # Errors
    /// [`EstimateError`]; chains are refused by a method that [keeps](Self::keeps_chains) none, an analytic KL by one that does not
    /// [take](Self::takes_analytic_kl) it.
    ///
    /// # Panics
    /// If `learned` is not this method's, or the reference class of an [`Ars`] is none of the model's.
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
        let Learned {
            controls: made,
            moments,
        } = learned;
        let controls =
            || -> &Controls<B> { made.as_ref().expect("this method's controls were made") };
        let Batch {
            x,
            chains,
            particles: k,
            epoch,
            analytic_kl,
        } = batch;
        if chains.is_some() && !self.keeps_chains() {
            return Err(EstimateError::KeepsNoChains);
        }
        if analytic_kl {
            return match self {
                Self::GumbelSoftmax(gumbel) => {
                    estimate_pathwise_with_kl(gumbel, model, x, k, noise)
                }
                Self::LearnedGumbelSoftmax => {
                    let gumbel = LearnedGumbelSoftmax::new(controls());
                    estimate_pathwise_with_kl(&gumbel, model, x, k, noise)
                }
                Self::StraightThrough(through) => {
                    estimate_pathwise_with_kl(through, model, x, k, noise)
                }
                Self::ReinMax(reinmax) => estimate_pathwise_with_kl(reinmax, model, x, k, noise),
                Self::Ar(ar) => estimate_logits_with_kl(ar, model, x, k, noise),
                Self::Ars(ars) => estimate_logits_with_kl(ars, model, x, k, noise),
                Self::Arsm(arsm) => estimate_logits_with_kl(arsm, model, x, k, noise),
                _ => Err(EstimateError::SampledKl),
            };
        }
        match self {
            Self::Weighted(weighted) => estimate(weighted, model, x, chains, k, noise, chance),
            Self::Nvil(nvil) => nvil.estimate(model, controls(), moments, x, k, noise),
            Self::MuProp(muprop) => muprop.estimate(model, controls(), x, k, noise),
            Self::Rebar(rebar) => rebar.estimate(model, controls(), x, k, noise),
            Self::GumbelSoftmax(gumbel) => estimate_pathwise(gumbel, model, x, k, noise),
            Self::LearnedGumbelSoftmax => {
                let gumbel = LearnedGumbelSoftmax::new(controls());
                estimate_pathwise(&gumbel, model, x, k, noise)
            }
            Self::StraightThrough(through) => estimate_pathwise(through, model, x, k, noise),
            Self::ReinMax(reinmax) => estimate_pathwise(reinmax, model, x, k, noise),
            Self::Ar(ar) => estimate_logits(ar, model, x, k, noise),
            Self::Ars(ars) => estimate_logits(ars, model, x, k, noise),
            Self::Arsm(arsm) => estimate_logits(arsm, model, x, k, noise),
            Self::OfBits(of_bits) => {
                M::Variables::estimate_of_bits(*of_bits, model, made.as_ref(), x, k, epoch, noise)
            }
        }
    }
}

/// Latents of models for which an estimator may be chosen at run time.
pub trait Latent: Relaxable + Race {
    /// The layout of a state of the layer.
    fn layer(&self) -> Layer;

    /// One gradient estimate by an estimator for bits, where these are bits; a layer that isn't known to be leaves it as it is.
    ///
    /// # Errors
    /// [`EstimateError::NotBits`] where they are not, and what the estimator reports.
    fn estimate_of_bits<B, M>(
        _method: OfBits,
        model: &M,
        _controls: Option<&Controls<B>>,
        _x: impl Into<Values<B>>,
        _particles: usize,
        _epoch: u64,
        _noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B> + Layered<B, Variables = Self>,
    {
        let model = model.latents();
        Err(EstimateError::NotBits { model })
    }
}

impl Latent for Bits {
    fn layer(&self) -> Layer {
        Layer::Bernoulli(self.0)
    }

    fn estimate_of_bits<B, M>(
        method: OfBits,
        model: &M,
        controls: Option<&Controls<B>>,
        x: impl Into<Values<B>>,
        particles: usize,
        epoch: u64,
        noise: &mut impl Noise,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: Model<B> + Layered<B, Variables = Self>,
    {
        let x: Values<B> = x.into();
        let k = particles;
        let controls = || controls.expect("this method's controls were made");
        match method {
            OfBits::Arm(arm) => estimate_logits(&arm, model, x, k, noise),
            OfBits::Disarm(disarm) => estimate_logits(&disarm, model, x, k, noise),
            OfBits::Arms(arms) => estimate_logits(&arms, model, x, k, noise),
            OfBits::DisarmBound(bound) => bound.estimate(model, x, k, noise),
            OfBits::DoubleCv(double) => {
                estimate_leave_one_out(&double, model, controls(), x, k, noise)
            }
            OfBits::Rodeo(rodeo) => estimate_leave_one_out(&rodeo, model, controls(), x, k, noise),
            OfBits::Concrete(concrete) => concrete.estimate(model, x, k, noise),
            OfBits::SlopeAnnealed => {
                let annealed = SlopeAnnealed::at_epoch(epoch);
                match model.sloped(annealed.slope) {
                    Some(model) => estimate_pathwise(&StraightThrough, &model, x, k, noise),
                    None => estimate_pathwise(&annealed, model, x, k, noise),
                }
            }
            OfBits::Half(half) => estimate_pathwise(&half, model, x, k, noise),
        }
    }
}

impl Latent for Classes {
    fn layer(&self) -> Layer {
        Layer::Categorical {
            variables: self.variables,
            classes: self.classes as u32,
        }
    }
}

impl Latent for Mixed {
    fn layer(&self) -> Layer {
        match self {
            Self::Bits(bits) => bits.layer(),
            Self::Classes(classes) => classes.layer(),
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
        f.write_str(&Method::CATALOGUE.map(|entry| entry.name).join(", "))
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, UnknownMethod> {
        let found = Self::CATALOGUE.iter().find(|entry| entry.name == name);
        found
            .map(|entry| entry.method)
            .ok_or_else(|| UnknownMethod { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_those_of_the_formulas() {
        let count = |name: &str, retained| -> usize {
            let method: Method = name.parse().unwrap();
            method.evaluations(3, 2, retained)
        };
        // A chain state is one more; conditional importance sampling counts it among its K.
        for (name, stage_1, stage_2) in [("jsa", 3, 4), ("jsa-mtmis", 3, 4), ("msc", 3, 3)] {
            assert_eq!((count(name, false), count(name, true)), (stage_1, stage_2));
        }
        for (evaluations, names) in [
            (1, &["ws"][..]),
            (3, &["rws", "rloo", "vimco", "nvil", "half"]),
            (5, &["muprop"]),
            (6, &["arms", "ar", "relax-all"]),
            (12, &["arm", "disarm", "ars", "arsm", "rebar-tied"]),
            (18, &["rebar", "relax"]),
        ] {
            for name in names {
                assert_eq!(count(name, false), evaluations, "{name}");
            }
        }
    }

    #[test]
    fn without_particles_nothing_is_proposed() {
        for entry in Method::CATALOGUE {
            for retained in [false, true] {
                let evaluations = entry.method.evaluations(0, 1, retained);
                assert!(evaluations <= 2, "{}", entry.name);
            }
        }
    }

    #[test]
    fn names_are_found_and_an_unknown_one_lists_them() {
        for entry in Method::CATALOGUE {
            assert_eq!(entry.name.parse(), Ok(entry.method));
        }
        let error = "jas".parse::<Method>().unwrap_err().to_string();
        assert!(
            error.contains("`jas`") && error.contains("jsa-mtmis, jsa-frozen-reference"),
            "{error}"
        );
    }
}
