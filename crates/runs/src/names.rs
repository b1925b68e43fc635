//! Names of the files in a run folder.

/// The configuration.
pub(crate) const CONFIG: &str = "config.json";

/// The metrics, a line each.
pub(crate) const METRICS: &str = "metrics.jsonl";

/// The folder of all checkpoints.
pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// The result of a finished run.
pub(crate) const RESULT: &str = "result.json";

/// Why the last attempt failed.
pub(crate) const FAILURE: &str = "failure.json";
