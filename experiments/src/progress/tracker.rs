//! Follows one cell: where it is, how fast, and how long it will take. Time comes as an argument, in seconds.

use crate::cell::Settings;
use crate::cell_runner::RunEvent;
use crate::plan::PlannedCell;
use crate::schedule::Work;

/// Where a cell is.
#[derive(Debug, Clone)]
pub struct Tracker {
    settings: Settings,
    work: Work,
    /// Epochs in progress or done, for people: 3 of 5.
    pub epoch: u64,
    /// The stage of the last check.
    pub stage: Option<u8>,
    /// The last test NLL, in nats.
    pub nll: Option<f64>,
    /// Whether an evaluation is under way.
    pub evaluating: bool,
    began: Option<f64>,
    done_before: f64,
    done: f64,
    checked: u64,
    steps: Pace,
}

impl Tracker {
    /// A tracker of a planned cell, which may have epochs behind it.
    pub fn new(planned: &PlannedCell) -> Self {
        let settings = planned.cell.settings.clone();
        let done = planned.work.total(&settings) - planned.remaining();
        let epoch = planned.epochs_done();
        Self {
            settings,
            work: planned.work,
            epoch,
            stage: None,
            nll: None,
            evaluating: false,
            began: None,
            done_before: done,
            done,
            checked: epoch,
            steps: Pace::default(),
        }
    }

    /// The run started.
    pub fn start(&mut self, now: f64) {
        self.began = Some(now);
    }

    /// Takes in an event.
    pub fn event(&mut self, event: &RunEvent, now: f64) {
        if !matches!(event, RunEvent::Step { .. }) {
            self.steps.pause();
        }
        match *event {
            RunEvent::Resumed { epoch, .. } => {
                self.epoch = epoch;
                self.checked = epoch;
                self.done = self.after(epoch);
                self.done_before = self.done;
            }
            RunEvent::Step {
                epoch,
                step,
                steps_per_epoch,
                ..
            } => {
                self.evaluating = false;
                self.epoch = epoch;
                self.steps.tick(now);
                let part = step as f64 / steps_per_epoch.max(1) as f64;
                self.done = self.after(epoch.saturating_sub(1)) + part * self.work.epoch;
            }
            RunEvent::Evaluating { done, total } => {
                self.evaluating = true;
                let part = done as f64 / total.max(1) as f64;
                // After the last check the evaluation under way is that of the selected epoch.
                self.done = if self.checked >= self.settings.epochs {
                    self.after(self.settings.epochs) + part * self.work.last
                } else {
                    self.after(self.epoch) - self.work.check * (1.0 - part)
                };
            }
            RunEvent::Check {
                epoch,
                stage,
                valid_nll,
                test_nll,
                ..
            } => {
                self.evaluating = false;
                self.epoch = epoch;
                self.checked = epoch;
                self.stage = Some(stage);
                self.nll = test_nll.or(Some(valid_nll));
                self.done = self.after(epoch);
            }
            RunEvent::ChainsStarted { .. } | RunEvent::Checkpoint { .. } | RunEvent::Warning(_) => {
            }
        }
    }

    /// The run ended.
    pub fn finish(&mut self) {
        self.done = self.total();
        self.evaluating = false;
    }

    /// Seconds of work, as planned.
    pub fn total(&self) -> f64 {
        self.work.total(&self.settings)
    }

    /// Seconds of the planned work that are done.
    pub fn done(&self) -> f64 {
        self.done.clamp(0.0, self.total())
    }

    /// The part of the work that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        if self.total() > 0.0 {
            self.done() / self.total()
        } else {
            0.0
        }
    }

    /// How many seconds a planned second takes; `None` until there is something to judge from.
    pub fn slowness(&self, now: f64) -> Option<f64> {
        let worked = self.done() - self.done_before;
        let took = now - self.began?;
        (worked > 0.0 && took >= 1.0).then_some(took / worked)
    }

    /// Seconds left, at the pace so far (at the planned pace before there is any).
    pub fn remaining(&self, now: f64) -> f64 {
        (self.total() - self.done()) * self.slowness(now).unwrap_or(1.0)
    }

    /// Training steps a second, evaluations and checkpoints not counted.
    pub fn steps_per_second(&self) -> Option<f64> {
        self.steps.per_second()
    }

    /// The epochs of the run.
    pub fn epochs(&self) -> u64 {
        self.settings.epochs
    }

    fn after(&self, epochs: u64) -> f64 {
        self.total() - self.work.remaining(&self.settings, epochs)
    }
}

