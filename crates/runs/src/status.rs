//! Status of a run, from its folder, without opening it.

use std::path::Path;

use serde_json::Value;

use crate::canonical::config_hash;
use crate::config::{read_config, same_config};
use crate::ends::{read_failure, read_result};
use crate::lock;
use crate::place::{Contents, contents};
use crate::{Failure, RunError, RunFolder, checkpoint};

/// The state of a run, as [`RunFolder::peek`] finds it.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// There is no run.
    Absent,
    /// Begun and not finished; nobody works on it now.
    Started {
        /// The state saved with the newest checkpoint that looks whole; `None` before the first.
        state: Option<Value>,
    },
    /// A live process holds the folder.
    Running {
        /// Its process id, where the lock file could be read.
        pid: Option<u32>,
    },
    /// The run stopped by itself; opening it tries again from its last checkpoint.
    Failed(Failure),
    /// Done, with the value given to [`RunFolder::finish`].
    Finished(Value),
}

impl RunFolder {
    /// Looks at the run folder at `path` without its lock, quickly: of checkpoints the manifest is verified and the
    /// lengths of the parts, not their content.
    ///
    /// Errors: [`RunError::NotARunFolder`], [`RunError::OtherVersion`], [`RunError::Damaged`] (configuration or
    /// result), [`RunError::Io`].
    pub fn peek(path: impl AsRef<Path>) -> Result<Status, RunError> {
        let folder = path.as_ref();
        let config = if contents(folder)? == Contents::Nothing {
            None
        } else {
            read_config(folder)?
        };
        let holder = lock::holder(folder)?;
        let Some(config) = config else {
            return Ok(holder.map_or(Status::Absent, |holder| Status::Running { pid: holder.pid }));
        };
        if let Some(result) = read_result(folder)? {
            return Ok(Status::Finished(result));
        }
        if let Some(holder) = holder {
            return Ok(Status::Running { pid: holder.pid });
        }
        match read_failure(folder)? {
            Some(failure) => Ok(Status::Failed(failure)),
            None => Ok(Status::Started {
                state: checkpoint::glance(folder, &config_hash(&config))?,
            }),
        }
    }

    /// Peeks as [`RunFolder::peek`] does, for a folder that must belong to `config`: [`RunError::OtherConfig`] where it doesn't,
    /// so that a result for other settings is never taken for this one's.
    pub fn peek_as(path: impl AsRef<Path>, config: &Value) -> Result<Status, RunError> {
        let folder = path.as_ref();
        let status = Self::peek(folder)?;
        if let Some(stored) = (status != Status::Absent)
            .then(|| read_config(folder))
            .transpose()?
            .flatten()
        {
            same_config(folder, &stored, config)?;
        }
        Ok(status)
    }
}
