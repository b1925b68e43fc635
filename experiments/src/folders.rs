//! Run folders: their names, what earlier sessions left in them, and which seeds have one.

use crate::cell::{Cell, PARTICLES};
use crate::cell_runner::CellResult;
use helmholtz_harness::status;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The folder of all cells of an experiment, profile and data set: `<out>/<experiment>/<profile>/<dataset>`.
///
/// With epochs other than the profile's, the profile's part says so (`quick-20-epochs`): such runs have
/// another configuration, and never meet the profile's own folders.
pub fn base_folder(
    out: &Path,
    experiment: &str,
    profile: &str,
    epochs: Option<u64>,
    dataset: &str,
) -> PathBuf {
    let profile = match epochs {
        Some(n) => format!("{profile}-{n}-epochs"),
        None => profile.to_string(),
    };
    out.join(experiment).join(profile).join(dataset)
}

/// The profile, and epochs other than its own, that a part of [`base_folder`] names.
pub fn profile_of(part: &str) -> (&str, Option<u64>) {
    let parts = part
        .strip_suffix("-epochs")
        .and_then(|rest| rest.rsplit_once('-'));
    let named = parts.and_then(|(profile, epochs)| Some((profile, epochs.parse().ok()?)));
    named.map_or((part, None), |(profile, epochs)| (profile, Some(epochs)))
}

/// State of a cell's run folder.
pub type CellStatus = status::Status<CellResult>;

/// The state of a cell's run folder, without its lock.
pub fn status(folder: &Path, cell: &Cell) -> CellStatus {
    status::status(folder, &config(cell), EPOCHS_DONE)
}

/// Key of the number of finished epochs in the state of a cell's checkpoints.
pub const EPOCHS_DONE: &str = "epochs_done";

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
    use helmholtz_harness::streams::assert_contains;
    use helmholtz_runs::{OpenMode, RunFolder};

    fn archive_folders(folder: &Path, cell: &Cell) {
        RunFolder::open(folder, &config(cell), OpenMode::Fresh).unwrap();
    }

    #[test]
    fn folders_set_aside_are_no_seeds() {
        let dir = tempfile::tempdir().unwrap();
        let c = cell("linear", "jsa", 3);
        let folder = c.folder(dir.path());
        archive_folders(&folder, &c);
        archive_folders(&folder, &c);
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
        assert_contains(&reason, &["seed-1", "--fresh"]);
    }

    #[test]
    fn other_epochs_have_a_folder_of_their_own() {
        let path = |epochs| base_folder(Path::new("runs"), "table1", "quick", epochs, "glyphs");
        assert_eq!(path(None), Path::new("runs/table1/quick/glyphs"));
        assert_eq!(
            path(Some(20)),
            Path::new("runs/table1/quick-20-epochs/glyphs")
        );
        assert_eq!(profile_of("quick-20-epochs"), ("quick", Some(20)));
        for name in ["quick", "rate-1e-3", "of-epochs", "20-epochs"] {
            assert_eq!(profile_of(name), (name, None));
        }
    }
}
