//! Errors of the harness. Every text names the thing and the remedy.

use std::path::PathBuf;

/// Errors between a user's request and a table.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// A name that the experiment does not know.
    #[error("unknown {what} `{name}`.{nearest} The choices are: {choices}")]
    Unknown {
        /// Kind of the thing that was named.
        what: &'static str,
        /// Name as typed.
        name: String,
        /// ` Did you mean …?`, or nothing.
        nearest: String,
        /// The names that exist.
        choices: String,
    },
    /// An experiment file that is not well-formed, or holds an unknown key.
    #[error("{file} is not a valid experiment file: {source}")]
    Toml {
        /// The file.
        file: String,
        /// Line, key and the keys that exist.
        source: Box<toml::de::Error>,
    },
    /// An experiment file that is well-formed but makes no sense.
    #[error("{file}: {problem}")]
    Spec {
        /// The file.
        file: String,
        /// Problem, with the key.
        problem: String,
    },
    /// A flag that means nothing to the experiment.
    #[error("{experiment} has no use for `{flag}`: {remedy}")]
    Flag {
        /// The experiment's name.
        experiment: String,
        /// The flag.
        flag: &'static str,
        /// Alternative that serves the purpose.
        remedy: String,
    },
    /// A file or folder that could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// `read`, `write`, …
        action: &'static str,
        /// Path that could not be read or written.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A table, figure or picture that could not be written.
    #[error(transparent)]
    Report(#[from] helmholtz_report::ReportError),
    /// The binary was built without this device.
    #[error(
        "this program was built without `{device}`; build it with cargo's feature `{device}`, as `cargo xtask` does where `--device {device}` is given"
    )]
    DeviceNotBuilt {
        /// The device asked for.
        device: &'static str,
    },
    /// A device that was asked for, and is not there or does not work.
    #[error("the device `{device}` cannot be used: {problem}")]
    Device {
        /// The device asked for.
        device: &'static str,
        /// Missing part, and where it comes from.
        problem: String,
    },
    /// Something that the plan needs is not free on this machine.
    #[error("not enough {what}: at least {needed} are needed, {free} are free; {remedy}")]
    Machine {
        /// Memory or disk.
        what: &'static str,
        /// Amount that is needed.
        needed: String,
        /// Amount that is free.
        free: String,
        /// Remedy.
        remedy: String,
    },
    /// The data set could not be had.
    #[error(transparent)]
    Data(#[from] helmholtz_datasets::Error),
    /// The data set is not to be had here, and the profile takes no other in its place.
    #[error(
        "profile `{profile}` runs on the real data only, and they are not to be had here: {source}"
    )]
    NoSubstitute {
        /// The profile.
        profile: String,
        /// Error of the data set: where the data were looked for, and the remedy.
        source: helmholtz_datasets::Error,
    },
    /// The run folder: of another configuration or version, locked, damaged, or a full disk.
    #[error(transparent)]
    Run(#[from] helmholtz_runs::RunError),
    /// A finished run whose result this program cannot read.
    #[error("the result in {} cannot be read ({source}); start that run over with `--fresh`", folder.display())]
    Result {
        /// The run folder.
        folder: PathBuf,
        /// Parse error of the result.
        source: serde_json::Error,
    },
    /// A cluster that refuses a sweep, or a sweep that no cluster could run.
    #[error("{what}; {remedy}")]
    Cluster {
        /// Problem.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// A cell that cannot be run in its folder, as the plan found.
    #[error("{0}")]
    Unusable(String),
    /// The cell was stopped on request, after a checkpoint.
    #[error("stopped on request, resumable from epoch {epoch}")]
    Interrupted {
        /// The epochs that the checkpoint holds.
        epoch: u64,
    },
    /// Training or evaluation of the cell failed.
    #[error("{0}")]
    Cell(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An error of a run in which the same command would end again: a training that diverged, settings that make no sense.
    #[error("{0}")]
    Again(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The code that runs the cell panicked: a defect, kept from the other cells.
    #[error("the run panicked: {0}")]
    Panic(String),
}
