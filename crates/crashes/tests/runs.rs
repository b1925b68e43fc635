//! Run folders: training from every state that a crash could leave.

use helmholtz_crashes::{Twin, check_twin};

mod support;

use support::programs::train;
use support::{FULL, SMALL, sound};

#[test]
fn from_every_state_a_training_ends_in_the_same_bits_and_keeps_what_it_promised() {
    sound("run folder", &|root| train(root, 4, 1), SMALL, 200);
}

#[test]
#[ignore = "minutes: the full enumeration, recorded in experiments/results/faults.md"]
fn from_every_state_of_a_longer_training_and_of_its_recoveries_too() {
    sound(
        "run folder, in full",
        &|root| train(root, 6, 2),
        FULL,
        1_000,
    );
}

#[test]
fn every_broken_twin_of_a_run_folder_is_found() {
    for twin in [
        Twin::Unsynced("theta"),
        Twin::Unsynced("manifest.json"),
        Twin::Unsynced(".tmp-000001"),
        Twin::Unsynced("checkpoints"),
        Twin::Unsynced("metrics.jsonl"),
        Twin::Unsynced(".tmp-config.json"),
        Twin::Unsynced(".tmp-result.json"),
        Twin::UnsyncedFolder("runs/one"),
        Twin::UnsyncedFolder("runs"),
        Twin::UnsyncedFolder(""),
        Twin::RenamedFirst("config.json"),
        Twin::RenamedFirst("result.json"),
        Twin::RenamedFirst("000001"),
        Twin::ManifestFirst("000001"),
    ] {
        let report = check_twin(&|root| train(root, 4, 1), twin, SMALL);
        let first = report.failures.first();
        let first = first.unwrap_or_else(|| panic!("{twin:?} was not found: {report}"));
        println!("{twin:?}: after {} states: {}", report.states, first.what);
    }
}
