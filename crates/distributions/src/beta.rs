//! The beta distribution.

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, beta_log_prob, digamma, log_gamma};
use helmholtz_random::Draws;

use crate::broadcast::broadcast;
use crate::variates::variates;
use crate::{Entropy, LogProb, Mean, SampleReal};

/// Beta(a, b), element by element: density x^(a−1) (1 − x)^(b−1) / B(a, b) for 0 < x < 1.
#[derive(Clone, Debug)]
pub struct Beta<B: Backend, const D: usize> {
    /// a > 0, the first shape: the density holds x^(a−1).
    pub a: Tensor<B, D>,
    /// b > 0, the second shape: the density holds (1 − x)^(b−1).
    pub b: Tensor<B, D>,
}

impl<B: Backend, const D: usize> Beta<B, D> {
    /// Draws keep this distance from 0 and 1, so that ln x and ln(1 − x) are finite in f32.
    pub const MARGIN: f64 = 1e-6;

    /// ln B(a, b) = ln Γ(a) + ln Γ(b) − ln Γ(a + b).
    fn log_norm(&self) -> Tensor<B, D> {
        let Self { a, b } = self;
        log_gamma(a.clone()) + log_gamma(b.clone()) - log_gamma(a.clone() + b.clone())
    }
}

impl<B: Backend, const D: usize> LogProb<B, D> for Beta<B, D> {
    type Value = Tensor<B, D>;

    /// (a − 1) ln x + (b − 1) ln(1 − x) − ln B(a, b), for 0 < x < 1; sizes of 1 are broadcast.
    ///
    /// # Panics
    /// If sizes differ otherwise.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let [a, b, x] = broadcast([self.a.clone(), self.b.clone(), value]);
        beta_log_prob(a, b, x)
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Beta<B, D> {
    type Value = Tensor<B, D>;

    /// Draws nearer to 0 or 1 than [`MARGIN`](Beta::MARGIN) are moved there.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        variates([&self.a, &self.b], shape, |[a, b]| {
            draws.beta(a, b).clamp(Self::MARGIN, 1.0 - Self::MARGIN)
        })
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Beta<B, D> {
    /// a / (a + b).
    fn mean(&self) -> Tensor<B, D> {
        self.a.clone() / (self.a.clone() + self.b.clone())
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Beta<B, D> {
    /// ln B(a, b) − (a − 1) ψ(a) − (b − 1) ψ(b) + (a + b − 2) ψ(a + b).
    fn entropy(&self) -> Tensor<B, D> {
        let sum = self.a.clone() + self.b.clone();
        self.log_norm()
            - (self.a.clone() - 1.0) * digamma(self.a.clone())
            - (self.b.clone() - 1.0) * digamma(self.b.clone())
            + (sum.clone() - 2.0) * digamma(sum)
    }
}
