//! A runner without tensors, for the harness's own tests: it keeps real run folders, and its numbers are made up.

use crate::cell_runner::{CellResult, Cost};
use crate::data::Sizes;
use crate::error::HarnessError;
use crate::folders::config;
use crate::trial::{CellRunner, Trial};
use helmholtz_harness::driver::Observer;
use helmholtz_runs::{OpenMode, RunFolder};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

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
}

impl CellRunner for FakeRunner {
    fn measure(&self, Trial { cell, .. }: &Trial) -> Result<Cost, HarnessError> {
        let names = (cell.net.clone(), cell.method.clone());
        self.measured.lock().unwrap().push(names);
        Ok(Cost {
            step: 0.001,
            image_sample: 1e-6,
            parameters: 1000,
            row_bytes: 1,
        })
    }

    fn run(
        &self,
        Trial { cell, .. }: &Trial,
        folder: &Path,
        _: &dyn Observer,
        _: &AtomicBool,
    ) -> Result<CellResult, HarnessError> {
        let epochs = cell.settings.epochs;
        let mut run = RunFolder::open(folder, &config(cell), OpenMode::Resume)?;
        let nll = 100.0 + cell.seed as f64 + cell.method.len() as f64;
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
