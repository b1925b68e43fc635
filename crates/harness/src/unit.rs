//! A unit of an experiment: what can run alone.

use crate::error::HarnessError;
use crate::work::Count;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// Unit of an experiment, which can run alone in its own folder: a net trained by a method with a seed, a figure's measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Label in messages: `linear / jsa / seed 1`.
    pub label: String,
    /// Names by which the units of a request are grouped: net and method; the experiment's name alone.
    pub names: Vec<String>,
    /// The run seed, from which every random stream of the run is named.
    pub seed: u64,
    /// Its run folder.
    pub folder: PathBuf,
    /// All that decides its outcome: the configuration of its run folder.
    pub config: Value,
    /// Count that measures its progress.
    pub count: Count,
    /// Name of the score that its events tell: `NLL`.
    pub score: &'static str,
    /// Fields that lines of JSON have of it, beside its seed.
    pub fields: Map<String, Value>,
}

impl Unit {
    /// A result of the unit, as its type.
    ///
    /// # Errors
    /// One of another shape.
    pub fn result<R: DeserializeOwned>(&self, result: &Value) -> Result<R, HarnessError> {
        R::deserialize(result).map_err(|source| HarnessError::Result {
            folder: self.folder.clone(),
            source,
        })
    }
}
