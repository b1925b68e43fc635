//! Whatever a crash or a bad disk leaves of a run folder, opening it gives a whole checkpoint or a typed error.

use std::fs;
use std::path::{Path, PathBuf};

use helmholtz_runs::{Checkpoint, OpenMode, RunError, RunFolder, read_metrics};
use serde_json::{Value, json};

/// One checkpoint and the metrics that belong to it.
type Point = (Checkpoint, Vec<Value>);

fn config() -> Value {
    json!({"net": "linear", "seed": 1})
}

fn open(path: &Path) -> Result<RunFolder, RunError> {
    RunFolder::open(path, &config(), OpenMode::Resume)
}

/// A folder with three saved checkpoints, of which two are kept (returned in order), and a metric after the last.
fn a_run(path: &Path) -> [Point; 2] {
    let mut run = open(path).unwrap();
    let mut points = Vec::new();
    for epoch in 1..=3_u8 {
        run.append_metrics(&json!({"epoch": epoch, "nll": 0.1 + f64::from(epoch)}))
            .unwrap();
        let (theta, phi) = (vec![epoch; 300], vec![255 - epoch; 7]);
        run.save_checkpoint(
            &json!({"epoch": epoch, "best": 1.0 / 3.0}),
            &[("theta", &theta), ("phi", &phi), ("none", b"")],
        )
        .unwrap();
        points.push((
            run.latest_checkpoint().unwrap().unwrap(),
            read_metrics(path).unwrap(),
        ));
    }
    run.append_metrics(&json!("beyond")).unwrap();
    points.split_off(1).try_into().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found.sort();
    found
}

