//! Amortized population Gibbs on bouncing digits, from the command to its files. Needs the real MNIST.

use std::fs;
use std::path::Path;

use super::support::{command, cut, data, metrics, reproduce, text};

/// A small cut of the experiment, as a file of the user's in `folder`.
pub fn small(folder: &Path) {
    let replaced = [
        ("name = \"apg-bmnist\"", "name = \"small\""),
        ("side = 96, digit = 28,", "side = 12, digit = 4,"),
        ("side = 48, digit = 14 ", "side = 12, digit = 4 "),
        ("position-hidden = [200, 100]", "position-hidden = [6, 5]"),
        ("digit-hidden = [400, 200]", "digit-hidden = [8, 7]"),
        ("steps = 500", "steps = 3"),
        // Of the profile `quick`.
        ("particles = 10\n", "particles = 3\n"),
        ("frames = 6", "frames = 2"),
        ("check_every = 100", "check_every = 2"),
        ("[[6, 2], [20, 2], [20, 3]]", "[[2, 2], [3, 1]]"),
        (
            "sequences = 50\nbatch = 5\nprior_particles = 100",
            "sequences = 3\nprior_particles = 5",
        ),
        ("sequences = 10, batch = 5", "sequences = 3, batch = 5"),
        // Of all.
        ("frames = 10   ", "frames = 2   "),
        ("digits = 3   ", "digits = 2   "),
        ("[[20, 3], [20, 5], [100, 3], [100, 5]]", "[[2, 2]]"),
        ("sequences = 100", "sequences = 3"),
        ("prior_particles = 1000", "prior_particles = 5"),
        ("sequences = 20\nbatch = 1", "sequences = 3\nbatch = 1"),
        ("batch = 5   ", "batch = 2   "),
        ("check_sequences = 10", "check_sequences = 2"),
        ("particles = 10    ", "particles = 3    "),
        ("sweeps = 20   ", "sweeps = 3   "),
        ("[5, 10, 20]", "[2, 3]"),
        ("leapfrog = [1, 5, 10]", "leapfrog = [2]"),
        ("warm_up = 20", "warm_up = 3"),
    ];
    cut(folder, include_str!("../../../apg-bmnist.toml"), &replaced);
}

#[test]
fn a_run_leaves_pictures_figures_and_a_table_and_is_not_repeated() {
    if data().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let plan = text(&reproduce(dir.path(), &["small.toml", "--dry-run"]).stdout);
    assert!(
        plan.contains("3 gradient steps;") && plan.contains("12 x 12"),
        "{plan}"
    );

    let output = reproduce(dir.path(), &["small.toml"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let run = dir.path().join("runs/small/quick/seed-1");
    for name in [
        "training.svg",
        "training.csv",
        "sweeps.svg",
        "sweeps.csv",
        "sequences-1.png",
        "sequences-2.png",
        "animated-2.png",
    ] {
        assert!(fs::metadata(run.join(name)).unwrap().len() > 0, "{name}");
    }
    let table = fs::read_to_string(run.join("table.md")).unwrap();
    let heading = table.lines().next().unwrap().trim_start_matches("# ");
    assert!(out.contains(heading), "{out}");
    for part in [
        "| squared error a frame, last sweep |",
        "| 2 | 2 | RWS | 1 | 9 |",
        "| 2 | 2 | BPG | 3 | 5 |",
        "| 2 | 2 | HMC-RWS, LF = 2, nearest | 3 | 3 |",
        "| 3 | 1 | HMC-RWS, LF = 2, bilinear | 3 | 3 |",
        "| 2 | 2 | APG | 3 | 3 |",
        "| 3 | 1 | APG | 2 | 3 |",
    ] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    // Published numbers stand beside runs of their own setting alone.
    assert!(!table.contains("Published MSE"), "{table}");
    let rows = metrics(&run);
    assert_eq!(rows.len(), 3, "at 0, 2 and 3 steps: {rows:?}");
    let again = text(&reproduce(dir.path(), &["small.toml"]).stdout);
    assert!(
        again.contains("all done") && again.contains(heading),
        "{again}"
    );
}

#[test]
fn without_the_images_it_says_which_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let args = ["apg-bmnist", "--steps", "1", "--data-dir"];
    let output = command(dir.path(), &args)
        .arg(&empty)
        .env_remove("HELMHOLTZ_DATA")
        .env("XDG_CACHE_HOME", dir.path().join("cache"))
        .env("HOME", dir.path())
        .output()
        .unwrap();
    let err = text(&output.stderr);
    assert!(
        !output.status.success() && err.contains("train-images-idx3-ubyte"),
        "{err}"
    );
    assert!(err.contains("no other data set takes their place"), "{err}");
    assert!(!err.contains("glyphs"), "{err}");
    assert!(!dir.path().join("runs").exists(), "nothing was started");
}

#[test]
fn more_frames_than_the_memory_holds_are_refused_before_anything_starts() {
    let dir = tempfile::tempdir().unwrap();
    let long = include_str!("../../../apg-bmnist.toml").to_string();
    let long = long
        .replace("name = \"apg-bmnist\"", "name = \"long\"")
        .replacen("[[6, 2], [20, 2], [20, 3]]", "[[6, 2], [2000000000, 3]]", 1);
    fs::write(dir.path().join("long.toml"), long).unwrap();
    let output = reproduce(dir.path(), &["long.toml"]);
    let err = text(&output.stderr);
    assert!(!output.status.success());
    assert!(err.contains("not enough memory: at least "), "{err}");
    assert!(err.contains("give fewer data, particles"), "{err}");
    assert!(!dir.path().join("runs").exists(), "nothing was started");
}
