//! Gradient estimators for generative models p(x, h) with discrete latents and an inference model q(h | x).
//!
//! An estimator of the weighted family is a small pure function. It takes the log-weights ℓ_k = log p(x, h_k) − log
//! q(h_k | x) of one datum's particles. It gives each particle a coefficient on log p and one on log q. One shared
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
//! The other families are a trait and a routine each: [`LogitGradient`] with [`estimate_logits`], [`LeaveOneOut`] with
//! [`estimate_leave_one_out`], [`Reparameterise`] with [`estimate_pathwise`]; and a few estimators have their own.
//!
//! Each estimator is a file of its own in the folder of its family, and a line of its family's list: [`Method::CATALOGUE`] is made of
//! these lines.
//!
//! | item | holds |
//! |---|---|
//! | [`Weighted`] | coefficients from log-weights: JSA, reweighted wake-sleep, score functions, bounds of K samples |
//! | [`Signals`] | a learning signal for each layer, less learned baselines: NVIL, MuProp |
//! | [`Logits`] | gradients in the logits from values of f: ARM, ARSM, DisARM, REBAR and what followed |
//! | [`Variates`] | leave-one-out baselines with control variates that are made of the other particles |
//! | [`Pathwise`] | biased: relaxed latents, and hard ones with a made-up gradient |
//! | [`estimate_logits_with_kl`], [`estimate_pathwise_with_kl`], [`kl_to_prior`] | the divergence to the prior in closed form |
//! | [`Declaration`], [`Estimator`] | what an estimator states of itself; what a training loop asks of it |
//! | [`Method`], [`Entry`] | all of them by name, with what each claims |
//! | [`Adding`], [`Erased`] | an estimator of another crate among them, and the model of a type not known that it is given |
//! | [`Propose`], [`Layered`], [`Joint`], [`Factored`], [`Dream`] | what a model can do for an estimator; [`Model`] is all of it |
//! | [`OneLayer`] | all of it from the few parts of a model of one layer of bits |
//! | [`Parts`] | which of a model's parameters are θ and which φ |
//! | [`estimate`], [`dreams`] | one gradient estimate, from uniforms to the chain states written back; its sleep phase alone |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod analytic_kl;
mod catalogue;
mod chains;
mod declaration;
mod estimate;
mod estimator;
mod family;
mod host;
mod latent;
mod layerwise;
mod learned;
mod leave_one_out;
mod logits;
mod method;
mod model;
mod objective;
mod one_layer;
mod particles;
mod pathwise;
mod race;
mod signals;
mod weighted;
mod weighting;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use analytic_kl::kl_to_prior;
pub use catalogue::{Catalogue, Entry, UnknownMethod, markdown};
pub use chains::{Chains, refresh, scatter};
pub use declaration::{Declaration, Description, Domain, LatentKind, Target};
pub use estimate::{Estimate, EstimateError};
pub use estimator::{Batch, Estimator};
pub use family::Member;
pub use latent::{Chosen, Latent, Model};
pub use layerwise::{propose_layers, score_layers};
pub use learned::{Controls, ControlsConfig, Learned, Mlp, Moments, Temperature};
pub use leave_one_out::*;
pub use logits::*;
pub use method::{Added, Adding, Erased, Kind, Method, Seen};
pub use model::{Dream, Factored, Joint, Layered, Parts, Proposals, Propose};
pub use objective::Objective;
#[doc(hidden)]
pub use one_layer::names;
pub use one_layer::{OneLayer, dream_one_layer};
pub use particles::Particles;
pub use pathwise::*;
pub use race::Race;
pub use signals::*;
pub use weighted::*;
pub use weighting::{Coefficient, Outcome, Weighting};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
