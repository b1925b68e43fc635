//! The portable definitions of our operations, in plain tensor operations on any backend and dtype.

use burn::tensor::Tensor;
use burn::tensor::ops::FloatTensor;

use crate::Backend;

mod bernoulli;
mod bits;
mod canvas;
mod categorical;
mod densities;
mod elementwise;
mod nets;
mod rows;
mod sums;

pub use bernoulli::*;
pub use bits::*;
pub use canvas::*;
pub use categorical::*;
pub use densities::*;
pub use elementwise::*;
pub use nets::*;
pub use rows::*;
pub use sums::*;

use crate::primitive::{unwrap, wrap};

/// `rows` repeated cyclically to `count` rows. Not by burn's `repeat_dim`, whose gradient (0.21) folds neighbouring rows
/// instead of equal ones.
pub fn cycle<B: Backend>(rows: Tensor<B, 2>, count: usize) -> Tensor<B, 2> {
    let [have, width] = rows.dims();
    if have == count {
        rows
    } else {
        rows.unsqueeze::<3>()
            .expand([count / have, have, width])
            .reshape([count, width])
    }
}

/// Logits and values, both with the larger number of rows.
fn align<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> (Tensor<B, 2>, Tensor<B, 2>) {
    let (logits, values) = (wrap::<B, 2>(logits), wrap::<B, 2>(values));
    let rows = logits.dims()[0].max(values.dims()[0]);
    (cycle(logits, rows), cycle(values, rows))
}
