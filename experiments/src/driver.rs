//! The driver: runs the planned cells, several at once, each on a thread of its own.

use crate::cell_runner::{CellResult, CellRunner, Observer, RunEvent};
use crate::error::HarnessError;
use crate::plan::{CellStatus, PlannedCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How a planned cell ended.
#[derive(Debug)]
pub enum Outcome {
    /// With its result, now or in an earlier session.
    Done(Box<CellResult>),
    /// Stopped on request, after a checkpoint.
    Interrupted {
        /// The epochs that the checkpoint holds.
        epoch: u64,
    },
    /// Never started, because a stop was requested first.
    NotStarted,
    /// With an error.
    Failed(HarnessError),
}

/// Watches the cells of a plan, by their index in it. Called from all threads.
pub trait Watch: Sync {
    /// The cell starts.
    fn started(&self, index: usize);
    /// Something happened in the running cell.
    fn event(&self, index: usize, event: &RunEvent);
    /// The cell ended.
    fn ended(&self, index: usize, outcome: &Outcome);
}

/// Runs the cells in `queue` (indices into `cells`), at most `jobs` at once, and returns one outcome for each
/// of `cells`. A failed or panicking cell stops no other; once `stop` is set no further cell starts.
pub fn drive(
    runner: &dyn CellRunner,
    cells: &[PlannedCell],
    queue: &[usize],
    jobs: usize,
    watch: &dyn Watch,
    stop: &AtomicBool,
) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Outcome>> = cells
        .iter()
        .map(|planned| {
            Mutex::new(match &planned.status {
                CellStatus::Done(result) => Outcome::Done(result.clone()),
                CellStatus::Unusable { reason } => {
                    Outcome::Failed(HarnessError::Unusable(reason.clone()))
                }
                _ => Outcome::NotStarted,
            })
        })
        .collect();
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, queue.len().max(1)) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed)
                    && let Some(&index) = queue.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    watch.started(index);
                    let outcome = run_one(runner, &cells[index], &Forward { watch, index }, stop);
                    watch.ended(index, &outcome);
                    *outcomes[index]
                        .lock()
                        .expect("no thread panics with this lock") = outcome;
                }
            });
        }
    });
    outcomes
        .into_iter()
        .map(|m| m.into_inner().expect("no thread panics with this lock"))
        .collect()
}

/// # Errors
/// [`HarnessError::Interrupted`] once `stop` is set.
pub fn unless_stopped(stop: &AtomicBool) -> Result<(), HarnessError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(HarnessError::Interrupted { epoch: 0 }),
        false => Ok(()),
    }
}

fn run_one(
    runner: &dyn CellRunner,
    planned: &PlannedCell,
    observer: &dyn Observer,
    stop: &AtomicBool,
) -> Outcome {
    let run = AssertUnwindSafe(|| runner.run(&planned.cell, &planned.folder, observer, stop));
    match catch_unwind(run) {
        Ok(Ok(result)) => Outcome::Done(Box::new(result)),
        Ok(Err(HarnessError::Interrupted { epoch })) => Outcome::Interrupted { epoch },
        Ok(Err(error)) => Outcome::Failed(error),
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Outcome::Failed(HarnessError::Panic(text.to_string()))
        }
    }
}

/// Passes a cell's events on under its index.
struct Forward<'a> {
    watch: &'a dyn Watch,
    index: usize,
}

