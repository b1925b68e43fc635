//! Why and where a run stopped by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A run that failed, such as by a loss that is not a number, and what is needed to look at it again. With the seed,
/// the epoch and the step every random draw of that step can be made once more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Reason of the failure.
    pub reason: String,
    /// The run's seed.
    pub seed: u64,
    /// The epoch in which it happened.
    pub epoch: u64,
    /// The step within the epoch.
    pub step: u64,
    /// The data of the batch, as row indices of the training set.
    pub batch: Vec<u32>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            reason,
            seed,
            epoch,
            step,
            batch,
        } = self;
        write!(
            f,
            "{reason} (seed {seed}, epoch {epoch}, step {step}, batch {batch:?})"
        )
    }
}
