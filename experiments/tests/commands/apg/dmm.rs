//! Amortized population Gibbs on deep mixtures, from the command to its files.

use std::fs;
use std::path::Path;

use super::support::{check_run, cut, reproduce, text};

/// A small cut of the experiment, as a file of the user's in `folder`.
pub fn small(folder: &Path) {
    let replaced = [
        ("name = \"apg-dmm\"", "name = \"small\""),
        ("sweeps = 10   ", "sweeps = 2   "),
        ("particles = 10   ", "particles = 3   "),
        ("particles = 10   ", "particles = 3   "),
        ("batch = 20   ", "batch = 2   "),
        ("points = 200", "points = 16"),
        ("check_every = 250", "check_every = 2"),
        ("check_instances = 20", "check_instances = 3"),
        ("steps = 500", "steps = 5"),
        ("[120, 160, 200, 400, 600]", "[16, 32]"),
        ("instances = 20 ", "instances = 3 "),
        ("separated = 20 ", "separated = 2 "),
        ("batch = 5 ", "batch = 2 "),
        ("prior_particles = 1000", "prior_particles = 4"),
        ("sweeps = 20 ", "sweeps = 2 "),
        ("[5, 10, 20]", "[1, 2]"),
        (
            "[1, 5, 10], step_size = 1e-4, warm_up = 50",
            "[1, 2], step_size = 1e-3, warm_up = 5",
        ),
    ];
    cut(folder, include_str!("../../../apg-dmm.toml"), &replaced);
}

#[test]
fn a_run_leaves_figures_and_table_and_is_not_repeated() {
    let in_table = [
        "| radius R | 1.000 |",
        "| 16 | RWS | 6 | 1 |",
        "| 16 | BPG | 4 | 2 |",
        "| 16 | HMC-RWS, LF = 1 (",
        "| 32 | HMC-RWS, LF = 2 (",
        "| 32 | APG | 3 | 1 |",
        "| 32 | APG | 3 | 2 |",
        "first 2 instances whose rings do not touch",
    ];
    check_run(small, &["training", "sweeps", "rings"], &in_table);
}

#[test]
fn settings_that_make_no_sense_are_refused_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let file = dir.path().join("small.toml");
    let text_of_file = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text_of_file.replace("leapfrog = [1, 2]", "leapfrog = [0]"),
    )
    .unwrap();
    let output = reproduce(dir.path(), &["small.toml"]);
    let err = text(&output.stderr);
    assert!(
        !output.status.success() && err.contains("leapfrog"),
        "{err}"
    );
    assert!(!dir.path().join("runs").exists());
}
