//! The pair of latents that ARM and DisARM compare.

use burn::tensor::Tensor;
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::Backend;

use crate::{Joint, Layered, Objective};

/// One layer of bits drawn twice, from u and from 1 − u, and f of both.
pub(crate) struct Antithetic<B: Backend> {
    /// Logits a of the layer `[rows or batch, bits]`.
    pub logits: Tensor<B, 2>,
    /// u `[rows, bits]`.
    pub uniforms: Tensor<B, 2>,
    /// b₁ = 1[1 − u < σ(a)] `[rows, bits]`.
    pub first: Tensor<B, 2>,
    /// b₂ = 1[u < σ(a)] `[rows, bits]`.
    pub second: Tensor<B, 2>,
    /// f(b₁) − f(b₂) `[rows, 1]`, the layers above drawn for each.
    pub difference: Tensor<B, 2>,
}

impl<B: Backend> Antithetic<B> {
    pub fn draw<M: Layered<B, Variables = Bits> + Joint<B>>(
        objective: &Objective<B, M>,
        below: &[Tensor<B, 2>],
        rows: usize,
        noise: &mut impl Noise,
    ) -> Self {
        let logits = objective.logits(below);
        let bits = objective.layers()[below.len()];
        let uniforms = objective.uniforms(rows, bits.0, noise);
        let first = bits.sample(logits.clone(), uniforms.clone().neg().add_scalar(1.0));
        let second = bits.sample(logits.clone(), uniforms.clone());
        let mut value = |layer: &Tensor<B, 2>| {
            let layers = [below, std::slice::from_ref(layer)].concat();
            objective.value(&objective.complete(layers, rows, noise))
        };
        let difference = value(&first) - value(&second);
        Self {
            logits,
            uniforms,
            difference: difference.reshape([rows, 1]),
            first,
            second,
        }
    }
}
