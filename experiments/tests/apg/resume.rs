//! A run that is killed goes on where it was, and ends as an undisturbed one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::support::{command, data, metrics, reproduce, text};
use crate::{bmnist, dmm, gmm};

/// Many enough that the run is not at its end when it is killed.
const STEPS: &str = "60";

fn check(small: fn(&Path)) {
    let [killed, undisturbed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let args = ["small.toml", "--steps", STEPS];
    for dir in [&killed, &undisturbed] {
        small(dir.path());
    }
    let run_in = |dir: &tempfile::TempDir| {
        let runs = dir.path().join("runs/small");
        let profile = fs::read_dir(runs).unwrap().next().unwrap().unwrap();
        profile.path().join("seed-1")
    };

    let mut first = command(killed.path(), &args).spawn().unwrap();
    let checkpoints = || {
        let runs = killed
            .path()
            .join("runs/small")
            .join(format!("quick-{STEPS}-steps"));
        runs.join("seed-1/checkpoints").join("000004")
    };
    while !checkpoints().is_dir() {
        assert!(first.try_wait().unwrap().is_none(), "ended too early");
        std::thread::sleep(Duration::from_millis(2));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(!run_in(&killed).join("table.md").exists(), "had ended");

    let second = reproduce(killed.path(), &args);
    let err = text(&second.stderr);
    assert!(
        second.status.success() && err.contains("Resumed after "),
        "{err}"
    );
    assert!(reproduce(undisturbed.path(), &args).status.success());
    let [killed, undisturbed] = [run_in(&killed), run_in(&undisturbed)];
    assert_eq!(metrics(&killed), metrics(&undisturbed));
    let rows = |run: &Path| -> Vec<String> {
        let table = fs::read_to_string(run.join("table.md")).unwrap();
        let rows = table.lines().filter(|line| line.starts_with('|'));
        rows.map(String::from).collect()
    };
    assert_eq!(rows(&killed), rows(&undisturbed));
}

#[test]
fn gaussian_mixtures_go_on_where_they_were() {
    check(gmm::small);
}

#[test]
fn deep_mixtures_go_on_where_they_were() {
    check(dmm::small);
}

#[test]
fn the_tracker_goes_on_where_it_was() {
    if data().is_some() {
        check(bmnist::small);
    }
}
