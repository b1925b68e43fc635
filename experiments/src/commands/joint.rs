//! What several runs show together: a folder of its own, which a report finds.

use super::stepwise::Folder;
use crate::cli::Reproduce;
use crate::error::HarnessError;
use helmholtz_runs::{RunError, RunFolder};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The folder at `path` for what `config` says, unless another configuration has it and it is not to be set aside.
///
/// # Errors
/// A folder that cannot be used.
pub fn folder(args: &Reproduce, path: PathBuf, config: Value) -> Result<Folder, HarnessError> {
    if !args.fresh {
        match RunFolder::peek_as(&path, &config) {
            Err(error @ RunError::OtherConfig { .. }) => {
                return Err(HarnessError::Unusable(format!(
                    "{error}; or move it away: the runs have folders of their own, and those that are finished are not run again"
                )));
            }
            status => status?,
        };
    }
    Ok(Folder { path, config })
}

/// Completes the folder, with a table of the runs if there is one.
///
/// # Errors
/// A folder that cannot be written.
pub fn finish(
    mut folder: RunFolder,
    args: &Reproduce,
    seed: u64,
    table: Option<Value>,
) -> Result<(), HarnessError> {
    let mut result = json!({"provenance": folder.provenance(seed, args.device.as_str())});
    if let Some(table) = table {
        result["table"] = table;
    }
    Ok(folder.finish(&result)?)
}