/// Opens a damaged copy. Returns which of the two checkpoints it gave, `None` for a typed error; anything else panics.
/// Rows of metrics may be gone, with a warning; none may be another. A second open must give the same, and the run must be
/// able to go on.
fn survives(path: &Path, points: &[Point; 2]) -> Option<usize> {
    let run = match open(path) {
        Ok(run) => run,
        Err(
            RunError::Damaged { .. }
            | RunError::OtherVersion { .. }
            | RunError::NoUsableCheckpoint { .. },
        ) => {
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let found = (
        run.latest_checkpoint()
            .unwrap()
            .expect("there was a checkpoint"),
        read_metrics(path).unwrap(),
    );
    let (checkpoint, rows) = &found;
    let which = points
        .iter()
        .position(|(point, _)| point == checkpoint)
        .expect("neither the newest nor the one before");
    let mut recorded = points[which].1.iter();
    for row in rows {
        assert!(
            recorded.any(|own| own == row),
            "a row that never was: {row}"
        );
    }
    let rows_are_whole = *rows == points[which].1;
    assert_eq!(
        run.warnings().is_empty(),
        which == 1 && rows_are_whole,
        "{:?}",
        run.warnings()
    );
    drop(run);

    let mut run = open(path).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap().unwrap(), found.0);
    assert_eq!(run.warnings().is_empty(), rows_are_whole);
    run.append_metrics(&json!("next")).unwrap();
    run.save_checkpoint(&json!("next"), &[("theta", b"next")])
        .unwrap();
    drop(run);
    let run = open(path).unwrap();
    assert!(run.warnings().is_empty());
    assert_eq!(
        run.latest_checkpoint().unwrap().unwrap().state,
        json!("next")
    );
    assert_eq!(read_metrics(path).unwrap().len(), found.1.len() + 1);
    Some(which)
}

/// Applies `damage` to a copy of a run, for each of its files, and checks which checkpoint survives.
fn each_file(damage: impl Fn(&Path, &mut dyn FnMut(&dyn Fn(&Path)))) {
    let home = tempfile::tempdir().unwrap();
    let whole = home.path().join("whole");
    let points = a_run(&whole);
    let broken = home.path().join("broken");
    let mut cases = 0;
    for file in files(&whole) {
        let name = file.strip_prefix(&whole).unwrap();
        damage(&file, &mut |spoil| {
            copy(&whole, &broken);
            spoil(&broken.join(name));
            let survivor = survives(&broken, &points);
            let expected: &[Option<usize>] = match name.to_str().unwrap() {
                "lock" => &[Some(1)],
                // Without its configuration a folder is refused; white space does not count.
                "config.json" => &[None, Some(1)],
                newest if newest.starts_with("checkpoints/000003") => &[Some(0), Some(1)],
                _ => &[Some(1)],
            };
            assert!(
                expected.contains(&survivor),
                "{}: {survivor:?}",
                name.display()
            );
            if name.ends_with("000003/theta") {
                assert_eq!(survivor, Some(0));
            }
            fs::remove_dir_all(&broken).unwrap();
            cases += 1;
        });
    }
    assert!(cases >= 9);
}

#[test]
#[should_panic(expected = "neither the newest nor the one before")]
fn a_whole_checkpoint_with_other_bytes_fails_the_check_above() {
    let home = tempfile::tempdir().unwrap();
    let (path, other) = (home.path().join("run"), home.path().join("other"));
    let points = a_run(&path);
    a_run(&other);
    let mut run = open(&other).unwrap();
    run.save_checkpoint(&json!({"epoch": 4}), &[("theta", b"other")])
        .unwrap();
    drop(run);
    copy(
        &other.join("checkpoints/000004"),
        &path.join("checkpoints/000004"),
    );
    survives(&path, &points);
}

#[test]
fn every_file_cut_at_any_length_leaves_a_whole_checkpoint_or_an_error() {
    each_file(|file, case| {
        let whole = fs::metadata(file).unwrap().len();
        let mut lengths = vec![
            0,
            1,
            whole / 3,
            whole / 2,
            whole.saturating_sub(2),
            whole.saturating_sub(1),
        ];
        lengths.retain(|&length| length < whole);
        lengths.dedup();
        for length in lengths {
            case(&|broken| {
                fs::OpenOptions::new()
                    .write(true)
                    .open(broken)
                    .unwrap()
                    .set_len(length)
                    .unwrap()
            });
        }
    });
}

#[test]
fn every_file_deleted_leaves_a_whole_checkpoint_or_an_error() {
    each_file(|_, case| case(&|broken| fs::remove_file(broken).unwrap()));
}

#[test]
fn every_file_replaced_by_a_directory_leaves_a_whole_checkpoint_or_an_error() {
    each_file(|file, case| {
        // For the two that are opened for writing the system's own error is the right one.
        if !file.ends_with("lock") && !file.ends_with("metrics.jsonl") {
            case(&|broken| {
                fs::remove_file(broken).unwrap();
                fs::create_dir(broken).unwrap();
            });
        }
    });
}

#[test]
fn flipped_bytes_leave_a_whole_checkpoint_or_an_error() {
    each_file(|file, case| {
        let bytes = fs::read(file).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len().div_ceil(12).max(1)) {
            for mask in [0x01, 0x20, 0xff] {
                case(&|broken| {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= mask;
                    fs::write(broken, flipped).unwrap();
                });
            }
        }
    });
}

#[test]
fn zeros_in_place_of_any_file_leave_a_whole_checkpoint_or_an_error() {
    // What some file systems leave after a power cut: the right length, and nothing in it.
    each_file(|file, case| {
        let length = fs::metadata(file).unwrap().len() as usize;
        if length > 0 {
            case(&|broken| fs::write(broken, vec![0; length]).unwrap());
        }
    });
}

#[test]
fn every_state_of_a_save_that_was_cut_off_gives_the_checkpoint_before() {
    // The files of a save appear one after the other, each first empty, then in part, then whole, the manifest last.
    let home = tempfile::tempdir().unwrap();
    let (whole, broken) = (home.path().join("whole"), home.path().join("broken"));
    let points = a_run(&whole);
    let saved = whole.join("checkpoints/000003");
    let order = ["none", "phi", "theta", "manifest.json"];
    for complete in 0..=order.len() {
        for share in [0, 1, 2] {
            copy(&whole, &broken);
            let scratch = broken.join("checkpoints/.tmp-000004");
            fs::create_dir(&scratch).unwrap();
            for name in &order[..complete] {
                fs::copy(saved.join(name), scratch.join(name)).unwrap();
            }
            if let Some(name) = order.get(complete) {
                let bytes = fs::read(saved.join(name)).unwrap();
                fs::write(scratch.join(name), &bytes[..bytes.len() * share / 2]).unwrap();
            }
            assert_eq!(survives(&broken, &points), Some(1));
            assert!(!scratch.exists());
            fs::remove_dir_all(&broken).unwrap();
        }
    }
}

