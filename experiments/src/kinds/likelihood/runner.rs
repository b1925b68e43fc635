//! The runner of cells, over burn: a net, trained by a method in its run folder.

use crate::backend::{Built, OnBackend, on_device};
use crate::cell::Cell;
use crate::cell_runner::{CellResult, CellRunner, Cost};
use crate::device::Device;
use crate::error::HarnessError;
use crate::folders;
use crate::registry::Registry;
use crate::works::train::{Measure, Run, Runner};
use helmholtz_datasets::Splits;
use helmholtz_harness::driver::Observer;
use helmholtz_ops::Backend;
use helmholtz_runs::{OpenMode, RunFolder};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A runner on `device` for these images; each evaluation spreads over `threads` threads of the processor, or is fed to a
/// GPU by one.
///
/// # Errors
/// If the device isn't there, or this binary was built without it.
pub fn new(
    registry: &Registry,
    device: Device,
    data: Arc<Splits>,
    threads: usize,
) -> Result<Box<dyn CellRunner>, HarnessError> {
    let threads = match device {
        Device::Cpu => threads,
        Device::Wgpu | Device::Cuda => 1,
    };
    let name = device.as_str().into();
    on_device(
        device,
        NewRunner {
            data,
            threads,
            name,
            registry: registry.clone(),
        },
    )
}

struct NewRunner {
    data: Arc<Splits>,
    threads: usize,
    name: String,
    registry: Registry,
}

impl OnBackend for NewRunner {
    type Output = Box<dyn CellRunner>;

    fn on<B: Built>(self) -> Result<Self::Output, HarnessError> {
        Ok(Box::new(Named {
            runner: Runner::<B>::new(self.data, self.threads, self.name),
            registry: self.registry,
        }))
    }
}

/// A runner, with what names mean.
struct Named<B: Backend> {
    runner: Runner<B>,
    registry: Registry,
}

impl<B: Built> CellRunner for Named<B> {
    fn measure(&self, cell: &Cell) -> Result<Cost, HarnessError> {
        let Runner { data, device, .. } = &self.runner;
        let net = self.registry.net_of(&cell.clone().on(data))?;
        let Splits {
            train, valid, test, ..
        } = &**data;
        for part in [train, valid, test] {
            net.check_data(part)?;
        }
        let runner = &self.runner;
        B::model_of(net.any(), cell.seed, device)?.measure(Measure { runner, cell })
    }

    fn run(
        &self,
        cell: &Cell,
        folder: &Path,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<CellResult, HarnessError> {
        let cell = &cell.clone().on(&self.runner.data);
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
            runner: &self.runner,
            cell,
            folder,
            observer,
            stop,
        };
        let net = self.registry.net_of(cell)?;
        B::model_of(net.any(), cell.seed, &self.runner.device)?.train(work)
    }
}
