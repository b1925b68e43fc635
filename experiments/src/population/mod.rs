//! Amortized population Gibbs, generic over the model: training by gradient steps in a run folder, then the evaluation.
//!
//! | file | holds |
//! |---|---|
//! | [`stepwise`] | what a model's experiment says of itself |
//! | [`Population`] | it as an experiment: a run a seed |
//! | [`Members`] | the runs of several such experiments, for one figure or table |
//! | [`populations`], [`hamiltonian`] | what the models' evaluations share |

mod experiment;
pub mod hamiltonian;
mod members;
pub(crate) mod populations;
pub mod stepwise;

pub use experiment::{Population, open};
pub(crate) use experiment::{opened, refuse};
pub use members::{Member, Members};
