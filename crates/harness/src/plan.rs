//! The plan: which units, what is done already, how long the rest takes on this machine.

use crate::error::HarnessError;
use crate::experiment::{Cost, Experiment};
use crate::machine::Needs;
use crate::schedule::makespan;
use crate::status::{Status, checkpoint_bytes};
use crate::unit::Unit;

/// A unit, what its folder holds, and what is left to do.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedUnit {
    /// Its place among the experiment's units.
    pub index: usize,
    /// The unit.
    pub unit: Unit,
    /// State of its run folder.
    pub status: Status,
    /// Its work on this machine, and the least that it needs; nothing once it is done.
    pub cost: Cost,
}

impl PlannedUnit {
    /// Finished counts.
    pub fn done(&self) -> u64 {
        self.status.done(self.unit.count.all)
    }

    /// Seconds of work left, on one thread.
    pub fn remaining(&self) -> f64 {
        match self.status.is_to_run() {
            true => self.cost.work.remaining(self.unit.count.all, self.done()),
            false => 0.0,
        }
    }

    /// Seconds of the whole work, on one thread.
    pub fn total(&self) -> f64 {
        self.cost.work.total(self.unit.count.all)
    }
}

/// The units of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Units, in the experiment's order.
    pub units: Vec<PlannedUnit>,
}

impl Plan {
    /// Looks at the run folders and measures what the rest costs; `measuring` hears of each measurement first, and may refuse it. With
    /// `fresh`, every folder counts as empty.
    ///
    /// # Errors
    /// A unit that cannot be built. A run folder that cannot be used is a status, not an error: it keeps no other unit from running.
    pub fn new(
        experiment: &dyn Experiment,
        fresh: bool,
        measuring: &dyn Fn(&Unit) -> Result<(), HarnessError>,
    ) -> Result<Self, HarnessError> {
        let plan = |(index, unit): (usize, &Unit)| {
            let status = match fresh {
                true => Status::New,
                false => experiment.status(unit),
            };
            let mut cost = Cost::default();
            if status.is_to_run() {
                measuring(unit)?;
                cost = experiment.cost(index)?;
            }
            if status.is_begun() {
                let there = checkpoint_bytes(&unit.folder);
                cost.needs.disk = cost.needs.disk.saturating_sub(there);
            }
            Ok(PlannedUnit {
                index,
                unit: unit.clone(),
                status,
                cost,
            })
        };
        let units = experiment.units().iter().enumerate().map(plan);
        Ok(Self {
            units: units.collect::<Result<_, HarnessError>>()?,
        })
    }

    /// The order in which units are started: those with work left, longest first, so that no long one is left to run alone at the end.
    pub fn queue(&self) -> Vec<usize> {
        let to_run = |&i: &usize| self.units[i].status.is_to_run();
        let mut queue: Vec<usize> = (0..self.units.len()).filter(to_run).collect();
        let remaining = |i: usize| self.units[i].remaining();
        queue.sort_by(|&a, &b| remaining(b).total_cmp(&remaining(a)));
        queue
    }

    /// Whether a run folder cannot be used.
    pub fn has_unusable(&self) -> bool {
        let mut statuses = self.units.iter().map(|unit| &unit.status);
        statuses.any(|status| matches!(status, Status::Unusable { .. }))
    }

    /// The least that all need that are not done, with so many units at once.
    pub fn needs(&self, jobs: usize) -> Needs {
        let left = self.units.iter().filter(|unit| unit.status.is_to_run());
        let mut memory: Vec<u64> = left.clone().map(|unit| unit.cost.needs.memory).collect();
        memory.sort_unstable_by(|a, b| b.cmp(a));
        let memory = memory.into_iter().take(jobs);
        Needs {
            memory: memory.fold(0, u64::saturating_add),
            disk: left.map(|unit| unit.cost.needs.disk).sum(),
        }
    }

    /// Seconds until all is done, with so many units at once.
    pub fn seconds(&self, jobs: usize) -> f64 {
        let left = self.queue().into_iter().map(|i| self.units[i].remaining());
        makespan(left, jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::NoopObserver;
    use crate::fake::Counting;
    use std::sync::atomic::AtomicBool;

    fn plan(experiment: &Counting, fresh: bool) -> Plan {
        Plan::new(experiment, fresh, &|_| Ok(())).unwrap()
    }

    #[test]
    fn finished_and_half_finished_units_are_seen_and_not_planned_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        let go = AtomicBool::new(false);
        experiment.run(0, &NoopObserver, &go).unwrap();
        experiment.stop_in = Some(("b", 2));
        experiment.run(1, &NoopObserver, &go).unwrap_err();
        let plan_ = plan(&experiment, false);
        assert!(plan_.units[0].status.is_done());
        assert_eq!(plan_.units[1].status, Status::Partial { done: 2 });
        assert_eq!(plan_.units[2].status, Status::New);
        assert_eq!(plan_.queue(), [2, 1], "longest first");
        let whole = plan_.units[2].remaining();
        assert_eq!(plan_.seconds(2), whole);
        assert_eq!(plan_.seconds(1), whole + plan_.units[1].remaining());
        let fresh = plan(&experiment, true);
        assert!(
            fresh.units.iter().all(|unit| unit.status == Status::New),
            "--fresh starts over"
        );
    }

    #[test]
    fn what_is_done_is_not_measured_again() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        experiment
            .run(0, &NoopObserver, &AtomicBool::new(false))
            .unwrap();
        plan(&experiment, false);
        assert_eq!(*experiment.measured.lock().unwrap(), [1]);
    }

    #[test]
    fn what_checkpoints_take_already_need_not_be_free() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a"]);
        experiment.stop_in = Some(("a", 3));
        experiment
            .run(0, &NoopObserver, &AtomicBool::new(false))
            .unwrap_err();
        let there = checkpoint_bytes(&experiment.units()[0].folder);
        assert!(there > 0);
        let disk = |fresh| plan(&experiment, fresh).needs(1).disk;
        assert_eq!(disk(false), disk(true) - there);
    }

    #[test]
    fn a_folder_of_another_configuration_is_left_alone_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        experiment
            .run(0, &NoopObserver, &AtomicBool::new(false))
            .unwrap();
        let mut other = Counting::new(dir.path(), &["a", "b"]);
        other.change_config();
        let plan = plan(&other, false);
        assert!(plan.has_unusable() && plan.queue() == [1]);
    }

    #[test]
    fn memory_is_that_of_the_largest_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        let plan = plan(&experiment, false);
        let one = plan.units[0].cost.needs.memory;
        assert_eq!(plan.needs(2).memory, 2 * one);
    }
}