impl Observer for Forward<'_> {
    fn event(&self, event: &RunEvent) {
        self.watch.event(self.index, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::fake::{FakeRunner, SIZES};
    use crate::plan::{Costs, Plan};
    use std::path::Path;

    /// Counts, and sets `stop` when the cell of this index starts.
    #[derive(Default)]
    struct Counter {
        started: AtomicUsize,
        ended: AtomicUsize,
        events: AtomicUsize,
    }

    impl Watch for Counter {
        fn started(&self, _: usize) {
            self.started.fetch_add(1, Ordering::SeqCst);
        }
        fn event(&self, _: usize, _: &RunEvent) {
            self.events.fetch_add(1, Ordering::SeqCst);
        }
        fn ended(&self, _: usize, _: &Outcome) {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn plan(runner: &FakeRunner, base: &Path, nets: &[&str]) -> Plan {
        let cells = nets.iter().map(|net| cell(net, "jsa", 1)).collect();
        Plan::new(
            cells,
            base,
            false,
            &mut Costs::new(runner, SIZES, &|_| Ok(())),
        )
        .unwrap()
    }

    fn go(runner: &FakeRunner, plan: &Plan, jobs: usize, watch: &dyn Watch) -> Vec<Outcome> {
        drive(
            runner,
            &plan.cells,
            &plan.queue(),
            jobs,
            watch,
            &runner.stop,
        )
    }

    #[test]
    fn every_cell_runs_once_and_done_cells_do_not_run_again() {
        let (runner, dir, watch) = (
            FakeRunner::default(),
            tempfile::tempdir().unwrap(),
            Counter::default(),
        );
        let nets = ["a", "b", "c", "d", "e"];
        let outcomes = go(&runner, &plan(&runner, dir.path(), &nets), 3, &watch);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Done(_))));
        assert_eq!(
            (watch.started.into_inner(), watch.ended.into_inner()),
            (5, 5)
        );

        let watch = Counter::default();
        let outcomes = go(&runner, &plan(&runner, dir.path(), &nets), 3, &watch);
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Done(_))));
        assert_eq!(watch.started.into_inner(), 0);
    }

    #[test]
    fn as_many_cells_run_at_once_as_there_are_jobs() {
        // Each fake cell waits until `meet` cells are inside: fewer threads would never get there.
        let runner = FakeRunner {
            meet: 3,
            ..FakeRunner::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let outcomes = go(
            &runner,
            &plan(&runner, dir.path(), &["a", "b", "c"]),
            3,
            &Counter::default(),
        );
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Done(_))));
        assert_eq!(runner.most_at_once.load(Ordering::SeqCst), 3);

        let runner = FakeRunner::default();
        let dir = tempfile::tempdir().unwrap();
        go(
            &runner,
            &plan(&runner, dir.path(), &["a", "b", "c"]),
            1,
            &Counter::default(),
        );
        assert_eq!(runner.most_at_once.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_and_a_panicking_cell_stop_no_other() {
        let runner = FakeRunner {
            fail: "b",
            panic: "c",
            ..FakeRunner::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let outcomes = go(
            &runner,
            &plan(&runner, dir.path(), &["a", "b", "c", "d"]),
            2,
            &Counter::default(),
        );
        assert!(matches!(&outcomes[0], Outcome::Done(_)));
        assert!(matches!(&outcomes[1], Outcome::Failed(e) if e.to_string().contains("NaN")));
        assert!(
            matches!(&outcomes[2], Outcome::Failed(HarnessError::Panic(text)) if text.contains("on purpose"))
        );
        assert!(matches!(&outcomes[3], Outcome::Done(_)));
    }

    #[test]
    fn a_stop_interrupts_running_cells_and_starts_no_more_and_the_rest_resumes() {
        let runner = FakeRunner {
            stop_in: Some(("b", 2)),
            ..FakeRunner::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let outcomes = go(
            &runner,
            &plan(&runner, dir.path(), &["a", "b", "c"]),
            1,
            &Counter::default(),
        );
        assert!(matches!(&outcomes[0], Outcome::Done(_)));
        assert!(matches!(&outcomes[1], Outcome::Interrupted { epoch: 2 }));
        assert!(matches!(&outcomes[2], Outcome::NotStarted));

        let runner = FakeRunner::default();
        let plan = plan(&runner, dir.path(), &["a", "b", "c"]);
        assert_eq!(plan.cells[1].status, CellStatus::Partial { epoch: 2 });
        let outcomes = go(&runner, &plan, 1, &Counter::default());
        assert!(outcomes.iter().all(|o| matches!(o, Outcome::Done(_))));
    }
}
