//! Helpers that experiments with populations of particles share: their sampler, and the plain numbers of a tensor.

use burn::tensor::{Tensor, backend::Backend};
use helmholtz_apg::Sampler;
use helmholtz_samplers::resampling::{Policy, Systematic};

/// Always resampled, by one uniform.
pub(crate) fn sampler(particles: usize, sweeps: usize) -> Sampler<Systematic> {
    let sampler = Sampler::new(particles, sweeps, Policy::Always, Systematic);
    sampler.expect("settings have particles and sweeps")
}

/// The mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The elements of a tensor.
pub(crate) fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Number of the sweeps asked for that have learned proposals, the one-shot proposal counted: training by one sweep learns that
/// proposal alone.
pub fn learned_sweeps(trained: usize, asked: usize) -> usize {
    match trained {
        1 => 1,
        _ => asked,
    }
}
