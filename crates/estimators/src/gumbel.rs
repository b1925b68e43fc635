//! Relaxed variables: noise and a temperature.

use burn::tensor::Tensor;
use helmholtz_distributions::Relaxable;
use helmholtz_ops::AutodiffBackend;

use crate::Reparameterise;
use crate::straight_through::with_gradient_of;

/// For bits z = σ((a + ln u − ln(1 − u)) / τ), binary Concrete; for classes z = softmax((φ + G) / τ), G Gumbel (Maddison, Mnih &
/// Teh 2017; Jang, Gu & Poole 2017).
///
/// The function that is differentiated is f at relaxed values, with the discrete log-probabilities of p and q evaluated there:
/// the gradient is unbiased for that function, not for the ELBO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelSoftmax {
    /// τ > 0.
    pub temperature: f64,
    /// Straight-through: the value is the hard one, the gradient that of z.
    pub hard: bool,
}

impl<V: Relaxable> Reparameterise<V> for GumbelSoftmax {
    fn uniforms(&self, variables: V) -> usize {
        variables.noisy()
    }

    fn sample<B: AutodiffBackend>(
        &self,
        variables: V,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let z = variables.perturb(logits, variables.noise(uniforms));
        let dtype = z.dtype();
        let temperature = Tensor::full([1, 1], self.temperature, (&z.device(), dtype));
        let relaxed = variables.relax(z.clone(), temperature);
        if self.hard {
            with_gradient_of(variables.harden(z.detach()), relaxed)
        } else {
            relaxed
        }
    }
}
