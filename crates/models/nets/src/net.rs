//! The network of one factor: from the layer conditioned on to logits.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_ops::{leaky_relu, linear};

/// Linear layers with a leaky rectifier between them; the last one gives logits. An
/// [`Initialiser`](crate::Initialiser) makes it.
#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    layers: Vec<Layer<B>>,
    slope: f64,
}

/// x W + b, W `[in, out]`.
#[derive(Module, Debug)]
struct Layer<B: Backend> {
    weight: Param<Tensor<B, 2>>,
    bias: Param<Tensor<B, 1>>,
}

/// W and b of a layer.
pub(crate) type Parameters<B> = (Param<Tensor<B, 2>>, Param<Tensor<B, 1>>);

impl<B: Backend> Net<B> {
    pub(crate) fn new(layers: Vec<Parameters<B>>, slope: f64) -> Self {
        let layers = layers.into_iter();
        let layers = layers.map(|(weight, bias)| Layer { weight, bias });
        Self {
            layers: layers.collect(),
            slope,
        }
    }
}

impl<B: helmholtz_ops::Backend> Net<B> {
    /// The logits `[rows, out]` given the inputs `[rows, in]`.
    pub fn forward(&self, inputs: Tensor<B, 2>) -> Tensor<B, 2> {
        let last = self.layers.len() - 1;
        self.layers
            .iter()
            .enumerate()
            .fold(inputs, |inputs, (index, layer)| {
                let outputs = linear(inputs, layer.weight.val(), layer.bias.val());
                if index == last {
                    outputs
                } else {
                    leaky_relu(outputs, self.slope)
                }
            })
    }
}
