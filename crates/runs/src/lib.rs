//! Run folders: where a training run lives on disk, so that killing it at any moment loses at most the work since its
//! last checkpoint.
//!
//! A [`RunFolder`] holds an operating-system lock for as long as it lives. Metrics are appended line by line; a
//! checkpoint is written beside the others, synced, and only then published by a rename, with a manifest that records
//! the length and sha256 of every part and of the metrics so far. Opening the folder again rewinds it to the newest
//! checkpoint that is whole. Nothing here knows tensors: parts are bytes, states are JSON.
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
//! | `config.json` | the configuration and its hash ([`config_hash`]); opening with another one is refused |
//! | `lock` | locked while a run is alive; holds its process id and start time |
//! | `metrics.jsonl` | one JSON value a line, append-only; read it with [`read_metrics`] |
//! | `checkpoints/000007/` | the parts, and `manifest.json`, written last; the newest two are kept |
//! | `result.json` | published by [`RunFolder::finish`] |
//! | `failure.json` | left by [`RunFolder::fail`]; the next open clears it |
//!
//! Contents: [`RunFolder`], [`OpenMode`], [`Checkpoint`], [`Status`], [`Failure`], [`Provenance`] and
//! [`resumed_elsewhere`], [`canonical_json`] and [`config_hash`], [`read_config`], [`read_metrics`],
//! [`read_checkpoint`], [`RunError`].
//!
//! Built for Unix file systems: renames are atomic, directories can be synced, and the lock is advisory (`flock`).

mod canonical;
mod checkpoint;
mod clock;
mod config;
mod disk;
mod error;
mod failure;
mod folder;
mod lock;
mod metrics;
mod newest;
mod place;
mod provenance;
mod rewind;
mod sealed;
mod status;

pub use canonical::{canonical_json, config_hash};
pub use checkpoint::Checkpoint;
pub use config::read_config;
pub use error::RunError;
pub use failure::Failure;
pub use folder::{OpenMode, RunFolder};
pub use metrics::read_metrics;
pub use newest::read_checkpoint;
pub use provenance::{Provenance, resumed_elsewhere};
pub use status::Status;
