//! The driver: runs the planned units, several at once, each on a thread of its own.

use crate::error::HarnessError;
pub use crate::event::{Ended, Event, NoopObserver, Observer};
use crate::experiment::Experiment;
use crate::plan::{Plan, PlannedUnit};
use crate::progress::Progress;
use crate::status::Status;
use helmholtz_runs::RunFolder;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs what a plan leaves to do, at most `jobs` units at once, and returns how each of its units ended. A failed or panicking unit stops
/// no other; once `stop` is set no further unit starts.
pub fn drive(
    experiment: &dyn Experiment,
    plan: &Plan,
    jobs: usize,
    progress: &Progress,
    stop: &AtomicBool,
) -> Vec<Ended> {
    let (queue, next) = (plan.queue(), AtomicUsize::new(0));
    let before = |planned: &PlannedUnit| {
        Mutex::new(match &planned.status {
            Status::Done(result) => {
                RunFolder::tidy(&planned.unit.folder);
                finished(experiment, planned.index, (**result).clone())
            }
            Status::Unusable { reason } => Ended::Failed(HarnessError::Unusable(reason.clone())),
            _ => Ended::NotStarted,
        })
    };
    let outcomes: Vec<Mutex<Ended>> = plan.units.iter().map(before).collect();
    let work = || {
        while !stop.load(Ordering::Relaxed)
            && let Some(&index) = queue.get(next.fetch_add(1, Ordering::Relaxed))
        {
            progress.started(index);
            let observer = Forward { progress, index };
            let outcome = run_one(experiment, plan.units[index].index, &observer, stop);
            progress.ended(index, &outcome);
            *outcomes[index]
                .lock()
                .expect("no thread panics with this lock") = outcome;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(queue.len()) {
            // A thread that the system refuses is done without.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    outcomes
        .into_iter()
        .map(|m| m.into_inner().expect("no thread panics with this lock"))
        .collect()
}

fn finished(experiment: &dyn Experiment, index: usize, result: Value) -> Ended {
    match experiment.summary(index, &result) {
        Ok(summary) => Ended::Done(result, summary),
        Err(error) => Ended::Failed(error),
    }
}

fn run_one(
    experiment: &dyn Experiment,
    index: usize,
    observer: &dyn Observer,
    stop: &AtomicBool,
) -> Ended {
    let run = AssertUnwindSafe(|| experiment.run(index, observer, stop));
    match catch_unwind(run) {
        Ok(Ok(result)) => finished(experiment, index, result),
        Ok(Err(HarnessError::Interrupted { epoch })) => Ended::Interrupted { done: epoch },
        Ok(Err(error)) => Ended::Failed(error),
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("no message");
            Ended::Failed(HarnessError::Panic(text.to_string()))
        }
    }
}

/// Passes a unit's events on under its index.
struct Forward<'a> {
    progress: &'a Progress,
    index: usize,
}

impl Observer for Forward<'_> {
    fn event(&self, event: &Event) {
        self.progress.event(self.index, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Counting;
    use crate::progress::Sink;
    use crate::progress::board::Board;
    use std::sync::Arc;

    /// Counts units that started and units that ended.
    #[derive(Clone, Default)]
    struct Counter(Arc<[AtomicUsize; 2]>);

    impl Sink for Counter {
        fn started(&mut self, _: &Board, _: usize) {
            self.0[0].fetch_add(1, Ordering::SeqCst);
        }
        fn ended(&mut self, _: &Board, _: usize, _: &Ended) {
            self.0[1].fetch_add(1, Ordering::SeqCst);
        }
    }

    fn watched(experiment: &Counting, jobs: usize, counter: Counter) -> Vec<Ended> {
        let plan = Plan::new(experiment, false, &|_| Ok(())).unwrap();
        let stop = experiment.stop.clone().unwrap_or_default();
        let progress = Progress::new(&plan, jobs, Arc::clone(&stop), vec![Box::new(counter)]);
        drive(experiment, &plan, jobs, &progress, &stop)
    }

    fn go(experiment: &Counting, jobs: usize) -> Vec<Ended> {
        watched(experiment, jobs, Counter::default())
    }

    fn all_done(outcomes: &[Ended]) -> bool {
        outcomes.iter().all(|end| matches!(end, Ended::Done(..)))
    }

    #[test]
    fn every_unit_runs_once_and_done_units_do_not_run_again() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b", "c", "d", "e"]);
        for (jobs, expected) in [(3, 5), (3, 0)] {
            let counter = Counter::default();
            assert!(all_done(&watched(&experiment, jobs, counter.clone())));
            let counts = [0, 1].map(|of| counter.0[of].load(Ordering::SeqCst));
            assert_eq!(counts, [expected; 2]);
        }
    }

    #[test]
    fn as_many_units_run_at_once_as_there_are_jobs() {
        // Each fake unit waits until `meet` units are inside: fewer threads would never get there.
        for jobs in [3, 1] {
            let dir = tempfile::tempdir().unwrap();
            let mut experiment = Counting::new(dir.path(), &["a", "b", "c"]);
            experiment.meet = jobs;
            assert!(all_done(&go(&experiment, jobs)));
            assert_eq!(experiment.most_at_once.load(Ordering::SeqCst), jobs);
        }
    }

    #[test]
    fn a_failed_and_a_panicking_unit_stop_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c", "d"]);
        (experiment.fail, experiment.panic) = ("b", "c");
        let outcomes = go(&experiment, 2);
        assert!(matches!(&outcomes[0], Ended::Done(..)));
        assert!(matches!(&outcomes[1], Ended::Failed(e) if e.to_string().contains("NaN")));
        assert!(
            matches!(&outcomes[2], Ended::Failed(HarnessError::Panic(text)) if text.contains("on purpose"))
        );
        assert!(matches!(&outcomes[3], Ended::Done(..)));
    }

    #[test]
    fn a_stop_interrupts_running_units_and_starts_no_more_and_the_rest_resumes() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b", "c"]);
        experiment.stop = Some(Default::default());
        experiment.stop_in = Some(("b", 2));
        let outcomes = go(&experiment, 1);
        assert!(matches!(&outcomes[0], Ended::Done(..)));
        assert!(matches!(&outcomes[1], Ended::Interrupted { done: 2 }));
        assert!(matches!(&outcomes[2], Ended::NotStarted));
        let again = Counting::new(dir.path(), &["a", "b", "c"]);
        assert!(all_done(&go(&again, 1)));
    }
}
