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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_folder_is_told() {
        let root = tempfile::tempdir().unwrap();
        let problem = |path: &Path| find_in(path, "a.amat").unwrap_err();
        assert_eq!(problem(root.path()), "");
        assert_eq!(problem(&root.path().join("typo")), "no such folder");
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let text = problem(&file);
        assert!(!text.is_empty() && text != "no such folder", "{text}");
    }
}
