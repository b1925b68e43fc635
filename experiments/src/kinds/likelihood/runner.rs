//! The runner of cells, over burn: a net, trained by a method in its run folder.

use crate::backend::{Built, OnBackend, on_device};
use crate::cell_runner::{CellResult, Cost};
use crate::device::Device;
use crate::error::HarnessError;
use crate::folders;
use crate::trial::{CellRunner, Trial};
use crate::works::train::{Measure, Run, Runner};
use helmholtz_datasets::Splits;
use helmholtz_harness::driver::Observer;
use helmholtz_runs::{OpenMode, RunFolder};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A runner on `device` for these images, whose steps and evaluations spread over `threads` threads of the processor.
///
/// # Errors
/// If the device isn't there, or this binary was built without it.
pub fn new(
    device: Device,
    data: Arc<Splits>,
    threads: usize,
) -> Result<Box<dyn CellRunner>, HarnessError> {
    let name = device.as_str().into();
    on_device(
        device,
        NewRunner {
            data,
            threads,
            name,
        },
    )
}

struct NewRunner {
    data: Arc<Splits>,
    threads: usize,
    name: String,
}

impl OnBackend for NewRunner {
    type Output = Box<dyn CellRunner>;

    fn on<B: Built>(self) -> Result<Self::Output, HarnessError> {
        Ok(Box::new(Runner::<B>::new(
            self.data,
            self.threads,
            self.name,
        )))
    }
}

impl<B: Built> CellRunner for Runner<B> {
    fn measure(&self, trial: &Trial) -> Result<Cost, HarnessError> {
        let Splits {
            train, valid, test, ..
        } = &*self.data;
        for part in [train, valid, test] {
            trial.net.check_data(part)?;
        }
        let Trial { cell, net, entry } = trial;
        let work = Measure {
            runner: self,
            cell,
            method: entry.method,
        };
        B::model_of(net.any(), cell.seed, &self.device)?.measure(work)
    }

    fn run(
        &self,
        trial: &Trial,
        folder: &Path,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<CellResult, HarnessError> {
        let Trial { cell, net, entry } = trial;
        let config = folders::config(cell);
        let folder = RunFolder::open(folder, &config, OpenMode::Resume)?;
        if let Some(result) = folder.result()? {
            let path = folder.path().to_path_buf();
            return serde_json::from_value(result).map_err(|source| HarnessError::Result {
                folder: path,
                source,
            });
        }
        let work = Run {
            runner: self,
            cell,
            method: entry.method,
            folder,
            observer,
            stop,
        };
        B::model_of(net.any(), cell.seed, &self.device)?.train(work)
    }
}
