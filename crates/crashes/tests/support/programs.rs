//! Small programs that keep their work in files, and go on from there.

use std::path::Path;

use helmholtz_crashes::{Ended, promise};
use helmholtz_runs::{OpenMode, RunFolder, read_metrics};
use helmholtz_samplers::{ChainStore, Latents, MappedStore, Mark, SamplerError};
use serde_json::{Value, json};

/// A training of a few epochs: `rows` metrics an epoch, a checkpoint after every other one, and a result.
pub fn train(root: &Path, epochs: u64, rows: u64) -> Result<Ended, String> {
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
pub fn marked(root: &Path, steps: u64) -> Result<Ended, String> {
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
pub fn alone(root: &Path, steps: u64) -> Result<Ended, String> {
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
