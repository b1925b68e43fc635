//! The table's files: written beside the run folders, each in one step.

use super::{Table, csv, document};
use crate::error::HarnessError;
use helmholtz_report::files::write_text;
use helmholtz_report::markdown;
use std::path::{Path, PathBuf};

/// Writes `table.md`, `table.csv` and `table.json` into `folder`, and returns their paths.
///
/// # Errors
/// A folder or file that cannot be written; what was there before stays whole.
pub fn write(table: &Table, folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
    let json = serde_json::to_string_pretty(table).expect("a table is plain data") + "\n";
    [
        ("table.md", markdown::render(&document(table))),
        ("table.csv", csv::render(table)),
        ("table.json", json),
    ]
    .into_iter()
    .map(|(name, content)| Ok(write_text(folder, name, &content)?))
    .collect()
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
}
