//! The pathwise family: ordinary differentiation through samples that carry a gradient, true or surrogate.

mod analytic_kl;
mod concrete;
mod decoupled;
mod finite_order;
mod gumbel;
mod gumbel_rao;
mod reinmax;
mod reinmax_rao;
mod straight_through;

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_ops::{AutodiffBackend, Values, repeat_rows};
use helmholtz_samplers::Info;

use crate::family::*;
use crate::logits::logit_gradient::plus;
use crate::objective::{at_least, mean};
use crate::{Estimate, EstimateError, Joint, Layered, Particles};

pub(crate) use analytic_kl::estimate_pathwise_batch;
pub use analytic_kl::estimate_pathwise_with_kl;
pub use concrete::Concrete;
pub use decoupled::Decoupled;
pub use finite_order::FiniteOrder;
pub use gumbel::{GumbelSoftmax, LearnedGumbelSoftmax, LearnedTemperature};
pub use gumbel_rao::GumbelRao;
pub use reinmax::ReinMax;
pub use reinmax_rao::{ReinMaxCv, ReinMaxRao};
pub use straight_through::{AnnealedSlope, Half, SlopeAnnealed, StraightThrough};

family! {
    /// A pathwise estimator chosen at run time.
    Pathwise {
        GumbelSoftmax(GumbelSoftmax): discrete, [GumbelSoftmax::SOFT, GumbelSoftmax::STRAIGHT_THROUGH];
        LearnedTemperature(LearnedTemperature): discrete, [LearnedTemperature];
        Decoupled(Decoupled): discrete, [Decoupled::DEFAULT];
        GumbelRao(GumbelRao): discrete, [GumbelRao::DEFAULT];
        Concrete(Concrete): bits, [Concrete::DEFAULT];
        StraightThrough(StraightThrough): any, [StraightThrough];
        AnnealedSlope(AnnealedSlope): bits, [AnnealedSlope];
        Half(Half): bits, [Half];
        ReinMax(ReinMax): discrete, [ReinMax];
        ReinMaxRao(ReinMaxRao): discrete, [ReinMaxRao::DEFAULT];
        ReinMaxCv(ReinMaxCv): discrete, [ReinMaxCv::DEFAULT];
        FiniteOrder(FiniteOrder): counts, [FiniteOrder::Second, FiniteOrder::Third];
    }
}

/// A sample of a layer of variables V through which a gradient flows to its logits.
pub trait Reparameterise<B: AutodiffBackend, V: Variables> {
    /// Whether [`sample`](Self::sample) repeats fewer rows of logits itself, cyclically, once it has made of them what they alone decide.
    const REPEATS: bool = false;

    /// Uniforms that a row takes.
    fn uniforms(&self, variables: V) -> usize {
        variables.uniforms()
    }

    /// The sample for logits `[rows, logits]` and uniforms `[rows, uniforms]`: values, or relaxed ones, with a gradient in the
    /// logits.
    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2>;

    /// [`sample`](Self::sample) for fewer rows of logits, repeated cyclically.
    fn sample_repeated(
        &self,
        variables: V,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let logits = match Self::REPEATS {
            true => logits,
            false => repeat_rows(logits, uniforms.dims()[0]),
        };
        self.sample(variables, logits, uniforms)
    }

    /// What the logits are multiplied with, in sampling and in scoring: 1 but for an annealed slope.
    fn slope(&self) -> f64 {
        1.0
    }
}

/// One gradient estimate for a batch x `[batch, visible]`: that of −f = log q(h | x) − log p(x, h), averaged over K samples h. It
/// goes through the samples to φ, and directly to θ.
///
/// The scores log q are those of the sampled values under logits whose parameters are constants. What is left out has mean
/// E\[∂ log q(h | x) / ∂φ\]: zero where h is drawn from q, and not zero for relaxed h.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
pub fn estimate_pathwise<B, V, M, R>(
    estimator: &R,
    model: &M,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Joint<B>,
    R: Reparameterise<B, V>,
{
    let x: Values<B> = x.into();
    at_least(1, particles, &x)?;
    let frozen = model.clone().no_grad();
    let rows = particles * x.dims()[0];
    let mut logits = model.encode(x.clone());
    let mut scoring = logits.clone().detach();
    let mut layers: Vec<Tensor<B, 2>> = Vec::new();
    let mut log_q: Option<Tensor<B, 1>> = None;
    for (level, variables) in model.layers().into_iter().enumerate() {
        if let Some(below) = layers.last() {
            logits = model.logits_above(level, below.clone());
            scoring = frozen.logits_above(level, below.clone());
        }
        let slope = estimator.slope();
        let shape = [rows, estimator.uniforms(variables)];
        let uniforms = uniforms(shape, logits.dtype(), &logits.device(), noise);
        let layer =
            estimator.sample_repeated(variables, logits.clone().mul_scalar(slope), uniforms);
        let score = variables.log_prob(scoring.clone().mul_scalar(slope), layer.clone());
        log_q = Some(plus(log_q, score));
        layers.push(layer);
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
