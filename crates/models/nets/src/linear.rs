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
        let rows: Tensor<B, 2> = inputs.reshape([-1, dims[D - 1] as i32]);
        let outputs = linear(rows, self.weight.val(), self.bias.val());
        dims[D - 1] = outputs.dims()[1];
        outputs.reshape(dims)
    }
}
