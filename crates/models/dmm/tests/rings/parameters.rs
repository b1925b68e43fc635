//! The model's parameters as one list, in the order in which a module is visited.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::backend::AutodiffBackend;

use crate::*;

struct Read<'a, B: AutodiffBackend> {
    gradients: Option<&'a B::Gradients>,
    numbers: Vec<f64>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Read<'_, B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        self.numbers.extend(match self.gradients {
            None => numbers(value),
            Some(gradients) => match value.grad(gradients) {
                Some(gradient) => numbers(gradient),
                None => vec![0.0; value.shape().num_elements()],
            },
        });
    }
}

/// The values.
pub fn values<B: AutodiffBackend>(model: &Dmm<B>) -> Vec<f64> {
    let mut read = Read {
        gradients: None,
        numbers: vec![],
    };
    model.visit(&mut read);
    read.numbers
}

/// The gradients, 0 where there are none.
pub fn gradients<B: AutodiffBackend>(model: &Dmm<B>, gradients: &B::Gradients) -> Vec<f64> {
    let mut read = Read {
        gradients: Some(gradients),
        numbers: vec![],
    };
    model.visit(&mut read);
    read.numbers
}

struct Write<'a>(&'a [f64]);

impl<B: Backend> ModuleMapper<B> for Write<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
        param.map(|old| {
            let shape = old.dims();
            let (own, rest) = self.0.split_at(shape.iter().product());
            self.0 = rest;
            let data = TensorData::new(own.to_vec(), shape);
            Tensor::from_data(data, (&old.device(), old.dtype())).require_grad()
        })
    }
}

/// The model with these values.
pub fn with_values<B: Backend>(model: Dmm<B>, values: &[f64]) -> Dmm<B> {
    let mut write = Write(values);
    let model = model.map(&mut write);
    assert!(write.0.is_empty(), "there are numbers left");
    model
}
