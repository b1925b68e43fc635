//! A linear layer.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_ops::linear;

/// x W + b. An [`Initialiser`](crate::Initialiser) makes it.
#[derive(Module, Debug)]
pub struct Linear<B: Backend> {
    /// W `[in, out]`.
    pub weight: Param<Tensor<B, 2>>,
    /// b `[out]`.
    pub bias: Param<Tensor<B, 1>>,
}

impl<B: helmholtz_ops::Backend> Linear<B> {
    /// The outputs `[.., out]` given the inputs `[.., in]`.
    pub fn forward<const D: usize>(&self, inputs: Tensor<B, D>) -> Tensor<B, D> {
        let mut dims = inputs.dims();
        let outputs = linear(rows(inputs), self.weight.val(), self.bias.val());
        dims[D - 1] = outputs.dims()[1];
        shaped(outputs, dims)
    }
}

/// All dimensions but the last as one: `[.., width]` to `[rows, width]`. Rows as they are need no operation, hence no entry of a tape.
pub(crate) fn rows<B: Backend, const D: usize>(inputs: Tensor<B, D>) -> Tensor<B, 2> {
    let width = inputs.dims()[D - 1];
    match D {
        2 => Tensor::from_primitive(inputs.into_primitive()),
        _ => inputs.reshape([-1, width as i32]),
    }
}

/// The way back from [`rows`].
pub(crate) fn shaped<B: Backend, const D: usize>(
    rows: Tensor<B, 2>,
    shape: [usize; D],
) -> Tensor<B, D> {
    match D {
        2 => Tensor::from_primitive(rows.into_primitive()),
        _ => rows.reshape(shape),
    }
}
