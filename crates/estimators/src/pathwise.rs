//! The pathwise family: ordinary differentiation through samples that carry a gradient, true or surrogate.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, uniforms};
use helmholtz_ops::{AutodiffBackend, bernoulli_log_prob};
use helmholtz_samplers::Info;

use crate::logit_gradient::{mean, repeat};
use crate::{Estimate, EstimateError, Joint, Layered, Particles};

/// A sample of a layer of bits through which a gradient flows to its logits.
pub trait Reparameterise {
    /// The sample for logits a and uniforms u, both `[rows, bits]`: bits, or numbers in [0, 1], with a gradient in a.
    fn sample<B: AutodiffBackend>(
        &self,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2>;

    /// What the logits are multiplied with, in sampling and in scoring: 1 but for an annealed slope.
    fn slope(&self) -> f64 {
        1.0
    }
}

/// One gradient estimate for a batch x `[batch, visible]`: that of −f = log q(h | x) − log p(x, h), averaged over K samples h,
/// through the samples to φ, and directly to θ.
///
/// The scores log q are those of the sampled values under logits whose parameters are constants: what they would add has
/// mean zero where h are bits drawn from q.
///
/// # Errors
/// [`EstimateError::TooFewParticles`].
pub fn estimate_pathwise<B, M, R>(
    estimator: &R,
    model: &M,
    x: Tensor<B, 2>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B> + Joint<B>,
    R: Reparameterise,
{
    if particles == 0 {
        return Err(EstimateError::TooFewParticles { least: 1, given: 0 });
    }
    let frozen = model.clone().no_grad();
    let rows = particles * x.dims()[0];
    let first = repeat(model.encode(x.clone()), rows);
    let mut logits = first.clone();
    let mut scoring = first.detach();
    let mut layers: Vec<Tensor<B, 2>> = Vec::new();
    let mut log_q: Option<Tensor<B, 1>> = None;
    loop {
        let slope = estimator.slope();
        let uniforms = uniforms(logits.dims(), logits.dtype(), &logits.device(), noise);
        let layer = estimator.sample(logits.mul_scalar(slope), uniforms);
        let score = bernoulli_log_prob(scoring.mul_scalar(slope), layer.clone());
        log_q = Some(match log_q {
            Some(below) => below + score,
            None => score,
        });
        layers.push(layer.clone());
        let level = layers.len();
        if level == model.layers().len() {
            break;
        }
        logits = model.logits_above(level, layer.clone());
        scoring = frozen.logits_above(level, layer);
    }
    let log_q = log_q.expect("a model has a layer");
    let value = model.log_joint(x, &Particles::new(layers)) - log_q;
    Ok(Estimate {
        loss: value.clone().mean().neg(),
        elbo: mean(value.inner()),
        live_rows: rows,
        info: Info::default(),
        controls: None,
    })
}
