//! The logit-gradient family: an estimate of the gradient in the logits of each layer, pushed through the inference net.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{AutodiffBackend, Backend, Values};
use helmholtz_samplers::Info;

use crate::objective::{Drawn, at_least};
use crate::{Estimate, EstimateError, Joint, Layered, Objective, Particles};

/// An estimator of ∇_a E_{h ~ q}[f(h)], a the logits of one layer of variables V, from values of f alone.
pub trait LogitGradient<V: Variables> {
    /// Independent draws of the layers below, for K particles: the estimate is averaged over them.
    fn paths(&self, particles: usize) -> usize {
        particles
    }

    /// The least K for which the estimator is defined.
    fn least_particles(&self) -> usize {
        1
    }

    /// The gradient in the logits of the layer above `below`: one row for each of the `rows` paths, `[rows, logits]`. The
    /// layers above it are drawn from q, again for each value of f.
    fn layer<B, M>(
        &self,
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2>
    where
        B: Backend,
        M: Layered<B, Variables = V> + Joint<B>;
}

/// One gradient estimate for a batch x `[batch, visible]`.
///
/// A path h ~ q is drawn for each of `paths` rows of a datum. θ gets ∇ log p(x, h) there. For each layer l the path below it
/// is kept, and G_l, an estimate of ∂ E f / ∂a_l, is pushed through that layer's logits alone. The surrogate is
/// −(1/R) Σ_r \[Σ_l ⟨G_rl, a_rl⟩ + log p(x_r, h_r)\] over R rows. What −log q inside f would add directly has mean zero and is left out.
///
/// # Errors
/// [`EstimateError::TooFewParticles`], [`EstimateError::NoData`].
pub fn estimate_logits<B, V, M, G>(
    estimator: &G,
    model: &M,
    x: impl Into<Values<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Result<Estimate<B>, EstimateError>
where
    B: AutodiffBackend,
    V: Variables,
    M: AutodiffModule<B> + Layered<B, Variables = V> + Joint<B>,
    M::InnerModule: Layered<B::InnerBackend, Variables = V> + Joint<B::InnerBackend>,
    G: LogitGradient<V>,
{
    let x: Values<B> = x.into();
    at_least(estimator.least_particles(), particles, &x)?;
    let drawn = Drawn::new(model, &x, estimator.paths(particles), noise);
    let (path, rows) = (&drawn.path, drawn.rows);
    let gradients: Vec<_> = (0..path.layers().len())
        .map(|level| {
            let below = &path.layers()[..level];
            estimator.layer(&drawn.objective, below, rows, particles, noise)
        })
        .collect();
    let surrogate = surrogate(model, drawn.logits.clone(), path, gradients);
    let log_p = model.log_joint(x, &tracked(path));
    Ok(Estimate {
        loss: mean_loss(surrogate + log_p.clone().sum(), rows),
        elbo: drawn.elbo(log_p),
        live_rows: rows,
        info: Info::default(),
        controls: None,
    })
}

/// Σ_l ⟨G_l, a_l⟩, whose gradient in the parameters of q is Σ_l G_lᵀ ∂a_l.
pub(crate) fn surrogate<B, M>(
    model: &M,
    logits: Tensor<B, 2>,
    path: &Particles<B::InnerBackend>,
    gradients: Vec<Tensor<B::InnerBackend, 2>>,
) -> Tensor<B, 1>
where
    B: AutodiffBackend,
    M: Layered<B>,
{
    let batch = logits.dims()[0];
    let layers = gradients.into_iter().enumerate().map(|(level, gradient)| {
        let (logits, gradient) = match level {
            // All paths of a datum share the logits of its first layer.
            0 => (logits.clone(), fold(gradient, batch)),
            _ => {
                let below = Values::from_inner(path.layers()[level - 1].clone());
                (model.logits_above(level, below), gradient)
            }
        };
        (logits * Tensor::from_inner(gradient)).sum()
    });
    layers
        .reduce(|sum, layer| sum + layer)
        .expect("a model has a layer")
}

/// −(1/rows) of a sum that is to be ascended. A product: the gradient of a quotient by a scalar is rounded to f32 in burn-autodiff
/// 0.21.
pub(crate) fn mean_loss<B: Backend>(sum: Tensor<B, 1>, rows: usize) -> Tensor<B, 1> {
    sum.mul_scalar(-1.0 / rows as f64)
}

/// A sum with one term more.
pub(crate) fn plus<B: Backend>(sum: Option<Tensor<B, 1>>, term: Tensor<B, 1>) -> Tensor<B, 1> {
    match sum {
        Some(sum) => sum + term,
        None => term,
    }
}

/// Σ over the particles of each datum: `[particles · batch, columns]` to `[batch, columns]`.
pub(crate) fn fold<B: Backend>(rows: Tensor<B, 2>, batch: usize) -> Tensor<B, 2> {
    let [count, columns] = rows.dims();
    if count == batch {
        return rows;
    }
    rows.reshape([count / batch, batch, columns])
        .sum_dim(0)
        .reshape([batch, columns])
}

/// The particles as constants of the tape.
pub(crate) fn tracked<B: AutodiffBackend>(particles: &Particles<B::InnerBackend>) -> Particles<B> {
    let layers = particles.layers().iter().cloned();
    Particles::new(layers.map(Values::from_inner).collect())
}