#[test]
fn every_state_of_a_pruning_that_was_cut_off_gives_the_newest() {
    let home = tempfile::tempdir().unwrap();
    let (whole, broken) = (home.path().join("whole"), home.path().join("broken"));
    let points = a_run(&whole);
    for removed in 0..=4 {
        copy(&whole, &broken);
        let old = broken.join("checkpoints/000001");
        copy(&broken.join("checkpoints/000002"), &old);
        for name in &["manifest.json", "none", "phi", "theta"][..removed] {
            fs::remove_file(old.join(name)).unwrap();
        }
        assert_eq!(survives(&broken, &points), Some(1));
        assert!(!old.exists());
        fs::remove_dir_all(&broken).unwrap();
    }
}

#[test]
fn a_run_killed_before_its_configuration_was_published_begins_anew() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("lock"), "").unwrap();
    fs::write(home.path().join(".tmp-config.json"), "{\"for").unwrap();
    let run = open(home.path()).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap(), None);
    assert!(!home.path().join(".tmp-config.json").exists());
}

#[test]
fn metrics_before_the_first_checkpoint_are_cut_away() {
    let home = tempfile::tempdir().unwrap();
    open(home.path())
        .unwrap()
        .append_metrics(&json!(1))
        .unwrap();
    let _run = open(home.path()).unwrap();
    assert!(read_metrics(home.path()).unwrap().is_empty());
}

#[test]
fn a_checkpoint_passed_over_never_comes_back() {
    // Were only the metrics cut, and the checkpoint left in place, equal metrics would bring it back to life.
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let points = a_run(&path);
    let theta = path.join("checkpoints/000003/theta");
    let bytes = fs::read(&theta).unwrap();
    fs::write(&theta, b"").unwrap();
    let mut run = open(&path).unwrap();
    assert!(
        run.warnings()[0].contains("checkpoint 3")
            && run.warnings()[0].contains("theta has 0 bytes, 300")
    );
    run.append_metrics(&points[1].1[2]).unwrap();
    drop(run);
    assert!(!theta.exists());
    fs::write(path.join("checkpoints/.damaged-000003/theta"), bytes).unwrap();
    assert_eq!(
        open(&path).unwrap().latest_checkpoint().unwrap().unwrap(),
        points[0].0
    );
}

#[test]
fn with_no_whole_checkpoint_left_the_folder_is_refused_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    a_run(&path);
    for number in ["000002", "000003"] {
        fs::write(
            path.join("checkpoints").join(number).join("phi"),
            b"1234567",
        )
        .unwrap();
    }
    let before = files(&path);
    let error = open(&path).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, RunError::NoUsableCheckpoint { .. }));
    assert!(
        text.contains("checkpoint 3: phi differs") && text.contains("checkpoint 2: phi differs"),
        "{text}"
    );
    assert_eq!(files(&path), before);
    let run = RunFolder::open(&path, &config(), OpenMode::Fresh).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap(), None);
    assert!(
        path.with_extension("old-1")
            .join("checkpoints/000003/phi")
            .exists()
    );
}

#[test]
fn one_wrong_byte_in_the_metrics_costs_its_row_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("run");
    let points = a_run(&path);
    let file = path.join("metrics.jsonl");
    let mut bytes = fs::read(&file).unwrap();
    bytes[3] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let run = open(&path).unwrap();
    assert_eq!(run.latest_checkpoint().unwrap().unwrap(), points[1].0);
    let warning = &run.warnings()[0];
    assert!(warning.contains("of 3 rows, 1 are gone"), "{warning}");
    assert_eq!(read_metrics(&path).unwrap(), points[1].1[1..]);
    assert_eq!(fs::read(path.join("metrics.damaged.jsonl")).unwrap(), bytes);
}
