//! Distributions on tensors, by capability.
//!
//! A distribution implements what it can do: [`LogProb`], [`Sample`] or [`SampleReal`], [`Mean`], [`Entropy`]. A caller asks
//! for the capability it needs and no more. Sampling takes its randomness from [`Noise`] or
//! [`Draws`](helmholtz_random::Draws), never from the backend, so that a draw is named by its stream and is the same on
//! every device.
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
//! | [`Normal`] | mean and standard deviation, elementwise |
//! | [`Laplace`] | mean and scale, elementwise |
//! | [`Student`] | degrees of freedom, location and scale, elementwise |
//! | [`Gamma`] | shape and rate, elementwise |
//! | [`Beta`] | the two shapes, elementwise |
//! | [`Poisson`], [`Binomial`] | rate; trials and logit, elementwise |
//! | [`NormalGamma`] | mean, ν, shape and rate, elementwise; conjugate to normal observations |
//! | [`Dirichlet`] | concentrations, along the last dimension |
//! | [`MultivariateNormal`] | means `[rows, K]` and Cholesky factors `[rows, K, K]` |
//!
//! A layer of a model is a [`Variables`]: [`Bits`], [`Classes`], or [`Mixed`] in a model that has both, or [`Counts`]. Variables
//! that are the sign or the largest entry of noisy logits are [`Relaxable`].
//!
//! Real numbers are drawn on the host and scored element by element:
//!
//! ```
//! use burn::tensor::Tensor;
//! use burn_flex::Flex;
//! use helmholtz_distributions::{Gamma, LogProb, SampleReal};
//! use helmholtz_random::{Purpose, Stream};
//!
//! let numbers = |x| Tensor::<Flex, 2>::from_floats([x], &Default::default());
//! let q = Gamma { shape: numbers([2.0, 0.5, 30.0]), rate: numbers([2.0, 1.0, 4.0]) };
//! let tau = q.sample([10, 3], &mut Stream::new(1, Purpose::new("noise"), [0, 0]));
//! let log_prob = q.log_prob(tau).sum_dim(1); // of rows of three: [10, 1]
//! assert_eq!(log_prob.dims(), [10, 1]);
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bernoulli;
mod beta;
mod binary_concrete;
mod binomial;
mod bits;
mod broadcast;
mod capabilities;
mod categorical;
mod classes;
mod count_variates;
mod counts;
mod dirichlet;
mod gamma;
mod laplace;
mod mixed;
mod multivariate_normal;
mod noise;
mod normal;
mod normal_gamma;
mod poisson;
mod student;
mod variables;
mod variates;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use bernoulli::Bernoulli;
pub use beta::Beta;
pub use binary_concrete::BinaryConcrete;
pub use binomial::Binomial;
pub use bits::Bits;
pub use capabilities::{Entropy, LogProb, Mean, Sample, SampleReal};
pub use categorical::Categorical;
pub use classes::Classes;
pub use counts::Counts;
pub use dirichlet::Dirichlet;
pub use gamma::Gamma;
pub use laplace::Laplace;
pub use mixed::Mixed;
pub use multivariate_normal::MultivariateNormal;
pub use noise::{Noise, uniforms};
pub use normal::Normal;
pub use normal_gamma::NormalGamma;
pub use poisson::Poisson;
pub use student::Student;
pub use variables::{Relaxable, Variables, draw};
