//! A published file in a folder.

use std::path::{Path, PathBuf};

/// The file in this folder, plain or gzipped; else what is wrong with the folder (empty: the file is not in it).
pub(crate) fn find_in(folder: &Path, name: &str) -> Result<PathBuf, String> {
    for name in [name.to_owned(), format!("{name}.gz")] {
        let path = folder.join(name);
        if path.is_file() {
            return Ok(path);
        }
    }
    Err(match folder.read_dir() {
        Ok(_) => String::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "no such folder".to_owned(),
        Err(error) => error.to_string(),
    })
}
