//! Some units of an experiment, as an experiment whose costs are known.

use super::list::Listed;
use super::rejected;
use crate::driver::Observer;
use crate::error::HarnessError;
use crate::experiment::{Cost, Experiment, Heading, Outcome};
use crate::status::Status;
use crate::unit::Unit;
use serde_json::Value;
use std::sync::atomic::AtomicBool;

/// The units of a task.
pub(super) struct Subset<'a> {
    whole: &'a dyn Experiment,
    indices: Vec<usize>,
    units: Vec<Unit>,
    costs: Vec<Cost>,
}

impl<'a> Subset<'a> {
    /// Takes the units that are listed, found by their folders.
    ///
    /// # Errors
    /// A folder that no unit has.
    pub(super) fn new(whole: &'a dyn Experiment, listed: &[Listed]) -> Result<Self, HarnessError> {
        let mut subset = Self {
            whole,
            indices: Vec::new(),
            units: Vec::new(),
            costs: Vec::new(),
        };
        for run in listed {
            let mut units = whole.units().iter();
            let index = units
                .position(|unit| unit.folder == run.folder)
                .ok_or_else(|| {
                    rejected(
                        format!(
                            "the experiment has no run with the folder {}",
                            run.folder.display()
                        ),
                        "submit the sweep again: its file, or what it names, has changed since",
                    )
                })?;
            subset.indices.push(index);
            subset.units.push(whole.units()[index].clone());
            subset.costs.push(Cost {
                work: run.work,
                ..Cost::default()
            });
        }
        Ok(subset)
    }
}

impl Experiment for Subset<'_> {
    fn heading(&self) -> Heading {
        self.whole.heading()
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn status(&self, unit: &Unit) -> Status {
        self.whole.status(unit)
    }

    fn done_key(&self) -> &'static str {
        self.whole.done_key()
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        Ok(self.costs[index])
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        self.whole.run(self.indices[index], observer, stop)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        self.whole.summary(self.indices[index], result)
    }

    /// Tables and figures are made by who asks for them: tasks would write them over each other.
    fn outcome(&self, _: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        Ok(None)
    }
}
