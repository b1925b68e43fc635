//! Plain lines for a log: one for each check, and one now and then in between.

use super::Sink;
use super::board::Board;
use crate::event::{Ended, Event};
use crate::schedule::{clock, format_duration};
use std::io::Write;

/// Writes plain lines.
pub struct Lines<W> {
    out: W,
    spoken: Vec<f64>,
}

/// Seconds of silence of a running unit, at most.
const SILENCE: f64 = 60.0;

impl<W: Write + Send> Lines<W> {
    /// Lines about so many units, written to `out`.
    pub fn new(out: W, units: usize) -> Self {
        Self {
            out,
            spoken: vec![0.0; units],
        }
    }

    fn line(&mut self, board: &Board, index: usize, text: &str) {
        self.spoken[index] = board.now;
        // Progress that cannot be written is no reason to stop a run.
        let _ = writeln!(
            self.out,
            "[{}] {}: {text}",
            clock(board.now),
            board.units[index].label
        );
    }
}

impl<W: Write + Send> Sink for Lines<W> {
    fn started(&mut self, board: &Board, index: usize) {
        let text = format!("started, about {}", format_duration(board.remaining(index)));
        self.line(board, index, &text);
    }

    fn event(&mut self, board: &Board, index: usize, event: &Event) {
        let tracker = &board.trackers[index];
        let count = tracker.count;
        let pace = tracker
            .steps_per_second()
            .map_or(String::new(), |pace| format!(", {pace:.0} steps/s"));
        let left = format!(
            "{} left, {} for all",
            format_duration(board.remaining(index)),
            format_duration(board.remaining_overall())
        );
        let at = |done: u64| format!("{} {done}/{}", count.name, count.all);
        match event {
            Event::Check { done, text, .. } => {
                let text = format!("{}, {text}{pace}, {left}", at(*done));
                self.line(board, index, &text);
            }
            Event::Resumed { done } => {
                let text = format!("resumes after {}", at(*done));
                self.line(board, index, &text);
            }
            Event::Trained { done, .. } => {
                let text = format!("trained to {}, evaluating, {left}", at(*done));
                self.line(board, index, &text);
            }
            Event::Warning(text) => self.line(board, index, &format!("warning: {text}")),
            Event::Step { .. } | Event::Evaluating { .. } => {
                if board.now - self.spoken[index] >= SILENCE {
                    let doing = match tracker.evaluating.as_deref() {
                        None => String::new(),
                        Some("") => ", evaluating".into(),
                        Some(what) => format!(", {what}"),
                    };
                    let label = board.units[index].score;
                    let score = tracker
                        .score
                        .map_or(String::new(), |score| format!(", {label} {score:.2}"));
                    let text = format!("{}{score}{doing}{pace}, {left}", at(tracker.at));
                    self.line(board, index, &text);
                }
            }
            Event::Note { .. } => {}
        }
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Ended) {
        let text = match outcome {
            Ended::Done(_, summary) => format!("done, {summary}"),
            Ended::Interrupted { done } => {
                let name = board.trackers[index].count.name;
                format!("stopped after {name} {done}, resumable")
            }
            Ended::NotStarted => return,
            Ended::Failed(error) => format!("FAILED: {error}"),
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
    use crate::error::HarnessError;
    use crate::fake::planned;
    use crate::plan::Plan;
    use crate::status::Status;
    use crate::work::Work;
    use serde_json::Value;

    #[test]
    fn checks_speak_and_steps_only_after_a_minute_of_silence() {
        let work = Work {
            each: 100.0,
            ..Work::default()
        };
        let units = vec![planned("linear", Status::New, work)];
        let mut board = Board::new(&Plan { units }, 1);
        let mut text = Vec::new();
        let mut lines = Lines::new(&mut text, 1);
        board.started(0, 0.0);
        lines.started(&board, 0);
        for (step, now) in [(0.1, 10.0), (0.2, 20.0), (0.6, 60.0), (0.7, 70.0)] {
            let event = Event::Step {
                done: step,
                score: None,
            };
            board.event(0, &event, now);
            lines.event(&board, 0, &event);
        }
        let event = Event::Check {
            done: 1,
            score: Some(121.456),
            text: "NLL valid 120.00".into(),
            fields: Value::Null,
        };
        board.event(0, &event, 100.0);
        lines.event(&board, 0, &event);
        let (done, part) = (1, 0.0);
        let trained = Event::Trained { done, part };
        board.event(0, &trained, 100.0);
        lines.event(&board, 0, &trained);
        let failed = Ended::Failed(HarnessError::Panic("on purpose".into()));
        board.ended(0, &failed, 101.0);
        lines.ended(&board, 0, &failed);
        lines.stopping("Stopping.");
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "[0:00] linear / seed 1: started, about 8 min 20 s\n\
             [1:00] linear / seed 1: epoch 1/5, 0 steps/s, 7 min 20 s left, 7 min 20 s for all\n\
             [1:40] linear / seed 1: epoch 1/5, NLL valid 120.00, 0 steps/s, 6 min 40 s left, 6 min 40 s for all\n\
             [1:40] linear / seed 1: trained to epoch 1/5, evaluating, 0 s left, 0 s for all\n\
             [1:41] linear / seed 1: FAILED: the run panicked: on purpose\n\
             Stopping.\n"
        );
    }
}
