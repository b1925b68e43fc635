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
//! The other families are a trait and a routine each: [`LogitGradient`] with [`estimate_logits`], [`LeaveOneOut`] with
//! [`estimate_leave_one_out`], [`Reparameterise`] with [`estimate_pathwise`]; and a few estimators have their own.
//!
//! | file | holds |
//! |---|---|
//! | [`Reinforce`] | score function without a baseline |
//! | [`Rloo`] | leave-one-out baselines on the ELBO (what the released JSA code calls VIMCO) |
//! | [`Vimco`] | the importance-weighted bound with local baselines |
//! | [`Rws`], [`WakeSleep`] | reweighted wake-sleep: wake, sleep, or both; wake-sleep |
//! | [`Jsa`], [`Msc`] | joint stochastic approximation and Markovian score climbing, with kernels of `helmholtz-samplers` |
//! | [`Nvil`], [`MuProp`] | local signals with learned baselines; with a Taylor expansion at the mean field |
//! | [`Arm`], [`Disarm`], [`Arms`] | antithetic gradients in the logits |
//! | [`Ar`], [`Ars`], [`Arsm`] | exponential races with classes swapped |
//! | [`DisarmBound`] | DisARM on the importance-weighted bound |
//! | [`DoubleCv`], [`Rodeo`] | leave-one-out baselines with control variates made of the other particles |
//! | [`Rebar`] | REBAR and RELAX |
//! | [`estimate_logits_with_kl`], [`estimate_pathwise_with_kl`], [`kl_to_prior`] | the divergence to the prior in closed form |
//! | [`Concrete`] | the bound of the model with relaxed bits |
//! | [`GumbelSoftmax`], [`LearnedGumbelSoftmax`], [`StraightThrough`], [`SlopeAnnealed`], [`Half`], [`ReinMax`] | biased: relaxed latents, and hard ones with a made-up gradient |
//! | [`Method`], [`Entry`] | all of them by name, with what each claims |
//! | [`Propose`], [`Layered`], [`Joint`], [`Factored`], [`Dream`] | what a model can do for an estimator; [`Model`] is all of it |
//! | [`Parts`] | which of a model's parameters are θ and which φ |
//! | [`estimate`], [`dreams`] | one gradient estimate, from uniforms to the chain states written back; its sleep phase alone |

mod analytic_kl;
mod antithetic;
mod arm;
mod arms;
mod arsm;
mod catalogue;
mod chains;
mod concrete;
mod controls;
mod controls_config;
mod disarm;
mod disarm_bound;
mod double_cv;
mod estimate;
mod gumbel;
mod host;
mod jsa;
mod layerwise;
mod learned;
mod leave_one_out;
mod logit_gradient;
mod method;
mod mlp;
mod model;
mod moments;
mod msc;
mod muprop;
mod nvil;
mod objective;
mod particles;
mod pathwise;
mod rebar;
mod reinforce;
mod reinmax;
mod rloo;
mod rodeo;
mod rws;
mod states;
mod straight_through;
mod swaps;
mod vimco;
mod wake_sleep;
mod weighted;
mod weighting;

pub use analytic_kl::{estimate_logits_with_kl, estimate_pathwise_with_kl, kl_to_prior};
pub use arm::Arm;
pub use arms::Arms;
pub use arsm::{Ar, Ars, Arsm};
pub use catalogue::{Entry, Target, markdown};
pub use chains::{Chains, refresh, scatter};
pub use concrete::Concrete;
pub use controls::Controls;
pub use controls_config::{ControlsConfig, Temperature};
pub use disarm::Disarm;
pub use disarm_bound::DisarmBound;
pub use double_cv::DoubleCv;
pub use estimate::{Estimate, EstimateError, dreams, estimate};
pub use gumbel::{GumbelSoftmax, LearnedGumbelSoftmax};
pub use jsa::Jsa;
pub use layerwise::{propose_layers, score_layers};
pub use learned::Learned;
pub use leave_one_out::{LeaveOneOut, Siblings, Variate, estimate_leave_one_out};
pub use logit_gradient::{LogitGradient, estimate_logits};
pub use method::{Batch, Latent, Method, OfBits, UnknownMethod};
pub use mlp::Mlp;
pub use model::{Dream, Factored, Joint, Layered, Model, Parts, Proposals, Propose};
pub use moments::Moments;
pub use msc::Msc;
pub use muprop::MuProp;
pub use nvil::Nvil;
pub use objective::Objective;
pub use particles::Particles;
pub use pathwise::{Reparameterise, estimate_pathwise};
pub use rebar::{Control, Rebar};
pub use reinforce::Reinforce;
pub use reinmax::ReinMax;
pub use rloo::Rloo;
pub use rodeo::Rodeo;
pub use rws::Rws;
pub use straight_through::{Half, SlopeAnnealed, StraightThrough};
pub use swaps::Race;
pub use vimco::Vimco;
pub use wake_sleep::WakeSleep;
pub use weighted::Weighted;
pub use weighting::{Coefficient, Outcome, Weighting};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
