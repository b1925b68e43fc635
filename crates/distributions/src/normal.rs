//! The normal distribution.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, normal_log_prob};
use helmholtz_random::Draws;

use crate::variates::variates;
use crate::{Entropy, LogProb, Mean, SampleReal};

/// N(μ, σ²), element by element.
#[derive(Clone, Debug)]
pub struct Normal<B: Backend, const D: usize> {
    /// The mean μ.
    pub mean: Tensor<B, D>,
    /// The standard deviation σ > 0.
    pub deviation: Tensor<B, D>,
}

impl<B: Backend, const D: usize> LogProb<B, D> for Normal<B, D> {
    type Value = Tensor<B, D>;

    /// −½ ((x − μ) / σ)² − ln σ − ½ ln 2π.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let (mean, deviation) = (self.mean.clone(), self.deviation.clone());
        if [mean.dims(), deviation.dims()] == [value.dims(); 2] {
            return normal_log_prob(mean, deviation, value);
        }
        // A parameter that many values share is cheaper repeated by each operation than once in memory.
        let z = (value - mean) / deviation.clone();
        z.square() * -0.5 - deviation.log() - 0.5 * (2.0 * PI).ln()
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Normal<B, D> {
    type Value = Tensor<B, D>;

    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        variates([&self.mean, &self.deviation], shape, |[mean, deviation]| {
            mean + deviation * draws.normal()
        })
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Normal<B, D> {
    /// μ.
    fn mean(&self) -> Tensor<B, D> {
        self.mean.clone()
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Normal<B, D> {
    /// ln σ + ½ ln 2πe.
    fn entropy(&self) -> Tensor<B, D> {
        self.deviation.clone().log() + 0.5 * (1.0 + (2.0 * PI).ln())
    }
}
