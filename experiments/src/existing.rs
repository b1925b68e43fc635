//! What earlier sessions left: the state of a cell's run folder, and which seeds have one.

use crate::cell::Cell;
use crate::error::HarnessError;
use crate::plan::CellStatus;
use helmholtz_runs::{OpenMode, RunFolder, Status};
use std::path::Path;

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

/// The seeds that have a run folder for this net and method below `base`, ascending.
pub fn seeds(base: &Path, net: &str, method: &str) -> Vec<u64> {
    let Ok(entries) = std::fs::read_dir(base.join(net).join(method)) else {
        return Vec::new();
    };
    let mut seeds: Vec<u64> = entries
        .filter_map(|entry| {
            entry
                .ok()?
                .file_name()
                .to_str()?
                .strip_prefix("seed-")?
                .parse()
                .ok()
        })
        .collect();
    seeds.sort_unstable();
    seeds
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
        assert_eq!(seeds(dir.path(), "linear", "jsa"), [3]);
        assert!(seeds(dir.path(), "linear", "rws").is_empty());
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
