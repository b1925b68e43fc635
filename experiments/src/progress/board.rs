//! Follows all cells of a plan: which run, which wait, and when the whole will be done.

use super::tracker::Tracker;
use crate::cell::Cell;
use crate::cell_runner::RunEvent;
use crate::driver::Outcome;
use crate::plan::Plan;
use crate::schedule::makespan;

/// Where every cell of a plan is.
#[derive(Debug, Clone)]
pub struct Board {
    jobs: usize,
    queue: Vec<usize>,
    cells: Vec<Cell>,
    trackers: Vec<Tracker>,
    states: Vec<State>,
    now: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended,
}

impl Board {
    /// A board for a plan, run with `jobs` cells at once.
    pub fn new(plan: &Plan, jobs: usize) -> Self {
        Self {
            jobs,
            queue: plan.queue(),
            cells: plan.cells.iter().map(|c| c.cell.clone()).collect(),
            trackers: plan.cells.iter().map(Tracker::new).collect(),
            states: plan
                .cells
                .iter()
                .map(|c| {
                    if c.is_to_run() {
                        State::Waiting
                    } else {
                        State::Ended
                    }
                })
                .collect(),
            now: 0.0,
        }
    }

    pub(super) fn started(&mut self, index: usize, now: f64) {
        self.now = now;
        self.states[index] = State::Running;
        self.trackers[index].start(now);
    }

    pub(super) fn event(&mut self, index: usize, event: &RunEvent, now: f64) {
        self.now = now;
        self.trackers[index].event(event, now);
    }

    pub(super) fn ended(&mut self, index: usize, outcome: &Outcome, now: f64) {
        self.now = now;
        self.states[index] = State::Ended;
        if matches!(outcome, Outcome::Done(_)) {
            self.trackers[index].finish();
        }
    }

    /// Seconds since the beginning.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// A cell.
    pub fn cell(&self, index: usize) -> &Cell {
        &self.cells[index]
    }

    /// All cells.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Where a cell is.
    pub fn tracker(&self, index: usize) -> &Tracker {
        &self.trackers[index]
    }

    /// Seconds left for a cell.
    pub fn remaining(&self, index: usize) -> f64 {
        self.trackers[index].remaining(self.now)
    }

    /// Cells that ended, and all cells.
    pub fn count(&self) -> (usize, usize) {
        (
            self.states.iter().filter(|&&s| s == State::Ended).count(),
            self.states.len(),
        )
    }

    /// The part of all work that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let total: f64 = self.trackers.iter().map(Tracker::total).sum();
        let done: f64 = self.trackers.iter().map(Tracker::done).sum();
        if total > 0.0 { done / total } else { 0.0 }
    }

    /// Seconds until all is done: running cells at their own pace, waiting ones at the mean pace so far.
    pub fn remaining_overall(&self) -> f64 {
        let with = |state| {
            self.queue
                .iter()
                .copied()
                .filter(move |&i| self.states[i] == state)
        };
        let paces: Vec<f64> = self
            .queue
            .iter()
            .filter(|&&i| self.states[i] == State::Running)
            .filter_map(|&i| self.trackers[i].slowness(self.now))
            .collect();
        let pace = if paces.is_empty() {
            1.0
        } else {
            paces.iter().sum::<f64>() / paces.len() as f64
        };
        let running = with(State::Running).map(|i| self.remaining(i));
        let waiting = with(State::Waiting)
            .map(|i| pace * (self.trackers[i].total() - self.trackers[i].done()));
        makespan(running.chain(waiting), self.jobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::plan::{CellStatus, PlannedCell};
    use crate::schedule::Work;

    #[test]
    fn the_whole_takes_as_long_as_its_threads() {
        let planned = |net: &str| PlannedCell {
            cell: cell(net, "jsa", 1),
            folder: "x".into(),
            status: CellStatus::New,
            needs: Default::default(),
            work: Work {
                epoch: 2.0,
                check: 0.0,
                last: 0.0,
            }, // 5 epochs: 10 s
        };
        let mut board = Board::new(
            &Plan {
                cells: vec![planned("a"), planned("b"), planned("c")],
            },
            2,
        );
        assert_eq!(
            (board.remaining_overall(), board.fraction(), board.count()),
            (20.0, 0.0, (0, 3))
        );
        board.started(0, 0.0);
        board.started(1, 0.0);
        for index in [0, 1] {
            // 2 planned seconds took 4: 16 s left for these two, then 20 s for the third.
            board.event(
                index,
                &RunEvent::Step {
                    epoch: 1,
                    step: 9,
                    steps_per_epoch: 9,
                    loss: 0.0,
                },
                4.0,
            );
        }
        assert_eq!(board.remaining_overall(), 36.0);
        assert!((board.fraction() - 4.0 / 30.0).abs() < 1e-12);
        board.ended(0, &Outcome::Interrupted { epoch: 1 }, 4.0);
        assert_eq!(board.count(), (1, 3));
    }
}
