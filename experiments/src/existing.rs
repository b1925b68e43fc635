//! What earlier sessions left: the state of a cell's run folder, and which seeds have one.

use crate::cell::{Cell, PARTICLES};
use crate::error::HarnessError;
use crate::plan::CellStatus;
use helmholtz_runs::{OpenMode, RunFolder, Status};
use std::path::Path;
use std::str::FromStr;

/// The state of a cell's run folder, without its lock.
///
/// Of a checkpoint's state only `epochs_done`, the number of finished epochs, is read.
pub fn status(folder: &Path, cell: &Cell) -> CellStatus {
    let unusable = |error: HarnessError| CellStatus::Unusable {
        reason: error.to_string(),
    };
    let status = match RunFolder::peek_as(folder, &config(cell)) {
        Ok(status) => status,
        Err(error) => return unusable(error.into()),
    };
    match status {
        Status::Absent => CellStatus::New,
        Status::Started { state } => match state.and_then(|state| state["epochs_done"].as_u64()) {
            Some(epoch) => CellStatus::Partial { epoch },
            None => CellStatus::New,
        },
        Status::Running { pid } => CellStatus::Running { pid },
        Status::Failed(failure) => CellStatus::Failed {
            reason: failure.reason,
        },
        Status::Finished(result) => match serde_json::from_value(result) {
            Ok(result) => CellStatus::Done(Box::new(result)),
            Err(source) => unusable(HarnessError::Result {
                folder: folder.to_path_buf(),
                source,
            }),
        },
    }
}

/// The bytes that the checkpoints in a run folder take.
pub fn checkpoint_bytes(folder: &Path) -> u64 {
    let inside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.flatten().map(|entry| entry.path())
    };
    let checkpoints = inside(&folder.join("checkpoints"));
    let files = checkpoints.flat_map(|checkpoint| inside(&checkpoint));
    let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
}

/// Renames the cell's run folder aside, if there is one, and leaves an empty one.
///
/// # Errors
/// A folder that a live run holds, or that cannot be renamed.
pub fn start_over(folder: &Path, cell: &Cell) -> Result<(), HarnessError> {
    RunFolder::open(folder, &config(cell), OpenMode::Fresh)?;
    Ok(())
}

/// The configuration of a cell's run folder: the cell itself.
pub fn config(cell: &Cell) -> serde_json::Value {
    serde_json::to_value(cell).expect("a cell is plain data")
}

/// The seeds that have a run folder in the folder of a row ([`Cell::row_folder`]), ascending.
pub fn seeds(row: &Path) -> Vec<u64> {
    numbered(row, "seed-")
}

/// The numbers of particles that have a folder for this net below `base`, ascending.
pub fn particles(base: &Path, net: &str) -> Vec<usize> {
    numbered(&base.join(net), PARTICLES)
}

/// The numbers behind `prefix` among the names in a folder, ascending.
fn numbered<N: FromStr + Ord>(folder: &Path, prefix: &str) -> Vec<N> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let number = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.ok()?.file_name();
        name.to_str()?.strip_prefix(prefix)?.parse().ok()
    };
    let mut numbers: Vec<N> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;

    #[test]
    fn folders_set_aside_are_no_seeds() {
        let dir = tempfile::tempdir().unwrap();
        let c = cell("linear", "jsa", 3);
        let folder = c.folder(dir.path());
        start_over(&folder, &c).unwrap();
        start_over(&folder, &c).unwrap();
        assert!(folder.with_file_name("seed-3.old-1").is_dir());
        assert_eq!(seeds(&c.row_folder(dir.path())), [3]);
        assert!(seeds(&cell("linear", "rws", 3).row_folder(dir.path())).is_empty());
    }

    #[test]
    fn a_result_of_another_shape_names_the_folder_and_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let c = cell("linear", "jsa", 1);
        let folder = c.folder(dir.path());
        let mut run = RunFolder::open(&folder, &config(&c), OpenMode::Resume).unwrap();
        run.finish(&serde_json::json!({"nll": 1.0})).unwrap();
        drop(run);
        let CellStatus::Unusable { reason } = status(&folder, &c) else {
            panic!("a result of another shape was taken for one")
        };
        assert!(
            reason.contains("seed-1") && reason.contains("--fresh"),
            "{reason}"
        );
    }
}
