//! The discrete variables of a stochastic layer, as tensors.

use std::fmt::Debug;

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, Values};

use crate::noise::{Noise, uniforms};

/// The variables of a layer: how rows of logits, values and uniforms are laid out, and what can be done with them.
///
/// Values are bits, one-hot classes, counts, or relaxed numbers; binary ones are packed where the backend multiplies them so. Rows
/// of parameters repeat cyclically under more rows of values.
pub trait Variables: Copy + Debug + PartialEq {
    /// Columns of logits.
    fn logits(&self) -> usize;

    /// Columns of values.
    fn values(&self) -> usize;

    /// Uniforms that a draw of one row takes.
    fn uniforms(&self) -> usize;

    /// Values `[N, values]` for logits `[M, logits]` and uniforms `[N, uniforms]`, without gradient.
    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B>;

    /// log-probability of each row of values, nats, differentiable in both: `[N]`. Values may be relaxed.
    fn log_prob<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1>;

    /// ∂ log-probability / ∂ logits: `[N, logits]`, for as many rows of logits as of values.
    fn score<B: Backend>(&self, logits: Tensor<B, 2>, values: impl Into<Values<B>>)
    -> Tensor<B, 2>;

    /// Mean values: `[M, values]`.
    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2>;

    /// J(m) a `[N, values]` for logits a `[N, logits]` and m `[N, values]`, where J(m) is the Jacobian ∂E\[value\]/∂a at the logits
    /// whose mean is m.
    fn tangent<B: Backend>(&self, logits: Tensor<B, 2>, m: Tensor<B, 2>) -> Tensor<B, 2>;

    /// The logits under which the mean is m, strictly inside the range of means: `[N, logits]` for m `[N, values]`.
    fn logits_of<B: Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2>;
}

/// `count` draws for each row of logits `[M, logits]`, particle-major and without gradient: `[count · M, values]`. A uniform a
/// variable, in row order.
pub fn draw<B: Backend>(
    variables: &impl Variables,
    logits: Tensor<B, 2>,
    count: usize,
    noise: &mut impl Noise,
) -> Values<B> {
    let shape = [count * logits.dims()[0], variables.uniforms()];
    let noise = uniforms(shape, logits.dtype(), &logits.device(), noise);
    variables.sample(logits, noise)
}

/// Variables that are a function of noisy logits z, and can be relaxed. Here z is the logits with logistic or Gumbel noise. The
/// value is the sign or the largest entry of z, and the relaxed value a sigmoid or softmax of z / τ.
///
/// Rows of parameters are as many as rows of noise here, but in [`perturb`](Self::perturb).
pub trait Relaxable: Variables {
    /// Columns of z and of its noise, as many as a row takes uniforms.
    fn noisy(&self) -> usize;

    /// The noise that uniforms make, `[N, noisy]` both; uniforms are clipped to [10⁻⁷, 1 − 10⁻⁷].
    fn noise<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2>;

    /// z from logits and noise, differentiable in the logits: `[N, noisy]`. Fewer rows of logits are repeated cyclically.
    fn perturb<B: Backend>(&self, logits: Tensor<B, 2>, noise: Tensor<B, 2>) -> Tensor<B, 2>;

    /// The values that z stands for: `[N, values]`, without gradient.
    fn harden<B: Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2>;

    /// The relaxed values at temperature τ `[1, 1]`, differentiable in both: `[N, values]`.
    fn relax<B: Backend>(&self, z: Tensor<B, 2>, temperature: Tensor<B, 2>) -> Tensor<B, 2>;

    /// z from its law given the values, by fresh noise, differentiable in the logits: `[N, noisy]`.
    fn perturb_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2>;

    /// The noise with which [`perturb_given`](Self::perturb_given) is z, where z stands for these values.
    fn noise_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2>;
}
