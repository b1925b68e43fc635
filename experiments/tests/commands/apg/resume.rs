//! A run that is killed goes on where it was, and ends as an undisturbed one.

use std::fs;
use std::path::Path;
use std::time::Duration;

use helmholtz_experiments::error::HarnessError;
use helmholtz_harness::reproduce::End;
use helmholtz_runs::{OpenMode, RunFolder, read_config};

use super::support::{command, data, metrics, reproduce, stopped, text};
use super::{bmnist, dmm, gmm};

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
        second.status.success() && err.contains("resumes after step "),
        "{err}"
    );
    assert!(reproduce(undisturbed.path(), &args).status.success());
    // A table that was lost is written again of what was measured.
    let table = run_in(&undisturbed).join("table.md");
    let before = fs::read_to_string(&table).unwrap();
    fs::remove_file(&table).unwrap();
    assert!(reproduce(undisturbed.path(), &args).status.success());
    assert_eq!(fs::read_to_string(&table).unwrap(), before);
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
fn runs_that_are_started_over_and_stopped_are_not_shown_with_old_ones() {
    let dir = tempfile::tempdir().unwrap();
    gmm::small(dir.path());
    let small = dir.path().join("small.toml");
    let [kl, table] = [dir.path().join("kl.toml"), dir.path().join("both.toml")];
    let text_of = |kind: &str, runs: &str| {
        format!("kind = \"{kind}\"\nname = \"together\"\ntitle = \"Two runs\"\n{runs}")
            .replace("small.toml", small.to_str().unwrap())
    };
    let divisions = "[{ sweeps = 3, particles = 2 }, { sweeps = 1, particles = 6 }]";
    let runs = "experiment = \"small.toml\"\nprofile.quick = { profile = \"quick\", steps = 2 }";
    let runs = format!("{runs}\ndivisions = {divisions}");
    fs::write(&kl, text_of("apg-kl", &runs)).unwrap();
    let members = [3, 2].map(|steps| {
        format!("{{ experiment = \"small.toml\", profile = \"quick\", steps = {steps} }}")
    });
    let runs = format!("profile.quick = [{}]", members.join(", "));
    fs::write(&table, text_of("apg-table", &runs)).unwrap();

    for (file, out) in [(&kl, "kl"), (&table, "table")] {
        let out = dir.path().join(out);
        let args = [file, &out].map(|path| path.to_str().unwrap());
        let args = [args[0], "--out", args[1]];
        assert!(reproduce(dir.path(), &args).status.success());
        let (end, said) = stopped(&[&args[..], &["--fresh"]].concat(), "Work left");
        assert_eq!(end.unwrap(), End::Interrupted);
        assert!(
            said.contains("The same command without --fresh resumes."),
            "{said}"
        );
        let plan = reproduce(dir.path(), &[&args[..], &["--dry-run"]].concat());
        let plan = text(&plan.stdout);
        assert!(plan.contains("2 runs (2 to do)"), "{plan}");
        let aside = out.join("together/quick/seed-1.old-1/table.md");
        assert!(aside.exists(), "of both runs");
    }
}

#[test]
fn a_stop_while_a_step_is_measured_is_heard_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    gmm::small(dir.path());
    let [small, out] = ["small.toml", "runs"].map(|name| dir.path().join(name));
    let args = [small.to_str().unwrap(), "--out", out.to_str().unwrap()];
    for more in [&["--dry-run"][..], &[]] {
        let (end, _) = stopped(&[&args[..], more].concat(), "");
        assert!(matches!(end, Err(HarnessError::Interrupted { .. })));
    }
    assert!(!out.exists());
}

#[test]
fn a_begun_run_is_planned_whatever_its_metrics_hold_and_one_in_use_says_so() {
    let dir = tempfile::tempdir().unwrap();
    gmm::small(dir.path());
    let [small, out] = ["small.toml", "runs"].map(|name| dir.path().join(name));
    let args = [small.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (end, _) = stopped(&args, "started");
    assert_eq!(end.unwrap(), End::Interrupted);
    let run = out.join("small/quick/seed-1");
    let file = run.join("metrics.jsonl");
    let mut metrics = fs::read_to_string(&file).unwrap();
    metrics += "{damaged\n";
    fs::write(&file, metrics).unwrap();
    let plan = || reproduce(dir.path(), &[&args[..], &["--dry-run"]].concat());
    let planned = plan();
    let planned = text(&planned.stdout) + &text(&planned.stderr);
    assert!(planned.contains("resume after step"), "{planned}");

    let config = read_config(&run).unwrap().unwrap();
    let held = RunFolder::open(&run, &config, OpenMode::Resume).unwrap();
    let planned = text(&plan().stdout);
    assert!(planned.contains("running in another process"), "{planned}");
    let rejected = reproduce(dir.path(), &args);
    assert!(
        !rejected.status.success() && text(&rejected.stderr).contains("is in use"),
        "{}",
        text(&rejected.stderr)
    );
    drop(held);
    assert!(reproduce(dir.path(), &args).status.success());
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

/// Runs an experiment in slots, each of which ends by a kill as soon as so many more pieces of the evaluation are kept.
fn in_slots(small: fn(&Path), more: usize) {
    let [slots, undisturbed] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for dir in [&slots, &undisturbed] {
        small(dir.path());
    }
    let args = ["small.toml", "--steps", "2"];
    let run = slots.path().join("runs/small/quick-2-steps/seed-1");
    let pieces = || fs::read_dir(run.join("pieces")).map_or(0, Iterator::count);
    let mut ended_by_itself = false;
    let mut killed = 0;
    while !ended_by_itself {
        let before = pieces();
        let mut slot = command(slots.path(), &args).spawn().unwrap();
        loop {
            if let Some(status) = slot.try_wait().unwrap() {
                assert!(status.success());
                ended_by_itself = true;
                break;
            }
            if pieces() >= before + more {
                slot.kill().unwrap();
                slot.wait().unwrap();
                killed += 1;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(killed < 500, "the evaluation begins again and again");
    }
    assert!(killed >= 3, "{killed}");
    assert!(reproduce(undisturbed.path(), &args).status.success());
    let rows = |dir: &tempfile::TempDir| -> Vec<String> {
        let run = dir.path().join("runs/small/quick-2-steps/seed-1");
        let table = fs::read_to_string(run.join("table.md")).unwrap();
        let rows = table.lines().filter(|line| line.starts_with('|'));
        rows.map(String::from).collect()
    };
    assert_eq!(rows(&slots), rows(&undisturbed));
    assert!(!run.join("pieces").exists());
}

#[test]
fn the_evaluation_of_gaussian_mixtures_ends_in_slots_shorter_than_itself() {
    in_slots(gmm::small, 1);
}

#[test]
fn the_evaluation_of_deep_mixtures_ends_in_slots_shorter_than_itself() {
    in_slots(dmm::small, 1);
}

#[test]
fn the_evaluation_of_the_tracker_ends_in_slots_shorter_than_itself() {
    if data().is_some() {
        // Each slot reads MNIST.
        in_slots(bmnist::small, 4);
    }
}
