//! Amortized population Gibbs, generic over the model: training by gradient steps in a run folder, then the evaluation.
//!
//! | file | holds |
//! |---|---|
//! | [`stepwise`] | what a model's experiment says of itself |
//! | [`Population`] | it as an experiment: a run a seed |
//! | [`run`], [`Outcome`] | a run on its device; its result |
//! | [`Column`] | what the samplers of a finished run reached |
//! | [`Members`], [`Joint`], [`Figure`] | the runs of several such experiments; what they show together; it as an experiment |
//! | [`reader`](reader()) | what reports show of its runs |
//! | [`TrainingSettings`] | those of the mixtures |
//! | [`parts`], [`batches`] | a batch of training in parts, and measurements in batches, on threads |
//! | [`populations`], [`hamiltonian`] | what the models' evaluations share |

pub(crate) mod batches;
mod column;
mod experiment;
pub mod hamiltonian;
mod joint;
mod measured;
mod members;
mod mixtures;
mod outcome;
pub(crate) mod parts;
pub(crate) mod populations;
mod reader;
mod run;
pub mod stepwise;

/// Seed of checks. Training has the numbers that its steps count; checks and evaluations have their own seeds.
pub(crate) const CHECK: u64 = 0x0063_6865_636b;
/// Seed of the instances of a table.
pub(crate) const TABLE: u64 = 0x0074_6162_6c65;

pub use column::{Column, Entry, Reached};
pub use experiment::open;
pub(crate) use experiment::{opened, reject};
pub use joint::{Figure, Joint};
pub use measured::Measured;
pub use members::{Member, Members};
pub use mixtures::TrainingSettings;
pub use outcome::Outcome;
pub use reader::{column, finished, reader};
