//! What the tests of all models need.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub use crate::support::metrics;
use clap::Parser;
use helmholtz_datasets::Locator;
use helmholtz_experiments::cli::{self, Cli};
use helmholtz_experiments::commands::reproduce as program;
use helmholtz_experiments::error::HarnessError;
use helmholtz_experiments::kinds::likelihood::runner;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::{Shared, Streams};

/// The command in `folder`.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.arg("reproduce").args(args).current_dir(folder);
    command
}

pub fn reproduce(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Stops the program once it has said something.
#[derive(Clone)]
struct Listener {
    heard: Arc<Mutex<String>>,
    awaited: &'static str,
    stop: Arc<AtomicBool>,
}

impl Write for Listener {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut heard = self.heard.lock().unwrap();
        heard.push_str(&text(bytes));
        if heard.contains(self.awaited) {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How `reproduce <args>` ends, in this process, and what it says, if it is stopped once it has said `awaited`; with nothing to wait
/// for, from the start.
pub fn stopped(args: &[&str], awaited: &'static str) -> (Result<End, HarnessError>, String) {
    let line = ["helmholtz", "reproduce"].iter().chain(args);
    let cli::Command::Reproduce(args) = Cli::try_parse_from(line).unwrap().command else {
        unreachable!("`reproduce` was asked for")
    };
    let listener = Listener {
        heard: Arc::default(),
        awaited,
        stop: Arc::new(AtomicBool::new(awaited.is_empty())),
    };
    let streams = Streams {
        out: Shared::new(listener.clone()),
        err: Shared::new(listener.clone()),
        out_colours: false,
        err_is_live: false,
    };
    let locator = Locator::new(None);
    let end = program::reproduce(
        &args,
        &Default::default(),
        locator,
        &runner::new,
        &listener.stop,
        &streams,
    );
    let heard = listener.heard.lock().unwrap().clone();
    (end, heard)
}

/// `small.toml` in `folder`: a bundled experiment with each of these texts once replaced by the other.
pub fn cut(folder: &Path, bundled: &str, replaced: &[(&str, &str)]) {
    let mut text = bundled.to_string();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.join("small.toml"), text).unwrap();
}

/// A mixture's run by five gradient steps: planned first, its figures and this in its table; shown again without training; the same
/// as far as it goes by fewer steps.
pub fn check_run(small: fn(&Path), figures: &[&str], in_table: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    small(dir.path());
    let args = ["small.toml", "--seed", "3"];
    let plan = reproduce(dir.path(), &[&args[..], &["--dry-run"]].concat());
    let plan = text(&plan.stdout);
    for part in ["5 gradient steps;", "to do", "on this machine"] {
        assert!(plan.contains(part), "{plan}");
    }
    assert!(!dir.path().join("runs").exists());

    let output = reproduce(dir.path(), &args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let run = dir.path().join("runs/small/quick/seed-3");
    for name in figures {
        let figure = fs::read_to_string(run.join(format!("{name}.svg"))).unwrap();
        assert!(figure.starts_with("<svg"));
        assert!(run.join(format!("{name}.csv")).exists());
    }
    let table = fs::read_to_string(run.join("table.md")).unwrap();
    let heading = table.lines().next().unwrap().trim_start_matches("# ");
    assert!(out.contains(heading) && out.contains("table.md"), "{out}");
    for part in in_table.iter().chain(&["seed 3"]) {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    let rows = metrics(&run);
    assert_eq!(rows.len(), 4, "at 0, 2, 4 and 5 steps: {rows:?}");

    let again = reproduce(dir.path(), &args);
    assert!(text(&again.stdout).contains("all done") && text(&again.stdout).contains(heading));

    // Other steps have a folder of their own, and the same seed gives the same run so far.
    let output = reproduce(dir.path(), &[&args[..], &["--steps", "2"]].concat());
    assert!(output.status.success());
    let fewer = metrics(&dir.path().join("runs/small/quick-2-steps/seed-3"));
    assert_eq!(fewer, rows[..2]);
}

/// The folder with the real files, if there is one. Without it a line says so, past the capture of what tests print.
pub fn data() -> Option<PathBuf> {
    let data = std::env::var_os("HELMHOLTZ_DATA").map(PathBuf::from);
    if data.is_none() {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let said = format!("SKIPPED {name}: HELMHOLTZ_DATA names no folder with the real files\n");
        io::stderr().write_all(said.as_bytes()).unwrap();
    }
    data
}
