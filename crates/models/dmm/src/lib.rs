//! Deep mixtures: data on rings whose shape is learned, and the proposals by which amortized population Gibbs learns to find
//! them (Wu et al. 2020, section 6.3).
//!
//! The latents are the centres μ_m of the rings, and for each datum its ring c_n and its place h_n on it. A sweep moves μ given
//! (c, h) and (c, h) given μ; no exact conditional is known.
//!
//! ```
//! use burn::tensor::DType;
//! use burn_flex::Flex;
//! use helmholtz_apg::{Model, Sampler, Streams};
//! use helmholtz_dmm::{DmmConfig, Rings, Scheme};
//! use helmholtz_samplers::resampling::{Policy, Systematic};
//!
//! let model = DmmConfig::released().init::<Flex>(1, DType::F32, &Default::default())?;
//! let x = Rings::default().simulate(1, &[0, 1], 200, DType::F32, &Default::default())?.x;
//!
//! let sampler = Sampler::new(10, 3, Policy::Always, Systematic)?;
//! let run = sampler.run(&model, &x, &Scheme::Apg.blocks(), &mut Streams::new(1, 0), |_, _, _| {})?;
//! let population = run.population;
//! let log_joint = population.mean(model.log_joint(&x, population.state())); // of each instance, nats
//! assert_eq!(log_joint.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`DmmConfig`], [`Rings`], [`Simulated`] | the constants and sizes; instances of rings |
//! | [`Dmm`], [`DmmState`] | densities, the decoder, the proposals' nets |
//! | [`Mu`], [`Points`], [`Law`], [`Scheme`] | the blocks; the published samplers |
//! | [`Places`] | a ring and a place on it for each datum |
//! | [`Dmm::log_density_of_rows`], [`Dmm::exact_choices`] | what Hamiltonian Monte Carlo moves, and what is drawn after it |
//! | [`clustering_accuracy`] | how many data are put on their own rings |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod accuracy;
mod blocks;
mod centres;
mod config;
mod dmm;
mod places;
mod rings;
mod rows;
mod state;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use accuracy::clustering_accuracy;
pub use blocks::{Law, Mu, Points, Scheme};
pub use config::{ConfigError, DmmConfig};
pub use dmm::Dmm;
pub use places::Places;
pub use rings::{Rings, Simulated};
pub use state::DmmState;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
