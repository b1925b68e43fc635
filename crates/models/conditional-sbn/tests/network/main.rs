//! The network is what it is said to be. Tested are the net of table 3 number by number, any net's densities, draws and likelihood against a
//! second version of them, written out in plain f64, and what estimators do with it.

mod densities;
mod draws;
mod gradients;
mod likelihood;
mod methods;
mod table_3;
mod written_out;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use burn_flex::Flex;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};
use helmholtz_random::{Purpose, Stream};

/// One parameter: its shape and its values.
struct Parameter {
    shape: Vec<usize>,
    values: Vec<f64>,
}

/// All parameters in visiting order.
fn parameters<B: Backend>(model: &impl Module<B>) -> Vec<Parameter> {
    struct Collect(Vec<Parameter>);
    impl<B: Backend> ModuleVisitor<B> for Collect {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.0.push(Parameter {
                shape: param.val().dims().to_vec(),
                values: param.val().into_data().iter::<f64>().collect(),
            });
        }
    }
    let mut collect = Collect(vec![]);
    model.visit(&mut collect);
    collect.0
}

/// Four bits of context, five of target, three latents.
fn small() -> ConditionalSbnConfig {
    ConditionalSbnConfig {
        context: 4,
        target: 5,
        latent: 3,
        hidden: vec![6, 7],
    }
}

fn built(config: &ConditionalSbnConfig, dtype: DType) -> ConditionalSbn<Flex> {
    config.init(2, dtype, &Default::default()).unwrap()
}

fn stream(at: u64) -> Stream {
    Stream::new(2, Purpose::new("test"), [0, at])
}

/// Rows of random bits.
fn bits(rows: usize, columns: usize, at: u64) -> Vec<Vec<f64>> {
    let mut stream = stream(at);
    let mut row = || (0..columns).map(|_| f64::from(stream.below(2))).collect();
    (0..rows).map(|_| row()).collect()
}

/// Random data.
fn data(rows: usize, config: &ConditionalSbnConfig) -> Vec<Vec<f64>> {
    bits(rows, config.context + config.target, 0)
}

fn tensor<B: Backend>(rows: &[Vec<f64>], dtype: DType) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

fn rows<B: Backend>(tensor: &Tensor<B, 2>) -> Vec<Vec<f64>> {
    let width = tensor.dims()[1];
    let values: Vec<f64> = tensor.to_data().iter().collect();
    values.chunks(width).map(<[f64]>::to_vec).collect()
}

fn numbers(tensor: Tensor<Flex, 1>) -> Vec<f64> {
    tensor.into_data().iter().collect()
}
