//! The gamma distribution.

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, digamma, log_gamma};
use helmholtz_random::Draws;

use crate::variates::variates;
use crate::{Entropy, LogProb, Mean, SampleReal};

/// Gamma(α, β) with shape α and **rate** β, element by element: density β^α x^(α−1) e^(−βx) / Γ(α) for x > 0.
#[derive(Clone, Debug)]
pub struct Gamma<B: Backend, const D: usize> {
    /// The shape α > 0.
    pub shape: Tensor<B, D>,
    /// The rate β > 0, an inverse scale.
    pub rate: Tensor<B, D>,
}

impl<B: Backend, const D: usize> Gamma<B, D> {
    /// No draw is below this, so that its logarithm and inverse are finite in f32.
    pub const LEAST: f64 = 1e-10;
}

impl<B: Backend, const D: usize> LogProb<B, D> for Gamma<B, D> {
    type Value = Tensor<B, D>;

    /// α ln β + (α − 1) ln x − β x − ln Γ(α), for x > 0.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let Self { shape, rate } = self;
        // What may be the same for many values comes second, where a broadcast is fast.
        let norm = rate.clone().log() * shape.clone() - log_gamma(shape.clone());
        value.clone().log() * (shape.clone() - 1.0) + norm - value * rate.clone()
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Gamma<B, D> {
    type Value = Tensor<B, D>;

    /// Draws below [`LEAST`](Gamma::LEAST) are raised to it.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        variates([&self.shape, &self.rate], shape, |[shape, rate]| {
            (draws.gamma(shape) / rate).clamp(Self::LEAST, f64::MAX)
        })
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Gamma<B, D> {
    /// α / β.
    fn mean(&self) -> Tensor<B, D> {
        self.shape.clone() / self.rate.clone()
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Gamma<B, D> {
    /// α − ln β + ln Γ(α) + (1 − α) ψ(α).
    fn entropy(&self) -> Tensor<B, D> {
        let Self { shape, rate } = self;
        shape.clone() - rate.clone().log() + log_gamma(shape.clone())
            - (shape.clone() - 1.0) * digamma(shape.clone())
    }
}
