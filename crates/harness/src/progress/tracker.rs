//! Follows one unit: where it is, how fast, and how long it will take. Time comes as an argument, in seconds.

use crate::event::Event;
use crate::plan::PlannedUnit;
use crate::work::{Count, Work};

/// Progress of a unit.
#[derive(Debug, Clone)]
pub struct Tracker {
    /// Count that measures the progress.
    pub count: Count,
    work: Work,
    /// Counts in progress or done, for people: 3 of 5.
    pub at: u64,
    /// The last score.
    pub score: Option<f64>,
    /// Name of the evaluation in progress, if there is one.
    pub evaluating: Option<String>,
    /// Whether how far that is is not known.
    is_open: bool,
    began: Option<f64>,
    done_before: f64,
    done: f64,
    /// Whether the evaluation under way is that of the end.
    trained: bool,
    steps: Pace,
}

impl Tracker {
    /// A tracker of a planned unit, which may have counts behind it.
    pub fn new(planned: &PlannedUnit) -> Self {
        let done = planned.total() - planned.remaining();
        let at = planned.done();
        Self {
            count: planned.unit.count,
            work: planned.cost.work,
            at,
            score: None,
            evaluating: None,
            is_open: false,
            began: None,
            done_before: done,
            done,
            trained: false,
            steps: Pace::default(),
        }
    }

    /// The run started.
    pub fn start(&mut self, now: f64) {
        self.began = Some(now);
    }

    /// Takes in an event.
    pub fn event(&mut self, event: &Event, now: f64) {
        if !matches!(event, Event::Step { .. }) {
            self.steps.pause();
        }
        match event {
            Event::Resumed { done } => {
                self.at = *done;
                self.done = self.after(*done);
                self.done_before = self.done;
            }
            Event::Step { done, score } => {
                self.evaluating = None;
                self.steps.tick(now);
                self.score = score.or(self.score);
                self.at = done.ceil() as u64;
                let whole = (done.ceil() as u64).saturating_sub(1);
                self.done = self.after(whole) + (done - whole as f64) * self.work.each;
            }
            Event::Trained { done, part } => {
                self.trained = true;
                self.at = *done;
                let here = self.after(self.count.all) + part * self.work.last;
                // What it ended without, or another program did, is no work of this one.
                self.done_before += here - self.done;
                self.done = here;
            }
            Event::Evaluating { part, what } => {
                self.evaluating = Some(what.clone());
                self.is_open = part.is_none();
                let Some(part) = part else { return };
                self.done = if self.trained || self.work.check_every.is_none() {
                    self.after(self.count.all) + part * self.work.last
                } else {
                    self.after(self.at) - self.work.check * (1.0 - part)
                };
            }
            Event::Check { done, score, .. } => {
                self.evaluating = None;
                self.at = *done;
                self.score = score.or(self.score);
                self.done = self.after(*done);
            }
            Event::Note { .. } | Event::Warning(_) => {}
        }
    }

    /// The run ended.
    pub fn finish(&mut self) {
        self.done = self.total();
        self.evaluating = None;
    }

    /// Seconds of work, as planned.
    pub fn total(&self) -> f64 {
        self.work.total(self.count.all)
    }

    /// Seconds of the planned work that are done.
    pub fn done(&self) -> f64 {
        self.done.clamp(0.0, self.total())
    }

