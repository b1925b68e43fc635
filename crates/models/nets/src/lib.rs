//! The small networks inside models: linear layers with a leaky rectifier or tanh between them.
//!
//! ```
//! use burn::tensor::{DType, Tensor};
//! use burn_flex::Flex;
//! use helmholtz_nets::{Initialisation, Initialiser};
//!
//! let mut draw = Initialiser::<Flex>::new(1, DType::F32, &Default::default());
//! let net = draw.net(&[784, 200, 10], 0.01, Initialisation::FanIn);
//! let logits = net.forward(Tensor::zeros([50, 784], &Default::default()));
//! assert_eq!(logits.dims(), [50, 10]);
//! ```
//!
//! | item | what it is |
//! |---|---|
//! | [`Net`] | the network of one factor, with leaky rectifiers |
//! | [`TanhNet`] | the network of a statistic or of a law, with tanh |
//! | [`Linear`] | one layer |
//! | [`Initialisation`] | how weights and biases start |
//! | [`Initialiser`] | draws nets, layers and single parameters for a seed |

mod initialise;
mod layers;
mod linear;
mod net;
mod tanh_net;

pub use initialise::{Initialisation, Initialiser};
pub use linear::Linear;
pub use net::Net;
pub use tanh_net::TanhNet;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
