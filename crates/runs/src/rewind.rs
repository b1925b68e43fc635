//! Back to the newest whole checkpoint.

use std::path::Path;

use crate::RunError;
use crate::checkpoint::{self, Fault, Loaded, Manifest};

/// Finds the newest whole checkpoint; sets newer ones aside, and says why.
pub(crate) fn rewind(
    folder: &Path,
    config: &str,
) -> Result<(Option<Manifest>, Vec<String>), RunError> {
    let mut damaged = Vec::new();
    for number in checkpoint::list(folder)?.into_iter().rev() {
        match checkpoint::load(folder, number, config) {
            Ok(Loaded { manifest, .. }) => {
                let warnings = pass_over(folder, damaged, number)?;
                return Ok((Some(manifest), warnings));
            }
            Err(Fault::Damaged(what)) => damaged.push((number, what)),
            Err(Fault::Stop(error)) => return Err(error),
        }
    }
    if damaged.is_empty() {
        return Ok((None, Vec::new()));
    }
    let problems = damaged
        .into_iter()
        .map(|(number, what)| format!("checkpoint {number}: {what}"))
        .collect();
    Err(RunError::NoUsableCheckpoint {
        folder: folder.into(),
        problems,
    })
}

/// Sets the `damaged` checkpoints aside in favour of `whole`, and says so.
fn pass_over(
    folder: &Path,
    damaged: Vec<(u64, String)>,
    whole: u64,
) -> Result<Vec<String>, RunError> {
    let mut warnings = Vec::new();
    for (number, what) in damaged {
        checkpoint::set_aside(folder, number)?;
        let folder = folder.display();
        warnings.push(format!(
            "checkpoint {number} in {folder} is damaged ({what}); going on from checkpoint {whole}"
        ));
    }
    Ok(warnings)
}
