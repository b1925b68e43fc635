//! The network of a statistic or of a law: from features to numbers.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};

use crate::Linear;

/// Linear layers with tanh between them. An [`Initialiser`](crate::Initialiser) draws it.
#[derive(Module, Debug)]
pub struct TanhNet<B: Backend> {
    layers: Vec<Linear<B>>,
}

impl<B: Backend> TanhNet<B> {
    /// Of these layers.
    pub fn new(layers: Vec<Linear<B>>) -> Self {
        Self { layers }
    }
}

impl<B: helmholtz_ops::Backend> TanhNet<B> {
    /// The outputs `[.., out]` given the features `[.., in]`.
    pub fn forward<const D: usize>(&self, features: Tensor<B, D>) -> Tensor<B, D> {
        let layers = self.layers.iter().enumerate();
        layers.fold(features, |inputs, (index, layer)| {
            let inputs = if index == 0 { inputs } else { inputs.tanh() };
            layer.forward(inputs)
        })
    }
}
