//! The estimators by name, called where only a few capabilities are there.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::Bits;
use helmholtz_estimators::{
    Arm, Arms, Chains, Disarm, Dream, Estimate, EstimateError, Joint, Layered, Propose, Reinforce,
    Rloo, Weighting, estimate, estimate_logits,
};
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::Stream;
use helmholtz_samplers::ChainStore;
use serde::{Deserialize, Serialize};

use super::law;

/// An estimator that asks the model for values of f alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// [`Reinforce`].
    Reinforce,
    /// [`Rloo`].
    Rloo,
    /// [`Arm`].
    Arm,
    /// [`Disarm`].
    Disarm,
    /// [`Arms`].
    Arms,
}

impl Estimator {
    /// What figures and tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Reinforce => "REINFORCE",
            Self::Rloo => "RLOO",
            Self::Arm => "ARM",
            Self::Disarm => "DisARM",
            Self::Arms => "ARMS",
        }
    }

    /// The least K for which it is defined.
    pub fn least_samples(self) -> usize {
        match self {
            Self::Rloo | Self::Arms => 2,
            _ => 1,
        }
    }

    /// The K with which an estimate takes this many values of f a layer.
    pub fn samples(self, values: usize) -> usize {
        match self {
            Self::Arm | Self::Disarm => values / 2,
            _ => values,
        }
    }

    /// Its variance with K = 1 for one bit in closed form, from σ and [f(0), f(1)], where it is known.
    pub fn law(self) -> Option<fn(f64, [f64; 2]) -> f64> {
        match self {
            Self::Reinforce => Some(law::reinforce),
            Self::Arm => Some(law::arm),
            Self::Disarm => Some(law::disarm),
            Self::Rloo | Self::Arms => None,
        }
    }

    /// One estimate for the batch x, K = `samples`.
    ///
    /// # Errors
    /// [`EstimateError::TooFewParticles`].
    pub fn estimate<B, M>(
        self,
        model: &M,
        x: Tensor<B, 2>,
        samples: usize,
        noise: &mut Stream,
    ) -> Result<Estimate<B>, EstimateError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B> + Layered<B, Variables = Bits> + Joint<B> + Dream<B>,
        M::InnerModule: Layered<B::InnerBackend, Variables = Bits> + Joint<B::InnerBackend>,
    {
        match self {
            Self::Reinforce => weighted(&Reinforce::default(), model, x, samples, noise),
            Self::Rloo => weighted(&Rloo, model, x, samples, noise),
            Self::Arm => estimate_logits(&Arm, model, x, samples, noise),
            Self::Disarm => estimate_logits(&Disarm, model, x, samples, noise),
            Self::Arms => estimate_logits(&Arms, model, x, samples, noise),
        }
    }
}

fn weighted<B, M>(
    method: &impl Weighting,
    model: &M,
    x: Tensor<B, 2>,
    samples: usize,
    noise: &mut Stream,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    M: Propose<B> + Joint<B> + Dream<B>,
{
    let no_chains: Option<Chains<'_, dyn ChainStore>> = None;
    // None of them takes a decision by chance.
    let mut chance = noise.clone();
    estimate(method, model, x, no_chains, samples, noise, &mut chance)
}
