//! The Laplace distribution.

use burn::tensor::Tensor;
use helmholtz_ops::Backend;
use helmholtz_random::Draws;

use crate::variates::variates;
use crate::{Entropy, LogProb, Mean, SampleReal};

/// Laplace(μ, b), element by element: density e^(−|x − μ| / b) / (2 b).
#[derive(Clone, Debug)]
pub struct Laplace<B: Backend, const D: usize> {
    /// The mean μ.
    pub mean: Tensor<B, D>,
    /// The scale b > 0, the mean distance from μ.
    pub scale: Tensor<B, D>,
}

impl<B: Backend, const D: usize> LogProb<B, D> for Laplace<B, D> {
    type Value = Tensor<B, D>;

    /// −|x − μ| / b − ln 2b.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let z = (value - self.mean.clone()) / self.scale.clone();
        z.abs().neg() - self.scale.clone().log() - std::f64::consts::LN_2
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Laplace<B, D> {
    type Value = Tensor<B, D>;

    /// The difference of two exponential variates: two uniforms each.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        let mut exponential = || -(1.0 - draws.uniform()).ln();
        variates([&self.mean, &self.scale], shape, |[mean, scale]| {
            let up = exponential();
            mean + scale * (up - exponential())
        })
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Laplace<B, D> {
    /// μ.
    fn mean(&self) -> Tensor<B, D> {
        self.mean.clone()
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Laplace<B, D> {
    /// 1 + ln 2b.
    fn entropy(&self) -> Tensor<B, D> {
        self.scale.clone().log() + 1.0 + std::f64::consts::LN_2
    }
}
