//! Files that are written whole or not at all.

use crate::error::HarnessError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Replaces a file in one step: a scratch file, synced, then renamed. Folders are made as needed.
///
/// # Errors
/// A folder or file that cannot be written; what was there before stays whole.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), HarnessError> {
    write(path, content).map_err(|source| HarnessError::Io {
        action: "write",
        path: path.to_path_buf(),
        source,
    })
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut scratch = path.as_os_str().to_owned();
    scratch.push(format!(".{}.tmp", std::process::id()));
    let written = File::create(&scratch).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&scratch, path)
    });
    if written.is_err() {
        // The error itself says more than a failed clean-up would.
        let _ = std::fs::remove_file(&scratch);
    }
    written
}
