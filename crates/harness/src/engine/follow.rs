//! The live board of runs that other processes are at work on, from the run folders alone.

use crate::driver::{Ended, Event};
use crate::error::HarnessError;
use crate::experiment::Experiment;
use crate::plan::Plan;
use crate::plan_text::count;
use crate::progress::Progress;
use crate::reproduce::{End, Options, end, print_outcome, sinks};
use crate::status::{Status, last_checkpoint};
use crate::streams::Streams;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// From one look at the folders to the next.
const LOOK: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 2000 });
/// From one question to the scheduler to the next: only whether there is still something to wait for.
const ASK: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 30_000 });

/// Shows the runs of a plan until all are done or failed, none is queued any more, or `stop` is set; then what has come of it.
/// `is_queued` gives none where that is not known. Stopping ends the watching, not the runs.
///
/// # Errors
/// As [`reproduce`](crate::reproduce::reproduce).
pub fn follow(
    experiment: &dyn Experiment,
    options: &Options,
    plan: &Plan,
    is_queued: &dyn Fn() -> Option<bool>,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let progress = Progress::new(
        plan,
        options.jobs,
        Arc::clone(stop),
        sinks(options, plan, streams),
    );
    let mut followed = Followed {
        experiment,
        plan,
        progress: &progress,
        started: vec![false; plan.units.len()],
        at: plan.units.iter().map(|planned| planned.done()).collect(),
    };
    let mut ends: Vec<Option<Ended>> = plan.units.iter().map(|_| None).collect();
    let mut asked = Instant::now();
    let mut is_last = false;
    while !stop.load(Ordering::Relaxed) {
        for (index, end) in ends.iter_mut().enumerate() {
            if end.is_none() {
                *end = followed.poll(index);
            }
        }
        if is_last || ends.iter().all(Option::is_some) {
            break;
        }
        if asked.elapsed() >= ASK {
            asked = Instant::now();
            // One more look: the last run may have ended since.
            is_last = is_queued() == Some(false);
        }
        sleep(LOOK);
    }
    progress.finish();
    let left = ends.iter().filter(|end| end.is_none()).count();
    let ends: Vec<Ended> = ends
        .into_iter()
        .map(|end| end.unwrap_or(Ended::NotStarted))
        .collect();
    print_outcome(experiment, options, plan, &ends, streams)?;
    if left > 0 {
        streams.err.line(match is_last {
            true => format!(
                "{} not done, and nothing is queued: the same command submits what is left.",
                count(left, "run")
            ),
            false => format!(
                "Watching ends here; {} not done, and jobs go on.",
                count(left, "run")
            ),
        });
        return Ok(End::Interrupted);
    }
    Ok(end(options, plan, &ends, streams))
}

/// State of the runs, as far as it was seen.
struct Followed<'a> {
    experiment: &'a dyn Experiment,
    plan: &'a Plan,
    progress: &'a Progress,
    started: Vec<bool>,
    /// Counts that are done.
    at: Vec<u64>,
}

