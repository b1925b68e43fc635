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

impl Entry {
    /// Whether it is of this sampler, at any setting of it.
    pub fn is_of(&self, sampler: &str) -> bool {
        let rest = self.sampler.strip_prefix(sampler);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
    }
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
    /// The sampler that the run trained its nets for, if it gives the rows of that one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
    /// Gradient steps.
    pub steps: u64,
    /// The run folder.
    pub folder: String,
    /// Provenance of the run.
    pub provenance: Provenance,
}
