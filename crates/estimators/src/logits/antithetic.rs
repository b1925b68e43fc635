//! The pair of latents that ARM and DisARM compare.

use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Bits, Noise, Variables};
use helmholtz_ops::{Backend, Values, repeat_rows};

use crate::{Joint, Layered, Objective, Particles};

/// One layer of bits drawn twice, from u and from 1 − u, the layers above drawn for each, and f of both.
pub(crate) struct Antithetic<B: Backend> {
    /// Logits a of the layer `[rows or batch, bits]`.
    pub logits: Tensor<B, 2>,
    /// u `[rows, bits]`.
    pub uniforms: Tensor<B, 2>,
    /// The path with b₁ = 1[1 − u < σ(a)].
    pub first: Particles<B>,
    /// The path with b₂ = 1[u < σ(a)].
    pub second: Particles<B>,
    /// f of the first and of the second path `[rows]`.
    pub values: [Tensor<B, 1>; 2],
    /// Where the layer stands in them.
    level: usize,
}

impl<B: Backend> Antithetic<B> {
    pub fn draw<M: Layered<B, Variables = Bits> + Joint<B>>(
        objective: &Objective<B, M>,
        below: &[Values<B>],
        rows: usize,
        noise: &mut impl Noise,
    ) -> Self {
        let level = below.len();
        let logits = objective.logits(below);
        let bits = objective.layers()[level];
        let uniforms = objective.uniforms(rows, bits.0, noise);
        let draw = |uniforms| bits.sample(logits.clone(), uniforms);
        let first = draw(uniforms.clone().neg().add_scalar(1.0));
        let second = draw(uniforms.clone());
        let mut path = |layer| objective.complete([below, &[layer]].concat(), rows, noise);
        let (first, second) = (path(first), path(second));
        Self {
            logits,
            uniforms,
            values: [objective.value(&first), objective.value(&second)],
            first,
            second,
            level,
        }
    }

    /// f(b₁) − f(b₂) `[rows, 1]`.
    pub fn difference(&self) -> Tensor<B, 2> {
        let [first, second] = self.values.clone();
        (first - second).reshape([-1, 1])
    }

    /// ½ (b₁ − b₂) σ(|a|) `[rows, bits]`, what DisARM multiplies a difference with.
    pub fn factor(&self) -> Tensor<B, 2> {
        let bits = |path: &Particles<B>| path.layers()[self.level].numbers();
        let certainty = activation::sigmoid(self.logits.clone().abs());
        let certainty = repeat_rows(certainty, self.first.rows()).mul_scalar(0.5);
        (bits(&self.first) - bits(&self.second)) * certainty
    }
}
