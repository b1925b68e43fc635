//! The small networks inside models: linear layers with a leaky rectifier or tanh between them.
//!
//! ```
//! use burn::tensor::{DType, Tensor};
//! use burn_flex::Flex;
//! use helmholtz_nets::{Activation, Initialisation, Initialiser};
//!
//! let mut draw = Initialiser::<Flex>::new(1, DType::F32, &Default::default());
//! let net = draw.net(&[784, 200, 10], Activation::LeakyRelu(0.01), Initialisation::FanIn);
//! let logits = net.forward(Tensor::<_, 2>::zeros([50, 784], &Default::default()));
//! assert_eq!(logits.dims(), [50, 10]);
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Net`] | the network of one factor, of a statistic or of a law |
//! | [`Activation`] | what is between its layers: tanh, or a leaky rectifier |
//! | [`Linear`] | one layer |
//! | [`Initialisation`] | how weights and biases start |
//! | [`Initialiser`] | draws nets, layers and single parameters for a seed |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod initialise;
mod layers;
mod linear;
mod net;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use helmholtz_ops::Activation;
pub use initialise::{Initialisation, Initialiser};
pub use linear::Linear;
pub use net::Net;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
