//! Which files are documents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace")
}

/// Folders that hold no documents of the project.
const SKIPPED: [&str; 4] = ["target", "runs", "book", "report"];

/// The files below a folder whose name ends in `extension`, sorted; without hidden ones, build folders and results of one's own.
pub fn files(root: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // The crates `runs` and `report` are no folders of results: those have no manifest.
            let skipped = name.starts_with("target")
                || SKIPPED.contains(&&*name) && !path.join("Cargo.toml").exists();
            if kind.is_dir() && !name.starts_with('.') && !skipped {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a document was written by the program, beside the numbers of a run.
pub fn is_record(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(name, Some("table.md" | "evaluation.md" | "variance.md"))
}
