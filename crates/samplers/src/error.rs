//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why a scan or a chain store refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// A latent layout without bits.
    #[error(
        "a latent state needs one layer or more, each of one bit or more, but the layers are {layers:?}"
    )]
    Layers {
        /// Bits per layer.
        layers: Vec<usize>,
    },
    /// More rows than a row index can name.
    #[error("a chain store has at most {} rows, not {rows}", u32::MAX)]
    TooManyRows {
        /// Rows asked for.
        rows: usize,
    },
    /// A scan that could not fill one batch.
    #[error(
        "a batch of {batch} cannot be drawn from {rows} rows; take a batch between 1 and {rows}"
    )]
    Batch {
        /// Rows a batch.
        batch: usize,
        /// Rows in all.
        rows: u32,
    },
    /// A step beyond the end of its epoch.
    #[error("step {step} is beyond the epoch, which has {steps} steps, 0 to {}", steps - 1)]
    Step {
        /// The step asked for.
        step: u64,
        /// Steps an epoch.
        steps: u64,
    },
    /// A row that the store does not have.
    #[error("row {row} is beyond the store, which has {rows} rows")]
    Row {
        /// The row asked for.
        row: u32,
        /// Rows of the store.
        rows: usize,
    },
    /// A buffer of the wrong length.
    #[error("{what} has length {found}, but {expected} is needed")]
    Length {
        /// Which buffer.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits.
        expected: usize,
    },
    /// Stored states of another shape.
    #[error(
        "the stored chain states are {found}, but this run has {expected}; resume with the model and data they came from"
    )]
    Shape {
        /// What is stored.
        found: String,
        /// What was asked for.
        expected: String,
    },
    /// Stored bytes that do not hold together.
    #[error("the stored chain states are damaged ({reason}); resume from an older checkpoint")]
    Damaged {
        /// What does not hold.
        reason: String,
    },
    /// A mark that the log on disk does not reach.
    #[error(
        "the checkpoint marks {marked} bytes of the chain log of generation {generation}, but only {found} are whole; resume from an older checkpoint"
    )]
    MarkBeyondLog {
        /// Generation of base and log.
        generation: u64,
        /// Bytes that the checkpoint counts on.
        marked: u64,
        /// Bytes that are there and whole.
        found: u64,
    },
    /// No base file of the generation asked for.
    #[error("{path} holds no chain store{}; resume from an older checkpoint or create the store", generation.map_or(String::new(), |g| format!(" of generation {g}")))]
    NoStore {
        /// The store's folder.
        path: PathBuf,
        /// The generation that a mark named.
        generation: Option<u64>,
    },
    /// Folding while states are not covered by a mark.
    #[error(
        "the chain log holds {bytes} bytes that no mark covers; publish a checkpoint with the mark of `sync`, then fold"
    )]
    Unsynced {
        /// Bytes logged since the last mark.
        bytes: u64,
    },
    /// The file system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
