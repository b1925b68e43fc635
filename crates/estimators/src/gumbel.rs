//! Relaxed bits: logistic noise and a temperature.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::AutodiffBackend;

use crate::Reparameterise;
use crate::straight_through::with_gradient_of;

/// z = σ((a + ln u − ln(1 − u)) / τ), a relaxed bit: binary Concrete (Maddison, Mnih & Teh 2017), which for two classes is
/// Gumbel-softmax (Jang, Gu & Poole 2017).
///
/// The function that is differentiated is f at relaxed bits, with the discrete log-probabilities of p and q evaluated there:
/// the gradient is unbiased for that function, not for the ELBO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSoftmax {
    /// τ > 0.
    pub temperature: f64,
    /// Straight-through: the value is the bit 1\[z > ½\], the gradient that of z.
    pub hard: bool,
}

impl Reparameterise for GumbelSoftmax {
    fn sample<B: AutodiffBackend>(
        &self,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let y = logits + logistic(uniforms);
        let relaxed = activation::sigmoid(y.clone().div_scalar(self.temperature));
        if self.hard {
            let bits = y.clone().greater_elem(0.0).float().cast(y.dtype());
            with_gradient_of(bits, relaxed)
        } else {
            relaxed
        }
    }
}

/// ln u − ln(1 − u), u clipped to [10⁻⁷, 1 − 10⁻⁷].
pub(crate) fn logistic<B: AutodiffBackend>(uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
    let u = uniforms.clamp(1e-7, 1.0 - 1e-7);
    u.clone().log() - u.neg().log1p()
}
