//! Machine-readable progress: one JSON object a line.

use super::Sink;
use super::board::Board;
use crate::cell_runner::RunEvent;
use crate::driver::Outcome;
use serde_json::{Value, json};
use std::io::Write;

/// Writes one JSON object a line.
pub struct Json<W> {
    out: W,
    spoken: Vec<f64>,
}

/// Seconds between two `progress` lines of a cell.
const INTERVAL: f64 = 1.0;

impl<W: Write + Send> Json<W> {
    /// Lines about so many cells, written to `out`.
    pub fn new(out: W, cells: usize) -> Self {
        Self {
            out,
            spoken: vec![f64::NEG_INFINITY; cells],
        }
    }

    fn line(&mut self, board: &Board, index: usize, event: &str, mut fields: Value) {
        let cell = board.cell(index);
        fields["event"] = event.into();
        fields["time"] = board.now().into();
        fields["net"] = cell.net.as_str().into();
        if let Some(particles) = cell.particles() {
            fields["particles"] = particles.into();
        }
        fields["method"] = cell.method.as_str().into();
        fields["seed"] = cell.seed.into();
        // Progress that cannot be written is no reason to stop a run.
        let _ = writeln!(self.out, "{fields}").and_then(|()| self.out.flush());
    }
}

impl<W: Write + Send> Sink for Json<W> {
    fn started(&mut self, board: &Board, index: usize) {
        self.line(
            board,
            index,
            "started",
            json!({"seconds_left": board.remaining(index)}),
        );
    }

    fn event(&mut self, board: &Board, index: usize, event: &RunEvent) {
        match event {
            RunEvent::Resumed { epoch, step } => {
                self.line(board, index, "resumed", json!({"epoch": epoch, "step": step}));
            }
            RunEvent::Check { epoch, stage, valid_nll, test_nll, seconds } => self.line(
                board,
                index,
                "check",
                json!({
                    "epoch": epoch, "stage": stage, "valid_nll": valid_nll, "test_nll": test_nll, "seconds": seconds,
                }),
            ),
            RunEvent::ChainsStarted { epoch } => {
                self.line(board, index, "chains-started", json!({"epoch": epoch}));
            }
            RunEvent::Checkpoint { epoch } => self.line(board, index, "checkpoint", json!({"epoch": epoch})),
            RunEvent::Warning(text) => self.line(board, index, "warning", json!({"text": text})),
            RunEvent::Step { .. } | RunEvent::Evaluating { .. } => {
                if board.now() - self.spoken[index] < INTERVAL {
                    return;
                }
                self.spoken[index] = board.now();
                let tracker = board.tracker(index);
                let fields = json!({
                    "epoch": tracker.epoch,
                    "epochs": tracker.epochs(),
                    "evaluating": tracker.evaluating,
                    "fraction": tracker.fraction(),
                    "steps_per_second": tracker.steps_per_second(),
                    "seconds_left": board.remaining(index),
                    "seconds_left_overall": board.remaining_overall(),
                });
                self.line(board, index, "progress", fields);
            }
        }
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Outcome) {
        match outcome {
            Outcome::Done(result) => self.line(board, index, "done", json!({"result": result})),
            Outcome::Interrupted { epoch } => {
                self.line(board, index, "interrupted", json!({"epoch": epoch}))
            }
            Outcome::NotStarted => {}
            Outcome::Failed(error) => {
                self.line(board, index, "failed", json!({"error": error.to_string()}))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::plan::{CellStatus, Plan, PlannedCell};
    use crate::schedule::Work;

    #[test]
    fn every_line_is_an_object_that_names_its_cell() {
        let planned = PlannedCell {
            cell: cell("linear", "jsa", 1),
            folder: "x".into(),
            status: CellStatus::New,
            needs: Default::default(),
            work: Work {
                epoch: 1.0,
                check: 0.0,
                last: 0.0,
            },
        };
        let board = Board::new(
            &Plan {
                cells: vec![planned],
            },
            1,
        );
        let mut text = Vec::new();
        let mut json = Json::new(&mut text, 1);
        json.started(&board, 0);
        let step = RunEvent::Step {
            epoch: 1,
            step: 1,
            steps_per_epoch: 2,
            loss: 1.0,
        };
        json.event(&board, 0, &step);
        json.event(&board, 0, &step); // within the same second: left out
        json.event(&board, 0, &RunEvent::Warning("hm".into()));
        json.ended(&board, 0, &Outcome::Interrupted { epoch: 1 });
        let lines: Vec<Value> = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        let events: Vec<_> = lines.iter().map(|l| l["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["started", "progress", "warning", "interrupted"]);
        assert!(lines.iter().all(|l| l["net"] == "linear" && l["seed"] == 1));
    }
}
