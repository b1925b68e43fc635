//! Paths that cannot be used, and names that may not be: typed errors.

use std::fs;
use std::io;

use helmholtz_files::{Observer, Op, Verdict, observe};
use helmholtz_runs::{OpenMode, RunError, RunFolder, read_config};
use serde_json::json;

#[test]
fn a_path_that_cannot_be_found_is_told_from_one_that_is_not_there_yet() {
    let home = tempfile::tempdir().unwrap();
    let open = |name: &str| RunFolder::open(home.path().join(name), &json!(1), OpenMode::Resume);
    open("new").unwrap();
    let found = open(&"x".repeat(1000)).map(|_| ());
    let Err(RunError::Io { action, .. }) = found else {
        panic!("{found:?}");
    };
    assert_eq!(action, "find");
}

#[test]
fn a_run_whose_configuration_is_gone_is_damaged_and_an_empty_folder_is_none() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(read_config(home.path()).unwrap(), None);
    let mut run = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
    run.save_checkpoint(&json!(1), &[]).unwrap();
    run.append_metrics(&json!(1)).unwrap();
    drop(run);
    assert_eq!(read_config(home.path()).unwrap(), Some(json!(1)));
    fs::remove_file(home.path().join("config.json")).unwrap();
    let found = read_config(home.path());
    assert!(matches!(found, Err(RunError::Damaged { .. })), "{found:?}");
}

#[test]
fn a_part_has_a_name_of_up_to_two_hundred_letters() {
    let home = tempfile::tempdir().unwrap();
    let mut run = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
    let mut save = |name: &str| run.save_checkpoint(&json!(1), &[(name, b"x")]).map(|_| ());
    save(&"x".repeat(200)).unwrap();
    save(&"x".repeat(201)).unwrap_err();
}

/// A disk on which nothing can be removed.
struct Keeps;

impl Observer for Keeps {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        match op {
            Op::Remove(path) | Op::RemoveDirectory(path)
                if path.to_string_lossy().contains("pieces") =>
            {
                Err(io::Error::other("broken"))
            }
            _ => Ok(Verdict::Do),
        }
    }
}

#[test]
fn pieces_that_cannot_be_removed_are_an_error_once_the_result_is_there() {
    let home = tempfile::tempdir().unwrap();
    let mut run = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
    let pieces = run.pieces(&json!(1)).unwrap();
    pieces.get("a", || Ok::<_, RunError>(1.0)).unwrap();
    let observed = observe(Box::new(Keeps));
    let ended = run.finish(&json!("done"));
    drop(observed);
    assert!(matches!(ended, Err(RunError::Io { .. })), "{ended:?}");
    assert_eq!(run.result().unwrap(), Some(json!("done")));
    // There were none, which is no error.
    let home = tempfile::tempdir().unwrap();
    let mut run = RunFolder::open(home.path(), &json!(1), OpenMode::Resume).unwrap();
    run.finish(&json!("done")).unwrap();
}
