//! What the samplers of a finished run reached: a column of a table.

use super::stepwise::Measured;
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// What a sampler reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The sampler, with K.
    pub sampler: String,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Over how many instances, the first of those of the column.
    pub instances: u64,
}

/// What the run of a model's experiment reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The experiment.
    pub experiment: String,
    /// The model and the size of its instances.
    pub title: String,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: String,
    /// Sampler by sampler.
    pub entries: Vec<Entry>,
    /// Where it comes from.
    pub provenance: Provenance,
}
