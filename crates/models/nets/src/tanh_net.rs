//! The network of a statistic or of a law: from features to numbers.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_ops::Activation;

use crate::{Linear, layers};

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
        let mut dims = features.dims();
        let rows: Tensor<B, 2> = features.reshape([-1, dims[D - 1] as i32]);
        let outputs = layers::forward(&self.layers, rows, Activation::Tanh);
        dims[D - 1] = outputs.dims()[1];
        outputs.reshape(dims)
    }
}
