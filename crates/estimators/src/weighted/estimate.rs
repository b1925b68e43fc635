//! One gradient estimate: propose, score, weigh, write the chains back, and build the surrogate loss.

use burn::tensor::{Tensor, TensorData, Transaction};
use helmholtz_distributions::Noise;
use helmholtz_ops::{Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info, Latents, SamplerError};

use crate::host::numbers;
use crate::objective::at_least;
use crate::weighted::chains::register;
use crate::weighted::states::words;
use crate::{Chains, Coefficient, Domain, Dream, Joint, Proposals, Propose, Weighting};

/// What an estimate gave.
#[derive(Clone, Debug)]
pub struct Estimate<B: Backend> {
    /// The surrogate whose gradient is the estimate, to be **minimised**: a scalar. It is
    /// −(1/B) Σ_b Σ_k \[theta_bk log p(x_b, h_bk) + phi_bk log q(h_bk | x_b)\], and the mean of −log q over dreams. Its value
    /// means nothing. A coefficient of zero contributes a gradient of zero whatever the log-density is, and where all of φ's
    /// are zero φ has no gradient but the dreams'.
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

/// Estimates the gradient for a batch x `[batch, visible]`.
///
/// With `chains` (stage II, of a method that [keeps](Weighting::keeps_chains) them) each datum's state is loaded, and its
/// log-weight recomputed under the present parameters. The state in which the chain ends is written back. Without them (stage I)
/// the estimator starts from its first proposal. Proposals come from `noise`, accept and choose decisions from `chance`, datum by
/// datum, and dreams from `noise` last.
///
/// The log-densities of all particles reach the host in one transaction, together with the particles where there are
/// chains to write back; nothing differentiates through the weights.
///
/// # Errors [`EstimateError`]: too few particles, no data, chains for a method that keeps none, chains that don't fit
/// the model or the batch or were not started, or what the store reports. Nothing is written back then.
pub fn estimate<B, M, W, S>(
    method: &W,
    model: &M,
    x: impl Into<Values<B>>,
    chains: Option<Chains<'_, S>>,
    particle_number: usize,
    noise: &mut impl Noise,
    chance: &mut impl Chance,
) -> Result<Estimate<B>, EstimateError>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Dream<B>,
    W: Weighting + ?Sized,
    S: ChainStore + ?Sized,
{
    let x: Values<B> = x.into();
    at_least(
        method.least_particles(chains.is_some()),
        particle_number,
        &x,
    )?;
    if chains.is_some() && !method.keeps_chains() {
        return Err(EstimateError::KeepsNoChains);
    }
    let (batch, dtype, device) = (x.dims()[0], x.dtype(), x.device());
    let retained = match &chains {
        Some(chains) => {
            chains.check(&model.latents(), batch)?;
            Some(chains.load::<B>(dtype, &device)?)
        }
        None => None,
    };
    let has_retained = retained.is_some();
    let proposed = method.proposals(particle_number, has_retained);

    let encoded = model.encode(x.clone());
    let Proposals { particles, log_q } = model.propose(&encoded, retained, proposed, noise);
    let log_p = model.log_joint(x.clone(), &particles);

    let mut transaction = Transaction::default()
        .register(log_p.clone())
        .register(log_q.clone());
    if has_retained {
        transaction = particles.layers().iter().fold(transaction, register);
    }
    let host = transaction.execute();
    let (host_p, host_q) = (numbers::<f64>(&host[0]), numbers::<f64>(&host[1]));
    let log_w: Vec<f64> = host_p.iter().zip(host_q).map(|(p, q)| p - q).collect();

    let Weighed {
        coefficients,
        states,
        info,
    } = weigh(method, &log_w, batch, has_retained, chance);
    if let Some(mut chains) = chains {
        let layers: Vec<Vec<u32>> = host[2..].iter().map(words).collect();
        chains.store(&states, &layers)?;
    }

    let mut loss = surrogate(&coefficients, batch, log_p, log_q);
    if method.sleeps() {
        loss = loss + dreams(model, x, noise);
    }
    let proposals = &log_w[log_w.len() - proposed * batch..];
    Ok(Estimate {
        loss,
        elbo: proposals.iter().sum::<f64>() / proposals.len() as f64,
        live_rows: coefficients
            .iter()
            .filter(|c| **c != Coefficient::default())
            .count(),
        info,
        controls: None,
    })
}

/// −Σ_k θ_k log p_k + φ_k log q_k, a datum's mean of `batch`.
pub(crate) fn surrogate<B: Backend>(
    coefficients: &[Coefficient],
    batch: usize,
    log_p: Tensor<B, 1>,
    log_q: Tensor<B, 1>,
) -> Tensor<B, 1> {
    let (device, dtype) = (log_p.device(), log_p.dtype());
    let on_device = |coefficient: fn(&Coefficient) -> f64| {
        let scaled: Vec<f64> = coefficients
            .iter()
            .map(|c| -coefficient(c) / batch as f64)
            .collect();
        let rows = scaled.len();
        Tensor::<B, 1>::from_data(TensorData::new(scaled, [rows]), (&device, dtype))
    };
    let loss = (log_p * on_device(|c| c.theta)).sum();
    match coefficients.iter().any(|c| c.phi != 0.0) {
        true => loss + (log_q * on_device(|c| c.phi)).sum(),
        false => loss,
    }
}

/// The sleep phase: the mean of −log q(h̃ | x̃) over as many dreams (x̃, h̃) ~ p as there are data x `[batch, visible]`. It is a
/// scalar to be minimised in φ (Hinton, Dayan, Frey & Neal 1995).
pub fn dreams<B, M>(model: &M, x: impl Into<Values<B>>, noise: &mut impl Noise) -> Tensor<B, 1>
where
    B: Backend,
    M: Propose<B> + Dream<B>,
{
    let x: Values<B> = x.into();
    let (dreamt, causes) = model.dream(x, noise);
    model.log_q(&model.encode(dreamt), &causes).mean().neg()
}

struct Weighed {
    /// `[particles, batch]`.
    coefficients: Vec<Coefficient>,
    /// The particle in which each datum's chain ended.
    states: Vec<usize>,
    info: Info,
}

/// Weighs the particles of each datum: `log_w` is `[particles, batch]`.
fn weigh(
    method: &(impl Weighting + ?Sized),
    log_w: &[f64],
    batch: usize,
    retained: bool,
    chance: &mut impl Chance,
) -> Weighed {
    let particles = log_w.len() / batch;
    let mut weighed = Weighed {
        coefficients: vec![Coefficient::default(); log_w.len()],
        states: Vec::with_capacity(batch),
        info: Info::default(),
    };
    let mut own = vec![0.0; particles];
    let centre = match method.centres() {
        true => log_w.iter().sum::<f64>() / log_w.len() as f64,
        false => 0.0,
    };
    let mut given = vec![Coefficient::default(); particles];
    for b in 0..batch {
        for (k, log_w_k) in own.iter_mut().enumerate() {
            *log_w_k = log_w[k * batch + b] - centre;
        }
        let outcome = method.weigh(&own, retained, chance, &mut given);
        for (k, coefficient) in given.iter().enumerate() {
            weighed.coefficients[k * batch + b] = *coefficient;
        }
        weighed.states.push(outcome.state);
        weighed.info += outcome.info;
    }
    weighed
}
