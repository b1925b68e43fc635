//! From every state to the end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::image::Image;
use crate::log::Log;
use crate::recorder::record;
use crate::states::States;
use crate::twins::Twin;

/// How a program ended that was started on a folder, empty or left by a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What must be the same whatever crashes there were: its results, in full.
    pub end: String,
    /// The progress that it went on from, in the numbers of [`promise`](crate::promise).
    pub from: u64,
    /// What it said of damage.
    pub warnings: Vec<String>,
}

/// A state from which the program did not do what it must.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The state.
    pub state: Image,
    /// What happened instead.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, from this state:", self.what)?;
        for (path, content) in &self.state.0 {
            match content {
                None => writeln!(f, "  {}/", path.display())?,
                Some(bytes) => writeln!(f, "  {} ({} bytes)", path.display(), bytes.len())?,
            }
        }
        Ok(())
    }
}

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Combinations of fates at a moment.
    pub combinations: usize,
    /// From every so-many-th state the recovery is recorded, and crashes once more; 0 for none.
    pub crash_again: u64,
    /// The search ends after so many failures.
    pub failures: usize,
}

/// What was tried, and what failed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Changes in the log.
    pub changes: usize,
    /// Combinations of fates.
    pub combinations: u64,
    /// Different states among them, each of which was gone on from.
    pub states: u64,
    /// Different states after a crash in the recovery from a crash.
    pub second_states: u64,
    /// Moments of which only a part of the combinations was made.
    pub cut_short: u64,
    /// What failed.
    pub failures: Vec<Failure>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} operations, {} combinations, {} states, {} states after a second crash, {} moments cut short, {} failures",
            self.changes,
            self.combinations,
            self.states,
            self.second_states,
            self.cut_short,
            self.failures.len()
        )
    }
}

/// Runs `program` on an empty folder, and then from every state that a crash of that run could leave.
pub fn check(program: &dyn Fn(&Path) -> Result<Ended, String>, limits: Limits) -> Report {
    search(program, None, limits)
}

/// As [`check`], for the states of a twin of the program, up to the first failure and without second crashes.
pub fn check_twin(
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    twin: Twin,
    limits: Limits,
) -> Report {
    let limits = Limits {
        crash_again: 0,
        failures: 1,
        ..limits
    };
    search(program, Some(twin), limits)
}

fn search(
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    twin: Option<Twin>,
    limits: Limits,
) -> Report {
    let home = tempfile::tempdir_in(memory()).expect("a folder of one's own");
    let home = home.path().canonicalize().expect("a path");
    let whole = home.join("whole");
    std::fs::create_dir(&whole).expect("a folder");
    let (log, ended) = record(&whole, program);
    let expected = ended.expect("the program ends without a crash").end;
    let log = twin.map_or(log.clone(), |twin| twin.of(&log));
    let mut report = Report {
        changes: log.len(),
        ..Report::default()
    };
    let at = home.join("state");
    let mut states = States::new(&log, limits.combinations);
    for (state, promised) in states.by_ref() {
        report.states += 1;
        let again = limits.crash_again > 0 && report.states.is_multiple_of(limits.crash_again);
        let recovery = go_on(program, &at, &state, promised, &expected, &mut report);
        if again && let Some(log) = recovery {
            second(
                program,
                &at,
                &log.recovery(),
                promised,
                &expected,
                limits,
                &mut report,
            );
        }
        if report.failures.len() >= limits.failures {
            break;
        }
    }
    report.combinations = states.combinations;
    report.cut_short += states.cut_short;
    report
}

fn second(
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    at: &Path,
    log: &Log,
    promised: u64,
    expected: &str,
    limits: Limits,
    report: &mut Report,
) {
    let mut states = States::new(log, limits.combinations);
    for (state, _) in states.by_ref() {
        report.second_states += 1;
        go_on(program, at, &state, promised, expected, report);
    }
    report.cut_short += states.cut_short;
}

/// Runs the program from a state; gives the log of that.
fn go_on(
    program: &dyn Fn(&Path) -> Result<Ended, String>,
    at: &Path,
    state: &Image,
    promised: u64,
    expected: &str,
    report: &mut Report,
) -> Option<Log> {
    let _ = std::fs::remove_dir_all(at);
    std::fs::create_dir(at).expect("a folder");
    state.write(at);
    let ran = catch_unwind(AssertUnwindSafe(|| record(at, program)));
    let (log, what) = match ran {
        Err(_) => (None, Some("it panicked".into())),
        Ok((log, Err(refusal))) => (Some(log), Some(format!("it refused to go on: {refusal}"))),
        Ok((log, Ok(ended))) => {
            let what = if ended.end != expected {
                Some(format!(
                    "it ended in other bits: {} instead of {expected}",
                    ended.end
                ))
            } else if ended.from < promised {
                Some(format!(
                    "it went on from {} after it had promised {promised}",
                    ended.from
                ))
            } else {
                ended
                    .warnings
                    .first()
                    .map(|warning| format!("it took the crash for damage: {warning}"))
            };
            (Some(log), what)
        }
    };
    if let Some(what) = what {
        report.failures.push(Failure {
            state: state.clone(),
            what,
        });
    }
    log
}

/// A file system in memory where there is one: nothing here needs a disk.
fn memory() -> std::path::PathBuf {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => memory.into(),
        false => std::env::temp_dir(),
    }
}
