//! The deep mixture against what is known of it: densities written a second time, weights as differences of them, evidence by
//! quadrature, symmetries, the simulator. Each stands beside twins that are broken on purpose and must fail.

mod densities;
mod evidence;
mod nets;
mod parameters;
mod rows;
mod simulator;
mod symmetries;

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{OneShot, PROPOSE};
use helmholtz_dmm::{Dmm, DmmConfig, DmmState, Rings};
use helmholtz_invariance::Suite;
use helmholtz_random::Stream;

type B = Flex;

const F64: DType = DType::F64;

/// One in a million for all statistical tests together.
static SUITE: Suite = Suite::new(2020, 2);

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

fn largest<const D: usize>(tensor: Tensor<B, D>) -> f64 {
    numbers(tensor)
        .into_iter()
        .map(f64::abs)
        .fold(0.0, f64::max)
}

/// The released model, its nets as they start.
fn released() -> Dmm<B> {
    let model = DmmConfig::released().init(1, F64, &Default::default());
    model.expect("a model")
}

/// Rings, with particles from the one-shot proposal.
fn some_particles(instances: u64, points: usize) -> (Tensor<B, 3>, DmmState<B>) {
    let numbers: Vec<u64> = (0..instances).collect();
    let simulated = Rings::default().simulate(3, &numbers, points, F64, &Default::default());
    let x = simulated.expect("rings").x;
    let state = released().propose(&x, 4, &mut stream(0)).state;
    (x, state)
}

fn stream(at: u64) -> Stream {
    Stream::new(11, PROPOSE, [at, 0])
}
