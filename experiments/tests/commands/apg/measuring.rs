//! What is measured of a trained run.

use std::fs;
use std::path::Path;

use super::support::{data, metrics, reproduce, text};
use super::{bmnist, dmm, gmm};

#[test]
fn a_trained_run_is_measured_again_by_other_settings_and_not_trained_again() {
    let dir = tempfile::tempdir().unwrap();
    gmm::small(dir.path());
    assert!(reproduce(dir.path(), &["small.toml"]).status.success());
    let run = dir.path().join("runs/small/quick/seed-1");
    let (before, trained) = (
        metrics(&run),
        fs::read_dir(run.join("checkpoints")).unwrap(),
    );
    let file = dir.path().join("small.toml");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, settings.replace("points = 9", "points = 11")).unwrap();
    let plan = text(&reproduce(dir.path(), &["small.toml", "--dry-run"]).stdout);
    assert!(
        plan.contains("trained, measured by other settings"),
        "{plan}"
    );

    let output = reproduce(dir.path(), &["small.toml"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success() && err.contains("resumes after step 5/5"),
        "{err}"
    );
    assert!(out.contains("fresh instances of 11 data"), "{out}");
    assert_eq!(metrics(&run), before);
    let after = fs::read_dir(run.join("checkpoints")).unwrap();
    assert_eq!(after.count(), trained.count());
    let again = text(&reproduce(dir.path(), &["small.toml"]).stdout);
    assert!(
        again.contains("all done") && again.contains("of 11 data"),
        "{again}"
    );

    // Without its last parameters there is nothing to measure, and it isn't trained again for it.
    fs::remove_dir_all(run.join("checkpoints")).unwrap();
    fs::write(&file, settings.replace("points = 9", "points = 13")).unwrap();
    for more in [&[][..], &["--dry-run"]] {
        let output = reproduce(dir.path(), &[&["small.toml"], more].concat());
        let err = text(&output.stderr);
        assert!(
            !output.status.success() && err.contains("its checkpoints are gone"),
            "{err}"
        );
    }
    assert_eq!(metrics(&run), before);
    assert!(!run.join("checkpoints").exists());

    // Another training is another run.
    fs::write(
        &file,
        settings.replace("learning_rate = 2.5e-4", "learning_rate = 1e-4"),
    )
    .unwrap();
    let output = reproduce(dir.path(), &["small.toml"]);
    let err = text(&output.stderr);
    assert!(
        !output.status.success() && err.contains("learning_rate"),
        "{err}"
    );
}

fn check_one_shot_alone(small: fn(&Path), row: &str) {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let args = ["small.toml", "--profile", "rws", "--steps", "2"];
    let output = reproduce(dir.path(), &args);
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    let folder = dir.path().join("runs/small/rws-2-steps/seed-1");
    let out = fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(out.contains("K = 1 sweeps, L = 100 particles"), "{out}");
    assert!(out.contains(row) && out.contains("HMC-RWS"), "{out}");
    // K and L, or L and K.
    let one_shot = ["| APG | 1 | 3 |", "| APG | 3 | 1 |"];
    let of_blocks = out.lines().filter(|line| line.contains("| APG"));
    let of_blocks = of_blocks.filter(|line| !one_shot.iter().any(|part| line.contains(part)));
    assert_eq!(of_blocks.count(), 0, "{out}");
    let lines: Vec<&str> = out.lines().collect();
    let empty = |pair: &[&str]| pair[0].starts_with("| ---") && !pair[1].starts_with('|');
    assert!(!lines.windows(2).any(empty), "a table without rows:\n{out}");
}

#[test]
fn mixtures_whose_one_shot_proposal_alone_is_trained_have_no_rows_of_sweeps() {
    check_one_shot_alone(gmm::small, "| RWS | 6 | 1 |");
    check_one_shot_alone(dmm::small, "| RWS | 6 | 1 |");
}

#[test]
fn a_tracker_whose_one_shot_proposal_alone_is_trained_has_no_rows_of_sweeps() {
    if data().is_some() {
        check_one_shot_alone(bmnist::small, "| 1 | ");
    }
}
