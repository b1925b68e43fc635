//! Student's t distribution.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, digamma, log_gamma};
use helmholtz_random::Draws;

use crate::variates::variates;
use crate::{Entropy, LogProb, SampleReal};

/// Student(ν, μ, σ), element by element: (x − μ) / σ has the t distribution with ν degrees of freedom. Its mean is μ for
/// ν > 1, and does not exist otherwise.
#[derive(Clone, Debug)]
pub struct Student<B: Backend, const D: usize> {
    /// The degrees of freedom ν > 0.
    pub freedom: Tensor<B, D>,
    /// The centre μ.
    pub location: Tensor<B, D>,
    /// The scale σ > 0; not the standard deviation.
    pub scale: Tensor<B, D>,
}

impl<B: Backend, const D: usize> LogProb<B, D> for Student<B, D> {
    type Value = Tensor<B, D>;

    /// ln Γ((ν + 1) / 2) − ln Γ(ν / 2) − ½ ln πν − ln σ − (ν + 1) / 2 ln(1 + z² / ν), z = (x − μ) / σ.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let (nu, scale) = (self.freedom.clone(), self.scale.clone());
        let z = (value - self.location.clone()) / scale.clone();
        let half = (nu.clone() + 1.0) * 0.5;
        let norm = log_gamma(half.clone())
            - log_gamma(nu.clone() * 0.5)
            - (nu.clone() * PI).log() * 0.5
            - scale.log();
        (z.square() / nu).log1p().neg() * half + norm
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Student<B, D> {
    type Value = Tensor<B, D>;

    /// μ + σ z / √(g / (ν / 2)), g a gamma variate of shape ν / 2.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        let parameters = [&self.freedom, &self.location, &self.scale];
        variates(parameters, shape, |[freedom, location, scale]| {
            let z = draws.normal();
            let g = draws.gamma(0.5 * freedom);
            location + scale * z / (g / (0.5 * freedom)).sqrt()
        })
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Student<B, D> {
    /// (ν + 1) / 2 (ψ((ν + 1) / 2) − ψ(ν / 2)) + ½ ln ν + ln B(ν / 2, ½) + ln σ.
    fn entropy(&self) -> Tensor<B, D> {
        let (nu, half) = (self.freedom.clone(), (self.freedom.clone() + 1.0) * 0.5);
        let log_beta = log_gamma(nu.clone() * 0.5) + 0.5 * PI.ln() - log_gamma(half.clone());
        half.clone() * (digamma(half) - digamma(nu.clone() * 0.5))
            + nu.log() * 0.5
            + log_beta
            + self.scale.clone().log()
    }
}
