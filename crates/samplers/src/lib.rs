//! MCMC kernels over log-weights, and a store that keeps one chain state a datum. Plain Rust: no tensors, no framework.
//!
//! A Metropolis independence move needs two numbers and a coin. So a kernel here is an [`IndexKernel`]: it is given the
//! log-weights log p(x, h) - log q(h | x) of a current state and of K proposals, and answers with *indices*. The model
//! computes log-weights wherever it likes; states are moved by their index. Coins come from
//! [`Chance`](helmholtz_random::Chance): sampled in production, enumerated in the proofs of this crate, which build
//! the exact transition matrix from the very same code.
//!
//! ```
//! use helmholtz_random::{Purpose, Stream};
//! use helmholtz_samplers::{IndexKernel, Mis, Visits};
//!
//! // One datum: the cached state's log-weight, and those of three proposals.
//! let mut visits = Vec::new();
//! let mut coins = Stream::new(7, Purpose::new("accept"), [0, 12]);
//! let info = Mis.run(-88.1, &[-90.3, -87.0, -94.9], &mut coins, &mut visits);
//!
//! let visits = Visits::new(&visits);
//! let alpha = visits.coefficients(4); // weights of the four states in the gradient
//! assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! assert!(visits.last() < 4); // the state to write back
//! assert_eq!(info.moves, 3);
//! ```
//!
//! Contents:
//! * index kernels: [`Mis`], [`Mtmis`] and the ablation [`FrozenReferenceMis`]; [`Visits`] and [`Info`];
//! * chain stores: [`MemoryStore`], [`MappedStore`], and [`Latents`], [`pack_bits`], [`unpack_bits`] for what they hold;
//! * [`Scan`], the order in which data are visited;
//! * [`log_sum_exp`] and [`effective_sample_size`].

mod bits;
mod error;
mod frozen_reference;
mod index_kernel;
mod info;
mod kernel;
mod latents;
mod log_space;
mod mis;
mod mtmis;
mod scan;
mod store;
mod visits;

pub use bits::{pack_bits, unpack_bits};
pub use error::SamplerError;
pub use frozen_reference::FrozenReferenceMis;
pub use index_kernel::IndexKernel;
pub use info::Info;
pub use kernel::Kernel;
pub use latents::Latents;
pub use log_space::{effective_sample_size, log_sum_exp};
pub use mis::Mis;
pub use mtmis::Mtmis;
pub use scan::{Scan, ScanOrder};
pub use store::{ChainStore, MappedStore, Mark, MemoryStore};
pub use visits::Visits;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
