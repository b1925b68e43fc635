//! Bouncing digits (Wu et al. 2020, section 6.4): frames in which digits move, and the proposals by which amortized population Gibbs
//! learns to track them.
//!
//! The latents are the positions z_dt of each digit in each frame and its appearance w_d. A sweep moves the positions frame by
//! frame, then the appearances. Nothing in the nets depends on how many frames and digits there are.
//!
//! ```
//! use burn::tensor::{DType, Tensor, TensorData};
//! use burn_flex::Flex;
//! use helmholtz_apg::{Block, Sampler, Streams};
//! use helmholtz_random::Stream;
//! use helmholtz_samplers::resampling::{Policy, Systematic};
//! use helmholtz_tracker::{Bounce, Canvas, Scheme, TrackerConfig, Video};
//!
//! let canvas = Canvas::SMALL; // digits of 14 x 14 pixels on 48 x 48
//! let bounce = Bounce { canvas, frames: 3, digits: 2, ..Bounce::default() };
//! let collection = vec![vec![0.5f32; 14 * 14]; 10]; // digits, grey values in [0, 1]
//! let identities = bounce.identities(1, collection.len())?;
//! let sequence = bounce.sequence(1, 0, &identities, |image| &collection[image as usize]);
//!
//! let device = Default::default();
//! let pixels = TensorData::new(sequence.frames.concat(), [1, 3, 48 * 48]);
//! let x = Video { frames: Tensor::from_data(pixels, &device), digits: 2 };
//! let mean_digit = &collection[0]; // what digits are searched by at first
//! let model = TrackerConfig::small().init::<Flex>(1, mean_digit, DType::F32, &device)?;
//!
//! let blocks = Scheme::Apg.blocks::<Flex, Stream>(3);
//! let blocks: Vec<&dyn Block<_, _, _>> = blocks.iter().map(|block| &**block).collect();
//! let sampler = Sampler::new(4, 2, Policy::Always, Systematic)?;
//! let run = sampler.run(&model, &x, &blocks, &mut Streams::new(1, 0), |_, _, _| {})?;
//! assert_eq!(run.population.state().position.dims(), [4, 1, 3, 2, 2]); // [L, B, T, D, 2]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`Canvas`], [`Alignment`], [`Sampling`] | placing a digit on a canvas, and cropping it from one |
//! | [`compose`], [`crops`] | the same as tensors |
//! | [`Bounce`], [`Identities`], [`Sequence`] | sequences of frames from keyed streams |
//! | [`TrackerConfig`], [`Tracker`], [`TrackerState`], [`Video`] | densities, the decoder, the proposals' nets |
//! | [`tracking_error`] | how far digits are from where they are found |
//! | [`Where`], [`What`], [`Law`], [`Scheme`] | the blocks; the published samplers |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod aggregation;
mod bilinear;
mod blocks;
mod bounce;
mod canvas;
mod config;
mod error;
mod identify;
mod init;
mod locate;
mod placement;
mod rows;
mod tracker;

pub use burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use aggregation::Aggregation;
pub use blocks::{Law, Scheme, What, Where};
pub use bounce::{Bounce, BounceError, Identities, Sequence};
pub use canvas::{Alignment, Canvas, Sampling};
pub use config::{ConfigError, TrackerConfig};
pub use error::tracking_error;
pub use placement::{compose, crops};
pub use tracker::{Tracker, TrackerState, Video};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
