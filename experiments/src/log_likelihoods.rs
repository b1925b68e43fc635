//! The file beside a result with the last evaluation's estimate of each test image.

use crate::cell_runner::{CellResult, KeptFile};
use crate::error::HarnessError;
use helmholtz_evaluation::LogLikelihoods;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

/// Its name in a run folder.
const NAME: &str = "log-likelihoods.bin";

/// Writes `all` into a run folder.
///
/// # Errors
/// A file that cannot be written.
pub fn write(folder: &Path, all: &LogLikelihoods) -> Result<KeptFile, HarnessError> {
    let bytes = all.to_bytes();
    helmholtz_runs::write_file(folder, NAME, &bytes)?;
    Ok(KeptFile {
        name: NAME.into(),
        sha256: sha256(&bytes),
    })
}

/// The estimates that belong to a result in `folder`; none where it kept none, as older ones.
///
/// # Errors
/// A file that is gone, or other than the result says.
pub fn read(folder: &Path, result: &CellResult) -> Result<Option<LogLikelihoods>, HarnessError> {
    let Some(file) = &result.log_likelihoods else {
        return Ok(None);
    };
    let path = folder.join(NAME);
    let bytes = fs::read(&path).map_err(|source| HarnessError::Io {
        action: "read",
        path: path.clone(),
        source,
    })?;
    let damaged =
        |what: String| HarnessError::Unusable(format!("{} is damaged: {what}", path.display()));
    if sha256(&bytes) != file.sha256 {
        let what = "it differs from its sha256 in result.json; restore it from a copy";
        return Err(damaged(what.into()));
    }
    let all = LogLikelihoods::from_bytes(&bytes);
    all.map(Some).map_err(|error| damaged(error.to_string()))
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
