//! A live display on a terminal: a line for each running unit, one overall; ended units scroll up.

use super::Sink;
use super::board::Board;
use crate::event::{Ended, Event};
use crate::schedule::{clock, format_duration};
use console::{Term, style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;

/// Live lines on standard error.
pub struct Bars {
    screen: MultiProgress,
    overall: ProgressBar,
    running: BTreeMap<usize, ProgressBar>,
    /// Width of each name of the units.
    widths: Vec<usize>,
    frozen: bool,
}

/// A bar's resolution.
const TICKS: u64 = 1000;
/// From this terminal width on, lines are written out.
const WIDE: u16 = 100;

impl Bars {
    /// Live lines on standard error for the units of `board`.
    pub fn new(board: &Board) -> Self {
        Self::on(ProgressDrawTarget::stderr(), board)
    }

    fn on(target: ProgressDrawTarget, board: &Board) -> Self {
        let screen = MultiProgress::with_draw_target(target);
        let overall = screen.add(ProgressBar::new(TICKS));
        overall.set_style(bar_style("{prefix:.bold} {wide_bar:.green/dim} {msg}"));
        let mut widths = Vec::new();
        for unit in &board.units {
            widths.resize(unit.names.len().max(widths.len()), 0);
            for (width, name) in widths.iter_mut().zip(&unit.names) {
                *width = name.chars().count().max(*width);
            }
        }
        let bars = Self {
            screen,
            overall,
            running: BTreeMap::new(),
            widths,
            frozen: false,
        };
        bars.redraw_overall(board);
        bars
    }

    fn prefix(&self, board: &Board, index: usize) -> String {
        let unit = &board.units[index];
        let names = unit.names.iter().zip(&self.widths);
        let names: String = names
            .map(|(name, width)| format!("{name:<width$}  "))
            .collect();
        format!("{names}{:>2}", unit.seed)
    }

    fn redraw_overall(&self, board: &Board) {
        let (ended, all) = board.count();
        let title = format!("{ended} of {all} runs");
        let width = self.widths.iter().map(|width| width + 2).sum::<usize>() + 2;
        self.overall.set_prefix(format!("{title:<width$}"));
        self.overall
            .set_position((board.fraction() * TICKS as f64) as u64);
        let left = format_duration(board.remaining_overall());
        self.overall.set_message(if wide() {
            format!("{} elapsed, {left} left", clock(board.now))
        } else {
            format!("{left} left")
        });
    }

    fn redraw(&self, board: &Board, index: usize) {
        let Some(bar) = self.running.get(&index) else {
            return;
        };
        bar.set_position((board.trackers[index].fraction() * TICKS as f64) as u64);
        bar.set_message(message(board, index, wide()));
        self.redraw_overall(board);
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

/// Text right of a unit's bar.
fn message(board: &Board, index: usize, wide: bool) -> String {
    let tracker = &board.trackers[index];
    let count = tracker.count;
    let digits = count.all.to_string().len();
    let at = format!("{:>digits$}/{}", tracker.at, count.all);
    let score = tracker
        .score
        .map_or("  -  ".to_string(), |score| format!("{score:.2}"));
    let pace = tracker
        .steps_per_second()
        .map_or("-".to_string(), |pace| format!("{pace:.0}"));
    let left = clock(board.remaining(index));
    let label = board.units[index].score;
    match (wide, &tracker.evaluating) {
        (true, None) => format!(
            "{} {at}  {label} {score:>6}  {pace:>5} steps/s  {left:>8} left",
            count.name
        ),
        (true, Some(what)) => {
            let what = match what.is_empty() {
                true => "evaluating",
                false => what,
            };
            format!(
                "{} {at}  {label} {score:>6}  {what:>13}  {left:>8} left",
                count.name
            )
        }
        (false, None) => format!("{at}  {label} {score:>6} {pace:>5}/s {left:>7}"),
        (false, Some(_)) => format!("{at}  {label} {score:>6} {:>7} {left:>7}", "eval"),
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
        self.redraw(board, index);
    }

    fn event(&mut self, board: &Board, index: usize, event: &Event) {
        let prefix = self.prefix(board, index);
        let name = board.trackers[index].count.name;
        match event {
            Event::Resumed { done } => {
                let line = format!("{prefix}  resumes after {name} {done}");
                self.print(style(line).dim().to_string());
            }
            Event::Warning(text) => {
                self.print(format!("{prefix}  {} {text}", style("warning:").yellow()));
            }
            _ => {}
        }
        self.redraw(board, index);
    }

    fn ended(&mut self, board: &Board, index: usize, outcome: &Ended) {
        if let Some(bar) = self.running.remove(&index) {
            bar.finish_and_clear();
            self.screen.remove(&bar);
        }
        let prefix = self.prefix(board, index);
        match outcome {
            Ended::Done(_, summary) => {
                self.print(format!("{prefix}  {} {summary}", style("done").green()));
            }
            Ended::Interrupted { done } => {
                let name = board.trackers[index].count.name;
                let stopped = style("stopped").yellow();
                self.print(format!(
                    "{prefix}  {stopped} after {name} {done}, resumable"
                ));
            }
            Ended::NotStarted => {}
            Ended::Failed(error) => self.print(format!(
                "{prefix}  {} {error}",
                style("FAILED").red().bold()
            )),
        }
        self.redraw_overall(board);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::planned;
    use crate::plan::Plan;
    use crate::status::Status;
    use crate::streams::{Captured, assert_contains};
    use crate::work::Work;
    use std::io::{self, Write};

    /// Two units of five counts of ten seconds.
    fn board() -> Board {
        let work = Work {
            each: 10.0,
            ..Work::default()
        };
        let units = ["linear", "two"].map(|name| planned(name, Status::New, work));
        Board::new(
            &Plan {
                units: units.into(),
            },
            1,
        )
    }

    fn bars(board: &Board) -> Bars {
        Bars::on(ProgressDrawTarget::hidden(), board)
    }

    fn step(done: f64) -> Event {
        let score = Some(121.04);
        Event::Step { done, score }
    }

    #[test]
    fn names_stand_in_columns_and_the_whole_above_them() {
        let board = board();
        let bars = bars(&board);
        assert_eq!(bars.prefix(&board, 0), "linear   1");
        assert_eq!(bars.prefix(&board, 1), "two      1");
        assert_eq!(bars.overall.prefix(), "0 of 2 runs");
        assert_contains(bars.overall.message(), &["1 min 40 s left"]);
        assert_eq!(bars.overall.position(), 0);
    }

    #[test]
    fn the_whole_is_as_wide_as_the_names_of_its_units() {
        let units = ["a unit with a long name", "b"];
        let units = units.map(|name| planned(name, Status::New, Work::default()));
        let board = Board::new(
            &Plan {
                units: units.into(),
            },
            1,
        );
        let bars = bars(&board);
        let width = bars.prefix(&board, 1).chars().count();
        assert_eq!(bars.overall.prefix().chars().count(), width);
    }

    /// A terminal that keeps what is written.
    #[derive(Debug, Clone, Default)]
    struct Screen(Captured);

    impl indicatif::TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            writeln!(self.0.clone(), "{text}")
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            write!(self.0.clone(), "{text}")
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_happened_to_a_unit_scrolls_up() {
        let mut board = board();
        let screen = Screen::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let mut bars = Bars::on(target, &board);
        board.started(0, 0.0);
        bars.started(&board, 0);
        let mut said = |event: Event| {
            screen.0.take();
            bars.event(&board, 0, &event);
            screen.0.take()
        };
        let resumed = said(Event::Resumed { done: 3 });
        assert_contains(resumed, &["linear   1  resumes after epoch 3"]);
        assert_contains(said(Event::Warning("odd".into())), &["warning:", "odd"]);
        assert!(!said(step(2.0)).contains("odd"));
        screen.0.take();
        bars.ended(&board, 0, &Ended::Interrupted { done: 2 });
        assert_contains(screen.0.take(), &["after epoch 2, resumable"]);
    }

    #[test]
    fn a_bar_is_there_while_its_unit_runs_and_moves_with_it() {
        let mut board = board();
        let mut bars = bars(&board);
        board.started(0, 0.0);
        bars.started(&board, 0);
        assert_eq!(bars.running[&0].prefix(), "linear   1");
        let now = 20.0;
        board.event(0, &step(2.0), now);
        bars.event(&board, 0, &step(2.0));
        // Two of five, and two of the ten of both.
        assert_eq!(bars.running[&0].position(), 400);
        assert_eq!(bars.overall.position(), 200);
        assert_eq!(bars.running[&0].message(), message(&board, 0, wide()));
        // One that is not shown changes nothing.
        bars.redraw(&board, 1);
        let bar = bars.running[&0].clone();
        let ended = Ended::Interrupted { done: 2 };
        board.ended(0, &ended, now);
        bars.ended(&board, 0, &ended);
        assert!(bar.is_finished() && bars.running.is_empty());
        assert_eq!(bars.overall.prefix(), "1 of 2 runs");
    }

    #[test]
    fn the_text_says_where_a_unit_is_and_what_is_left() {
        let mut board = board();
        assert_eq!(
            message(&board, 0, true),
            "epoch 0/5  NLL    -        - steps/s      0:50 left"
        );
        board.started(0, 0.0);
        board.event(0, &step(2.0), 20.0);
        assert_eq!(message(&board, 0, false), "2/5  NLL 121.04     -/s    0:30");
        let evaluating = |what: &str| Event::Evaluating {
            part: Some(0.5),
            what: what.into(),
        };
        board.event(0, &evaluating(""), 20.0);
        assert_contains(message(&board, 0, true), &["epoch 2/5", "evaluating"]);
        assert_contains(message(&board, 0, false), &["2/5", "eval"]);
        board.event(0, &evaluating("testing"), 20.0);
        assert_contains(message(&board, 0, true), &["      testing  "]);
    }

    #[test]
    fn what_is_live_is_frozen_when_asked_to_stop_and_gone_at_the_end() {
        let mut board = board();
        let mut bars = bars(&board);
        board.started(0, 0.0);
        bars.started(&board, 0);
        bars.stopping("");
        assert!(bars.frozen);
        let bar = bars.running[&0].clone();
        bars.finish();
        assert!(bar.is_finished() && bars.overall.is_finished());
    }
}
