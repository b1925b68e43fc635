//! Latent-variable models whose latents cannot be reparameterised: one dependency for the whole workspace.
//!
//! A generative model p(x, h) and an inference model q(h | x) are learned together when h is discrete. Every part is a
//! crate of its own and can be taken alone; this one names them together.
//!
//! ```
//! use helmholtz::random::{Purpose, Stream};
//! use helmholtz::samplers::{IndexKernel, Mis, Visits};
//!
//! // Three proposals from q, weighed against the chain's state by log p(x, h) − log q(h | x).
//! let mut visits = Vec::new();
//! let mut chance = Stream::new(1, Purpose::new("accept"), [0, 0]);
//! Mis.run(-90.0, &[-92.5, -88.0, -400.0], &mut chance, &mut visits);
//! assert_eq!(Visits::new(&visits).coefficients(4).iter().sum::<f64>(), 1.0);
//! ```
//!
//! | module | crate | what it holds |
//! |---|---|---|
//! | [`random`] | `helmholtz-random` | keyed streams; chance, sampled or enumerated |
//! | [`ops`] | `helmholtz-ops` | fused tensor operations as a burn backend extension |
//! | [`distributions`] | `helmholtz-distributions` | distributions on tensors, by capability |
//! | [`samplers`] | `helmholtz-samplers` | MCMC kernels, resampling, SMC; diagnostics; the chain store; scans |
//! | `invariance` | `helmholtz-invariance` | a test kit for kernels and estimators; with the feature `invariance` |
//! | [`estimators`] | `helmholtz-estimators` | gradient estimators, one file each |
//! | [`apg`] | `helmholtz-apg` | amortized population Gibbs |
//! | [`gmm`] | `helmholtz-gmm` | mixtures of normals |
//! | [`nets`] | `helmholtz-nets` | linear layers, nets of them, their initialisation |
//! | [`sbn`] | `helmholtz-sbn` | sigmoid belief networks |
//! | [`categorical_vae`] | `helmholtz-categorical-vae` | variational autoencoders with categorical latents |
//! | [`count_vae`] | `helmholtz-count-vae` | variational autoencoders with counts for latents |
//! | [`conditional_sbn`] | `helmholtz-conditional-sbn` | structured prediction: a part of a datum given the rest |
//! | [`datasets`] | `helmholtz-datasets` | readers, checksums, downloads, generated glyphs |
//! | [`evaluation`] | `helmholtz-evaluation` | importance-sampled likelihoods with their error; the variance of gradient estimates |
//! | [`runs`] | `helmholtz-runs` | run folders, checkpoints, metrics, provenance |
//! | [`training`] | `helmholtz-training` | the loop |
//! | `program` | `helmholtz-experiments` | `Program`: published experiments, with what a crate adds; with the feature `program` |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use helmholtz_apg as apg;
pub use helmholtz_categorical_vae as categorical_vae;
pub use helmholtz_conditional_sbn as conditional_sbn;
pub use helmholtz_count_vae as count_vae;
pub use helmholtz_datasets as datasets;
pub use helmholtz_distributions as distributions;
pub use helmholtz_estimators as estimators;
pub use helmholtz_evaluation as evaluation;
pub use helmholtz_gmm as gmm;
#[cfg(feature = "invariance")]
pub use helmholtz_invariance as invariance;
pub use helmholtz_nets as nets;
pub use helmholtz_ops as ops;
pub use helmholtz_random as random;
pub use helmholtz_runs as runs;
pub use helmholtz_samplers as samplers;
pub use helmholtz_sbn as sbn;
pub use helmholtz_training as training;

#[cfg(feature = "program")]
pub use helmholtz_experiments::{self as program, Program};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
