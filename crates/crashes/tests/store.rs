//! The chain store, alone and beside a run folder: going on from every state that a crash could leave.

use std::path::Path;

use helmholtz_crashes::{Ended, Twin, check_twin, promise};
use helmholtz_runs::{OpenMode, RunFolder};
use helmholtz_samplers::{ChainStore, Latents, MappedStore, Mark, SamplerError};
use serde_json::json;

mod support;

use support::{FULL, SMALL, sound};

const ROWS: usize = 3;

fn latents() -> Latents {
    Latents::new(&[9]).unwrap() // 2 bytes a row
}

/// The state of each row after `steps` steps, made from the one before.
fn step(store: &mut MappedStore, steps: u64) -> Result<(), SamplerError> {
    let rows = [steps as u32 % 3, (steps as u32 + 1) % 3];
    let mut packed = [0; 4];
    store.load(&rows, &mut packed)?;
    for byte in &mut packed {
        *byte = byte.wrapping_mul(5).wrapping_add(steps as u8);
    }
    packed[1] &= 1;
    packed[3] &= 1;
    store.store(&rows, &packed)
}

fn contents(store: &MappedStore) -> Result<String, SamplerError> {
    let mut packed = [0; 2 * ROWS];
    store.load(&[0, 1, 2], &mut packed)?;
    Ok(format!("{packed:?}"))
}

/// Chains beside a run folder: a checkpoint with the store's mark after every step, a fold after every other one.
fn marked(root: &Path, steps: u64) -> Result<Ended, String> {
    let of_run = |error: helmholtz_runs::RunError| error.to_string();
    let of_store = |error: SamplerError| error.to_string();
    let config = json!({"seed": 1});
    let mut run = RunFolder::open(root.join("run"), &config, OpenMode::Resume).map_err(of_run)?;
    let checkpoint = run.latest_checkpoint().map_err(of_run)?;
    let (mut done, chains) = (0, root.join("chains"));
    let mut store = match checkpoint {
        Some(checkpoint) => {
            done = checkpoint.state["done"].as_u64().unwrap_or_default();
            let mark: Mark = serde_json::from_value(checkpoint.state["mark"].clone())
                .map_err(|error| error.to_string())?;
            MappedStore::open(&chains, &latents(), ROWS, Some(&mark))
        }
        None => MappedStore::create(&chains, &latents(), ROWS),
    }
    .map_err(of_store)?;
    let from = done;
    while done < steps {
        step(&mut store, done).map_err(of_store)?;
        done += 1;
        let mark = store.sync().map_err(of_store)?;
        run.save_checkpoint(&json!({"done": done, "mark": mark}), &[])
            .map_err(of_run)?;
        promise(done);
        if done % 2 == 0 {
            store.fold().map_err(of_store)?;
        }
    }
    Ok(Ended {
        end: contents(&store).map_err(of_store)?,
        from,
        warnings: run.warnings().to_vec(),
    })
}

/// Chains alone, opened as they were last. Row 0 counts; a sync after every third step, folds in between. What is asked for is
/// that nothing synced is lost, so the end is the count alone.
fn alone(root: &Path, steps: u64) -> Result<Ended, String> {
    let text = |error: SamplerError| error.to_string();
    let chains = root.join("chains");
    let opened = match MappedStore::open(&chains, &latents(), ROWS, None) {
        // Killed before the store was made: nothing was promised.
        Err(SamplerError::NoStore { .. }) => MappedStore::create(&chains, &latents(), ROWS),
        opened => opened,
    };
    let mut store = opened.map_err(text)?;
    let mut packed = [0; 2];
    store.load(&[0], &mut packed).map_err(text)?;
    let from = u64::from(packed[0]);
    for done in from + 1..=steps {
        store.store(&[0, 1], &[done as u8, 0, 7, 1]).map_err(text)?;
        if done % 2 == 0 || done == steps {
            store.sync().map_err(text)?;
            promise(done);
        }
        if done % 4 == 0 {
            store.fold().map_err(text)?;
        }
    }
    Ok(Ended {
        end: contents(&store).map_err(text)?,
        from,
        warnings: Vec::new(),
    })
}

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
