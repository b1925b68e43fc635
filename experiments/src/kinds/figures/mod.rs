//! Figures of runs: likelihoods against epochs and against time, drawn from the metrics that run folders keep.
//!
//! * [`settings`]: `experiments/fig1.toml` and its like.
//! * [`runs`]: the runs that a figure draws, and the command that makes those that are not there.
//! * [`curves`]: runs as panels.
//! * [`label`]: what curves and figures are called.

pub mod curves;
mod experiment;
pub mod label;
pub mod runs;
pub mod settings;

pub use experiment::open;
