//! Plain lines for a log: one for each check, and one now and then in between.

use super::Sink;
use super::board::Board;
use crate::cell_runner::RunEvent;
use crate::driver::Outcome;
use crate::schedule::{clock, say};
use std::io::Write;

/// Writes plain lines.
pub struct Lines<W> {
    out: W,
    spoken: Vec<f64>,
}

/// Seconds of silence of a running cell, at most.
const SILENCE: f64 = 60.0;

impl<W: Write + Send> Lines<W> {
    /// Lines about so many cells, written to `out`.
    pub fn new(out: W, cells: usize) -> Self {
        Self {
            out,
            spoken: vec![0.0; cells],
        }
    }

    fn line(&mut self, board: &Board, index: usize, text: &str) {
        self.spoken[index] = board.now();
        // Progress that cannot be written is no reason to stop a run.
        let _ = writeln!(
            self.out,
            "[{}] {}: {text}",
            clock(board.now()),
            board.cell(index).label()
        );
    }
}

impl<W: Write + Send> Sink for Lines<W> {
    fn started(&mut self, board: &Board, index: usize) {
        let text = format!("started, about {}", say(board.remaining(index)));
        self.line(board, index, &text);
    }

    fn event(&mut self, board: &Board, index: usize, event: &RunEvent) {
        let tracker = board.tracker(index);
        let pace = tracker
            .steps_per_second()
            .map_or(String::new(), |pace| format!(", {pace:.0} steps/s"));
        let left = format!(
            "{} left, {} for all",
            say(board.remaining(index)),
            say(board.remaining_overall())
        );
        match event {
            RunEvent::Check {
                epoch,
                stage,
                valid_nll,
                test_nll,
                ..
            } => {
                let test = test_nll.map_or(String::new(), |nll| format!(" test {nll:.2}"));
                let text = format!(
                    "epoch {epoch}/{}, stage {stage}, NLL valid {valid_nll:.2}{test}{pace}, {left}",
                    tracker.epochs()
                );
                self.line(board, index, &text);
            }
            RunEvent::Resumed { epoch, .. } => {
                let text = format!("resumes after epoch {epoch}/{}", tracker.epochs());
                self.line(board, index, &text);
            }
            RunEvent::Warning(text) => self.line(board, index, &format!("warning: {text}")),
            RunEvent::Step { .. } | RunEvent::Evaluating { .. } => {
                if board.now() - self.spoken[index] >= SILENCE {
                    let doing = if tracker.evaluating {
                        ", evaluating"
                    } else {
                        ""
                    };
                    let text = format!(
                        "epoch {}/{}{doing}{pace}, {left}",
                        tracker.epoch,
                        tracker.epochs()
                    );
                    self.line(board, index, &text);
                }
            }
            RunEvent::Checkpoint { .. } | RunEvent::ChainsStarted { .. } => {}
        }
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Outcome) {
        let text = match outcome {
            Outcome::Done(result) => format!(
                "done, test NLL {:.2} at epoch {} of {}",
                result.reported_nll(),
                result.selected_epoch,
                result.epochs_done
            ),
            Outcome::Interrupted { epoch } => format!("stopped after epoch {epoch}, resumable"),
            Outcome::NotStarted => return,
            Outcome::Failed(error) => format!("FAILED: {error}"),
        };
        self.line(board, index, &text);
    }

    fn stopping(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::error::HarnessError;
    use crate::plan::{CellStatus, Plan, PlannedCell};
    use crate::schedule::Work;

    #[test]
    fn checks_speak_and_steps_only_after_a_minute_of_silence() {
        let planned = PlannedCell {
            cell: cell("linear", "jsa", 1),
            folder: "x".into(),
            status: CellStatus::New,
            needs: Default::default(),
            work: Work {
                epoch: 100.0,
                check: 0.0,
                last: 0.0,
            },
        };
        let mut board = Board::new(
            &Plan {
                cells: vec![planned],
            },
            1,
        );
        let mut text = Vec::new();
        let mut lines = Lines::new(&mut text, 1);
        board.started(0, 0.0);
        lines.started(&board, 0);
        for (step, now) in [(1, 10.0), (2, 20.0), (6, 60.0), (7, 70.0)] {
            let event = RunEvent::Step {
                epoch: 1,
                step,
                steps_per_epoch: 10,
                loss: 1.0,
            };
            board.event(0, &event, now);
            lines.event(&board, 0, &event);
        }
        let event = RunEvent::Check {
            epoch: 1,
            stage: 1,
            valid_nll: 120.0,
            test_nll: Some(121.456),
            seconds: 100.0,
        };
        board.event(0, &event, 100.0);
        lines.event(&board, 0, &event);
        let failed = Outcome::Failed(HarnessError::Panic("on purpose".into()));
        board.ended(0, &failed, 101.0);
        lines.ended(&board, 0, &failed);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "[0:00] linear / jsa / seed 1: started, about 8 min 20 s\n\
             [1:00] linear / jsa / seed 1: epoch 1/5, 0 steps/s, 7 min 20 s left, 7 min 20 s for all\n\
             [1:40] linear / jsa / seed 1: epoch 1/5, stage 1, NLL valid 120.00 test 121.46, 0 steps/s, \
             6 min 40 s left, 6 min 40 s for all\n\
             [1:41] linear / jsa / seed 1: FAILED: the run panicked: on purpose\n"
        );
    }
}