/// Steps a second, with old steps forgotten.
#[derive(Debug, Clone, Default)]
struct Pace {
    last: Option<f64>,
    seconds: f64,
    steps: f64,
}

impl Pace {
    /// Keeps about the last 200 steps.
    const FORGET: f64 = 0.995;

    fn tick(&mut self, now: f64) {
        if let Some(last) = self.last.replace(now) {
            self.seconds = self.seconds * Self::FORGET + (now - last);
            self.steps = self.steps * Self::FORGET + 1.0;
        }
    }

    fn pause(&mut self) {
        self.last = None;
    }

    fn per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.steps / self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::plan::CellStatus;

    fn tracker(status: CellStatus) -> Tracker {
        let mut cell = cell("linear", "jsa", 1);
        cell.settings.epochs = 4;
        cell.settings.check_every = 2;
        cell.settings.final_samples = Some(1000.into());
        // 4 epochs of 10 s, 2 checks of 5 s and 10 s at the end: 60 s.
        let work = Work {
            epoch: 10.0,
            check: 5.0,
            last: 10.0,
        };
        let mut t = Tracker::new(&PlannedCell {
            cell,
            folder: "x".into(),
            status,
            needs: Default::default(),
            work,
        });
        t.start(0.0);
        t
    }

    fn step(epoch: u64, step: u64) -> RunEvent {
        RunEvent::Step {
            epoch,
            step,
            steps_per_epoch: 100,
            loss: 1.0,
        }
    }

    fn check(epoch: u64) -> RunEvent {
        RunEvent::Check {
            epoch,
            stage: 1,
            valid_nll: 120.0,
            test_nll: Some(121.0),
            seconds: 1.0,
        }
    }

    #[test]
    fn done_work_follows_a_run_from_beginning_to_end() {
        let mut t = tracker(CellStatus::New);
        let mut done = |event| {
            t.event(&event, 1.0);
            t.done()
        };
        assert_eq!(done(step(1, 50)), 5.0);
        assert_eq!(done(step(2, 100)), 20.0);
        assert_eq!(done(RunEvent::Evaluating { done: 1, total: 5 }), 21.0);
        assert_eq!(done(check(2)), 25.0);
        assert_eq!(done(step(4, 100)), 45.0);
        assert_eq!(done(RunEvent::Evaluating { done: 4, total: 5 }), 49.0);
        assert_eq!(done(check(4)), 50.0);
        assert_eq!(done(RunEvent::Evaluating { done: 1, total: 2 }), 55.0);
        t.finish();
        assert_eq!((t.fraction(), t.nll), (1.0, Some(121.0)));
    }

    #[test]
    fn the_time_left_follows_the_pace() {
        let mut t = tracker(CellStatus::New);
        assert_eq!(t.remaining(0.0), 60.0, "as planned");
        t.event(&step(1, 100), 20.0); // 10 planned seconds took 20
        assert_eq!(t.remaining(20.0), 100.0);
    }

    #[test]
    fn a_resumed_run_is_judged_by_what_it_does_now() {
        let mut t = tracker(CellStatus::Partial { epoch: 2 });
        t.event(&RunEvent::Resumed { epoch: 2, step: 0 }, 0.0);
        assert_eq!((t.done(), t.slowness(5.0)), (25.0, None));
        t.event(&step(3, 100), 5.0); // 10 planned seconds took 5
        assert_eq!(t.remaining(5.0), 12.5);
    }

    #[test]
    fn steps_a_second_leave_evaluations_out() {
        let mut t = tracker(CellStatus::New);
        assert_eq!(t.steps_per_second(), None);
        for i in 0..10 {
            t.event(&step(2, i), i as f64 * 0.5);
        }
        t.event(&RunEvent::Evaluating { done: 1, total: 2 }, 100.0);
        t.event(&step(3, 1), 200.0);
        t.event(&step(3, 2), 200.5);
        let pace = t.steps_per_second().unwrap();
        assert!((pace - 2.0).abs() < 1e-12, "{pace}");
    }
}
