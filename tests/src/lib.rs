//! What spans crates: the proofs that the composition is right, on models small enough to enumerate.
//!
//! The expected side is written here a second time, in plain `f64` and without tensors: densities and their gradients
//! by hand, expectations as sums over all latents. The other side is the production path: [`estimate`] on an autodiff
//! backend in `f64`, fed with uniforms that make it propose a chosen tuple of latents, with every accept decision
//! enumerated. Summed with their probabilities, the two agree to rounding, or something is wrong.
//!
//! | file | holds |
//! |---|---|
//! | [`Enumerable`] | a model in plain `f64`, and the production model that it stands beside |
//! | [`Reference`] | a linear sigmoid belief network with its densities and gradients; the models T1 and T2 |
//! | [`Categories`] | a variational autoencoder with categorical latents, the same way; the model T3 |
//! | [`Conditional`] | a model of a part of a datum given the rest, the same way; the model T5 |
//! | [`Topped`] | a sigmoid belief network with a categorical variable on top, the same way; the model T5 |
//! | [`Exact`] | posterior, bounds and gradients of one datum, by enumeration |
//! | [`Chosen`] | uniforms that make the model propose, or dream, what is asked |
//! | [`Batch`], [`Step`] | one production estimate, read back as plain numbers |
//! | [`expectation`] | what the production path gives on average, over all proposals and decisions |
//! | [`VectorMoments`] | what decides how a sample variance scatters |
//! | [`Faulty`] | a chain store that permutes rows, for twins that must fail |
//! | [`vectors`] | arithmetic on flat gradients |
//! | [`statistics`] | batch means, and the levels at which a statistical test fails |
//!
//! [`estimate`]: helmholtz_estimators::estimate

mod categories;
pub mod certify;
mod choice;
mod classes;
mod conditional;
mod enumerable;
mod exact;
pub mod expectation;
mod faulty;
mod moments;
mod network;
mod noise;
mod production;
mod reference;
pub mod statistics;
mod stored;
mod topped;
mod toy;
pub mod uniforms;
pub mod vectors;

/// The estimators that are functions of log-weights, by name.
pub fn weighted() -> impl Iterator<Item = (&'static str, &'static dyn Weighting)> {
    let weighted = |entry: &'static Entry| Some((entry.name, entry.method.weighting()?));
    Method::CATALOGUE.iter().filter_map(weighted)
}

use helmholtz_estimators::{Entry, Method, Weighting};

pub use categories::Categories;
pub use choice::Choice;
pub use conditional::Conditional;
pub use enumerable::{Enumerable, State, bits};
pub use exact::Exact;
pub use faulty::Faulty;
pub use moments::VectorMoments;
pub use noise::Chosen;
pub use production::{Batch, Inner, Step, Tape, build, flat_gradient, flat_parameters};
pub use reference::Reference;
pub use stored::{read_state, store_of};
pub use topped::Topped;
pub use toy::Toy;
