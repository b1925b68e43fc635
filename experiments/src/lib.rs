//! Experiments as data, published numbers, and the runner.
//!
//! An experiment is a TOML file: nets, methods, profiles, settings. A request becomes an
//! [`Experiment`](helmholtz_harness::experiment::Experiment) of its kind, whose runs the harness plans, drives several at once with live
//! progress, and shows beside the published numbers.
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
//! * [`Program`], [`cli`], [`commands`]: what a user types, and what happens then; [`cli::cluster`]: a request that is handed to a cluster.
//! * [`registry`]: what the program knows by name.
//! * [`source`], [`spec`], [`cell`], `samples`, `published`: the experiment, its cells, and the numbers to compare with.
//! * `request`, [`kinds`]: a request, and the kind of experiment that it opens; the harness plans, drives and shows it.
//! * `started`: how the program was built and started.
//! * `data`, [`device`], `backend`, [`folders`]: what it runs on, and where.
//! * [`nets`], `works`: nets by name, and all that is done with a model, which knows neither nets nor devices by name.
//! * [`trial`], [`cell_runner`]: a cell whose names are resolved, and what trains it; its outcome.
//! * `artifacts`, [`log_likelihoods`], `completions`, `digits`: what a run keeps besides likelihoods, and pictures of what it learned.
//! * [`records`], `table`, `report`, `scoreboard`: the outcome.
//! * `population`: amortized population Gibbs, whatever the model.
//! * `trained`: the parameters of a run, to be used again.
//! * `variance`: how noisy the methods' gradients are, for what they cost.

mod artifacts;
mod backend;
mod backtraces;
mod blocks;
pub mod cell;
pub mod cell_runner;
pub mod cli;
pub mod commands;
mod completions;
mod data;
pub mod device;
mod digits;
mod events;
pub mod folders;
mod framework;
pub mod kinds;
pub mod log_likelihoods;
pub mod nets;
mod population;
mod program;
mod published;
mod ranges;
pub mod records;
pub mod registry;
mod report;
mod request;
mod samples;
mod scoreboard;
mod seeds;
pub mod source;
pub mod spec;
mod started;
mod table;
mod trained;
pub mod trial;
mod variance;
mod works;

pub use artifacts::Artifacts;
pub use backend::OnDevices;
pub use helmholtz_harness::{error, names, profiles};
pub use program::Program;
