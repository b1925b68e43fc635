//! One gradient estimate: propose, score, weigh, write the chains back, and build the surrogate loss.

use burn::tensor::{Tensor, TensorData, Transaction};
use helmholtz_distributions::Noise;
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_random::Chance;
use helmholtz_samplers::{ChainStore, Info};

use crate::chains::{register, words};
use crate::host::numbers;
use crate::objective::at_least;
use crate::{
    Batch, Chains, Coefficient, Dream, Estimate, EstimateError, Estimator, Joint, Learned,
    Proposals, Propose, Weighting,
};

/// Estimates the gradient for a batch x `[batch, visible]`: the loss is
/// −(1/B) Σ_b Σ_k \[θ_bk log p(x_b, h_bk) + φ_bk log q(h_bk | x_b)\] with the coefficients that [`Weighting::weigh`] gives, and the mean of
/// −log q over dreams of a method that has them.
///
/// With `chains` (stage II, of a method that [keeps](Weighting::keeps_chains) them) each datum's state is loaded, and its
/// log-weight recomputed under the present parameters. The state in which the chain ends is written back. Without them (stage I)
/// the estimator starts from its first proposal. Proposals come from `noise`, accept and choose decisions from `chance`, datum by
/// datum, and dreams from `noise` last.
///
/// The log-densities of all particles reach the host in one transaction, together with the particles where there are
/// chains to write back; nothing differentiates through the weights.
///
/// # Errors
/// [`EstimateError`]: too few particles, no data, chains for a method that keeps none, chains that don't fit the model or the
/// batch or were not started, or what the store reports. Nothing is written back then.
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

impl<B, M, W> Estimator<B, M> for W
where
    B: AutodiffBackend,
    M: Propose<B> + Joint<B> + Dream<B>,
    W: Weighting + ?Sized,
{
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        _learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        batch.check(self)?;
        let Batch {
            x,
            chains,
            particles,
            ..
        } = batch;
        estimate(self, model, x, chains, particles, noise, chance)
    }
}
