//! The step of an SMC sampler.

use super::Population;
use crate::SamplerError;
use crate::resampling::{Policy, Resampler};

/// A resampling scheme and when to use it: what stays the same over the steps of an SMC sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct Smc<R> {
    resampler: R,
    policy: Policy,
}

/// What one step reports about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct StepInfo {
    /// Effective sample size, in [1, N], of the weights that the policy looked at.
    pub ess: f64,
    /// log Ẑ_t - log Ẑ_{t-1} (nats).
    pub log_increment: f64,
    /// The ancestor of each particle, if the population was resampled. [`Ancestry`](super::Ancestry) collects them.
    pub ancestors: Option<Vec<u32>>,
}

impl<R> Smc<R> {
    /// Resampling by `resampler` when `policy` asks for it.
    ///
    /// # Errors
    /// [`SamplerError::RelativeEss`] for a threshold outside (0, 1].
    pub fn new(resampler: R, policy: Policy) -> Result<Self, SamplerError> {
        Ok(Self {
            resampler,
            policy: policy.check()?,
        })
    }

    pub(super) fn resampler(&self) -> &R {
        &self.resampler
    }

    /// Resamples if the weights ask for it; then each particle is moved by `step`, which answers with the log of its
    /// incremental weight (nats), of an [`Increment`](super::Increment) for example.
    ///
    /// # Errors
    /// Those of [`Population::extend`] and [`Population::resample`].
    pub fn step<S: Clone, C: ?Sized>(
        &self,
        population: &mut Population<S>,
        chance: &mut C,
        step: impl FnMut(&mut S, &mut C) -> f64,
    ) -> Result<StepInfo, SamplerError>
    where
        R: Resampler<C>,
    {
        let before = population.log_evidence();
        let ess = population.effective_sample_size();
        let ancestors = self.resample_if_wanted(population, chance)?;
        population.extend(chance, step)?;
        Ok(StepInfo {
            ess,
            log_increment: population.log_evidence() - before,
            ancestors,
        })
    }

    /// The ancestors, if the policy wanted the population resampled. With [`Population::reweight`] it makes a step of
    /// particles that are moved by other means than one by one.
    ///
    /// # Errors
    /// Those of [`Population::resample`].
    pub fn resample_if_wanted<S: Clone, C: ?Sized>(
        &self,
        population: &mut Population<S>,
        chance: &mut C,
    ) -> Result<Option<Vec<u32>>, SamplerError>
    where
        R: Resampler<C>,
    {
        if self.policy.wants(population.log_weights()) {
            population.resample(&self.resampler, chance).map(Some)
        } else {
            Ok(None)
        }
    }
}
