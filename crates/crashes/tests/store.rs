//! The chain store, alone and beside a run folder: going on from every state that a crash could leave.

use helmholtz_crashes::{Twin, check_twin};

mod support;

use support::programs::{alone, marked};
use support::{FULL, SMALL, sound};

#[test]
fn from_every_state_chains_with_marks_end_in_the_same_bits() {
    sound("chains with marks", &|root| marked(root, 3), SMALL, 200);
}

#[test]
fn from_every_state_chains_alone_keep_what_was_synced() {
    sound("chains alone", &|root| alone(root, 6), SMALL, 100);
}

#[test]
#[ignore = "minutes: the full enumeration, recorded in experiments/results/faults.md"]
fn from_every_state_of_longer_chains_and_of_their_recoveries_too() {
    sound(
        "chains with marks, in full",
        &|root| marked(root, 6),
        FULL,
        1_000,
    );
    sound("chains alone, in full", &|root| alone(root, 12), FULL, 300);
}

#[test]
fn every_broken_twin_of_the_store_is_found() {
    for twin in [
        Twin::Unsynced("000000.log"),
        Twin::Unsynced("000000.scratch"),
        Twin::UnsyncedFolder("chains"),
        Twin::UnsyncedFolder(""),
    ] {
        let report = check_twin(&|root| marked(root, 3), twin, SMALL);
        let first = report.failures.first();
        let first = first.unwrap_or_else(|| panic!("{twin:?} was not found: {report}"));
        println!("{twin:?}: after {} states: {}", report.states, first.what);
    }
    for twin in [
        Twin::Unsynced("000001.scratch"),
        Twin::RenamedFirst("000001.base"),
    ] {
        let report = check_twin(&|root| alone(root, 6), twin, SMALL);
        let first = report.failures.first();
        let first = first.unwrap_or_else(|| panic!("{twin:?} was not found: {report}"));
        println!("{twin:?}: after {} states: {}", report.states, first.what);
    }
}
