//! Run folders: where a training run lives on disk, so that killing it at any moment loses at most the work since its
//! last checkpoint.
//!
//! A [`RunFolder`] holds an operating-system lock for as long as it lives. Metrics are appended line by line; a
//! checkpoint is written beside the others, synced, and only then published by a rename. Its manifest records the
//! length and sha256 of every part and seals every line of the metrics so far. Opening the folder again rewinds it to
//! the newest checkpoint that is whole. Nothing here knows tensors: parts are bytes, states are JSON.
//!
//! ```
//! use helmholtz_runs::{OpenMode, RunFolder, Status};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), helmholtz_runs::RunError> {
//! # let home = tempfile::tempdir().unwrap();
//! let path = home.path().join("linear-jsa-1");
//! let config = json!({"net": "linear", "method": "jsa", "seed": 1, "epochs": 2});
//!
//! let mut run = RunFolder::open(&path, &config, OpenMode::Resume)?;
//! let done = match run.latest_checkpoint()? {
//!     Some(checkpoint) => checkpoint.state["epoch"].as_u64().unwrap_or(0),
//!     None => 0,
//! };
//! for epoch in done + 1..=2 {
//!     run.append_metrics(&json!({"epoch": epoch, "nll": 120.5}))?;
//!     run.save_checkpoint(&json!({"epoch": epoch}), &[("parameters", b"...")])?;
//! }
//! run.finish(&json!({"nll": 120.5}))?;
//! drop(run); // releases the lock
//!
//! assert_eq!(RunFolder::peek(&path)?, Status::Finished(json!({"nll": 120.5})));
//! # Ok(())
//! # }
//! ```
//!
//! What is in a folder:
//!
//! | file | content |
//! |---|---|
//! | `config.json` | the configuration and its hash ([`config_hash`]); opening with another one, or on other data, is refused |
//! | `lock`, `lock.1` | locked while a run is alive; they hold its process id, start time and machine |
//! | `metrics.jsonl` | one JSON value a line, append-only; read it with [`read_metrics`] |
//! | `metrics.damaged.jsonl` | metrics that were found damaged, as they were found |
//! | `checkpoints/000007/` | the parts, and `manifest.json`, written last; the newest two are kept |
//! | `result.json` | published by [`RunFolder::finish`], with a seal of the metrics |
//! | `pieces/` | finished pieces of an evaluation ([`Pieces`]); removed by [`RunFolder::finish`] |
//! | `failure.json` | left by [`RunFolder::fail`]; the next open clears it |
//!
//! Contents: [`RunFolder`], [`OpenMode`], [`Checkpoint`], [`Status`], [`Failure`], [`Provenance`] with its [`Stint`]s
//! from [`Position`] to position, [`ARITHMETIC`], [`FREE_KEYS`] and [`FINGERPRINT`], [`canonical_json`] and [`config_hash`], [`read_config`], [`read_metrics`],
//! [`read_checkpoint`], [`write_file`], [`Pieces`], [`RunError`].
//!
//! Built for Unix file systems: renames are atomic. Where `flock` does not work, or holds within one machine only, the lock's
//! second file decides ([`helmholtz_files::Lock`]). Links at names of ours are refused, never followed.

mod arithmetic;
mod canonical;
mod checkpoint;
mod config;
mod disk;
mod ends;
mod error;
mod failure;
mod folder;
mod history;
mod identity;
mod lock;
mod metrics;
mod names;
mod newest;
mod pieces;
mod place;
mod provenance;
mod rewind;
mod sealed;
mod status;
mod stint;

pub use arithmetic::ARITHMETIC;
pub use canonical::{canonical_json, config_hash};
pub use checkpoint::Checkpoint;
pub use config::read_config;
pub use disk::write_file;
pub use error::RunError;
pub use failure::Failure;
pub use folder::{OpenMode, RunFolder};
pub use identity::{FINGERPRINT, FREE_KEYS};
pub use metrics::read_metrics;
pub use newest::read_checkpoint;
pub use pieces::Pieces;
pub use provenance::{Begun, Provenance, built_from};
pub use status::Status;
pub use stint::{Position, Stint};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
