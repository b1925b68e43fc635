//! A runner without tensors, for the harness's own tests: it keeps real run folders, and its numbers are made up.

use crate::cell::Cell;
use crate::cell_runner::{CellResult, Cost};
use crate::data::Sizes;
use crate::error::HarnessError;
use crate::events;
use crate::folders::config;
use crate::trial::{CellRunner, Trial};
use helmholtz_harness::driver::Observer;
use helmholtz_runs::{OpenMode, RunFolder};
use helmholtz_training::Event;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// The sizes of the fake's data.
pub(crate) const SIZES: Sizes = Sizes {
    train: 5000,
    valid: 1000,
    test: 1000,
};

/// Runs cells by writing down made-up numbers.
#[derive(Default)]
pub(crate) struct FakeRunner {
    /// Nets and methods whose cost was asked for.
    pub measured: Mutex<Vec<(String, String)>>,
    /// Cells wait until so many are inside.
    pub meet: usize,
    /// The most cells that were inside at once.
    pub most_at_once: AtomicUsize,
    /// Numbers that a cell learns, besides 1000.
    pub parameters: u64,
    /// Cells of this net fail.
    pub fail: &'static str,
    /// Cells of this net panic.
    pub panic: &'static str,
    /// Cells are interrupted after so many epochs.
    pub interrupt_after: Option<u64>,
    /// The cell of this net sets `stop` after so many epochs.
    pub stop_in: Option<(&'static str, u64)>,
    /// Stop flag that the driver watches.
    pub stop: std::sync::Arc<AtomicBool>,
    /// Cells inside now, and cells that ever came.
    pub inside: Mutex<(usize, usize)>,
    /// Wakes those who wait to meet.
    pub came: Condvar,
}

impl FakeRunner {
    fn enter(&self) {
        let mut inside = self.inside.lock().unwrap();
        inside.0 += 1;
        inside.1 += 1;
        self.most_at_once.fetch_max(inside.0, Ordering::SeqCst);
        self.came.notify_all();
        drop(
            self.came
                .wait_while(inside, |inside| inside.1 < self.meet)
                .unwrap(),
        );
    }

    fn work(
        &self,
        cell: &Cell,
        folder: &Path,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<CellResult, HarnessError> {
        assert!(cell.net != self.panic, "on purpose");
        if cell.net == self.fail {
            return Err(HarnessError::Cell("NaN loss at epoch 2, step 7".into()));
        }
        let epochs = cell.settings.epochs;
        let tell = |event: &Event| observer.event(&events::of_epochs(event));
        let mut run = RunFolder::open(folder, &config(cell), OpenMode::Resume)?;
        let done = run
            .latest_checkpoint()?
            .and_then(|c| c.state["epochs_done"].as_u64())
            .unwrap_or(0);
        if done > 0 {
            tell(&Event::Resumed {
                epoch: done,
                step: 0,
            });
        }
        let nll = 100.0 + cell.seed as f64 + cell.method.len() as f64;
        for epoch in done + 1..=epochs {
            tell(&Event::Step {
                epoch,
                step: 100,
                steps_per_epoch: 100,
                loss: nll,
            });
            tell(&Event::Check {
                epoch,
                stage: 1,
                valid_nll: nll,
                test_nll: Some(nll),
                seconds: 1.0,
            });
            run.save_checkpoint(&json!({"epochs_done": epoch}), &[])?;
            if self.stop_in == Some((cell.net.as_str(), epoch)) {
                stop.store(true, Ordering::SeqCst);
            }
            if stop.load(Ordering::SeqCst) || self.interrupt_after == Some(epoch) {
                return Err(HarnessError::Interrupted { epoch });
            }
        }
        let result = CellResult {
            selected_epoch: epochs,
            valid_nll: nll,
            valid_se: 0.1,
            test_nll: nll,
            test_se: 0.1,
            samples: cell.settings.test_samples,
            images: cell.settings.test_images.unwrap_or(SIZES.test),
            final_samples: None,
            final_nll: None,
            final_se: None,
            finals: vec![],
            training_elbo: None,
            gradient_variance: None,
            log_likelihoods: None,
            released_nll: None,
            bound: None,
            epochs_done: epochs,
            epochs_planned: epochs,
            seconds: 1.0,
            provenance: run.provenance(cell.seed, "fake"),
            fingerprint: None,
            synthetic: cell.dataset == "glyphs",
        };
        run.finish(&serde_json::to_value(&result).unwrap())?;
        Ok(result)
    }
}

impl CellRunner for FakeRunner {
    fn measure(&self, trial: &Trial) -> Result<Cost, HarnessError> {
        let Trial { cell, .. } = trial;
        self.measured
            .lock()
            .unwrap()
            .push((cell.net.clone(), cell.method.clone()));
        Ok(Cost {
            step: 0.001,
            image_sample: 1e-6,
            parameters: 1000 + self.parameters,
            row_bytes: 1,
        })
    }

    fn run(
        &self,
        trial: &Trial,
        folder: &Path,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<CellResult, HarnessError> {
        self.enter();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.work(&trial.cell, folder, observer, stop)
        }));
        self.inside.lock().unwrap().0 -= 1;
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }
}
