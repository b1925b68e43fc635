//! The lock of a run folder, with the errors of this crate.

use std::path::Path;

use helmholtz_files::{Holder, Lock, LockError, holder_of};

use crate::RunError;
use crate::disk::failed;

/// Takes the lock of `folder`, or says who has it.
pub(crate) fn acquire(folder: &Path) -> Result<Lock, RunError> {
    Lock::acquire(folder).map_err(|error| rejected(folder, error))
}

/// Nothing while `lock`, of `folder`, still holds.
pub(crate) fn check(lock: &Lock, folder: &Path) -> Result<(), RunError> {
    lock.check().map_err(|error| rejected(folder, error))
}

/// Who holds the lock of `folder` now; `None` when nobody does.
pub(crate) fn holder(folder: &Path) -> Result<Option<Holder>, RunError> {
    holder_of(folder).map_err(|error| rejected(folder, error))
}

fn rejected(folder: &Path, error: LockError) -> RunError {
    match error {
        LockError::Held(holder) => RunError::Locked {
            folder: folder.into(),
            pid: holder.pid,
            since: holder.since,
            host: holder.host,
        },
        LockError::Lost(by) => {
            let by = by.unwrap_or_default();
            RunError::LockLost {
                folder: folder.into(),
                pid: by.pid,
                host: by.host,
            }
        }
        LockError::Io(path, error) => failed(folder, "lock", &path)(error),
    }
}
