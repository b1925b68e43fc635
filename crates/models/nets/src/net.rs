//! The network of one factor: from the layer conditioned on to logits.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_ops::Activation;

use crate::{Linear, layers};

/// Linear layers with a leaky rectifier between them; the last one gives logits. An
/// [`Initialiser`](crate::Initialiser) makes it.
#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    layers: Vec<Linear<B>>,
    slope: f64,
}

impl<B: Backend> Net<B> {
    pub(crate) fn new(layers: Vec<Linear<B>>, slope: f64) -> Self {
        Self { layers, slope }
    }
}

impl<B: Backend> Net<B> {
    /// The layers, from the inputs on.
    pub fn layers(&self) -> &[Linear<B>] {
        &self.layers
    }
}

impl<B: helmholtz_ops::Backend> Net<B> {
    /// The logits `[rows, out]` given the inputs `[rows, in]`.
    pub fn forward(&self, inputs: Tensor<B, 2>) -> Tensor<B, 2> {
        layers::forward(&self.layers, inputs, Activation::LeakyRelu(self.slope))
    }
}
