//! The networks are what they are said to be. Tested are the net of table 2 number by number, any network's densities and draws
//! against a second version of them, written out in plain f64, and what estimators do with them.

mod chains;
mod densities;
mod draws;
mod methods;
mod table_2;
mod written_out;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use burn_flex::Flex;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};
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

/// Six visible bits, three variables of four classes.
fn small(free_logits: bool) -> CategoricalVaeConfig {
    CategoricalVaeConfig {
        visible: 6,
        variables: 3,
        classes: 4,
        hidden: vec![5, 7],
        slope: 0.2,
        free_logits,
        learned_prior: false,
    }
}

fn built(config: &CategoricalVaeConfig, dtype: DType) -> CategoricalVae<Flex> {
    config.init(2, dtype, &Default::default()).unwrap()
}

fn stream(at: u64) -> Stream {
    Stream::new(2, Purpose::new("test"), [0, at])
}

/// Rows of random bits.
fn data(rows: usize, config: &CategoricalVaeConfig) -> Vec<Vec<f64>> {
    let mut stream = stream(0);
    let mut row = || {
        (0..config.visible)
            .map(|_| f64::from(stream.below(2)))
            .collect()
    };
    (0..rows).map(|_| row()).collect()
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

/// One class a variable, side by side as one-hot vectors.
fn one_hot(classes: &[usize], config: &CategoricalVaeConfig) -> Vec<f64> {
    let value = |&class| (0..config.classes as usize).map(move |c| f64::from(u8::from(c == class)));
    classes.iter().flat_map(value).collect()
}
