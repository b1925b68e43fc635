//! Amortized population Gibbs on Gaussian mixtures, from the command to its files.

use std::fs;
use std::path::Path;

use crate::support::helmholtz;

use super::support::{check_run, cut, reproduce, text};

/// A small cut of the experiment, as a file of the user's in `folder`.
pub fn small(folder: &Path) {
    let replaced = [
        ("name = \"apg-gmm\"", "name = \"small\""),
        ("sweeps = 10   ", "sweeps = 2   "),
        ("particles = 10   ", "particles = 3   "),
        ("particles = 10   ", "particles = 3   "),
        ("batch = 20   ", "batch = 2   "),
        ("points = 60", "points = 8"),
        ("check_every = 250", "check_every = 2"),
        ("check_instances = 100", "check_instances = 3"),
        ("steps = 5000", "steps = 5"),
        ("points = 100   ", "points = 9   "),
        ("instances = 100", "instances = 3"),
        ("sweeps = 20 ", "sweeps = 2 "),
        ("[5, 10, 20]", "[1, 2]"),
        ("prior_particles = 1000 ", "prior_particles = 4 "),
        ("curve_sweeps = 30", "curve_sweeps = 2"),
        ("curve_particles = 100", "curve_particles = 3"),
        ("curve_runs = 10", "curve_runs = 2"),
        ("curve_prior_particles = 10000", "curve_prior_particles = 5"),
        ("budget = 1000", "budget = 4"),
        ("[1, 5, 10, 20, 25]", "[1, 2, 4]"),
    ];
    cut(folder, include_str!("../../../apg-gmm.toml"), &replaced);
}

#[test]
fn a_run_leaves_figures_and_table_and_is_not_repeated() {
    let in_table = [
        "| KL, (μ, τ) given c |",
        "| Gibbs | 3 | 2 |",
        "| BPG | 4 |",
        "LF = 10",
    ];
    check_run(
        small,
        &["training", "courses", "budget", "particle"],
        &in_table,
    );
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (args, part) in [
        (
            &["apg-gmm", "--method", "jsa"][..],
            "has no use for `--method`",
        ),
        (&["apg-gmm", "--profile", "papr"], "Did you mean `paper`?"),
        (&["table1", "--steps", "3"], "give --epochs"),
        (&["arm-toy", "--threads", "2"], "has no use for `--threads`"),
    ] {
        let output = reproduce(dir.path(), args);
        let err = text(&output.stderr);
        assert!(!output.status.success() && err.contains(part), "{err}");
    }
}

