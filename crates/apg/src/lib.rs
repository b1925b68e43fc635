//! Amortized population Gibbs samplers (Wu, Zimmermann, Sennesh, Le and van de Meent, 2020): a generative model and block
//! proposals for its latents, learned together inside an SMC sampler. Nothing is reparameterised, so that latents may be
//! discrete, continuous, or both.
//!
//! A model says what its latents are ([`particle!`]), scores them ([`Model`]) and proposes all of them at once
//! ([`OneShot`]). Each block of latents has a law given the others ([`Conditional`]). The [`Sampler`] does the rest:
//!
//! 1. one shot: z ~ q(z | x), w = p(x, z) / q(z | x);
//! 2. for each sweep and block: resample; propose z'_b ~ q(· | x, z_−b); weigh by
//!    v = p(x, z'_b, z_−b) q(z_b | x, z_−b) / (p(x, z_b, z_−b) q(z'_b | x, z_−b)).
//!
//! At each point the population is properly weighted, and the running product of mean weights is an unbiased estimate of
//! p(x). Both nets learn from the weighted particles: the proposals towards the posterior in the inclusive KL divergence.
//!
//! | file | holds |
//! |---|---|
//! | [`Particle`], [`particle!`] | all latents as one value, gathered together |
//! | [`Model`], [`OneShot`], [`Rescore`] | what a model gives |
//! | [`Conditional`], [`Block`], [`Update`], [`Joint`] | laws of blocks, and moves made of them |
//! | [`Population`] | particles with weights, evidence and effective sample sizes |
//! | [`Sampler`], [`Loss`], [`Run`], [`Record`] | the algorithm, and what it gives |
//! | [`Randomness`], [`Streams`], [`AllBranches`] | keyed draws; every branch, for proofs |
//! | [`Statistics`], [`Sums`] | neural sufficient statistics |
//! | [`Choices`] | a cluster for each datum |
//! | [`gradients_in_parts`], [`on_threads`] | a batch in parts on several threads, the same bits for any number of them |
//! | [`gradients_in_groups`](Sampler::gradients_in_groups) | the same for the particles of each instance |
//! | [`least_cost`] | matching what was found to what is there |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod block;
mod choices;
mod error;
mod gradients;
mod groups;
mod loss;
mod matching;
mod model;
mod particle;
mod parts;
mod population;
mod randomness;
mod sampler;
mod statistics;

pub use ::burn;
#[cfg(feature = "flex")]
pub use helmholtz_ops::Flex;

pub use block::{Block, Conditional, Draw, Joint, Move, Update};
pub use choices::Choices;
pub use error::ApgError;
pub use loss::Loss;
pub use matching::least_cost;
pub use model::{Model, OneShot, Proposal, Rescore};
pub use particle::{LatentMapper, Particle};
pub use parts::{gradients_in_parts, on_threads};
pub use population::Population;
pub use randomness::{AllBranches, PROPOSE, Position, RESAMPLE, Randomness, Streams};
pub use sampler::{Record, Run, Sampler};
pub use statistics::{Statistics, Sums};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
