//! The function whose expectation is differentiated, and the draws that it is taken at.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_ops::{AutodiffBackend, Backend, Values};

use crate::{EstimateError, Joint, Layered, Particles};

/// f(h) = log p(x, h) − log q(h | x) of latents h of a batch, nats, without gradient.
///
/// Rows are particle-major, as in [`Particles`]: row `p · B + b` belongs to datum b.
pub struct Objective<B: Backend, M> {
    model: M,
    x: Values<B>,
    logits: Tensor<B, 2>,
}

impl<B: Backend, M: Layered<B> + Joint<B>> Objective<B, M> {
    /// Of data x `[batch, visible]`, with the logits of q(h¹ | x) `[batch, logits]`.
    pub fn new(model: M, x: impl Into<Values<B>>, logits: Tensor<B, 2>) -> Self {
        let x: Values<B> = x.into();
        Self { model, x, logits }
    }

    /// Data of the batch.
    pub fn batch(&self) -> usize {
        self.x.dims()[0]
    }

    /// The variables of each layer, nearest the data first.
    pub fn layers(&self) -> Vec<M::Variables> {
        self.model.layers()
    }

    /// Logits of the layer above `below`, the layers nearer the data: `[rows, logits]`, of the first layer `[batch, logits]`.
    pub fn logits(&self, below: &[Values<B>]) -> Tensor<B, 2> {
        match below.last() {
            Some(layer) => self.model.logits_above(below.len(), layer.clone()),
            None => self.logits.clone(),
        }
    }

    /// Uniforms `[rows, columns]`.
    pub fn uniforms(&self, rows: usize, columns: usize, noise: &mut impl Noise) -> Tensor<B, 2> {
        let (dtype, device) = (self.x.dtype(), self.x.device());
        uniforms([rows, columns], dtype, &device, noise)
    }

    /// Draws the layers above `below` from q, in `rows` rows.
    pub fn complete(
        &self,
        below: Vec<Values<B>>,
        rows: usize,
        noise: &mut impl Noise,
    ) -> Particles<B> {
        let mut layers = below;
        for variables in &self.layers()[layers.len()..] {
            let uniforms = self.uniforms(rows, variables.uniforms(), noise);
            layers.push(variables.sample(self.logits(&layers), uniforms));
        }
        Particles::new(layers)
    }

    /// f of each row: `[rows]`.
    pub fn value(&self, particles: &Particles<B>) -> Tensor<B, 1> {
        self.model.log_joint(self.x.clone(), particles) - self.log_q(particles)
    }

    /// log q(h | x) of each row: `[rows]`.
    pub fn log_q(&self, particles: &Particles<B>) -> Tensor<B, 1> {
        self.model.log_q(&self.logits, particles)
    }
}

/// Paths h ~ q of a batch, drawn without gradient, and what an estimator goes on with.
pub(crate) struct Drawn<B: AutodiffBackend, M: AutodiffModule<B>> {
    /// Logits of q(h¹ | x), on the tape: `[batch, logits]`.
    pub logits: Tensor<B, 2>,
    /// f, off the tape.
    pub objective: Objective<B::InnerBackend, M::InnerModule>,
    /// The number of paths.
    pub rows: usize,
    /// The paths.
    pub path: Particles<B::InnerBackend>,
}

impl<B, M> Drawn<B, M>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Layered<B>,
    M::InnerModule: Layered<B::InnerBackend> + Joint<B::InnerBackend>,
{
    /// Draws `paths` paths for each datum of x.
    pub fn new(model: &M, x: &Values<B>, paths: usize, noise: &mut impl Noise) -> Self {
        let logits = model.encode(x.clone());
        let (inner_x, inner_logits) = (x.clone().inner(), logits.clone().inner());
        let objective = Objective::new(model.valid(), inner_x, inner_logits);
        let rows = paths * objective.batch();
        let path = objective.complete(Vec::new(), rows, noise);
        Self {
            logits,
            objective,
            rows,
            path,
        }
    }

    /// The batch mean of f over the paths, given log p(x, h) of them.
    pub fn elbo(&self, log_p: Tensor<B, 1>) -> f64 {
        mean(log_p.inner() - self.objective.log_q(&self.path))
    }
}

/// Asserts a particle number of at least this, and data x `[batch, visible]`.
pub(crate) fn at_least<B: Backend>(
    least: usize,
    particles: usize,
    x: &Values<B>,
) -> Result<(), EstimateError> {
    if particles < least {
        let given = particles;
        return Err(EstimateError::TooFewParticles { least, given });
    }
    if x.dims()[0] == 0 {
        return Err(EstimateError::NoData);
    }
    Ok(())
}

/// The same numbers without a gradient, whatever the tensor was made to have: `detach` of burn leaves a leaf that has one so.
pub(crate) fn constant<B: AutodiffBackend, const D: usize>(tensor: &Tensor<B, D>) -> Tensor<B, D> {
    Tensor::from_inner(tensor.clone().inner())
}

/// The mean of a tensor, on the host.
pub(crate) fn mean<B: Backend>(values: Tensor<B, 1>) -> f64 {
    let values = values.into_data();
    values.iter::<f64>().sum::<f64>() / values.num_elements() as f64
}
