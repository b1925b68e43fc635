//! Progress: one board that follows every unit, and the sinks that show it.
//!
//! * [`bars`]: a live line for each running unit and one overall, on a terminal.
//! * [`lines`]: plain lines now and then, for a log file.
//! * [`json`]: machine-readable lines.

pub mod bars;
pub mod board;
pub mod json;
pub mod lines;
pub mod tracker;

use crate::event::{Ended, Event};
use crate::plan::Plan;
use board::Board;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Shows progress. Every call comes with the board as it is after the event.
pub trait Sink: Send {
    /// A unit starts.
    fn started(&mut self, _board: &Board, _index: usize) {}
    /// Something happened in a running unit; steps and evaluations come at most 20 times a second for each unit.
    fn event(&mut self, _board: &Board, _index: usize, _event: &Event) {}
    /// A unit ended.
    fn ended(&mut self, _board: &Board, _index: usize, _outcome: &Ended) {}
    /// A request to stop was heard: a sentence for the user.
    fn stopping(&mut self, _text: &str) {}
    /// All is over.
    fn finish(&mut self) {}
}

/// Follows the units of a plan and tells its sinks.
pub struct Progress {
    start: Instant,
    stop: Arc<AtomicBool>,
    inner: Mutex<Inner>,
}

struct Inner {
    board: Board,
    sinks: Vec<Box<dyn Sink>>,
    told: Vec<f64>,
    stopping: bool,
}

/// Seconds between two passed-on steps of a unit.
const STEP_INTERVAL: f64 = 0.05;

impl Progress {
    /// Progress of `plan` run with `jobs` units at once; when `stop` becomes set, the user is told that it was heard.
    pub fn new(plan: &Plan, jobs: usize, stop: Arc<AtomicBool>, sinks: Vec<Box<dyn Sink>>) -> Self {
        let board = Board::new(plan, jobs);
        let told = vec![f64::NEG_INFINITY; plan.units.len()];
        Self {
            start: Instant::now(),
            stop,
            inner: Mutex::new(Inner {
                board,
                sinks,
                told,
                stopping: false,
            }),
        }
    }

    /// A unit starts.
    pub fn started(&self, index: usize) {
        let mut guard = self.lock();
        let inner = &mut *guard;
        inner.board.started(index, self.now());
        inner
            .sinks
            .iter_mut()
            .for_each(|sink| sink.started(&inner.board, index));
    }

    /// Something happened in a running unit.
    pub fn event(&self, index: usize, event: &Event) {
        let now = self.now();
        let mut guard = self.lock();
        let inner = &mut *guard;
        inner.board.event(index, event, now);
        if self.stop.load(Ordering::Relaxed) && !inner.stopping {
            inner.stopping = true;
            let text =
                "Stopping: running units write a checkpoint first. Ctrl-C again exits at once.";
            inner.sinks.iter_mut().for_each(|sink| sink.stopping(text));
        }
        let frequent = matches!(event, Event::Step { .. } | Event::Evaluating { .. });
        if frequent && now - inner.told[index] < STEP_INTERVAL {
            return;
        }
        inner.told[index] = now;
        inner
            .sinks
            .iter_mut()
            .for_each(|sink| sink.event(&inner.board, index, event));
    }

    /// A unit ended.
    pub fn ended(&self, index: usize, outcome: &Ended) {
        let mut guard = self.lock();
        let inner = &mut *guard;
        inner.board.ended(index, outcome, self.now());
        inner
            .sinks
            .iter_mut()
            .for_each(|sink| sink.ended(&inner.board, index, outcome));
    }

    /// Removes what is live on the screen.
    pub fn finish(&self) {
        let mut inner = self.lock();
        inner.sinks.iter_mut().for_each(|sink| sink.finish());
    }

    // A panic in a unit is caught by the driver; the board it leaves is still good to show.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::planned;
    use crate::status::Status;
    use crate::work::Work;
    use std::thread::sleep;
    use std::time::Duration;

    /// Words for what it is told.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<&'static str>>>);

    impl Told {
        fn say(&self, word: &'static str) {
            self.0.lock().unwrap().push(word);
        }

        fn take(&self) -> Vec<&'static str> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    impl Sink for Told {
        fn started(&mut self, _: &Board, _: usize) {
            self.say("started");
        }

        fn event(&mut self, _: &Board, _: usize, event: &Event) {
            self.say(match event {
                Event::Step { .. } => "step",
                Event::Evaluating { .. } => "evaluating",
                _ => "other",
            });
        }

        fn ended(&mut self, _: &Board, _: usize, _: &Ended) {
            self.say("ended");
        }

        fn stopping(&mut self, text: &str) {
            assert!(text.starts_with("Stopping"), "{text}");
            self.say("stopping");
        }

        fn finish(&mut self) {
            self.say("finish");
        }
    }

    fn progress(stop: &Arc<AtomicBool>) -> (Progress, Told) {
        let told = Told::default();
        let units = vec![planned("a", Status::New, Work::default())];
        let sinks: Vec<Box<dyn Sink>> = vec![Box::new(told.clone())];
        (Progress::new(&Plan { units }, 1, stop.clone(), sinks), told)
    }

    #[test]
    fn a_unit_is_followed_from_its_start_to_the_end_of_all() {
        let (progress, told) = progress(&Arc::default());
        progress.started(0);
        progress.event(0, &Event::Warning("odd".into()));
        progress.ended(0, &Ended::NotStarted);
        progress.finish();
        assert_eq!(told.take(), ["started", "other", "ended", "finish"]);
    }

    #[test]
    fn steps_are_told_at_most_twenty_times_a_second_and_warnings_always() {
        let (progress, told) = progress(&Arc::default());
        progress.started(0);
        told.take();
        let evaluating = Event::Evaluating {
            part: Some(0.5),
            what: String::new(),
        };
        let begun = Instant::now();
        for _ in 0..1000 {
            progress.event(0, &evaluating);
        }
        let most = 1 + (begun.elapsed().as_secs_f64() / STEP_INTERVAL) as usize;
        let first = told.take().len();
        assert!((1..=most).contains(&first), "{first} of at most {most}");
        sleep(Duration::from_secs_f64(2.0 * STEP_INTERVAL));
        progress.event(0, &evaluating);
        assert_eq!(told.take(), ["evaluating"]);
        for _ in 0..3 {
            progress.event(0, &Event::Warning("odd".into()));
        }
        assert_eq!(told.take(), ["other"; 3]);
    }

    #[test]
    fn that_it_was_asked_to_stop_is_said_once() {
        let stop = Arc::new(AtomicBool::new(false));
        let (progress, told) = progress(&stop);
        let warn = || progress.event(0, &Event::Warning("odd".into()));
        progress.started(0);
        warn();
        stop.store(true, Ordering::SeqCst);
        warn();
        warn();
        assert_eq!(
            told.take(),
            ["started", "other", "stopping", "other", "other"]
        );
    }
}
