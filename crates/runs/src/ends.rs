//! What a run left at its end: its result, or why it failed.

use std::path::Path;

use serde_json::Value;

use crate::disk::failed;
use crate::names::{FAILURE, RESULT};
use crate::sealed::{self, Unreadable};
use crate::{Failure, RunError};

/// The published result, where there is one.
pub(crate) fn read_result(folder: &Path) -> Result<Option<Value>, RunError> {
    let file = folder.join(RESULT);
    match sealed::read(&file) {
        Ok(result) => Ok(Some(result)),
        Err(Unreadable::Missing) => Ok(None),
        Err(Unreadable::Io(error)) => Err(failed(folder, "read", &file)(error)),
        Err(Unreadable::Damaged(what)) => Err(damaged_result(folder, what)),
        Err(Unreadable::OtherVersion(found)) => {
            Err(damaged_result(folder, format!("it has format {found}")))
        }
    }
}

fn damaged_result(folder: &Path, what: String) -> RunError {
    let remedy = "remove that file and give the same command again: the run resumes from its last checkpoint";
    RunError::Damaged {
        file: folder.join(RESULT),
        what,
        remedy,
    }
}

/// Why the last attempt failed, where it did; an unreadable note is still a note.
pub(crate) fn read_failure(folder: &Path) -> Result<Option<Failure>, RunError> {
    let file = folder.join(FAILURE);
    let unknown = |what| Failure {
        reason: format!("an earlier attempt failed, and {FAILURE} is unreadable: {what}"),
        ..Failure::default()
    };
    match sealed::read(&file) {
        Ok(note) => Ok(Some(
            serde_json::from_value(note).unwrap_or_else(|error| unknown(error.to_string())),
        )),
        Err(Unreadable::Missing) => Ok(None),
        Err(Unreadable::Damaged(what)) => Ok(Some(unknown(what))),
        Err(Unreadable::OtherVersion(found)) => Ok(Some(unknown(format!("it has format {found}")))),
        Err(Unreadable::Io(error)) => Err(failed(folder, "read", &file)(error)),
    }
}
