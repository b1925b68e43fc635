//! Column of a table: what the samplers of a finished run reached.

use super::Measured;
use crate::published::Setting;
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// Result of a sampler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The sampler, with K.
    pub sampler: String,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Over how many instances, the first of those of the column.
    pub instances: u64,
}

/// What the samplers of a run reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    /// The model and the size of its instances.
    pub title: String,
    /// The same by name.
    pub setting: Setting,
    /// Sampler by sampler.
    pub entries: Vec<Entry>,
}

/// Results of the run of a model's experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The experiment.
    pub experiment: String,
    /// What its samplers reached.
    #[serde(flatten)]
    pub reached: Reached,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: String,
    /// Provenance of the run.
    pub provenance: Provenance,
}
