//! A part of a run: where it began and ended, and which program trained it.

use serde::{Deserialize, Serialize};

use crate::arithmetic::unrecorded;

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Finished epochs; 0 in a run that is counted in steps alone.
    pub epochs: u64,
    /// Finished steps of the epoch in progress, or of a run that is counted in steps alone.
    pub steps: u64,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.epochs, self.steps) {
            (0, steps) => write!(f, "step {steps}"),
            (epochs, 0) => write!(f, "epoch {epochs}"),
            (epochs, steps) => write!(f, "epoch {epochs}, step {steps}"),
        }
    }
}

/// A part of a run that one program trained on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stint {
    /// The source's commit.
    pub commit: String,
    /// The version of the workspace.
    pub version: String,
    /// The compiler.
    pub rustc: String,
    /// The version of the arithmetic, [`ARITHMETIC`](crate::ARITHMETIC).
    #[serde(default = "unrecorded")]
    pub arithmetic: u32,
    /// The device that computed.
    pub device: String,
    /// Processor features by which numerical kernels are chosen.
    pub cpu_features: Vec<String>,
    /// Position at which it began.
    pub from: Position,
    /// Position of its last checkpoint.
    pub to: Position,
}

impl Stint {
    /// Lists what differs in the program and machine of `now`: `commit b instead of a`.
    pub(crate) fn changes(&self, now: &Self) -> Vec<String> {
        let versions = [self, now].map(|stint| stint.arithmetic.to_string());
        let features = [self, now].map(|stint| format!("[{}]", stint.cpu_features.join(" ")));
        let fields = [
            ("commit", &self.commit, &now.commit),
            ("version", &self.version, &now.version),
            ("compiler", &self.rustc, &now.rustc),
            ("arithmetic", &versions[0], &versions[1]),
            ("device", &self.device, &now.device),
            ("processor features", &features[0], &features[1]),
        ];
        let changed = fields.iter().filter(|(_, before, now)| before != now);
        changed
            .map(|(name, before, now)| format!("{name} {now} instead of {before}"))
            .collect()
    }
}
