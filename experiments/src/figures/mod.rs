//! Figures of runs: likelihoods against epochs and against time, drawn from the metrics that run folders keep.
//!
//! * [`settings`]: `experiments/fig1.toml` and its like.
//! * [`runs`]: the runs that a figure draws, and the command that makes those that are not there.
//! * [`curve`]: what a run's metrics say at each check.
//! * [`curves`]: runs as panels.
//! * [`label`]: what curves and figures are called.

pub mod curve;
pub mod curves;
mod experiment;
pub mod label;
pub mod runs;
pub mod settings;

pub use experiment::{Curves, open};
