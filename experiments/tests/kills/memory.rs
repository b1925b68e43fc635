//! Limits on memory: a run that meets one is refused, ends, or dies at an allocation; what it saved before is gone on with.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::ends::ends;
use super::kinds::{KINDS, Kind};
use super::{command, finish, undisturbed};

/// Limits on a process's addresses, in MiB: from too few to load the program up to more than any of these runs takes.
fn limits(count: u32) -> impl Iterator<Item = u64> {
    let (least, most) = (20.0f64, 6000.0f64);
    let at = move |i: u32| f64::from(i) / f64::from(count - 1);
    (0..count).map(move |i| (least * (most / least).powf(at(i))) as u64)
}

/// How the runs of one folder ended, limit after limit.
#[derive(Debug, Default)]
struct Ended {
    whole: u32,
    refused: u32,
    died: u32,
}

/// The program under `ulimit -v`. Told to print backtraces, which need memory that there is none of.
fn limited(kind: &Kind, folder: &Path, mebibytes: u64) -> Command {
    let plain = command(kind, folder);
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -c 0; ulimit -v \"$1\"; shift; exec \"$@\"",
            "sh",
        ])
        .arg((1024 * mebibytes).to_string())
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(folder)
        .env("RUST_BACKTRACE", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// How a command ends that must not hang: within `patience`.
fn end(mut command: Command, patience: Duration) -> Option<ExitStatus> {
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Gives one folder every limit in turn, and finishes it without one. A run that ends whole leaves nothing for the next: the folder is
/// then begun anew.
fn under_limits(kind: &Kind, count: u32) -> Ended {
    let (expected, takes) = undisturbed(kind);
    let patience = 10 * takes + Duration::from_secs(60);
    let mut all = Ended::default();
    let begin = || {
        let home = tempfile::tempdir().unwrap();
        (kind.prepare)(home.path());
        home
    };
    let finished = |home: &Path| {
        finish(kind, home);
        let differences = expected.differences(&ends(home));
        assert!(differences.is_empty(), "{}: {differences:#?}", kind.name);
    };
    let mut home = begin();
    for mebibytes in limits(count) {
        let ended = end(limited(kind, home.path(), mebibytes), patience);
        let ended = ended.unwrap_or_else(|| panic!("{}: hangs at {mebibytes} MiB", kind.name));
        match ended.code() {
            Some(0) => {
                all.whole += 1;
                finished(home.path());
                home = begin();
            }
            // 101 is a panic, and 127 and 126 are the shell's where the program could not even be loaded.
            Some(101 | 126 | 127) | None => all.died += 1,
            Some(_) => all.refused += 1,
        }
    }
    finished(home.path());
    println!(
        "{}: {all:?} of {count} limits, every end as without",
        kind.name
    );
    all
}

fn all(kinds: &[&str], count: u32) {
    let is_asked = |kind: &&Kind| kinds.is_empty() || kinds.contains(&kind.name);
    for kind in KINDS.iter().filter(is_asked) {
        if kind.needs_digits && std::env::var_os("HELMHOLTZ_DATA").is_none() {
            println!("SKIPPED: {} needs HELMHOLTZ_DATA", kind.name);
            continue;
        }
        let ended = under_limits(kind, count);
        assert!(
            ended.whole > 0 && ended.died + ended.refused > 0,
            "{ended:?}"
        );
    }
}

#[test]
fn a_limit_on_memory_loses_nothing() {
    all(&["apg-gmm"], 32);
}

#[test]
#[ignore = "minutes: recorded in experiments/results/faults.md"]
fn limits_on_memory_lose_nothing_in_any_kind() {
    all(&[], 24);
}
