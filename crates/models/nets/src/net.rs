//! Layers one after the other: the network of a factor, of a statistic or of a law.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData, backend::Backend};
use helmholtz_ops::{Activation, Values};

use crate::linear::{rows, shaped};
use crate::{Linear, layers};

/// Linear layers with an activation between them; what the last one gives is as it is. An [`Initialiser`](crate::Initialiser)
/// draws it.
#[derive(Module, Debug)]
pub struct Net<B: Backend> {
    layers: Vec<Linear<B>>,
    #[module(skip)]
    activation: Activation,
}

impl<B: Backend> Net<B> {
    /// Of these layers.
    pub fn new(layers: Vec<Linear<B>>, activation: Activation) -> Self {
        Self { layers, activation }
    }

    /// The same with these biases of the last layer to start from.
    ///
    /// # Panics
    /// If they are not as many as it has.
    pub fn with_biases(mut self, biases: &[f64]) -> Self {
        let last = self.layers.last_mut().expect("a net has a layer");
        let biases = TensorData::new(biases.to_vec(), last.bias.shape());
        last.bias = last
            .bias
            .clone()
            .map(|bias| Tensor::from_data(biases, (&bias.device(), bias.dtype())).require_grad());
        self
    }

    /// The layers, from the inputs on.
    pub fn layers(&self) -> &[Linear<B>] {
        &self.layers
    }
}

impl<B: helmholtz_ops::Backend> Net<B> {
    /// The outputs `[rows, out]` given values `[rows, in]` as they are: bits, or numbers.
    pub fn of(&self, values: impl Into<Values<B>>) -> Tensor<B, 2> {
        layers::forward(&self.layers, values.into(), None, self.activation)
    }

    /// The outputs `[rows, out]` given values `[rows, in]` that enter as `scale` · v − `offset`, the offset `[1, in]` or `[1, 1]`.
    /// Numbers are made so; bits stay bits, and the first layer's weights take it up: (s v − o) W + b = v (s W) + (b − o W).
    pub fn of_affine(
        &self,
        values: impl Into<Values<B>>,
        scale: f64,
        offset: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let values = values.into();
        match values {
            Values::Numbers(numbers) => self.of(numbers * scale - offset),
            Values::Bits(_) => {
                layers::forward(&self.layers, values, Some((scale, offset)), self.activation)
            }
        }
    }

    /// The outputs `[.., out]` given the inputs `[.., in]`.
    pub fn forward<const D: usize>(&self, inputs: Tensor<B, D>) -> Tensor<B, D> {
        let mut dims = inputs.dims();
        let outputs = layers::forward(&self.layers, rows(inputs).into(), None, self.activation);
        dims[D - 1] = outputs.dims()[1];
        shaped(outputs, dims)
    }
}
