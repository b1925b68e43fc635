//! Machine-readable progress: one JSON object a line.

use super::Sink;
use super::board::Board;
use crate::event::{Ended, Event};
use serde_json::{Value, json};
use std::io::Write;

/// Writes one JSON object a line.
pub struct Json<W> {
    out: W,
    spoken: Vec<f64>,
}

/// Seconds between two `progress` lines of a unit.
const INTERVAL: f64 = 1.0;

impl<W: Write + Send> Json<W> {
    /// Lines about so many units, written to `out`.
    pub fn new(out: W, units: usize) -> Self {
        Self {
            out,
            spoken: vec![f64::NEG_INFINITY; units],
        }
    }

    fn line(&mut self, board: &Board, index: usize, event: &str, mut fields: Value) {
        let unit = &board.units[index];
        for (name, value) in &unit.fields {
            fields[name] = value.clone();
        }
        fields["event"] = event.into();
        fields["time"] = board.now.into();
        fields["seed"] = unit.seed.into();
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

    fn event(&mut self, board: &Board, index: usize, event: &Event) {
        let tracker = &board.trackers[index];
        let name = tracker.count.name;
        match event {
            Event::Resumed { done } => self.line(board, index, "resumed", json!({name: done})),
            Event::Check { done, fields, .. } => {
                let mut fields = fields.clone();
                fields[name] = (*done).into();
                self.line(board, index, "check", fields);
            }
            Event::Trained { done, .. } => self.line(board, index, "trained", json!({name: done})),
            Event::Note { event, fields } => self.line(board, index, event, fields.clone()),
            Event::Warning(text) => self.line(board, index, "warning", json!({"text": text})),
            Event::Step { .. } | Event::Evaluating { .. } => {
                if board.now - self.spoken[index] < INTERVAL {
                    return;
                }
                self.spoken[index] = board.now;
                let mut fields = json!({
                    "evaluating": tracker.evaluating.is_some(),
                    "fraction": tracker.fraction(),
                    "score": tracker.score,
                    "steps_per_second": tracker.steps_per_second(),
                    "seconds_left": board.remaining(index),
                    "seconds_left_overall": board.remaining_overall(),
                });
                fields[name] = tracker.at.into();
                fields[format!("{name}s")] = tracker.count.all.into();
                self.line(board, index, "progress", fields);
            }
        }
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Ended) {
        let name = board.trackers[index].count.name;
        match outcome {
            Ended::Done(result, _) => self.line(board, index, "done", json!({"result": result})),
            Ended::Interrupted { done } => {
                self.line(board, index, "interrupted", json!({name: done}));
            }
            Ended::NotStarted => {}
            Ended::Failed(error) => {
                self.line(board, index, "failed", json!({"error": error.to_string()}));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::planned;
    use crate::plan::Plan;
    use crate::status::Status;
    use crate::work::Work;

    #[test]
    fn every_line_is_an_object_that_names_its_unit() {
        let units = vec![planned("linear", Status::New, Work::default())];
        let mut board = Board::new(&Plan { units }, 1);
        let mut text = Vec::new();
        let mut json = Json::new(&mut text, 1);
        json.started(&board, 0);
        let step = Event::Step {
            done: 0.5,
            score: None,
        };
        json.event(&board, 0, &step);
        json.event(&board, 0, &step); // within the same second: left out
        board.event(0, &step, INTERVAL);
        json.event(&board, 0, &step);
        board.event(0, &step, 1.5 * INTERVAL);
        json.event(&board, 0, &step);
        json.event(&board, 0, &Event::Warning("hm".into()));
        json.ended(&board, 0, &Ended::Interrupted { done: 1 });
        let text = String::from_utf8(text).unwrap();
        let lines = text.lines().map(serde_json::from_str);
        let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
        let events: Vec<_> = lines.iter().map(|l| l["event"].as_str().unwrap()).collect();
        let expected = ["started", "progress", "progress", "warning", "interrupted"];
        assert_eq!(events, expected);
        assert_eq!(lines[2]["time"], INTERVAL);
        assert!(lines.iter().all(|l| l["net"] == "linear" && l["seed"] == 1));
    }
}
