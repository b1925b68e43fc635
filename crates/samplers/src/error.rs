//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why a sampler, a scan or a chain store refused.
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
    /// A layer that cannot be stored.
    #[error(
        "layer {index}, {layer}, cannot be part of a latent state; give it at least one variable, at least 2 classes if categorical, and fewer bits than an address can name"
    )]
    Layer {
        /// Index of the layer.
        index: usize,
        /// Its variables.
        layer: String,
    },
    /// A layer of another kind than the values that are read from or written to it.
    #[error(
        "layer {index} is {layer}; give it `Values` of that kind, and read them by `unpack_values`"
    )]
    Kind {
        /// Index of the layer.
        index: usize,
        /// Its variables.
        layer: String,
    },
    /// A code that names no class.
    #[error("code {code} is none of the {classes} classes of layer {layer}; codes are 0 to {}", classes - 1)]
    Class {
        /// Index of the layer.
        layer: usize,
        /// The code.
        code: u32,
        /// Classes that there are.
        classes: u32,
    },
    /// More rows than a row index can name, or more bytes than an address can.
    #[error(
        "a chain store has at most {} rows, and fewer if they are long or memory is short, not {rows}",
        u32::MAX
    )]
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
    /// No log-weights at all.
    #[error("there are no particles to resample or to weigh; give at least one log-weight")]
    NoWeights,
    /// A log-weight that no density gives.
    #[error(
        "log-weight {index} is {value}, but a log-weight is finite or -inf; look where its density was computed"
    )]
    LogWeight {
        /// Which.
        index: usize,
        /// NaN or +inf.
        value: f64,
    },
    /// Every particle is impossible.
    #[error(
        "all {particles} log-weights are -inf, so there is nothing to draw from; start from states that the target allows, or take more particles"
    )]
    AllWeightsZero {
        /// How many there are.
        particles: usize,
    },
    /// More particles than an ancestor index can name.
    #[error("a population has at most {} particles, not {particles}", u32::MAX)]
    TooManyParticles {
        /// Particles asked for.
        particles: usize,
    },
    /// A pinned slot or ancestor that cannot be.
    #[error(
        "slot {slot} of {slots} cannot descend from particle {ancestor} of {particles}; pin a slot that exists to a particle with a weight above zero"
    )]
    Pinned {
        /// The pinned slot.
        slot: usize,
        /// Slots there are.
        slots: usize,
        /// The particle it should descend from.
        ancestor: u32,
        /// Particles there are.
        particles: usize,
    },
    /// An ancestor that does not exist.
    #[error("particle {ancestor} cannot be an ancestor in a population of {particles}")]
    Ancestor {
        /// The ancestor named.
        ancestor: u32,
        /// Particles there are.
        particles: usize,
    },
    /// A relative effective sample size that is none.
    #[error("a relative effective sample size is above 0 and at most 1, not {value}")]
    RelativeEss {
        /// What was given.
        value: f64,
    },
    /// A temperature that does not lead on.
    #[error("the next inverse temperature must be above {from} and at most 1, not {to}")]
    Temperature {
        /// Where the path is.
        from: f64,
        /// Where it should go.
        to: f64,
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
    /// A store whose folder is open already.
    #[error(
        "the chain store in {} is in use by {}; close that store or wait for it (a process that was killed holds nothing)",
        .path.display(),
        holder(.host.as_deref(), *.pid)
    )]
    Locked {
        /// The store's folder.
        path: PathBuf,
        /// The process that has it, where that is known.
        pid: Option<u32>,
        /// The machine that it runs on, where that is known.
        host: Option<String>,
    },
    /// Folding while states are not covered by a mark.
    #[error(
        "the chain log holds {bytes} bytes that no mark covers; publish a checkpoint with the mark of `sync`, then fold"
    )]
    Unsynced {
        /// Bytes logged since the last mark.
        bytes: u64,
    },
    /// A number that a kernel cannot work with.
    #[error("{what} is {found}, but must be {allowed}")]
    Parameter {
        /// Which number.
        what: &'static str,
        /// What it is.
        found: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// Chains that cannot be diagnosed together.
    #[error(
        "chain {chain} has {found} draws, but {expected}; give chains of one length, of 4 draws or more"
    )]
    ChainLength {
        /// Index of the chain.
        chain: usize,
        /// Its draws.
        found: usize,
        /// What is needed.
        expected: String,
    },
    /// A draw that is not a number to be averaged.
    #[error("draw {draw} of chain {chain} is {value}; diagnose finite values")]
    NonFiniteDraw {
        /// Index of the chain.
        chain: usize,
        /// Index of the draw.
        draw: usize,
        /// The value.
        value: f64,
    },
    /// Draws without variation, for which no sample size is effective.
    #[error(
        "{what} are all the same; the chain is stuck, or the quantity is a constant of the model"
    )]
    Constant {
        /// What does not vary.
        what: &'static str,
    },
    /// Coupled chains that are still apart.
    #[error(
        "the coupled chains have not met after {steps} steps; allow more, or take a proposal that is closer to the target"
    )]
    NotMet {
        /// The steps allowed.
        steps: usize,
    },
    /// A run that was told to stop.
    #[error(
        "the run was cancelled when chain {chain} had made {done} {}transitions; a run in a folder goes on from there", of.map_or(String::new(), |of| format!("of {of} "))
    )]
    Cancelled {
        /// Which chain; 0 for an SMC run.
        chain: usize,
        /// Transitions made, or steps of an SMC run.
        done: usize,
        /// The same in all, where that is known.
        of: Option<usize>,
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

/// A holder of a lock, in words.
fn holder(host: Option<&str>, pid: Option<u32>) -> String {
    match (pid, host) {
        (Some(pid), Some(host)) => format!("process {pid} on {host}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another process".into(),
    }
}
