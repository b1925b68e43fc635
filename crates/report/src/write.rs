//! Files, each replaced in one step.

use crate::error::ReportError;
use std::path::{Path, PathBuf};

/// Writes a text into `folder` in one step; the path.
///
/// # Errors
/// A folder or file that cannot be written; what was there before stays whole.
pub fn write_text(folder: &Path, name: &str, text: &str) -> Result<PathBuf, ReportError> {
    let path = folder.join(name);
    write_bytes(&path, text.as_bytes())?;
    Ok(path)
}

/// Writes a file in one step. Missing folders are made; a link of that name is replaced and not followed.
///
/// # Errors
/// A folder or file that cannot be written; what was there before stays whole.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<(), ReportError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    helmholtz_files::create_directories(folder)
        .and_then(|()| helmholtz_files::replace_shared(folder, &name, content))
        .map_err(|source| ReportError {
            action: "write",
            path: path.to_path_buf(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = write_text(file.path(), "fig.svg", "").unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert!(error.path.ends_with("fig.svg"), "{error}");
    }
}