    /// The part of the work that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        match self.total() {
            total if total > 0.0 => self.done() / total,
            _ => 0.0,
        }
    }

    /// Seconds that a planned second takes; `None` until there is something to judge from.
    pub fn slowness(&self, now: f64) -> Option<f64> {
        let worked = self.done() - self.done_before;
        let took = now - self.began?;
        (worked > 0.0 && took >= 1.0).then_some(took / worked)
    }

    /// Seconds left, at the pace so far (at the planned pace before there is any); infinite where all that is planned is done, and
    /// what follows has no known end.
    pub fn remaining(&self, now: f64) -> f64 {
        let left = self.total() - self.done();
        match self.evaluating.is_some() && self.is_open && left <= 0.0 {
            true => f64::INFINITY,
            false => left * self.slowness(now).unwrap_or(1.0),
        }
    }

    /// Training steps a second, evaluations and checkpoints not counted.
    pub fn steps_per_second(&self) -> Option<f64> {
        self.steps.per_second()
    }

    fn after(&self, done: u64) -> f64 {
        self.total() - self.work.remaining(self.count.all, done)
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
    use crate::fake::planned;
    use crate::status::Status;

    /// Four counts of 10 s, a check of 5 s every second count, and 10 s at the end.
    fn tracker(status: Status) -> Tracker {
        let work = Work {
            each: 10.0,
            check: 5.0,
            check_every: Some(2),
            last: 10.0,
        };
        let mut planned = planned("a", status, work);
        planned.unit.count.all = 4;
        let mut t = Tracker::new(&planned);
        t.start(0.0);
        t
    }

    fn step(done: f64) -> Event {
        Event::Step { done, score: None }
    }

    fn evaluating(part: f64) -> Event {
        let part = Some(part);
        let what = String::new();
        Event::Evaluating { part, what }
    }

    fn trained(done: u64, part: f64) -> Event {
        Event::Trained { done, part }
    }

    fn check(done: u64) -> Event {
        Event::Check {
            done,
            score: Some(121.0),
            text: String::new(),
            fields: serde_json::Value::Null,
        }
    }

    #[test]
    fn done_work_follows_a_run_from_beginning_to_end() {
        let mut t = tracker(Status::New);
        let mut done = |event| {
            t.event(&event, 1.0);
            t.done()
        };
        assert_eq!(done(step(0.5)), 5.0);
        assert_eq!(done(step(2.0)), 20.0);
        assert_eq!(done(evaluating(0.2)), 21.0);
        assert_eq!(done(check(2)), 25.0);
        assert_eq!(done(step(4.0)), 45.0);
        assert_eq!(done(evaluating(0.8)), 49.0);
        assert_eq!(done(check(4)), 50.0);
        assert_eq!(done(trained(4, 0.0)), 50.0);
        assert_eq!(done(evaluating(0.5)), 55.0);
        t.finish();
        assert_eq!((t.fraction(), t.score), (1.0, Some(121.0)));
    }

    #[test]
    fn what_a_run_ends_without_is_no_work_left_and_none_done() {
        let mut t = tracker(Status::New);
        t.event(&step(2.0), 40.0); // 20 planned seconds took 40
        t.event(&check(2), 50.0);
        t.event(&trained(2, 0.0), 50.0);
        assert_eq!((t.at, t.remaining(50.0)), (2, 20.0));
        t.event(&evaluating(0.5), 60.0);
        assert_eq!(t.remaining(60.0), 10.0);
        t.event(&evaluating(1.0), 70.0);
        assert_eq!(t.remaining(70.0), 0.0);
    }

    #[test]
    fn the_evaluation_of_the_end_goes_on_where_another_program_left_it() {
        let mut t = tracker(Status::Partial { done: 2 });
        t.event(&Event::Resumed { done: 2 }, 0.0);
        t.event(&trained(2, 0.4), 0.0);
        assert_eq!((t.done(), t.slowness(5.0)), (54.0, None));
        t.event(&evaluating(0.6), 8.0); // 2 planned seconds took 8
        assert_eq!(t.remaining(8.0), 16.0);
    }

    #[test]
    fn the_time_left_follows_the_pace() {
        let mut t = tracker(Status::New);
        assert_eq!(t.remaining(0.0), 60.0, "as planned");
        t.event(&step(1.0), 20.0); // 10 planned seconds took 20
        assert_eq!(t.remaining(20.0), 100.0);
        let mut later = tracker(Status::New);
        later.start(100.0);
        later.event(&step(1.0), 120.0);
        assert_eq!(later.remaining(120.0), 100.0);
    }

    #[test]
    fn how_long_an_evaluation_takes_that_is_not_planned_is_not_known() {
        let work = Work {
            each: 10.0,
            ..Work::default()
        };
        let mut t = Tracker::new(&planned("a", Status::New, work));
        t.start(0.0);
        let open = Event::Evaluating {
            part: None,
            what: "rows".into(),
        };
        t.event(&open, 1.0);
        assert_eq!(t.remaining(1.0), 50.0, "before its steps");
        t.event(&step(5.0), 50.0);
        assert_eq!(t.remaining(50.0), 0.0);
        t.event(&open, 51.0);
        assert_eq!(t.remaining(51.0), f64::INFINITY);
        t.event(&evaluating(0.5), 52.0);
        assert_eq!(t.remaining(52.0), 0.0);
        t.event(&open, 53.0);
        t.finish();
        assert_eq!(t.remaining(54.0), 0.0);
    }

    #[test]
    fn a_resumed_run_is_judged_by_what_it_does_now() {
        let mut t = tracker(Status::Partial { done: 2 });
        t.event(&Event::Resumed { done: 2 }, 0.0);
        assert_eq!((t.done(), t.slowness(5.0)), (25.0, None));
        t.event(&step(3.0), 5.0); // 10 planned seconds took 5
        assert_eq!(t.remaining(5.0), 12.5);
    }

    #[test]
    fn steps_a_second_leave_evaluations_out() {
        let mut t = tracker(Status::New);
        assert_eq!(t.steps_per_second(), None);
        for i in 0..10 {
            t.event(&step(1.0 + f64::from(i) / 100.0), f64::from(i) * 0.5);
        }
        t.event(&evaluating(0.5), 100.0);
        t.event(&step(2.01), 200.0);
        t.event(&step(2.02), 200.5);
        let pace = t.steps_per_second().unwrap();
        assert!((pace - 2.0).abs() < 1e-12, "{pace}");
    }
}
