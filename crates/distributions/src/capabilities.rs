//! What a distribution can do, one trait a capability.
//!
//! A distribution over rows has parameters for `[rows]`; values for `particles · rows` rows are laid out
//! particle-major, row n of the values under row `n mod rows` of the parameters.

use burn::tensor::{Tensor, backend::Backend};

use crate::Noise;

/// Scores values.
pub trait LogProb<B: Backend> {
    /// What is scored.
    type Value;

    /// log p(value) of each row in nats, summed over the components of the row: `[value rows]`.
    fn log_prob(&self, value: Self::Value) -> Tensor<B, 1>;
}

/// Draws values.
pub trait Sample<B: Backend> {
    /// What is drawn.
    type Value;

    /// `particles` independent draws for each row: `[particles · rows, ..]`, without gradient.
    fn sample(&self, particles: usize, noise: &mut impl Noise) -> Self::Value;
}

/// Has a mean.
pub trait Mean<B: Backend> {
    /// E\[value\] of each row: `[rows, components]`.
    fn mean(&self) -> Tensor<B, 2>;
}

/// Has an entropy.
pub trait Entropy<B: Backend> {
    /// −E\[log p(value)\] of each row in nats: `[rows]`.
    fn entropy(&self) -> Tensor<B, 1>;
}
