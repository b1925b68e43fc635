//! Experiment files and flags with any edits: a plan, or an error with words; never a panic, and nothing allocated that was not planned.
//!
//! Here the program is asked in this process and stopped at its first measurement: that is all of parsing, checking and planning. Fewer
//! are given to the program itself, which measures too.
#![cfg(unix)]

mod inputs;
mod largest;

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Parser;
use helmholtz_datasets::Locator;
use helmholtz_experiments::cli::{self, Cli};
use helmholtz_experiments::commands::reproduce::reproduce;
use helmholtz_experiments::error::HarnessError;
use helmholtz_experiments::kinds::likelihood::runner;
use helmholtz_experiments::registry::Registry;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::{Shared, Streams};

use inputs::Input;

/// What planning may allocate at once, in bytes, before it has said what a run needs.
const MOST: usize = 256 << 20;

/// What an input came to.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// A plan, as far as its first measurement.
    Planned,
    /// An error.
    Refused,
}

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives an input to the program in this process.
fn ask(input: &Input, folder: &Path) -> Said {
    let file = folder.join("mutated.toml");
    fs::write(&file, &input.file).unwrap();
    let out = folder.join("runs");
    let line = input.line(file.to_str().unwrap(), out.to_str().unwrap());
    let args = match Cli::try_parse_from(line) {
        Ok(cli) => cli.command,
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            return Said::Refused;
        }
    };
    let cli::Command::Reproduce(args) = args else {
        unreachable!("`reproduce` was asked for")
    };
    let heard = Heard::default();
    let streams = Streams {
        out: Shared::new(heard.clone()),
        err: Shared::new(heard.clone()),
        out_colours: false,
        err_is_live: false,
    };
    let locator = Locator::new(Some(folder.into())).offline();
    let stop = Arc::new(AtomicBool::new(true));
    let registry = Registry::default();
    match reproduce(&args, &registry, locator, &runner::new, &stop, &streams) {
        Err(HarnessError::Interrupted { .. }) | Ok(End::Complete | End::Interrupted) => {
            Said::Planned
        }
        Ok(end @ (End::Failed | End::Requeued)) => {
            let heard = heard.0.lock().unwrap();
            panic!("{end:?}: {}", String::from_utf8_lossy(&heard))
        }
        Err(error) => {
            assert!(error.to_string().len() > 20, "{error}");
            Said::Refused
        }
    }
}

fn many(inputs: u64) {
    largest::proved();
    let home = inputs::folder();
    let (mut planned, mut failures, mut slowest) = (0, Vec::new(), Duration::ZERO);
    for seed in 0..inputs {
        let input = Input::of(seed);
        let begun = Instant::now();
        largest::forget();
        // What is caught is told below.
        std::panic::set_hook(Box::new(|_| ()));
        let said = catch_unwind(AssertUnwindSafe(|| ask(&input, home.path())));
        let _ = std::panic::take_hook();
        let largest = largest::seen();
        slowest = slowest.max(begun.elapsed());
        match said {
            Ok(said) => planned += u64::from(said == Said::Planned),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
                failures.push(format!("{seed}: {}: {text:?}", input.told()));
            }
        }
        if largest > MOST || begun.elapsed() > Duration::from_secs(10) {
            let (told, took) = (input.told(), begun.elapsed());
            failures.push(format!("{seed}: {told}: {largest} bytes at once, {took:?}"));
        }
        if failures.len() == 20 {
            break;
        }
    }
    println!(
        "{inputs} mutated experiment files and flags: {planned} planned, {} refused; the slowest in {slowest:?}",
        inputs.saturating_sub(planned + failures.len() as u64)
    );
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(planned > inputs / 50 && planned < inputs * 9 / 10);
}

/// Gives inputs to the program itself, to plan with measurements; each may take ten seconds of a processor.
fn processes(inputs: impl Iterator<Item = u64>) {
    let (mut asked, mut planned, mut failures) = (0, 0, Vec::new());
    let home = inputs::folder();
    for seed in inputs {
        let input = Input::of(seed);
        fs::write(home.path().join("mutated.toml"), &input.file).unwrap();
        let line = input.line("mutated.toml", "runs");
        let out = Command::new("sh")
            .args(["-c", "ulimit -t 10; exec \"$0\" \"$@\" --dry-run"])
            .arg(env!("CARGO_BIN_EXE_helmholtz"))
            .args(&line[1..])
            .current_dir(home.path())
            .env("HELMHOLTZ_DATA", home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&out.stderr);
        let status = out.status;
        if status.signal().is_some() || error.contains("panicked") || status.code() == Some(101) {
            failures.push(format!("{seed}: {}: {status}: {error}", input.told()));
        }
        asked += 1;
        planned += u64::from(status.success());
        assert!(failures.len() < 20, "{failures:#?}");
    }
    println!("{asked} to the program itself: {planned} planned, the others refused");
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(planned > 0);
}

/// How many inputs the environment asks for.
fn asked(variable: &str, otherwise: u64) -> u64 {
    let asked = std::env::var(variable).ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn any_edits_of_experiment_files_and_flags_are_planned_or_refused() {
    many(600);
}

#[test]
#[ignore = "a minute: the program measures, which a loaded machine makes slow"]
fn a_few_are_planned_or_refused_by_the_program_itself() {
    processes(0..12);
}

#[test]
#[ignore = "minutes: a campaign"]
fn a_great_many_edits_of_experiment_files_and_flags_are_planned_or_refused() {
    many(asked("HELMHOLTZ_INPUTS", 100_000));
}

#[test]
#[ignore = "an hour: a campaign"]
fn thousands_are_planned_or_refused_by_the_program_itself() {
    let from = 1_000_000;
    processes(from..from + asked("HELMHOLTZ_INPUTS", 3_000));
}
