//! Several seeds at once in one process, and several threads of a run, in the bits of one after the other.

use std::path::Path;

use super::support::{metrics, reproduce, text};
use super::{dmm, gmm};

fn check(small: fn(&Path), steps: &str) {
    let [alone, together] = ["1", "2"].map(|jobs| {
        let dir = tempfile::tempdir().unwrap();
        small(dir.path());
        let args = [
            "small.toml",
            "--steps",
            steps,
            "--seeds",
            "1,2",
            "--jobs",
            jobs,
        ];
        let ended = reproduce(dir.path(), &args);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        dir
    });
    for seed in ["seed-1", "seed-2"] {
        let [alone, together] = [&alone, &together].map(|dir| {
            let profile = format!("runs/small/quick-{steps}-steps");
            metrics(&dir.path().join(profile).join(seed))
        });
        assert!(!alone.is_empty());
        assert_eq!(alone, together, "{seed}");
    }
}

#[test]
fn two_seeds_of_gaussian_mixtures_at_once_have_the_bits_of_one_after_the_other() {
    check(gmm::small, "300");
}

#[test]
fn two_seeds_of_deep_mixtures_at_once_have_the_bits_of_one_after_the_other() {
    check(dmm::small, "60");
}

/// What a run measured, and its checks.
fn measured(run: &Path) -> (serde_json::Value, Vec<serde_json::Value>) {
    let text = std::fs::read_to_string(run.join("result.json")).unwrap();
    let mut result: serde_json::Value = serde_json::from_str(&text).unwrap();
    (result["content"]["evaluation"].take(), metrics(run))
}

/// A run with a batch of five, whose parts are not all of one size.
fn check_threads(small: fn(&Path), steps: &str) {
    let of = |threads: &str| {
        let dir = tempfile::tempdir().unwrap();
        small(dir.path());
        let file = dir.path().join("small.toml");
        let text_of = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text_of.replacen("batch = 2   ", "batch = 5   ", 1)).unwrap();
        let args = ["small.toml", "--steps", steps, "--threads", threads];
        let ended = reproduce(dir.path(), &args);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let profile = format!("runs/small/quick-{steps}-steps/seed-1");
        measured(&dir.path().join(profile))
    };
    let alone = of("1");
    assert!(alone.0.is_object() && !alone.1.is_empty());
    for threads in ["2", "3", "8"] {
        assert_eq!(of(threads), alone, "{threads} threads");
    }
}

#[test]
fn threads_change_no_bit_of_gaussian_mixtures() {
    check_threads(gmm::small, "100");
}

#[test]
fn threads_change_no_bit_of_deep_mixtures() {
    check_threads(dmm::small, "30");
}

/// HMC-RWS trains, by particles that move.
fn check_moved(small: fn(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let of = |profile: &str| {
        let args = ["small.toml", "--profile", profile, "--steps", "4"];
        let ended = reproduce(dir.path(), &args);
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        let place = format!("runs/small/{profile}-4-steps/seed-1");
        measured(&dir.path().join(place))
    };
    let ((_, moved), (_, still)) = (of("hmc-rws"), of("rws"));
    // What particles reach differs from the start on, since their numbers do; what the nets are does not.
    for key in ["kl", "one_shot_kl", "assignment_kl", "slope_eta", "radius"] {
        assert_eq!(moved[0][key], still[0][key], "they start alike: {key}");
    }
    assert_ne!(moved.last(), still.last());
}

#[test]
fn hmc_rws_trains_gaussian_mixtures() {
    check_moved(gmm::small);
}

#[test]
fn hmc_rws_trains_deep_mixtures() {
    check_moved(dmm::small);
}
