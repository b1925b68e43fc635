//! What an estimator is to a training loop.

use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::ChainStore;

use crate::{Chains, Declaration, Estimate, EstimateError, Learned};

/// What an estimator is given for one batch.
pub struct Batch<'a, B: AutodiffBackend, S: ?Sized> {
    /// Data `[batch, visible]`.
    pub x: Values<B>,
    /// Their chains, for an estimator in its second stage; none for one that keeps none.
    pub chains: Option<Chains<'a, S>>,
    /// K.
    pub particles: usize,
    /// The epoch, from 0, for what changes with it.
    pub epoch: u64,
    /// Whether KL(q(h | x) ‖ p(h)) is computed in closed form instead of sampled: for a model of one stochastic layer, and an
    /// estimator that [takes it](Declaration::takes_analytic_kl).
    pub analytic_kl: bool,
}

impl<B: AutodiffBackend, S: ?Sized> Batch<'_, B, S> {
    /// Checks that this estimator can use the chains and the KL of the batch.
    ///
    /// # Errors
    /// [`EstimateError::KeepsNoChains`], [`EstimateError::SampledKl`].
    pub fn check<E: Declaration + ?Sized>(&self, estimator: &E) -> Result<(), EstimateError> {
        if self.chains.is_some() && !estimator.keeps_chains() {
            return Err(EstimateError::KeepsNoChains);
        }
        if self.analytic_kl && !estimator.takes_analytic_kl() {
            return Err(EstimateError::SampledKl);
        }
        Ok(())
    }
}

/// A gradient estimator for models M: what a training loop, a measurement of variance and a certificate ask for.
///
/// A [`Weighting`](crate::Weighting) is one. A [`LogitGradient`](crate::LogitGradient), a [`LeaveOneOut`](crate::LeaveOneOut) or a
/// [`Reparameterise`](crate::Reparameterise) becomes one by calling the routine of its family. M is whatever has the
/// capabilities that the estimator needs: a model without them does not compile with it.
pub trait Estimator<B: AutodiffBackend, M>: Declaration {
    /// One gradient estimate. What is learned must be what [`Declaration::controls`] names.
    ///
    /// # Errors
    /// [`EstimateError`]; chains are refused by an estimator that [keeps](Declaration::keeps_chains) none, an analytic KL by one
    /// that does not [take](Declaration::takes_analytic_kl) it.
    ///
    /// # Panics
    /// If `learned` is not this estimator's.
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError>;
}
