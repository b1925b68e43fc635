//! Parameters and values of one shape.

use burn::tensor::{Tensor, backend::Backend};

/// All of these with the same sizes: those of 1 are repeated.
///
/// # Panics
/// If sizes differ otherwise.
pub(crate) fn broadcast<B: Backend, const D: usize, const N: usize>(
    tensors: [Tensor<B, D>; N],
) -> [Tensor<B, D>; N] {
    let all = tensors.each_ref().map(Tensor::dims);
    let shape: [usize; D] = std::array::from_fn(|at| {
        let sizes = all.map(|own| own[at]);
        let size = sizes.into_iter().find(|&size| size != 1).unwrap_or(1);
        assert!(
            sizes.iter().all(|&own| own == size || own == 1),
            "parameters and values with {sizes:?} elements along dimension {at}"
        );
        size
    });
    tensors.map(|tensor| match tensor.dims() == shape {
        true => tensor,
        false => tensor.expand(shape),
    })
}
