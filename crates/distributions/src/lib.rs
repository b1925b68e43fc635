//! Distributions on tensors, by capability.
//!
//! A distribution implements what it can do: [`LogProb`], [`Sample`], [`Mean`], [`Entropy`]. A caller asks for the
//! capability it needs and no more. Sampling takes its uniforms from [`Noise`], never from the backend, so that a draw
//! is named by its stream and is the same on every device.
//!
//! ```
//! use burn::tensor::Tensor;
//! use burn_flex::Flex;
//! use helmholtz_distributions::{Bernoulli, LogProb, Sample};
//! use helmholtz_random::{Purpose, Stream};
//!
//! let logits = Tensor::<Flex, 2>::from_floats([[0.0, 3.0]], &Default::default());
//! let q = Bernoulli::new(logits);
//! let bits = q.sample(4, &mut Stream::new(1, Purpose::new("noise"), [0, 0]));
//! assert_eq!(bits.dims(), [4, 2]);
//! assert_eq!(q.log_prob(bits).dims(), [4]);
//! ```
//!
//! | distribution | parameters |
//! |---|---|
//! | [`Bernoulli`] | logits `[rows, bits]` |
//! | [`BinaryConcrete`] | logits `[rows, bits]`, a temperature |
//! | [`Categorical`] | logits `[rows, variables · (classes − 1)]`, those of the first classes pinned to 0 |
//!
//! A layer of such variables in a model is a [`Variables`]: [`Bits`] or [`Classes`]; those that are the sign or the largest
//! entry of noisy logits are [`Relaxable`].

mod bernoulli;
mod binary_concrete;
mod bits;
mod capabilities;
mod categorical;
mod classes;
mod noise;
mod variables;

pub use bernoulli::Bernoulli;
pub use binary_concrete::BinaryConcrete;
pub use bits::Bits;
pub use capabilities::{Entropy, LogProb, Mean, Sample};
pub use categorical::Categorical;
pub use classes::Classes;
pub use noise::{Noise, uniforms};
pub use variables::{Relaxable, Variables};
