//! Experiments as data, published numbers, and the runner.
//!
//! An experiment is a TOML file: nets, methods, profiles, settings. The harness turns a request into *cells* (a net
//! trained by a method with a seed), plans them (what is done, how long the rest takes here), drives several at once
//! with live progress, and builds a table from their run folders beside the published numbers. It knows no tensors:
//! cells are run by a [`CellRunner`](cell_runner::CellRunner).
//!
//! ```
//! use helmholtz_experiments::spec::{Selection, Spec};
//!
//! let spec = Spec::load("table1")?;
//! let wanted = Selection { nets: vec!["linear".into()], ..Selection::default() };
//! let cells = spec.cells("paper", &wanted, "binarized-mnist")?;
//! assert_eq!(cells.len(), 8 * 5); // eight methods, five seeds
//! assert_eq!(cells[0].settings.switch_epoch(), 600);
//! # Ok::<(), helmholtz_experiments::error::HarnessError>(())
//! ```
//!
//! Contents, in the order of a request:
//! * [`Program`], [`cli`], [`commands`]: what a user types, and what happens then; [`registry`]: what the program knows by name.
//! * [`source`], [`spec`], [`cell`], `samples`, `names`, `published`: the experiment, its cells, and the numbers to compare with.
//! * `data`, [`device`], `backend`: what it runs on.
//! * [`plan`], [`existing`], `schedule`: what is to do, what is done, how long it takes.
//! * [`cell_runner`], [`runner`], [`nets`], `driver`, `progress`: running cells and watching them.
//! * `kept`, [`log_likelihoods`], `completions`, `digits`: what a run keeps besides likelihoods, and pictures of what it learned.
//! * `table`, `figures`, [`report`]: the outcome.
//! * [`arm_toy`], [`apg_gmm`], [`apg_dmm`], [`apg_bmnist`]: experiments of other kinds; `stepwise` ones are counted in gradient steps.
//! * `trained`: the parameters of a run, to be used again.
//! * `variance`, `variance_curve`: how noisy the methods' gradients are, for what they cost, and during training.

pub mod apg_bmnist;
pub mod apg_dmm;
pub mod apg_gmm;
mod apg_kl;
mod apg_table;
pub mod arm_toy;
mod backend;
mod blocks;
pub mod cell;
pub mod cell_runner;
pub mod cli;
pub mod commands;
mod completions;
mod data;
pub mod device;
mod digits;
mod driver;
pub mod error;
pub mod existing;
#[cfg(test)]
mod fake;
mod figures;
mod framework;
mod hamiltonian;
mod kept;
pub mod log_likelihoods;
mod machine;
mod names;
pub mod nets;
pub mod plan;
mod populations;
mod profiles;
mod program;
mod progress;
mod published;
mod ranges;
pub mod registry;
pub mod report;
pub mod runner;
mod samples;
mod schedule;
pub mod source;
pub mod spec;
mod stepwise;
mod table;
mod trained;
mod variance;
mod variance_curve;

pub use kept::Keeps;
pub use program::Program;
