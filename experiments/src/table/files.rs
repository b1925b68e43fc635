//! The table's files: written beside the run folders, each in one step.

use super::{Table, csv, markdown};
use crate::error::HarnessError;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes `table.md`, `table.csv` and `table.json` into `folder`, and returns their paths.
///
/// # Errors
/// A folder or file that cannot be written; what was there before stays whole.
pub fn write(table: &Table, folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
    let json = serde_json::to_string_pretty(table).expect("a table is plain data") + "\n";
    [
        ("table.md", markdown::render(table)),
        ("table.csv", csv::render(table)),
        ("table.json", json),
    ]
    .into_iter()
    .map(|(name, content)| write_one(folder, name, &content))
    .collect()
}

/// Writes one file into `folder` in one step, and returns its path.
pub(crate) fn write_one(folder: &Path, name: &str, content: &str) -> Result<PathBuf, HarnessError> {
    write_bytes(folder, name, content.as_bytes())
}

/// [`write_one`], of bytes.
pub(crate) fn write_bytes(
    folder: &Path,
    name: &str,
    content: &[u8],
) -> Result<PathBuf, HarnessError> {
    let path = folder.join(name);
    match replace(&path, content) {
        Ok(()) => Ok(path),
        Err(source) => Err(HarnessError::Io {
            action: "write",
            path,
            source,
        }),
    }
}

/// Replaces a file in one step: a scratch file, synced, then renamed.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut scratch = path.as_os_str().to_owned();
    scratch.push(format!(".{}.tmp", std::process::id()));
    let written = File::create_new(&scratch).and_then(|mut file| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::{done, table};

    #[test]
    fn three_files_are_written_and_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("runs/table1");
        let table = table("quick", false, &[done("linear", "jsa", 1, 105.75, 5)]);
        write(&table, &folder).unwrap();
        let paths = write(&table, &folder).unwrap();
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        names.sort();
        let mut expected = paths.clone();
        expected.sort();
        assert_eq!(names, expected);
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join("table.json")).unwrap()).unwrap();
        assert_eq!(json["rows"][0]["ours"]["mean"], 105.75);
        assert_eq!(
            json["rows"][0]["results"]["1"]["provenance"]["device"],
            "fake"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("runs");
        std::fs::write(&file, "a file").unwrap();
        let table = table("quick", false, &[]);
        let error = write(&table, &file.join("table1")).unwrap_err().to_string();
        assert!(
            error.contains("cannot write") && error.contains("table.md"),
            "{error}"
        );
    }
}