impl Followed<'_> {
    /// Looks at the folder of a run, and tells of what is new; its end, if it has one.
    fn poll(&mut self, index: usize) -> Option<Ended> {
        let planned = &self.plan.units[index];
        let status = self.experiment.status(&planned.unit);
        let begins = matches!(status, Status::Running { .. } | Status::Partial { .. });
        if planned.status.is_to_run() && begins && !self.started[index] {
            self.started[index] = true;
            self.progress.started(index);
        }
        let done = match &status {
            Status::Running { .. } => {
                let folder = &planned.unit.folder;
                let last = last_checkpoint(folder, self.experiment.done_key());
                last.unwrap_or(None).unwrap_or(0)
            }
            status => status.done(planned.unit.count.all),
        };
        if done > self.at[index] && self.started[index] {
            self.at[index] = done;
            let done = done as f64;
            self.progress
                .event(index, &Event::Step { done, score: None });
        }
        let ended = match status {
            Status::Done(result) => match self.experiment.summary(index, &result) {
                Ok(summary) => Ended::Done(*result, summary),
                Err(error) => Ended::Failed(error),
            },
            Status::Failed { reason, .. } | Status::Unusable { reason } => {
                Ended::Failed(HarnessError::Unusable(reason))
            }
            _ => return None,
        };
        if planned.status.is_to_run() {
            self.progress.ended(index, &ended);
        }
        Some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::NoopObserver;
    use crate::fake::Counting;
    use crate::progress::Sink;
    use crate::progress::board::Board;
    use crate::streams::{Captured, assert_contains};
    use helmholtz_runs::{Failure, OpenMode, RunFolder};
    use std::sync::Mutex;

    /// What a board is told of, in words.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<String>>>);

    impl Sink for Told {
        fn started(&mut self, _: &Board, index: usize) {
            self.0.lock().unwrap().push(format!("{index} started"));
        }

        fn event(&mut self, board: &Board, index: usize, _: &Event) {
            let at = board.trackers[index].at;
            self.0.lock().unwrap().push(format!("{index} at {at}"));
        }

        fn ended(&mut self, _: &Board, index: usize, _: &Ended) {
            self.0.lock().unwrap().push(format!("{index} ended"));
        }
    }

    /// The end of watching with this answer of the scheduler, and what is printed.
    fn watched(experiment: &Counting, queued: Option<bool>, stop: bool) -> (End, String) {
        let plan = Plan::new(experiment, false, &|_| Ok(())).unwrap();
        let written = Captured::default();
        let streams = Captured::streams(&written, &written);
        let stop = Arc::new(AtomicBool::new(stop));
        let options = Options::default();
        let end = follow(experiment, &options, &plan, &|| queued, &stop, &streams);
        (end.unwrap(), written.take())
    }

    #[test]
    fn watching_ends_when_nothing_is_queued_or_when_it_is_asked_to() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        experiment
            .run(0, &NoopObserver, &AtomicBool::new(false))
            .unwrap();
        let begun = Instant::now();
        let (end, text) = watched(&experiment, Some(false), false);
        assert_eq!(end, End::Interrupted);
        assert!(begun.elapsed() >= ASK, "nobody was asked yet");
        assert_contains(&text, &["1 run not done, and nothing is queued"]);
        let (end, text) = watched(&experiment, None, true);
        assert_eq!(end, End::Interrupted);
        assert_contains(&text, &["Watching ends here; 2 runs not done"]);
    }

    #[test]
    fn a_run_is_told_of_when_it_begins_goes_on_and_ends() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b", "c", "d"]);
        let units = experiment.units();
        let open = |n: usize| RunFolder::open(&units[n].folder, &units[n].config, OpenMode::Resume);
        let save = |run: &mut RunFolder, done: u64| {
            let state = serde_json::json!({"epochs_done": done});
            run.save_checkpoint(&state, &[]).unwrap();
        };
        // The last is done before the plan is made.
        let go = AtomicBool::new(false);
        experiment.run(3, &NoopObserver, &go).unwrap();
        let plan = Plan::new(&experiment, false, &|_| Ok(())).unwrap();
        let told = Told::default();
        let sinks: Vec<Box<dyn Sink>> = vec![Box::new(told.clone())];
        let progress = Progress::new(&plan, 1, Arc::default(), sinks);
        let mut followed = Followed {
            experiment: &experiment,
            plan: &plan,
            progress: &progress,
            started: vec![false; 4],
            at: vec![0; 4],
        };
        let mut poll = |n: usize| {
            let ended = followed.poll(n);
            (std::mem::take(&mut *told.0.lock().unwrap()), ended)
        };
        let mut words = |n: usize| {
            let (words, ended) = poll(n);
            assert!(ended.is_none());
            words
        };
        assert!(words(0).is_empty(), "nothing has begun");
        let mut run = open(0).unwrap();
        assert_eq!(words(0), ["0 started"]);
        assert!(words(0).is_empty(), "nothing is new");
        save(&mut run, 2);
        assert_eq!(words(0), ["0 at 2"]);
        assert!(words(0).is_empty(), "nothing is new");
        let failure = Failure {
            reason: "NaN loss".into(),
            ..Failure::default()
        };
        run.fail(&failure).unwrap();
        drop(run);
        let (words, ended) = poll(0);
        assert_eq!(words, ["0 ended"]);
        let Some(Ended::Failed(error)) = ended else {
            panic!("it failed")
        };
        assert_contains(error, &["NaN loss"]);
        // One that was done from one look to the next; and one that was done before.
        experiment.run(1, &NoopObserver, &go).unwrap();
        let (words, ended) = poll(1);
        assert_eq!(words, ["1 ended"]);
        assert!(matches!(ended, Some(Ended::Done(..))));
        let (words, ended) = poll(3);
        assert!(words.is_empty() && matches!(ended, Some(Ended::Done(..))));
        // A folder of another configuration.
        std::fs::create_dir_all(&units[2].folder).unwrap();
        std::fs::write(units[2].folder.join("other"), "").unwrap();
        let (_, ended) = poll(2);
        assert!(matches!(
            ended,
            Some(Ended::Failed(HarnessError::Unusable(_)))
        ));
    }

    #[test]
    fn runs_of_others_are_followed_to_their_end_and_shown() {
        let dir = tempfile::tempdir().unwrap();
        let ours = Counting::new(dir.path(), &["a", "b"]);
        let theirs = Counting::new(dir.path(), &["a", "b"]);
        let plan = Plan::new(&ours, false, &|_| Ok(())).unwrap();
        let go = AtomicBool::new(false);
        theirs.run(0, &NoopObserver, &go).unwrap();
        let written = Captured::default();
        let streams = Captured::streams(&written, &written);
        let options = Options {
            jobs: 2,
            ..Options::default()
        };
        let end = std::thread::scope(|scope| {
            scope.spawn(|| theirs.run(1, &NoopObserver, &go).unwrap());
            follow(&ours, &options, &plan, &|| None, &Arc::default(), &streams).unwrap()
        });
        assert_eq!(end, End::Complete);
        let text = written.take();
        assert!(text.contains("2 of 2 units are done."), "{text}");
        assert!(text.contains("b / seed 1: done, NLL 100.00"), "{text}");
        assert!(
            ours.measured.lock().unwrap().len() == 2,
            "measured for the plan alone"
        );
    }
}
