//! Nets that are trained by a method and scored by their likelihood: the tables, Helmholtz machines, the showdown.

pub mod costs;
mod experiment;
#[cfg(test)]
pub(crate) mod fake;
mod heading;
pub mod runner;
mod work;

pub use experiment::{Likelihood, open, open_all};
