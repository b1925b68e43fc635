//! The mixture against what is known of it exactly: conditionals, evidence by enumeration of the assignments, divergences,
//! symmetries, the entropy of the joint law. Each stands beside twins that are broken on purpose and must fail.

mod broken;
mod density;
mod divergence;
mod evidence;
mod exact;
mod gradients;
mod marginal;
mod simulator;
mod symmetries;
mod threads;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use burn_flex::Flex;
use helmholtz_apg::{OneShot, PROPOSE};
use helmholtz_gmm::{Gmm, GmmConfig, GmmState};
use helmholtz_invariance::Suite;
use helmholtz_random::Stream;

type B = Flex;

const F64: DType = DType::F64;

/// One in a million for all statistical tests together.
static SUITE: Suite = Suite::new(2020, 25);

fn tensor<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<B, D> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, (&Default::default(), F64))
}

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}

fn largest<const D: usize>(tensor: Tensor<B, D>) -> f64 {
    numbers(tensor)
        .into_iter()
        .map(f64::abs)
        .fold(0.0, f64::max)
}

/// The published mixture, its nets as they start.
fn published() -> Gmm<B> {
    GmmConfig::default()
        .init(1, F64, &Default::default())
        .expect("a mixture")
}

/// Data of the published mixture, with particles from the one-shot proposal.
fn some_particles(instances: u64, points: usize) -> (Tensor<B, 3>, GmmState<B>) {
    let numbers: Vec<u64> = (0..instances).collect();
    let x = GmmConfig::default()
        .simulate(3, &numbers, points, F64, &Default::default())
        .x;
    let state = published().propose(&x, 4, &mut stream(0)).state;
    (x, state)
}

fn stream(at: u64) -> Stream {
    Stream::new(11, PROPOSE, [at, 0])
}

/// Writes these numbers to the parameters, in the order in which a module is visited.
struct Write<'a>(std::slice::Iter<'a, f64>);

impl<B: Backend> ModuleMapper<B> for Write<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|old| {
            let shape = old.dims();
            let values: Vec<f64> = self
                .0
                .by_ref()
                .take(shape.iter().product())
                .copied()
                .collect();
            let data = TensorData::new(values, shape);
            Tensor::from_data(data, (&old.device(), old.dtype())).require_grad()
        })
    }
}

fn with_parameters<B: Backend>(model: Gmm<B>, values: &[f64]) -> Gmm<B> {
    let mut write = Write(values.iter());
    let model = model.map(&mut write);
    assert_eq!(write.0.len(), 0, "there are numbers left");
    model
}
