//! What a distribution can do, one trait a capability.
//!
//! **Discrete** distributions are over rows: parameters for `[rows]`; values for `particles · rows` rows are laid out
//! particle-major, row n of the values under row `n mod rows` of the parameters. Their log-probabilities are sums over a row.
//!
//! Distributions of **real numbers** are elementwise, of any rank `D`. Parameters broadcast against each other and against the
//! values (dimensions of size 1 repeat), and each element has a log-density of its own. The caller sums over what belongs to one
//! variable. Vectors ([`Dirichlet`](crate::Dirichlet), [`MultivariateNormal`](crate::MultivariateNormal)) lie along the last
//! dimension, which is of size 1 in what is one number for each of them.

use burn::tensor::{Tensor, backend::Backend};
use helmholtz_random::Draws;

use crate::Noise;

/// Scores values.
pub trait LogProb<B: Backend, const D: usize = 1> {
    /// What is scored.
    type Value;

    /// log p(value) in nats: of each row, summed over its components, `[value rows]`; or of each real number.
    fn log_prob(&self, value: Self::Value) -> Tensor<B, D>;
}

/// Draws discrete values.
pub trait Sample<B: Backend> {
    /// What is drawn.
    type Value;

    /// `particles` independent draws for each row: `[particles · rows, ..]`, without gradient.
    fn sample(&self, particles: usize, noise: &mut impl Noise) -> Self::Value;
}

/// Draws real numbers.
pub trait SampleReal<B: Backend, const D: usize> {
    /// What is drawn.
    type Value;

    /// Independent draws for each element of `shape`, to which the parameters are broadcast; without gradient.
    ///
    /// They are made on the host in row order, in f64, and rounded to the parameters' dtype: the same on every device, given
    /// the same parameters. Parameters are not checked: impossible shapes, means and trials give NaN, a negative scale or rate
    /// gives a number without meaning.
    ///
    /// # Panics
    /// If a parameter does not broadcast to `shape`.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Self::Value;
}

/// Has a mean.
pub trait Mean<B: Backend, const D: usize = 2> {
    /// E\[value\]: of each row, `[rows, components]`; or of each real number.
    fn mean(&self) -> Tensor<B, D>;
}

/// Has an entropy.
pub trait Entropy<B: Backend, const D: usize = 1> {
    /// −E\[log p(value)\] in nats: of each row, `[rows]`; or of each real number.
    fn entropy(&self) -> Tensor<B, D>;
}
