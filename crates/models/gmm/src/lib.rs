//! Gaussian mixtures with a normal-gamma prior, and the proposals by which amortized population Gibbs learns to sample them
//! (Wu et al. 2020, section 6.2).
//!
//! The latents are τ, μ of each cluster and the cluster c_n of each datum. A sweep moves η = (μ, τ) given c and c given η.
//! Both exact conditionals are known, so that proposals can be held against them.
//!
//! ```
//! use burn::tensor::DType;
//! use burn_flex::Flex;
//! use helmholtz_apg::{Model, Sampler, Streams};
//! use helmholtz_gmm::{GmmConfig, Scheme};
//! use helmholtz_samplers::resampling::{Policy, Systematic};
//!
//! let config = GmmConfig::default();
//! let model = config.init::<Flex>(1, DType::F32, &Default::default())?;
//! let x = config.simulate(1, &[0, 1], 60, DType::F32, &Default::default()).x;
//!
//! let sampler = Sampler::new(10, 10, Policy::Always, Systematic)?;
//! let run = sampler.run(&model, &x, &Scheme::Apg.blocks(), &mut Streams::new(1, 0), |_, _, _| {})?;
//! let population = run.population;
//! let log_joint = population.mean(model.log_joint(&x, population.state())); // of each instance, nats
//! assert_eq!(log_joint.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`GmmConfig`], [`Simulated`] | the prior, the sizes; instances drawn from the prior; the density without assignments |
//! | [`Gmm`], [`GmmState`] | densities, exact conditionals, nets; the divergences of the nets from the exact conditionals |
//! | [`Eta`], [`Assignments`], [`Law`], [`Scheme`] | the blocks, by learned, exact and prior laws; the published samplers |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod blocks;
mod config;
mod divergence;
mod gmm;
mod marginal;
mod rate;
mod simulate;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use blocks::{Assignments, Eta, Law, Scheme};
pub use config::{ConfigError, GmmConfig, Start, Values};
pub use gmm::{Gmm, GmmState};
pub use rate::Rate;
pub use simulate::Simulated;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
