//! Clocks that jump: runs that are begun in another year than they are gone on with, a clock that is set while a run goes on, and files
//! that are dated decades away.
//!
//! The clock is played by libfaketime (Debian's package of that name); without it this is skipped, and said.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime};

use super::ends::ends;
use super::kinds::{KINDS, Kind};
use super::{command, undisturbed};

/// When the parts of a run take place: each later than nothing, and earlier than the one before.
const YEARS: [&str; 5] = [
    "2035-06-01 12:00:00",
    "1999-12-31 23:59:58",
    "2070-01-01 00:00:00",
    "1971-01-01 00:00:00",
    "2026-02-28 23:59:59",
];

fn library() -> Option<PathBuf> {
    let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
    let paths = folders.map(|f| format!("/usr/lib/{f}/faketime/libfaketimeMT.so.1").into());
    paths.into_iter().find(|path: &PathBuf| path.exists())
}

/// Dates every file and folder below `folder` decades away, each another way.
fn redate(folder: &Path, round: u64) {
    let decade = Duration::from_secs(10 * 365 * 86_400);
    let now = SystemTime::now();
    for (index, entry) in fs::read_dir(folder).into_iter().flatten().enumerate() {
        let path = entry.unwrap().path();
        let date = match (index as u64 + round) % 3 {
            0 => now - 4 * decade,
            1 => now + 7 * decade,
            _ => now - Duration::from_secs(3600),
        };
        File::open(&path).unwrap().set_modified(date).unwrap();
        if path.is_dir() {
            redate(&path, round + 1);
        }
    }
}

/// Runs a kind through all years, killed in each but the last; in each the clock is set again while it runs. Its timers follow the
/// clock, or do not.
fn through_years(kind: &Kind, library: &Path, timers: bool) {
    let (expected, takes) = undisturbed(kind);
    let home = tempfile::tempdir().unwrap();
    (kind.prepare)(home.path());
    let clock = home.path().join("clock");
    for (round, year) in YEARS.into_iter().enumerate() {
        fs::write(&clock, format!("@{year}\n")).unwrap();
        let mut command = command(kind, home.path());
        command
            .env("LD_PRELOAD", library)
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1")
            .env("TZ", "UTC")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if !timers {
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let mut child = command.spawn().unwrap();
        // Set back and forth by years while it runs.
        for other in YEARS.into_iter().cycle().skip(round + 1).take(4) {
            thread::sleep(takes.mul_f64(0.15));
            let new = home.path().join("clock.new");
            fs::write(&new, format!("@{other}\n")).unwrap();
            fs::rename(&new, &clock).unwrap();
        }
        if round + 1 < YEARS.len() {
            child.kill().unwrap();
        }
        let ended = child.wait_with_output().unwrap();
        if round + 1 == YEARS.len() {
            let text = String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.success(), "{}: {text}", kind.name);
        }
        redate(&home.path().join("runs"), round as u64);
    }
    let differences = expected.differences(&ends(home.path()));
    assert!(differences.is_empty(), "{}: {differences:#?}", kind.name);
    println!(
        "{}: through {} years, timers {timers}: the end as without",
        kind.name,
        YEARS.len()
    );
}

fn all(kinds: &[&str], rounds: u32) {
    let Some(library) = library() else {
        println!("SKIPPED: libfaketime is not there");
        return;
    };
    for kind in KINDS
        .iter()
        .filter(|kind| kinds.is_empty() || kinds.contains(&kind.name))
    {
        if kind.needs_digits && std::env::var_os("HELMHOLTZ_DATA").is_none() {
            println!("SKIPPED: {} needs HELMHOLTZ_DATA", kind.name);
            continue;
        }
        for _ in 0..rounds {
            for timers in [true, false] {
                through_years(kind, &library, timers);
            }
        }
    }
}

#[test]
fn clocks_that_jump_change_nothing() {
    all(&["table", "apg-gmm"], 1);
}

#[test]
#[ignore = "minutes: recorded in experiments/results/faults.md"]
fn clocks_that_jump_change_nothing_in_any_kind() {
    all(&[], 3);
}
