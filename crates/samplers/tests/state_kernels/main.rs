//! Proofs of the index kernels on states, the state kernels and the diagnostics.
//!
//! Kernels over `Chance` are proved exactly: their transition matrices come from the production code by enumeration.
//! Kernels that draw real numbers, and diagnostics, are tested statistically, with fixed seeds and false-alarm rates
//! stated beside each test, below 1e-6 in all.

mod adaptation;
mod arviz;
mod combinators;
mod diagnostics;
#[path = "../kernels/exact.rs"]
#[allow(dead_code)]
mod exact;
mod fields;
mod gibbs;
mod hmc;
mod independence;
mod index_kernels;
mod metropolis_hastings;
mod sites;
mod statistics;
