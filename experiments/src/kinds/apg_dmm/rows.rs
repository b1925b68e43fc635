//! Rows of the table, and what is shown beside it.

use serde::{Deserialize, Serialize};

use crate::population::Measured;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// N.
    pub points: usize,
    /// Name of the sampler.
    pub label: String,
    /// L.
    pub particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Accuracy of the likeliest particle.
    pub accuracy: Measured,
    /// The same over other instances, whose rings do not touch.
    pub separated: Option<Measured>,
    /// Share of moves that were accepted, and step size, of Hamiltonian Monte Carlo: means over batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<[f64; 2]>,
}

/// An instance and the rings that its data are put on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// K.
    pub sweeps: usize,
    /// Data with their rings.
    pub data: Vec<([f64; 2], usize)>,
}
