//! Estimates through samples with the divergence in closed form.

use burn::module::AutodiffModule;
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_ops::{AutodiffBackend, Values};
use helmholtz_samplers::Info;

use crate::objective::{at_least, mean};
use crate::{Batch, Estimate, EstimateError, Factored, Layered, Particles, kl_to_prior};

use super::{Reparameterise, estimate_pathwise};

/// As [`estimate_pathwise`](crate::estimate_pathwise), with the divergence in closed form, as in the released code of Ou & Song (2020):
/// the loss is −(1/(K B)) Σ log p(x | h) + (1/B) Σ_b KL(q(h | x_b) ‖ p(h)).
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
    let layer = estimator.sample_repeated(variables, logits, uniforms);
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
