//! Result of a run.

use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run's result, as its folder keeps it, with measurements E of the trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome<E> {
    /// Gradient steps.
    pub steps: u64,
    /// The first check, at the start, and the last.
    pub checks: [Map<String, Value>; 2],
    /// −H(x, z): what the mean log joint of exact posterior draws is, in nats, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Measurements.
    pub evaluation: E,
    /// Provenance of the result.
    pub provenance: Provenance,
}
