//! State of a unit's run folder.

use crate::error::HarnessError;
use helmholtz_runs::{RunError, RunFolder, Status as Found, read_checkpoint};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// State of a unit's run folder. R is the type of results.
#[derive(Debug, Clone, PartialEq)]
pub enum Status<R = Value> {
    /// Nothing yet.
    New,
    /// A checkpoint with so many finished counts.
    Partial {
        /// Finished counts: epochs, steps.
        done: u64,
    },
    /// An attempt that failed; running it tries again from its last checkpoint.
    Failed {
        /// Why.
        reason: String,
        /// Counts that its last checkpoint holds.
        done: u64,
    },
    /// Another process is at work on it.
    Running {
        /// Its process id, where it is known.
        pid: Option<u32>,
    },
    /// The folder cannot be used: of another configuration or version, or damaged.
    Unusable {
        /// Why, and the remedy.
        reason: String,
    },
    /// Trained, and measured by other settings than now: what is left is the measurement.
    Trained,
    /// The result.
    Done(Box<R>),
}

impl<R> Status<R> {
    /// Finished counts of a run of `all`.
    pub fn done(&self, all: u64) -> u64 {
        match self {
            Self::Partial { done } | Self::Failed { done, .. } => *done,
            Self::Done(_) | Self::Trained => all,
            _ => 0,
        }
    }

    /// The result, if there is nothing left to do.
    pub fn result(&self) -> Option<&R> {
        match self {
            Self::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Whether there is nothing left to do.
    pub fn is_done(&self) -> bool {
        self.result().is_some()
    }

    /// Whether something is left to do, and the folder can be used.
    pub fn is_to_run(&self) -> bool {
        !matches!(self, Self::Done(_) | Self::Unusable { .. })
    }

    /// Whether a checkpoint may be there.
    pub fn is_begun(&self) -> bool {
        matches!(
            self,
            Self::Partial { .. } | Self::Failed { .. } | Self::Running { .. }
        )
    }
}

/// The state of the run folder of this configuration, without its lock; `key` is where the state of its checkpoints has the number of
/// finished counts.
pub fn status<R: DeserializeOwned>(folder: &Path, config: &Value, key: &str) -> Status<R> {
    let unusable = |error: HarnessError| Status::Unusable {
        reason: error.to_string(),
    };
    let done = |state: &Value| state[key].as_u64().unwrap_or(0);
    match RunFolder::peek_as(folder, config) {
        Err(error) => unusable(error.into()),
        Ok(Found::Absent) => Status::New,
        // Before the first checkpoint, or where none of them can be read.
        Ok(Found::Started { state: None }) => match read_checkpoint(folder) {
            Err(error @ RunError::NoUsableCheckpoint { .. }) => unusable(error.into()),
            _ => Status::New,
        },
        Ok(Found::Started { state: Some(state) }) => Status::Partial { done: done(&state) },
        Ok(Found::Running { pid }) => Status::Running { pid },
        Ok(Found::Failed(failure)) => Status::Failed {
            reason: failure.reason,
            done: last_checkpoint(folder, key).unwrap_or(None).unwrap_or(0),
        },
        Ok(Found::Finished(result)) => match serde_json::from_value(result) {
            Ok(result) => Status::Done(Box::new(result)),
            Err(source) => unusable(HarnessError::Result {
                folder: folder.to_path_buf(),
                source,
            }),
        },
    }
}

/// The counts that the last whole checkpoint in a run folder holds, if there is one.
///
/// # Errors
/// A folder that cannot be read.
pub fn last_checkpoint(folder: &Path, key: &str) -> Result<Option<u64>, HarnessError> {
    match read_checkpoint(folder) {
        Err(RunError::NoUsableCheckpoint { .. }) => Ok(None),
        last => Ok(last?.map(|last| last.state[key].as_u64().unwrap_or(0))),
    }
}

/// The bytes that the checkpoints in a run folder take.
pub fn checkpoint_bytes(folder: &Path) -> u64 {
    let inside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.flatten().map(|entry| entry.path())
    };
    let checkpoints = inside(&folder.join("checkpoints"));
    let files = checkpoints.flat_map(|checkpoint| inside(&checkpoint));
    let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::NoopObserver;
    use crate::experiment::Experiment;
    use crate::fake::Counting;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn counts_that_are_done_are_those_of_the_last_checkpoint_or_all() {
        let done = |status: Status| status.done(5);
        assert_eq!(done(Status::Done(Box::default())), 5);
        assert_eq!(done(Status::Trained), 5);
        assert_eq!(done(Status::Partial { done: 3 }), 3);
        assert_eq!(done(Status::New), 0);
    }

    #[test]
    fn a_run_none_of_whose_checkpoints_can_be_read_cannot_be_used() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a"]);
        experiment.stop_in = Some(("a", 3));
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap_err();
        let unit = &experiment.units()[0];
        let status = || status::<Value>(&unit.folder, &unit.config, experiment.done_key());
        assert_eq!(status(), Status::Partial { done: 3 });
        for checkpoint in std::fs::read_dir(unit.folder.join("checkpoints")).unwrap() {
            let manifest = checkpoint.unwrap().path().join("manifest.json");
            std::fs::write(manifest, "{").unwrap();
        }
        let found = status();
        let Status::Unusable { reason } = &found else {
            panic!("{found:?}")
        };
        assert!(reason.contains("checkpoint"), "{reason}");
        std::fs::remove_dir_all(unit.folder.join("checkpoints")).unwrap();
        assert_eq!(status(), Status::New);
    }

    #[test]
    fn a_checkpoint_tells_its_counts_and_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b"]);
        let folder = &experiment.units()[0].folder.clone();
        let last = || last_checkpoint(folder, experiment.done_key()).unwrap();
        assert_eq!((last(), checkpoint_bytes(folder)), (None, 0));
        experiment.stop_in = Some(("a", 3));
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap_err();
        let last = last_checkpoint(folder, experiment.done_key());
        assert_eq!(last.unwrap(), Some(3));
        // Each holds a state of some tens of bytes, and as much about itself.
        let bytes = checkpoint_bytes(folder);
        assert!((20..20_000).contains(&bytes), "{bytes}");
    }
}
