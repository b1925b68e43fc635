//! Several seeds at once in one process, in the bits of one after the other.

use std::path::Path;

use crate::support::{metrics, reproduce, text};
use crate::{dmm, gmm};

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
