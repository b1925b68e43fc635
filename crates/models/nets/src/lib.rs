//! The small networks inside models: linear layers with a leaky rectifier between them, from what a factor is conditioned
//! on to its logits.
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
//! | [`Net`] | the network of one factor |
//! | [`Initialisation`] | how weights and biases start |
//! | [`Initialiser`] | draws nets and single parameters for a seed |

mod initialise;
mod net;

pub use initialise::{Initialisation, Initialiser};
pub use net::Net;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
