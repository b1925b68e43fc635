//! A request, and what carrying it out may use.

use crate::cli::Reproduce;
use crate::data::{Wanted, load};
use crate::device::Device;
use crate::registry::Registry;
use crate::source::Source;
use crate::trial::CellRunner;
use helmholtz_datasets::{Error, Locator, Splits};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::loading::{Loading, Planning};
use helmholtz_harness::machine::Machine;
use helmholtz_harness::reproduce::Options;
use helmholtz_harness::streams::Streams;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the runner for a device, data and threads of an evaluation; the program's is `likelihood::runner::new`.
pub type NewRunner =
    dyn Fn(Device, Arc<Splits>, usize) -> Result<Box<dyn CellRunner>, HarnessError>;

/// Request that an experiment is opened with.
pub struct Request<'a> {
    /// Arguments of the command line.
    pub args: &'a Reproduce,
    /// The experiment's file.
    pub source: &'a Source,
    /// Registry of the names that it knows.
    pub registry: &'a Registry,
    /// Locator of the data.
    pub locator: &'a Locator,
    /// Makes the runner of cells.
    pub new_runner: &'a NewRunner,
    /// Set to stop.
    pub stop: &'a AtomicBool,
    /// Output streams.
    pub streams: &'a Streams,
}

impl Request<'_> {
    /// Returns what is free where its runs are.
    pub fn machine(&self) -> Machine {
        let machine = Machine::with_runs_in(&self.args.out);
        match self.args.device {
            Device::Cpu => machine,
            Device::Wgpu | Device::Cuda => machine.with_gpu(),
        }
    }

    /// The cores that it may use. Where a cluster does not confine its jobs, a job sees all cores of its node, and has one or as many as it
    /// asked for.
    fn cores(&self) -> usize {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        if self.args.cluster.task.is_none() {
            return all;
        }
        let own = std::env::var("SLURM_CPUS_PER_TASK").ok();
        let own = own.and_then(|own| own.parse().ok()).unwrap_or(1);
        all.min(own)
    }

    /// Runs at once.
    pub fn jobs(&self) -> usize {
        self.args
            .jobs
            .map_or_else(|| self.cores(), |jobs| jobs as usize)
    }

    /// Threads of each of so many runs: as many as are asked for, or the cores that the runs at once leave. A device other than the
    /// processor is one run's at a time.
    pub fn threads(&self, runs: usize) -> usize {
        let left = || self.cores() / self.jobs().min(runs).max(1);
        match self.args.device {
            Device::Cpu => self
                .args
                .threads
                .map_or_else(left, |threads| threads as usize)
                .max(1),
            Device::Wgpu | Device::Cuda => 1,
        }
    }

    /// Returns the options of the request, whatever the experiment.
    pub fn options(&self) -> Options {
        Options {
            jobs: self.jobs(),
            dry_run: self.args.dry_run,
            json: self.args.json,
            fresh: self.args.fresh,
            machine: self.machine(),
        }
    }

    /// The data, with what happens meanwhile on the error stream.
    ///
    /// # Errors
    /// Data that cannot be had.
    pub fn load(&self, wanted: &Wanted) -> Result<Splits, Error> {
        let (_planning, mut loading) = (Planning::begin(), Loading::new(self.streams));
        load(wanted, self.registry, self.locator, &mut |event| {
            loading.event(event)
        })
    }
}
