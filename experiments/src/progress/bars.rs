//! A live display on a terminal: a line for each running cell, one overall; ended cells scroll up.

use super::Sink;
use super::board::Board;
use crate::cell::Cell;
use crate::cell_runner::RunEvent;
use crate::driver::Outcome;
use crate::schedule::{clock, say};
use console::{Term, style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;

/// Live lines on standard error.
pub struct Bars {
    screen: MultiProgress,
    overall: ProgressBar,
    running: BTreeMap<usize, ProgressBar>,
    net_width: usize,
    method_width: usize,
    frozen: bool,
}

/// A bar's resolution.
const TICKS: u64 = 1000;
/// From this terminal width on, lines are written out.
const WIDE: u16 = 100;

impl Bars {
    /// Live lines on standard error for the cells of `board`.
    pub fn new(board: &Board) -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let overall = screen.add(ProgressBar::new(TICKS));
        overall.set_style(bar_style("{prefix:.bold} {wide_bar:.green/dim} {msg}"));
        let widest = |name: fn(&Cell) -> String| {
            board
                .cells()
                .iter()
                .map(|cell| name(cell).chars().count())
                .max()
                .unwrap_or(0)
        };
        let (net_width, method_width) = (widest(Cell::column), widest(|c| c.method.clone()));
        let bars = Self {
            screen,
            overall,
            running: BTreeMap::new(),
            net_width,
            method_width,
            frozen: false,
        };
        bars.show_overall(board);
        bars
    }

    fn prefix(&self, board: &Board, index: usize) -> String {
        let cell = board.cell(index);
        format!(
            "{:<nets$}  {:<methods$}  {:>2}",
            cell.column(),
            cell.method,
            cell.seed,
            nets = self.net_width,
            methods = self.method_width
        )
    }

    fn show_overall(&self, board: &Board) {
        let (ended, all) = board.count();
        let title = format!("{ended} of {all} cells");
        let width = self.net_width + self.method_width + 6;
        self.overall.set_prefix(format!("{title:<width$}"));
        self.overall
            .set_position((board.fraction() * TICKS as f64) as u64);
        let left = say(board.remaining_overall());
        self.overall.set_message(if wide() {
            format!("{} elapsed, {left} left", clock(board.now()))
        } else {
            format!("{left} left")
        });
    }

    fn show(&self, board: &Board, index: usize) {
        let Some(bar) = self.running.get(&index) else {
            return;
        };
        bar.set_position((board.tracker(index).fraction() * TICKS as f64) as u64);
        bar.set_message(message(board, index, wide()));
        self.show_overall(board);
    }

    fn print(&self, line: String) {
        // A line that cannot be shown is no reason to stop a run.
        let _ = if self.frozen {
            Term::stderr().write_line(&line)
        } else {
            self.screen.println(line)
        };
    }
}

/// What stands right of a cell's bar.
fn message(board: &Board, index: usize, wide: bool) -> String {
    let tracker = board.tracker(index);
    let digits = tracker.epochs().to_string().len();
    let epoch = format!("{:>digits$}/{}", tracker.epoch, tracker.epochs());
    let nll = tracker
        .nll
        .map_or("  -  ".to_string(), |nll| format!("{nll:.2}"));
    let pace = tracker
        .steps_per_second()
        .map_or("-".to_string(), |pace| format!("{pace:.0}"));
    let left = clock(board.remaining(index));
    match (wide, tracker.evaluating) {
        (true, false) => {
            format!("epoch {epoch}  NLL {nll:>6}  {pace:>5} steps/s  {left:>8} left")
        }
        (true, true) => format!(
            "epoch {epoch}  NLL {nll:>6}  {:>13}  {left:>8} left",
            "evaluating"
        ),
        (false, false) => format!("{epoch}  NLL {nll:>6} {pace:>5}/s {left:>7}"),
        (false, true) => format!("{epoch}  NLL {nll:>6} {:>7} {left:>7}", "eval"),
    }
}

fn wide() -> bool {
    Term::stderr().size().1 >= WIDE
}

fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("a well-formed template")
        .progress_chars("━━╌")
}

impl Sink for Bars {
    fn started(&mut self, board: &Board, index: usize) {
        let bar = self
            .screen
            .insert_before(&self.overall, ProgressBar::new(TICKS));
        bar.set_style(bar_style("{prefix} {wide_bar:.cyan/dim} {msg}"));
        bar.set_prefix(self.prefix(board, index));
        self.running.insert(index, bar);
        self.show(board, index);
    }

    fn event(&mut self, board: &Board, index: usize, event: &RunEvent) {
        match event {
            RunEvent::Resumed { epoch, .. } => {
                let line = format!("  resumes after epoch {epoch}");
                self.print(
                    style(format!("{}{line}", self.prefix(board, index)))
                        .dim()
                        .to_string(),
                );
            }
            RunEvent::Warning(text) => {
                self.print(format!(
                    "{}  {} {text}",
                    self.prefix(board, index),
                    style("warning:").yellow()
                ));
            }
            _ => {}
        }
        self.show(board, index);
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Outcome) {
        if let Some(bar) = self.running.remove(&index) {
            bar.finish_and_clear();
            self.screen.remove(&bar);
        }
        let prefix = self.prefix(board, index);
        match outcome {
            Outcome::Done(result) => self.print(format!(
                "{prefix}  {} NLL {:.2} at epoch {} of {}, {}",
                style("done").green(),
                result.reported_nll(),
                result.selected_epoch,
                result.epochs_done,
                say(result.seconds)
            )),
            Outcome::Interrupted { epoch } => {
                self.print(format!(
                    "{prefix}  {} after epoch {epoch}, resumable",
                    style("stopped").yellow()
                ));
            }
            Outcome::NotStarted => {}
            Outcome::Failed(error) => self.print(format!(
                "{prefix}  {} {error}",
                style("FAILED").red().bold()
            )),
        }
        self.show_overall(board);
    }

    fn stopping(&mut self, text: &str) {
        // A terminal writes `^C` behind the last live line, which moves everything: what is live stays as it is,
        // and plain lines follow.
        self.frozen = true;
        self.screen.set_draw_target(ProgressDrawTarget::hidden());
        self.print(String::new());
        self.print(style(text).yellow().bold().to_string());
    }

    fn finish(&mut self) {
        for bar in self.running.values() {
            bar.finish_and_clear();
        }
        self.overall.finish_and_clear();
    }
}
