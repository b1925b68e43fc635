//! Errors of writing.

use helmholtz_files::remedy;
use std::path::PathBuf;

/// A file or folder that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}; {}", path.display(), remedy(source))]
pub struct ReportError {
    /// `write`, `remove`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The reason.
    pub source: std::io::Error,
}
