//! Samples whose gradient is made up: straight-through estimators. Biased.

use burn::tensor::{Tensor, activation};
use helmholtz_distributions::{Bits, Variables};
use helmholtz_ops::AutodiffBackend;

use crate::Reparameterise;

/// A sample with the Jacobian of its mean: b ~ Bernoulli(p), p = σ(a), with ∂b/∂a := p (1 − p); a class with that of the softmax
/// (Bengio, Léonard & Courville 2013).
///
/// Exact in expectation for f linear in the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StraightThrough;

impl<B: AutodiffBackend, V: Variables> Reparameterise<B, V> for StraightThrough {
    fn sample(&self, variables: V, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let values = variables.sample(logits.clone(), uniforms).numbers();
        with_gradient_of(values, variables.mean(logits))
    }
}

/// [`StraightThrough`] with a slope s: b ~ Bernoulli(p), p = σ(s a), ∂b/∂a := s p (1 − p). The slope grows in training, so
/// that the Jacobian is smooth first and steep later (Chung, Ahn & Bengio 2017).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopeAnnealed {
    /// s ≥ 1.
    pub slope: f64,
}

impl SlopeAnnealed {
    /// min(5, 1.04^epoch), epochs from 0.
    pub fn at_epoch(epoch: u64) -> Self {
        let slope = 1.04f64.powf(epoch as f64).min(5.0);
        Self { slope }
    }
}

impl<B: AutodiffBackend> Reparameterise<B, Bits> for SlopeAnnealed {
    fn sample(
        &self,
        variables: Bits,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        StraightThrough.sample(variables, logits, uniforms)
    }

    fn slope(&self) -> f64 {
        self.slope
    }
}

/// The ½ estimator: b ~ Bernoulli(p) with ∂b/∂a := p (1 − p) / (2 P(b)), P(b) the probability of the bit that was drawn (Gu,
/// Levine, Sutskever & Mnih 2016).
///
/// Exact in expectation for f quadratic in b. For two classes it is ReinMax (Liu et al. 2023), whose Jacobian
/// 2 m (1 − m) − ½ p (1 − p), m = ½ (p + b), is the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half;

impl<B: AutodiffBackend> Reparameterise<B, Bits> for Half {
    fn sample(
        &self,
        variables: Bits,
        logits: Tensor<B, 2>,
        uniforms: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let bits = variables.sample(logits.clone(), uniforms).numbers();
        // p (1 − p) / P(b) is the probability of the other bit, |b − p|: nothing to clip.
        let other = (bits.clone() - activation::sigmoid(logits.clone().detach())).abs();
        with_gradient_of(bits, logits * other.mul_scalar(0.5))
    }
}

/// `values` with the gradient of `carrier`.
pub(crate) fn with_gradient_of<B: AutodiffBackend>(
    values: Tensor<B, 2>,
    carrier: Tensor<B, 2>,
) -> Tensor<B, 2> {
    // carrier − carrier is zero, exactly, for finite numbers.
    values + (carrier.clone() - carrier.detach())
}
