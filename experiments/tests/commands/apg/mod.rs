//! Amortized population Gibbs, from the command to its files.

mod bmnist;
mod dmm;
mod gmm;
mod jobs;
mod measuring;
mod resume;
mod support;
