//! Layers one after the other.

use burn::tensor::Tensor;
use helmholtz_ops::{Activation, Backend, Values, leaky_relu, linear, perceptron, tanh};

use crate::Linear;

/// A net of one hidden layer with at most this many weights is one operation. Its weights and what is summed of their gradients
/// stay in a processor's first cache, and no hidden unit goes to memory. For larger ones matrix products are the faster.
const SMALL: usize = 2048;

/// The outputs `[rows, out]` given the inputs `[rows, in]`, with the activation between layers. The inputs v of the first layer
/// enter as s v − o, if such an (s, o) is given.
pub(crate) fn forward<B: Backend>(
    layers: &[Linear<B>],
    inputs: Values<B>,
    affine: Option<(f64, Tensor<B, 2>)>,
    activation: Activation,
) -> Tensor<B, 2> {
    let [first, rest @ ..] = layers else {
        return inputs.numbers();
    };
    let first = match affine {
        None => (first.weight.val(), first.bias.val()),
        Some((scale, offset)) => {
            let (weight, bias) = (first.weight.val(), first.bias.val());
            let [inputs, outputs] = weight.dims();
            let shift = offset.expand([1, inputs]).matmul(weight.clone());
            (weight * scale, bias - shift.reshape([outputs]))
        }
    };
    if let [output] = rest
        && first.0.shape().num_elements() + output.weight.val().shape().num_elements() <= SMALL
    {
        let output = (output.weight.val(), output.bias.val());
        return perceptron(inputs.numbers(), first, output, activation);
    }
    let (weight, bias) = first;
    rest.iter()
        .fold(linear(inputs, weight, bias), |units, layer| {
            let units = match activation {
                Activation::Tanh => tanh(units),
                Activation::LeakyRelu(slope) => leaky_relu(units, slope),
            };
            layer.forward(units)
        })
}