#[test]
fn runs_stand_side_by_side_in_a_table() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let table = r#"
        kind = "apg-table"
        name = "both"
        title = "Two runs"
        profile.quick = [
            { experiment = "small.toml", profile = "quick" },
            { experiment = "small.toml", profile = "quick", steps = 3 },
        ]
    "#;
    fs::write(dir.path().join("both.toml"), table).unwrap();
    let plan = reproduce(dir.path(), &["both.toml", "--dry-run"]);
    assert!(text(&plan.stdout).contains("2 runs (2 to do)"));
    assert!(!dir.path().join("runs").exists());

    let output = reproduce(dir.path(), &["both.toml"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let folder = dir.path().join("runs/both/quick/seed-1");
    let table = fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(out.contains("HMC-RWS, LF = 5, K = 2"), "{out}");
    for part in [
        "| Sampler | Gaussian mixtures, N = 9 | Gaussian mixtures, N = 9 |",
        "| RWS | ",
        "| HMC-RWS, LF = 5, K = 2 | ",
        "| APG, K = 1 | ",
        "3 gradient steps, runs/small/quick-3-steps/seed-1",
    ] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    let csv = fs::read_to_string(folder.join("table.csv")).unwrap();
    assert!(csv.contains("\"Gibbs, K = 2\","), "{csv}");
    assert!(csv.contains(", every digit\""), "{csv}");
    let again = text(&reproduce(dir.path(), &["both.toml"]).stdout);
    assert!(again.contains("2 runs, all done."));

    // Other runs are another table.
    let file = dir.path().join("both.toml");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, settings.replace("steps = 3", "steps = 2")).unwrap();
    let other = reproduce(dir.path(), &["both.toml"]);
    let err = text(&other.stderr);
    assert!(
        !other.status.success() && err.contains("members") && err.contains("--fresh"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(folder.join("table.md")).unwrap(), table);
    assert!(!dir.path().join("runs/small/quick-2-steps").exists());

    // A run gives a sampler's rows of the column before it, if it has any.
    for (sampler, ends) in [("RWS", true), ("RSW", false)] {
        let own = settings
            .replace("\"both\"", &format!("\"{}\"", sampler.to_lowercase()))
            .replace(
                "steps = 3 }",
                &format!("steps = 3, rows = \"{sampler}\" }}"),
            );
        fs::write(dir.path().join("own.toml"), own).unwrap();
        let output = reproduce(dir.path(), &["own.toml"]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.success(), ends, "{err}");
        assert!(ends || err.contains("is of `RSW`"), "{err}");
        assert_eq!(
            out.contains("RWS of Gaussian mixtures, N = 9"),
            ends,
            "{out}"
        );
    }

    let wrong = reproduce(dir.path(), &["both.toml", "--steps", "3"]);
    assert!(text(&wrong.stderr).contains("has no use for `--steps`"));
}

#[test]
fn trainings_with_other_sweeps_and_particles_are_drawn_together() {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let figure = r#"
        kind = "apg-kl"
        name = "kl"
        title = "Two divisions"
        experiment = "small.toml"
        published = "apg-kl"
        divisions = [
            { sweeps = 2, particles = 50 },
            { sweeps = 1, particles = 6 },
        ]
        profile.quick = { profile = "quick", steps = 4 }
    "#;
    fs::write(dir.path().join("kl.toml"), figure).unwrap();
    let output = reproduce(dir.path(), &["kl.toml"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let folder = dir.path().join("runs/kl/quick/seed-1");
    let table = fs::read_to_string(folder.join("table.md")).unwrap();
    assert!(out.contains("3.0e-4 to 3.0e-4"), "{out}");
    for part in [
        "| 2 | 50 | 4 | ",
        "| 3.0e-4 to 3.0e-4 |",
        "runs/kl-2-sweeps-50-particles/quick-4-steps/seed-1",
    ] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    let csv = fs::read_to_string(folder.join("kl.csv")).unwrap();
    let points = |label: &str| csv.lines().filter(|line| line.contains(label)).count();
    // Three checks, at 0, 2 and 4 steps; with one sweep there are no blocks.
    assert_eq!(points("\"K = 2, L = 50\""), 4 * 3, "{csv}");
    assert_eq!(points("\"K = 1, L = 6\""), 2 * 3, "{csv}");
    // A report has the table from the numbers of the folder.
    fs::remove_file(folder.join("table.md")).unwrap();
    let output = helmholtz(dir.path(), &["report", "--out", "runs"]);
    assert!(output.status.success(), "{output:?}");
    let shown = dir
        .path()
        .join("report/tables/runs-kl-quick-seed-1-ends.csv");
    let read = |path| fs::read_to_string(path).unwrap();
    assert_eq!(read(shown), read(folder.join("table.csv")));
    // The profile's own number of steps is no other.
    let args = ["kl.toml", "--steps", "4"];
    let again = text(&reproduce(dir.path(), &args).stdout);
    assert!(again.contains("2 runs, all done.") && again.contains("3.0e-4 to 3.0e-4"));
    assert!(!dir.path().join("runs/kl/quick-4-steps").exists());

    let file = dir.path().join("kl.toml");
    fs::write(&file, figure.replace("sweeps = 2", "sweeps = 3")).unwrap();
    let other = reproduce(dir.path(), &["kl.toml"]);
    let err = text(&other.stderr);
    assert!(
        !other.status.success() && err.contains("divisions") && err.contains("--fresh"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(folder.join("table.md")).unwrap(), table);
}
