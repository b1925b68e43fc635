//! The few fused tensor operations that training and evaluating a discrete latent-variable model lives on, as an
//! extension of burn's backends.
//!
//! [`Backend`] is burn's backend with our operations. Every operation has a portable default in plain tensor
//! operations, which defines its meaning, and the CPU backend (feature `flex`) has a fast path. [`AutodiffBackend`] is
//! the form that differentiates; gradients can be differentiated again.
//!
//! ```
//! # #[cfg(feature = "flex")] {
//! use burn::tensor::{Tensor, TensorData};
//! use burn_flex::Flex;
//! let device = Default::default();
//! let logits = Tensor::<Flex, 2>::from_data(TensorData::from([[0.0f32, 2.0]]), &device);
//! let values = Tensor::<Flex, 2>::from_data(TensorData::from([[1.0f32, 0.0]]), &device);
//! let log_prob = helmholtz_ops::bernoulli_log_prob(logits, values);
//! assert!((log_prob.into_scalar() - (-0.693147 - 2.126928)).abs() < 1e-5);
//! # }
//! ```
//!
//! | operation | meaning |
//! |---|---|
//! | [`bernoulli_log_prob`] | log-probability of rows of bits under logits |
//! | [`bernoulli_mean_log_prob`] | log-probability of rows of grey values under means |
//! | [`sample_bernoulli`], [`draw_bernoulli`] | thresholded sampling from given uniforms: as numbers; packed |
//! | [`categorical_log_prob`] | log-probability of rows of one-hot values under logits |
//! | [`categorical_log_probabilities`], [`largest_classes`] | log-probabilities of all classes; the class of the largest entry |
//! | [`swapped_classes`] | the classes that win races of which two rates are swapped |
//! | [`sample_categorical`], [`draw_categorical`] | sampling by inversion of given uniforms: as numbers; packed |
//! | [`categorical_move`] | a draw of a class, its log-probability, and that of the class before |
//! | [`Values`], [`PackedBits`] | rows of values: numbers, or bits packed into words |
//! | [`pinned_logits`] | all logits, with the constant 0 of each first class |
//! | [`linear`] | x W + b |
//! | [`tanh`], [`leaky_relu`] | what is between layers |
//! | [`additive_scores`] | a net of one hidden layer on pairs |
//! | [`perceptron`], [`Activation`] | a small net of one hidden layer |
//! | [`linear_splines`] | a net of rectifiers along one of its inputs |
//! | [`softmax_sums`] | sums over data, weighted by a softmax |
//! | [`softmax_moments`] | moments weighted by a softmax, summed over the candidates of each particle |
//! | [`own_normal_log_probs`] | log-densities of data, each under its own normal |
//! | [`add_pieces`], [`Pieces`] | pieces of rows on rows: digits on a canvas |
//! | [`softmax_rows`], [`tempered_softmax_rows`], [`sigmoid`] | softmaxes of rows, at a temperature too, and sigmoids |
//! | [`with_gradient_of`] | a value with the gradient of another |
//! | [`repeat_rows`], [`side_by_side`] | rows repeated; columns of several matrices, rows repeated |
//! | [`own_differences`] | differences of data from their own centres |
//! | [`bounded_exp`] | a positive number of a net's output |
//! | [`bounded_log`] | the logarithm of a number that may be 0 |
//! | [`normal_gamma_log_prob`] | log-densities of normal-gamma laws |
//! | [`normal_gamma_posterior`] | normal-gamma laws given moments of data |
//! | [`normal_log_prob`] | log-densities of normal laws |
//! | [`normal_log_probs`] | log-densities of data under normals, in pairs |
//! | [`beta_log_prob`] | log-densities of beta laws |
//! | [`squared_norms`], [`directions`] | squared lengths and directions of rows |
//! | [`cat`] | tensors one after the other, beside other threads' backward passes |
//! | [`cross_correlation`] | where a template fits an image |
//! | [`log_gamma`], [`digamma`], [`trigamma`] | ln Γ and its derivatives |
//! | [`adam`] | one Adam update of a parameter and its moments |
//!
//! [`spread`] lets the operations of one thread share several, with the same bits.
//!
//! [`try_device`] says whether a backend's device is there and computes, before it gets work.
//!
//! Rows are broadcast **cyclically**: with `N` rows on one side and `M` on the other, `M` dividing `N`, row `n` meets
//! row `n mod M`. A batch of `B` data with `P` particles each is laid out particle-major, `[P · B, ·]`, so that `B` rows
//! of data or logits meet every particle without being copied.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod arguments;
mod autodiff;
mod backend;
mod cat;
#[cfg(feature = "cubecl")]
mod cubecl;
mod device;

#[cfg(feature = "flex")]
mod flex;
#[cfg(feature = "ndarray")]
mod ndarray;
mod pieces;
mod primitive;
mod threads;
mod values;

pub use burn;
#[cfg(feature = "flex")]
pub use burn_flex::Flex;
#[cfg(feature = "ndarray")]
pub use burn_ndarray::NdArray;

pub use api::{
    adam, add_pieces, additive_scores, bernoulli_log_prob, bernoulli_mean_log_prob, beta_log_prob,
    bounded_exp, bounded_log, categorical_log_prob, categorical_log_probabilities,
    categorical_move, cross_correlation, digamma, directions, draw_bernoulli, draw_categorical,
    largest_classes, leaky_relu, linear, linear_splines, log_gamma, normal_gamma_log_prob,
    normal_gamma_posterior, normal_log_prob, normal_log_probs, own_differences,
    own_normal_log_probs, perceptron, pinned_logits, repeat_rows, sample_bernoulli,
    sample_categorical, side_by_side, sigmoid, softmax_moments, softmax_rows, softmax_sums,
    squared_norms, swapped_classes, tanh, tempered_softmax_rows, trigamma, with_gradient_of,
};
pub use arguments::{
    Activation, AdamStep, AdditiveGradients, LinearGradients, OwnNormalGradients,
    PerceptronGradients,
};
pub use backend::{AutodiffBackend, Backend};
pub use cat::cat;
#[cfg(feature = "cuda")]
pub use device::find_cuda;
pub use device::{DeviceError, try_device};
pub use pieces::{Piece, Pieces};
pub use threads::{spread, with_helpers};
pub use values::{PackedBits, Values};

#[cfg(feature = "flex")]
#[doc(hidden)]
pub use flex::{
    bits::{Way as BitWay, linear_by as bit_linear_by},
    correlation::one_way as correlate_one_way,
};
