//! Follows all units of a plan: which run, which wait, and when the whole will be done.

use super::tracker::Tracker;
use crate::event::{Ended, Event};
use crate::plan::Plan;
use crate::schedule::makespan;
use crate::unit::Unit;

/// Progress of every unit of a plan.
#[derive(Debug, Clone)]
pub struct Board {
    jobs: usize,
    queue: Vec<usize>,
    /// The units.
    pub units: Vec<Unit>,
    /// Progress of each.
    pub trackers: Vec<Tracker>,
    states: Vec<State>,
    /// Seconds since the beginning.
    pub now: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended,
}

impl Board {
    /// A board for a plan, run with `jobs` units at once.
    pub fn new(plan: &Plan, jobs: usize) -> Self {
        let state = |to_run| match to_run {
            true => State::Waiting,
            false => State::Ended,
        };
        let units = plan.units.iter();
        Self {
            jobs,
            queue: plan.queue(),
            units: units.clone().map(|planned| planned.unit.clone()).collect(),
            trackers: units.clone().map(Tracker::new).collect(),
            states: units.map(|p| state(p.status.is_to_run())).collect(),
            now: 0.0,
        }
    }

    pub(super) fn started(&mut self, index: usize, now: f64) {
        self.now = now;
        self.states[index] = State::Running;
        self.trackers[index].start(now);
    }

    pub(super) fn event(&mut self, index: usize, event: &Event, now: f64) {
        self.now = now;
        self.trackers[index].event(event, now);
    }

    pub(super) fn ended(&mut self, index: usize, outcome: &Ended, now: f64) {
        self.now = now;
        self.states[index] = State::Ended;
        if matches!(outcome, Ended::Done(..)) {
            self.trackers[index].finish();
        }
    }

    /// Seconds left for a unit.
    pub fn remaining(&self, index: usize) -> f64 {
        self.trackers[index].remaining(self.now)
    }

    /// Units that ended, and all units.
    pub fn count(&self) -> (usize, usize) {
        let ended = self.states.iter().filter(|&&s| s == State::Ended);
        (ended.count(), self.states.len())
    }

    /// The part of all work that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let total: f64 = self.trackers.iter().map(Tracker::total).sum();
        let done: f64 = self.trackers.iter().map(Tracker::done).sum();
        if total > 0.0 { done / total } else { 0.0 }
    }

    /// Seconds until all is done: running units at their own pace, waiting ones at the mean pace so far.
    pub fn remaining_overall(&self) -> f64 {
        let with = |state| {
            let queue = self.queue.iter().copied();
            queue.filter(move |&i| self.states[i] == state)
        };
        let paces: Vec<f64> = with(State::Running)
            .filter_map(|i| self.trackers[i].slowness(self.now))
            .collect();
        let pace = match paces.is_empty() {
            true => 1.0,
            false => paces.iter().sum::<f64>() / paces.len() as f64,
        };
        let running = with(State::Running).map(|i| self.remaining(i));
        let left = |i: usize| self.trackers[i].total() - self.trackers[i].done();
        let waiting = with(State::Waiting).map(|i| pace * left(i));
        makespan(running.chain(waiting), self.jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::planned;
    use crate::status::Status;
    use crate::work::Work;

    #[test]
    fn the_whole_takes_as_long_as_its_threads() {
        let work = Work {
            each: 2.0,
            ..Work::default()
        }; // 5 counts: 10 s
        let planned = |name| planned(name, Status::New, work);
        let units = ["a", "b", "c"].map(planned).into();
        let mut board = Board::new(&Plan { units }, 2);
        assert_eq!(
            (board.remaining_overall(), board.fraction(), board.count()),
            (20.0, 0.0, (0, 3))
        );
        board.started(0, 0.0);
        board.started(1, 0.0);
        for index in [0, 1] {
            // 2 planned seconds took 4: 16 s left for these two, then 20 s for the third.
            let step = Event::Step {
                done: 1.0,
                score: None,
            };
            board.event(index, &step, 4.0);
        }
        assert_eq!(board.remaining_overall(), 36.0);
        assert!((board.fraction() - 4.0 / 30.0).abs() < 1e-12);
        board.ended(0, &Ended::Interrupted { done: 1 }, 4.0);
        assert_eq!(board.count(), (1, 3));
    }

    #[test]
    fn what_waits_with_work_behind_it_takes_less() {
        let work = Work {
            each: 2.0,
            ..Work::default()
        };
        let partial = planned("a", Status::Partial { done: 3 }, work);
        let board = Board::new(
            &Plan {
                units: vec![partial],
            },
            1,
        );
        assert_eq!(board.remaining_overall(), 4.0);
        assert!((board.fraction() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn of_no_work_nothing_is_done() {
        let nothing = planned("a", Status::New, Work::default());
        let board = Board::new(
            &Plan {
                units: vec![nothing],
            },
            1,
        );
        assert_eq!(board.fraction(), 0.0);
        assert_eq!(board.trackers[0].fraction(), 0.0);
    }
}
