//! The function whose expectation is differentiated, and the draws that it is taken at.

use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, uniforms};
use helmholtz_ops::{Backend, sample_bernoulli};

use crate::{Joint, Layered, Particles};

/// f(h) = log p(x, h) − log q(h | x) of latents h of a batch, nats, without gradient.
///
/// Rows are particle-major, as in [`Particles`]: row `p · B + b` belongs to datum b.
pub struct Objective<'a, B: Backend, M> {
    model: &'a M,
    x: Tensor<B, 2>,
    logits: Tensor<B, 2>,
}

impl<'a, B: Backend, M: Layered<B> + Joint<B>> Objective<'a, B, M> {
    /// Of data x `[batch, visible]`, with the logits of q(h¹ | x) `[batch, bits]`.
    pub fn new(model: &'a M, x: Tensor<B, 2>, logits: Tensor<B, 2>) -> Self {
        Self { model, x, logits }
    }

    /// Data of the batch.
    pub fn batch(&self) -> usize {
        self.x.dims()[0]
    }

    /// Logits of the layer above `below`, the layers nearer the data: `[rows, bits]`, of the first layer `[batch, bits]`.
    pub fn logits(&self, below: &[Tensor<B, 2>]) -> Tensor<B, 2> {
        match below.last() {
            Some(layer) => self.model.logits_above(below.len(), layer.clone()),
            None => self.logits.clone(),
        }
    }

    /// Uniforms for `rows` rows of the layer with these logits.
    pub fn uniforms(
        &self,
        logits: &Tensor<B, 2>,
        rows: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        let shape = [rows, logits.dims()[1]];
        uniforms(shape, logits.dtype(), &logits.device(), noise)
    }

    /// Draws the layers above `below` from q, in `rows` rows.
    pub fn complete(
        &self,
        below: Vec<Tensor<B, 2>>,
        rows: usize,
        noise: &mut impl Noise,
    ) -> Particles<B> {
        let mut layers = below;
        while layers.len() < self.model.layers().len() {
            let logits = self.logits(&layers);
            let uniforms = self.uniforms(&logits, rows, noise);
            layers.push(sample_bernoulli(logits, uniforms));
        }
        Particles::new(layers)
    }

    /// f of each row: `[rows]`.
    pub fn value(&self, particles: &Particles<B>) -> Tensor<B, 1> {
        self.model.log_joint(self.x.clone(), particles) - self.model.log_q(&self.logits, particles)
    }
}
