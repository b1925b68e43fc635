//! Run folders: training from every state that a crash could leave.

use std::path::Path;

use helmholtz_crashes::{Ended, Twin, check_twin, promise};
use helmholtz_runs::{OpenMode, RunFolder, read_metrics};
use serde_json::{Value, json};

mod support;

use support::{FULL, SMALL, sound};

/// A training of a few epochs: `rows` metrics an epoch, a checkpoint after every other one, and a result.
fn train(root: &Path, epochs: u64, rows: u64) -> Result<Ended, String> {
    let path = root.join("runs/one");
    let text = |error: helmholtz_runs::RunError| error.to_string();
    let config = json!({"net": "linear", "seed": 1});
    let mut run = RunFolder::open(&path, &config, OpenMode::Resume).map_err(text)?;
    let warnings = run.warnings().to_vec();
    let (mut epoch, mut theta) = (0, vec![1u8; 4]);
    if let Some(mut checkpoint) = run.latest_checkpoint().map_err(text)? {
        epoch = checkpoint.state["epoch"].as_u64().unwrap_or_default();
        theta = checkpoint.parts.remove("theta").unwrap_or_default();
    }
    let finished = run.result().map_err(text)?;
    let from = if finished.is_some() {
        epochs + 1
    } else {
        epoch
    };
    if finished.is_none() {
        while epoch < epochs {
            epoch += 1;
            theta = theta
                .iter()
                .map(|x| x.wrapping_mul(31) ^ epoch as u8)
                .collect();
            for row in 0..rows {
                let row = json!({"epoch": epoch, "row": row, "theta": theta});
                run.append_metrics(&row).map_err(text)?;
            }
            if epoch % 2 == 0 {
                let phi = [epoch as u8; 3];
                run.save_checkpoint(
                    &json!({"epoch": epoch}),
                    &[("theta", &theta), ("phi", &phi)],
                )
                .map_err(text)?;
                promise(epoch);
            }
        }
        run.finish(&json!({"theta": theta})).map_err(text)?;
        promise(epochs + 1);
    }
    let result: Value = run.result().map_err(text)?.unwrap_or_default();
    let metrics = read_metrics(&path).map_err(text)?;
    Ok(Ended {
        end: json!([result, metrics]).to_string(),
        from,
        warnings,
    })
}

#[test]
fn from_every_state_a_training_ends_in_the_same_bits_and_keeps_what_it_promised() {
    sound("run folder", &|root| train(root, 4, 1), SMALL, 200);
}

#[test]
#[ignore = "minutes: the full enumeration, recorded in experiments/results/faults.md"]
fn from_every_state_of_a_longer_training_and_of_its_recoveries_too() {
    sound(
        "run folder, in full",
        &|root| train(root, 6, 3),
        FULL,
        10_000,
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
