//! f = log p(x | h) − KL(q(h | x) ‖ p(h)) in place of log p(x, h) − log q(h | x): the divergence, and its gradient, in closed
//! form.
//!
//! Both have the same mean over h ~ q, the ELBO, so that an unbiased estimator stays unbiased. The released codes of ARM (Yin & Zhou
//! 2019) for categorical variables and for straight-through Gumbel-softmax, and of Ou & Song (2020) for the latter, train so.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_samplers::{Info, Latents};

use crate::logits::logit_gradient::{mean_loss, repeat, surrogate, tracked};
use crate::objective::{at_least, mean};
use crate::{
    Batch, Estimate, EstimateError, Factored, Joint, Layered, LogitGradient, Objective, Particles,
    Proposals, Propose, Reparameterise, estimate_pathwise,
};

/// KL(q(h | x) ‖ p(h)) of a model of one stochastic layer, nats, with its gradient: `[batch]`, of data x `[batch, visible]` and
/// the logits of q `[batch, logits]`.
///
/// KL = E_q \[log q(h) − log p(h)\], and the difference is linear in the values, as both laws are of one exponential family: its mean
/// is that at the mean.
///
/// # Errors
/// [`EstimateError::SeveralLayers`]: the divergence of several layers is no sum over variables.
pub fn kl_to_prior<B, M>(
    model: &M,
    x: impl Into<Values<B>>,
    logits: Tensor<B, 2>,
) -> Result<Tensor<B, 1>, EstimateError>
where
    B: Backend,
    M: Layered<B> + Factored<B>,
{
    let x: Values<B> = x.into();
    let [variables] = model.layers()[..] else {
        let layers = model.layers().len();
        return Err(EstimateError::SeveralLayers { layers });
    };
    let means = variables.mean(logits.clone());
    let prior = model
        .prior_logits(x, &Particles::new(vec![means.clone()]))
        .remove(0);
    let of_p = variables.log_prob(prior, means.clone());
    Ok(variables.log_prob(logits, means) - of_p)
}

/// As [`estimate_logits`](crate::estimate_logits), with the divergence in closed form: the estimator is given log p(x | h), and
/// ∇ KL is added.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`], [`EstimateError::SeveralLayers`].
pub fn estimate_logits_with_kl<B, V, M, G>(
    estimator: &G,
    model: &M,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Factored<B::InnerBackend>,
    G: LogitGradient<V>,
{
    let x: Values<B> = x.into();
    at_least(estimator.least_particles(), particles, &x)?;
    let logits = model.encode(x.clone());
    let kl = kl_to_prior(model, x.clone(), logits.clone())?.mean();
    let likelihood = Likelihood(model.valid());
    let objective = Objective::new(likelihood, x.clone().inner(), logits.clone().inner());
    let rows = estimator.paths(particles) * objective.batch();
    let path = objective.complete(Vec::new(), rows, noise);
    let gradient = estimator.layer(&objective, &[], rows, particles, noise);
    let log_p = model.log_likelihood(x, &tracked(&path));
    let elbo = mean(log_p.clone().inner()) - mean(kl.clone().inner());
    let ascended = surrogate(model, logits, &path, vec![gradient]) + log_p.sum();
    Ok(Estimate {
        loss: mean_loss(ascended, rows) + kl,
        elbo,
        live_rows: rows,
        info: Info::default(),
        controls: None,
    })
}

/// As [`estimate_pathwise`](crate::estimate_pathwise), with the divergence in closed form: the samples carry the gradient of
/// log p(x | h) alone, and KL is differentiated as it is.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`], [`EstimateError::SeveralLayers`].
pub fn estimate_pathwise_with_kl<B, V, M, R>(
    estimator: &R,
    model: &M,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: Layered<B, Variables = V> + Factored<B>,
    R: Reparameterise<B, V>,
{
    let x: Values<B> = x.into();
    at_least(1, particles, &x)?;
    let rows = particles * x.dims()[0];
    let logits = model.encode(x.clone()).mul_scalar(estimator.slope());
    let kl = kl_to_prior(model, x.clone(), logits.clone())?.mean();
    let variables = model.layers()[0];
    let shape = [rows, estimator.uniforms(variables)];
    let uniforms = uniforms(shape, logits.dtype(), &logits.device(), noise);
    let layer = estimator.sample(variables, repeat(logits, rows), uniforms);
    let log_p = model.log_likelihood(x, &Particles::new(vec![layer])).mean();
    let value = log_p - kl;
    Ok(Estimate {
        loss: value.clone().neg(),
        elbo: mean(value.inner()),
        live_rows: rows,
        info: Info::default(),
        controls: None,
    })
}

/// The part of f that is left to draws: log p(x | h) is its joint density, and its log q is 0.
struct Likelihood<M>(M);

impl<B: Backend, M: Layered<B>> Propose<B> for Likelihood<M> {
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        self.0.latents()
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.0.encode(x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let proposals = self.0.propose(encoded, retained, particles, noise);
        Proposals {
            log_q: proposals.log_q.zeros_like(),
            ..proposals
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let options = (&encoded.device(), encoded.dtype());
        Tensor::zeros([particles.rows()], options)
    }
}

impl<B: Backend, M: Layered<B>> Layered<B> for Likelihood<M> {
    type Variables = M::Variables;

    fn layers(&self) -> Vec<M::Variables> {
        self.0.layers()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.0.logits_above(level, below)
    }
}

impl<B: Backend, M: Factored<B>> Joint<B> for Likelihood<M> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        self.0.log_likelihood(x, particles)
    }
}

/// A batch's estimate through its samples, with the divergence in closed form where the batch asks for that.
///
/// # Errors
/// Those of [`estimate_pathwise`] and [`estimate_pathwise_with_kl`].
pub(crate) fn estimate_pathwise_batch<B, V, M, R, S>(
    estimator: &R,
    model: &M,
    batch: Batch<'_, B, S>,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Factored<B>,
    R: Reparameterise<B, V>,
    S: ?Sized,
{
    let Batch { x, particles, .. } = batch;
    match batch.analytic_kl {
        true => estimate_pathwise_with_kl(estimator, model, x, particles, noise),
        false => estimate_pathwise(estimator, model, x, particles, noise),
    }
}
