//! What an estimator gives, and why it may not.

use burn::tensor::Tensor;
use helmholtz_ops::Backend;
use helmholtz_samplers::{Info, Latents, SamplerError};

use crate::Domain;

/// What an estimate gave.
#[derive(Clone, Debug)]
pub struct Estimate<B: Backend> {
    /// The surrogate loss `[1]`, to be **minimised**: −∇ loss is the mean over the batch of the estimates. Of weighted estimators it is
    /// −(1/B) Σ_b Σ_k \[theta_bk log p(x_b, h_bk) + phi_bk log q(h_bk | x_b)\], and the mean of −log q over dreams. A coefficient of
    /// zero contributes a gradient of zero whatever the log-density is; where all of φ's are zero φ has no gradient but the
    /// dreams'. The value of the loss is −`elbo` for pathwise estimators, and means nothing for others.
    pub loss: Tensor<B, 1>,
    /// The batch mean over the proposed particles of ℓ = log p(x, h) − log q(h | x): an estimate of the ELBO, nats.
    pub elbo: f64,
    /// Rows, of all particles of the batch, with a coefficient: those that are differentiated.
    pub live_rows: usize,
    /// Diagnostics of the kernel, summed over the batch.
    pub info: Info,
    /// The objective of what the estimator learns beside the model ([`Controls`](crate::Controls)), to be minimised; without one,
    /// that is `loss`.
    pub controls: Option<Tensor<B, 1>>,
}

/// Why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// Fewer particles than the estimator is defined for.
    #[error("this estimator needs at least {least} particles, not {given}")]
    TooFewParticles {
        /// The least number.
        least: usize,
        /// The number given.
        given: usize,
    },
    /// More particles than the estimator can do with.
    #[error("K = {given} particles, but this estimator takes {most} at most")]
    TooManyParticles {
        /// What it takes.
        most: usize,
        /// What it was given.
        given: usize,
    },
    /// A batch of no data.
    #[error("there is no estimate of a gradient without data: give a row or more")]
    NoData,
    /// Chains for an estimator that keeps none, which would take their states for draws from q.
    #[error("this estimator keeps no chains, but was given some: leave them out")]
    KeepsNoChains,
    /// An estimator, and a model of latents for which it is not defined.
    #[error("this estimator is defined for {domain}, but the model's latents are {model}")]
    NotDefined {
        /// What it is defined for.
        domain: Domain,
        /// The layout of the model's states.
        model: Latents,
    },
    /// An estimator of another crate, on a backend that it was not added for.
    #[error("`{name}` was not added for this backend: add it by `Adding::on`")]
    OtherBackend {
        /// Its name.
        name: &'static str,
    },
    /// A divergence in closed form, of an estimator that knows only the sampled one.
    #[error("this estimator has no form with an analytic KL: leave `analytic_kl` off")]
    SampledKl,
    /// A divergence in closed form, of a model that has none.
    #[error("an analytic KL needs a model of one stochastic layer, not of {layers}")]
    SeveralLayers {
        /// Its stochastic layers.
        layers: usize,
    },
    /// Chains of another number of data than the batch has.
    #[error("there are chains for {rows} data, but the batch has {batch}")]
    OtherBatch {
        /// Rows of the store that were named.
        rows: usize,
        /// Data.
        batch: usize,
    },
    /// A chain store of states that are not the model's.
    #[error("the chain store holds states of {store}, but the model's are {model}")]
    OtherLatents {
        /// The store's layout.
        store: Latents,
        /// The layout of the model's states.
        model: Latents,
    },
    /// A chain that has no state.
    #[error("the chain of row {row} has no state yet; start it with `refresh`")]
    NotStarted {
        /// The row of the store.
        row: u32,
    },
    /// Two coupled chains that did not meet.
    #[error(
        "two coupled chains did not meet in {steps} steps, so far is q from the posterior: take more particles, or train by another \
         estimator first"
    )]
    NotMet {
        /// The steps that they were given.
        steps: usize,
    },
    /// The chain store refused.
    #[error(transparent)]
    Chains(#[from] SamplerError),
}
