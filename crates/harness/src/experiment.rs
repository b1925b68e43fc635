//! Interface of an experiment to the harness.

use crate::error::HarnessError;
use crate::event::Observer;
use crate::machine::Needs;
use crate::status::{Status, status};
use crate::unit::Unit;
use crate::work::Work;
use helmholtz_report::Document;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// An experiment as it was asked for: with its profile, seeds, data and device.
pub trait Experiment: Sync {
    /// Heading of the plan.
    fn heading(&self) -> Heading;

    /// Units that can run alone, in the order in which the plan shows them.
    fn units(&self) -> &[Unit];

    /// State of a unit's run folder.
    fn status(&self, unit: &Unit) -> Status {
        status(&unit.folder, &unit.config, self.done_key())
    }

    /// Key under which the state of a checkpoint has the number of finished counts.
    fn done_key(&self) -> &'static str {
        "epochs_done"
    }

    /// Cost of a unit on this machine, from a short measurement on one thread.
    ///
    /// # Errors
    /// A unit that cannot be built, or for which there is not the memory.
    fn cost(&self, index: usize) -> Result<Cost, HarnessError>;

    /// Seconds, at most, that a unit goes on for after a request to stop: a step and a checkpoint, or what it cannot divide.
    fn stops_within(&self, _cost: &Cost) -> f64 {
        5.0
    }

    /// Runs a unit in its folder: from where its last checkpoint left it, to its result. A finished folder gives its result at once.
    ///
    /// # Errors
    /// [`HarnessError::Interrupted`], after a checkpoint, once `stop` is set; a run folder that cannot be used; a failed run.
    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError>;

    /// Sets aside, when all is started over, what is in no folder of a unit.
    ///
    /// # Errors
    /// What cannot be set aside.
    fn archive_folders(&self) -> Result<(), HarnessError> {
        Ok(())
    }

    /// A unit's result in a few words, for the line that tells of its end.
    ///
    /// # Errors
    /// A result of another shape.
    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError>;

    /// Outcome so far: `results` has one of each unit that is done. None if there is nothing to show.
    ///
    /// # Errors
    /// A result of another shape, a folder that cannot be read.
    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError>;

    /// Lines shown before anything runs, and again below the outcome: that the data are others than asked for.
    fn banner(&self) -> Vec<String> {
        Vec::new()
    }

    /// Hint at what another profile of the experiment would take here, if that is of interest; with so many units at once.
    ///
    /// # Errors
    /// A stop.
    fn hint(&self, _jobs: usize) -> Result<Option<Hint>, HarnessError> {
        Ok(None)
    }
}

/// Heading of a plan: how it presents an experiment.
#[derive(Debug, Clone, Default)]
pub struct Heading {
    /// Heads it.
    pub title: String,
    /// Facts on what is done, on what, where: names of a few letters, and a line each.
    pub facts: Vec<(&'static str, String)>,
    /// Column headings for the names of units: `Net`, `Method`.
    pub columns: Vec<&'static str>,
    /// Whether runs may end before their last count.
    pub may_end_early: bool,
    /// Advice on how to need less memory or disk.
    pub remedy: &'static str,
}

/// Cost of a unit: time, and the least that it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Its work.
    pub work: Work,
    /// The least of memory and disk.
    pub needs: Needs,
}

/// Outcome of an experiment.
pub struct Outcome<'a> {
    /// For people.
    pub document: Document,
    /// Its numbers, in the experiment's own form: what its line of JSON has beside the document.
    pub json: Value,
    /// Writes its files, and returns their paths.
    pub write: Box<dyn FnOnce() -> Result<Vec<PathBuf>, HarnessError> + 'a>,
}

/// Hint about another profile, shown at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// For people.
    pub text: String,
    /// Fields of the plan's line of JSON.
    pub fields: Value,
}
