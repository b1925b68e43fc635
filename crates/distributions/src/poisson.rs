//! The Poisson distribution.

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, log_gamma};
use helmholtz_random::Draws;

use crate::count_variates::poisson;
use crate::variates::variates;
use crate::{LogProb, Mean, SampleReal};

/// Poisson(λ), element by element: probability λ^x e^(−λ) / x! of x = 0, 1, 2, ...
#[derive(Clone, Debug)]
pub struct Poisson<B: Backend, const D: usize> {
    /// The mean λ > 0.
    pub rate: Tensor<B, D>,
}

impl<B: Backend, const D: usize> LogProb<B, D> for Poisson<B, D> {
    type Value = Tensor<B, D>;

    /// x ln λ − λ − ln x!, for whole x ≥ 0.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let rate = self.rate.clone();
        value.clone() * rate.clone().log() - rate - log_gamma(value + 1.0)
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Poisson<B, D> {
    type Value = Tensor<B, D>;

    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        variates([&self.rate], shape, |[rate]| poisson(rate, draws))
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Poisson<B, D> {
    /// λ.
    fn mean(&self) -> Tensor<B, D> {
        self.rate.clone()
    }
}
