//! Gradient estimators for generative models p(x, h) with discrete latents and an inference model q(h | x).
//!
//! An estimator of the weighted family is a small pure function: it takes the log-weights ℓ_k = log p(x, h_k) −
//! log q(h_k | x) of one datum's particles, and gives each particle a coefficient on log p and one on log q. One shared
//! routine ([`estimate`]) proposes, scores, asks the estimator, and builds the surrogate loss whose gradient is the
//! estimate.
//!
//! ```
//! use helmholtz_estimators::{Coefficient, Rws, Weighting};
//! use helmholtz_random::{Purpose, Stream};
//!
//! let log_w = [0.0, 3.0f64.ln()];
//! let mut coefficients = [Coefficient::default(); 2];
//! let mut chance = Stream::new(1, Purpose::new("accept"), [0, 0]);
//! Rws::WAKE.weigh(&log_w, false, &mut chance, &mut coefficients);
//! assert!((coefficients[1].theta - 0.75).abs() < 1e-12);
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`Reinforce`] | score function without a baseline |
//! | [`Rloo`] | leave-one-out baselines on the ELBO (what the released JSA code calls VIMCO) |
//! | [`Vimco`] | the importance-weighted bound with local baselines |
//! | [`Rws`] | reweighted wake-sleep: wake, sleep, or both |
//! | [`Jsa`] | joint stochastic approximation with a kernel of `helmholtz-samplers` |
//! | [`Method`] | all of them by name |
//! | [`Propose`], [`Joint`], [`Dream`] | what a model can do for an estimator |
//! | [`estimate`] | one gradient estimate, from uniforms to the chain states written back |

mod chains;
mod estimate;
mod host;
mod jsa;

mod method;
mod model;
mod particles;
mod reinforce;
mod rloo;
mod rws;
mod vimco;
mod weighting;

pub use chains::{Chains, refresh};
pub use estimate::{Estimate, EstimateError, estimate};
pub use jsa::Jsa;
pub use method::{Method, UnknownMethod};
pub use model::{Dream, Joint, Proposals, Propose};
pub use particles::Particles;
pub use reinforce::Reinforce;
pub use rloo::Rloo;
pub use rws::Rws;
pub use vimco::Vimco;
pub use weighting::{Coefficient, Outcome, Weighting};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
