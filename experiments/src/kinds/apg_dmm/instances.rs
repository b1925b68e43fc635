//! Instances of the data.

use burn::tensor::DType;
use helmholtz_dmm::Simulated;
use helmholtz_ops::Backend;

use super::Settings;

/// Instances of the data.
pub(crate) fn rings<B: Backend>(
    settings: &Settings,
    seed: u64,
    numbers: &[u64],
    points: usize,
    device: &B::Device,
) -> Simulated<B> {
    let rings = settings
        .data
        .simulate(seed, numbers, points, DType::F32, device);
    rings.expect("settings have numbers of points that fill the rings")
}
