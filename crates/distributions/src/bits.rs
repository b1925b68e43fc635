//! A layer of bits.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{Backend, Values, bernoulli_log_prob, draw_bernoulli, repeat_rows};

use crate::{Relaxable, Variables};

/// Clipping of uniforms before logarithms.
pub(crate) const CLIP: f64 = 1e-7;

/// Independent bits b with P(b = 1) = σ(a), a logit, a value and a uniform each. b = 1 iff u < σ(a).
///
/// As a relaxation z = a + ln u − ln(1 − u), b = 1\[z > 0\], relaxed to σ(z/τ): binary Concrete (Maddison, Mnih & Teh 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(pub usize);

impl Variables for Bits {
    fn logits(&self) -> usize {
        self.0
    }

    fn values(&self) -> usize {
        self.0
    }

    fn uniforms(&self) -> usize {
        self.0
    }

    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B> {
        draw_bernoulli(logits, uniforms)
    }

    fn log_prob<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 1> {
        bernoulli_log_prob(logits, values)
    }

    /// b − σ(a).
    fn score<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: impl Into<Values<B>>,
    ) -> Tensor<B, 2> {
        values.into().numbers() - activation::sigmoid(logits)
    }

    /// σ(a).
    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        activation::sigmoid(logits)
    }

    /// m (1 − m) a.
    fn tangent<B: Backend>(&self, logits: Tensor<B, 2>, m: Tensor<B, 2>) -> Tensor<B, 2> {
        (m.clone().neg() + 1.0) * m * logits
    }

    /// ln m − ln(1 − m).
    fn logits_of<B: Backend>(&self, m: Tensor<B, 2>) -> Tensor<B, 2> {
        m.clone().log() - m.neg().log1p()
    }
}

impl Relaxable for Bits {
    fn noisy(&self) -> usize {
        self.0
    }

    /// Logistic: ln u − ln(1 − u).
    fn noise<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let u = uniforms.clamp(CLIP, 1.0 - CLIP);
        u.clone().log() - u.neg().log1p()
    }

    fn perturb<B: Backend>(&self, logits: Tensor<B, 2>, noise: Tensor<B, 2>) -> Tensor<B, 2> {
        repeat_rows(logits, noise.dims()[0]) + noise
    }

    fn harden<B: Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2> {
        let dtype = z.dtype();
        z.greater_elem(0.0).float().cast(dtype)
    }

    fn relax<B: Backend>(&self, z: Tensor<B, 2>, temperature: Tensor<B, 2>) -> Tensor<B, 2> {
        activation::sigmoid(z / temperature)
    }

    /// With logistic noise ℓ: softplus(ℓ + softplus(a)) given a one, −softplus(−ℓ + softplus(−a)) given a zero.
    fn perturb_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let sign = values * 2.0 - 1.0;
        softplus(sign.clone() * noise + softplus(sign.clone() * logits)) * sign
    }

    fn noise_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let sign = values * 2.0 - 1.0;
        // softplus⁻¹(y) = y + ln(1 − e^−y).
        let y = (sign.clone() * z).clamp_min(CLIP);
        let inverse = y.clone() + (y.neg().exp().neg()).log1p();
        (inverse - softplus(sign.clone() * logits)) * sign
    }
}

/// ln(1 + e^x).
pub(crate) fn softplus<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    activation::log_sigmoid(x.neg()).neg()
}
