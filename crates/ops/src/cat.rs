//! Tensors side by side.

use burn::tensor::backend::Backend;
use burn::tensor::{BasicOps, Tensor};

/// The tensors one after the other along a dimension, as burn's `Tensor::cat`, safe beside a backward pass of another thread.
///
/// burn 0.21 ends each backward pass by dropping, from the tapes of *all* threads, what no tensor refers to. Its own `cat` lets go
/// of its parts before their successor is on the tape, so that another thread's pass can drop them. The gradients behind them are then
/// missing, without an error (tracel-ai/burn, issue 5573). Here the parts live until it is.
///
/// # Panics
/// If there are no tensors, or their other dimensions differ.
pub fn cat<B: Backend, const D: usize, K: BasicOps<B>>(
    tensors: Vec<Tensor<B, D, K>>,
    dimension: usize,
) -> Tensor<B, D, K> {
    let parts = tensors.clone();
    #[expect(clippy::disallowed_methods, reason = "the parts live beyond it")]
    let all = Tensor::cat(tensors, dimension);
    drop(parts);
    all
}
