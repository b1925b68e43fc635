//! A unit of an experiment: what can run alone.

use crate::work::Count;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What can run alone, in a folder of its own: a net trained by a method with a seed, a figure's measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// What messages call it: `linear / jsa / seed 1`.
    pub label: String,
    /// What it is, in words that the units of a request are grouped by: net and method; the experiment's name alone.
    pub names: Vec<String>,
    /// The run seed, from which every random stream of the run is named.
    pub seed: u64,
    /// Its run folder.
    pub folder: PathBuf,
    /// All that decides its outcome: the configuration of its run folder.
    pub config: Value,
    /// What its progress is counted in.
    pub count: Count,
    /// What the score is that its events tell: `NLL`.
    pub score: &'static str,
    /// What lines of JSON say of it, beside its seed.
    pub fields: Map<String, Value>,
}
