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
//! | file | holds |
//! |---|---|
//! | [`Reinforce`] | score function without a baseline |
//! | [`Rloo`], [`VarGrad`] | leave-one-out baselines on the ELBO (what the released JSA code calls VIMCO), under both names |
//! | [`Vimco`] | the importance-weighted bound with local baselines |
//! | [`Ovis`], [`OvisMonteCarlo`] | the importance-weighted bound with control variates that are nearly the best |
//! | [`Tvo`] | the thermodynamic variational objective |
//! | [`Unordered`] | REINFORCE without replacement |
//! | [`CoupledChains`] | the gradient of log p(x) without bias, by chains that meet |
//! | [`Rws`], [`WakeSleep`] | reweighted wake-sleep: wake, sleep, or both; wake-sleep |
//! | [`Jsa`], [`Msc`] | joint stochastic approximation and Markovian score climbing, with kernels of `helmholtz-samplers` |
//! | [`Nvil`], [`MuProp`] | local signals with learned baselines; with a Taylor expansion at the mean field |
//! | [`Arm`], [`Disarm`], [`Arms`] | antithetic gradients in the logits |
//! | [`Ar`], [`Ars`], [`Arsm`] | exponential races with classes swapped |
//! | [`DisarmTree`], [`DisarmIw`] | DisARM for classes, by stick breaking or a balanced tree, and by importance weights |
//! | [`DisarmBound`], [`ArmsBound`] | DisARM and ARMS on the importance-weighted bound |
//! | [`DoubleCv`], [`Rodeo`] | leave-one-out baselines with control variates made of the other particles |
//! | [`Rebar`] | REBAR and RELAX |
//! | [`estimate_logits_with_kl`], [`estimate_pathwise_with_kl`], [`kl_to_prior`] | the divergence to the prior in closed form |
//! | [`Concrete`] | the bound of the model with relaxed bits |
//! | [`GumbelSoftmax`], [`LearnedGumbelSoftmax`], [`GumbelRao`], [`Decoupled`], [`StraightThrough`], [`SlopeAnnealed`], [`Half`], [`ReinMax`], [`ReinMaxRao`], [`ReinMaxCv`] | biased: relaxed latents, and hard ones with a made-up gradient |
//! | [`FiniteOrder`] | straight-through gradients of counts, exact for polynomials |
//! | [`Declaration`], [`Estimator`] | what an estimator states of itself; what a training loop asks of it |
//! | [`Method`], [`Entry`] | all of them by name, with what each claims |
//! | [`Adding`], [`Erased`] | an estimator of another crate among them, and the model of a type not known that it is given |
//! | [`Propose`], [`Layered`], [`Joint`], [`Factored`], [`Dream`] | what a model can do for an estimator; [`Model`] is all of it |
//! | [`OneLayer`] | all of it from the few parts of a model of one layer of bits |
//! | [`Parts`] | which of a model's parameters are θ and which φ |
//! | [`estimate`], [`dreams`] | one gradient estimate, from uniforms to the chain states written back; its sleep phase alone |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod added;
mod analytic_kl;
mod catalogue;
mod declaration;
mod estimator;
mod host;
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
mod signals;
mod weighted;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use added::{Added, Adding, Erased, Kind};
pub(crate) use analytic_kl::estimate_pathwise_batch;
pub use analytic_kl::{estimate_logits_with_kl, estimate_pathwise_with_kl, kl_to_prior};
pub use catalogue::{Catalogue, Entry, markdown};
pub use declaration::{Declaration, Description, Domain, LatentKind, Target};
pub use estimator::{Batch, Estimator};
pub use layerwise::{propose_layers, score_layers};
pub use learned::{Controls, ControlsConfig, Learned, Mlp, Temperature};
pub use leave_one_out::{DoubleCv, LeaveOneOut, Rodeo, Siblings, Variate, estimate_leave_one_out};
pub use logits::{
    Ar, Arm, Arms, ArmsBound, Ars, Arsm, Control, Disarm, DisarmBound, DisarmIw, DisarmTree,
    LogitGradient, Race, Rebar, Unordered, estimate_logits,
};
pub use method::{Latent, Method, OfBits, UnknownMethod};
pub use model::{Dream, Factored, Joint, Layered, Model, Parts, Proposals, Propose};
pub use objective::Objective;
#[doc(hidden)]
pub use one_layer::names;
pub use one_layer::{OneLayer, dream_one_layer};
pub use particles::Particles;
pub use pathwise::{
    AnnealedSlope, Concrete, Decoupled, FiniteOrder, GumbelRao, GumbelSoftmax, Half,
    LearnedGumbelSoftmax, LearnedTemperature, ReinMax, ReinMaxCv, ReinMaxRao, Reparameterise,
    SlopeAnnealed, StraightThrough, estimate_pathwise,
};
pub use signals::{Moments, MuProp, Nvil};
pub use weighted::{
    Chains, Coefficient, CoupledChains, Estimate, EstimateError, Jsa, JsaKernel, Msc, Outcome,
    Ovis, OvisMonteCarlo, Reinforce, Rloo, Rws, Tvo, VarGrad, Vimco, WakeSleep, Weighted,
    Weighting, dreams, estimate, refresh, scatter,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
