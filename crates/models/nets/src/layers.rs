//! Layers one after the other.

use burn::tensor::Tensor;
use helmholtz_ops::{Activation, Backend, leaky_relu, perceptron};

use crate::Linear;

/// A net of one hidden layer with at most this many weights is one operation: its weights and what is summed of their gradients
/// stay in a processor's first cache, and no hidden unit goes to memory. For larger ones matrix products are the faster.
const SMALL: usize = 2048;

/// The outputs `[rows, out]` given the inputs `[rows, in]`, with the activation between layers.
pub(crate) fn forward<B: Backend>(
    layers: &[Linear<B>],
    inputs: Tensor<B, 2>,
    activation: Activation,
) -> Tensor<B, 2> {
    if let [hidden, output] = layers
        && hidden.weight.val().shape().num_elements() + output.weight.val().shape().num_elements()
            <= SMALL
    {
        let parameters = |layer: &Linear<B>| (layer.weight.val(), layer.bias.val());
        return perceptron(inputs, parameters(hidden), parameters(output), activation);
    }
    let layers = layers.iter().enumerate();
    layers.fold(inputs, |inputs, (index, layer)| {
        let inputs = match (index, activation) {
            (0, _) => inputs,
            (_, Activation::Tanh) => inputs.tanh(),
            (_, Activation::LeakyRelu(slope)) => leaky_relu(inputs, slope),
        };
        layer.forward(inputs)
    })
}
