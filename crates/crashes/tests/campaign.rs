//! Processes that are killed, and processes that want the same folder.
//!
//! A child is this very test binary, started again for one test. The full campaign is asked for by
//! `cargo test -p helmholtz-crashes --test campaign -- --ignored --nocapture`; `HELMHOLTZ_KILLS` sets the kills of each kind.
#![cfg(unix)]

use std::env;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use helmholtz_crashes::Ended;
use helmholtz_files::{Observer, Op, Timing, Verdict, observe};

mod support;

use support::programs::{alone, marked, train};

const PROGRAM: &str = "HELMHOLTZ_CRASHES_PROGRAM";
const FOLDER: &str = "HELMHOLTZ_CRASHES_FOLDER";
const LOCKS: &str = "HELMHOLTZ_CRASHES_LOCKS";

const KINDS: [&str; 3] = ["run folder", "chains with marks", "chains alone"];

fn program(kind: &str, root: &Path, length: u64) -> Result<Ended, String> {
    match kind {
        "run folder" => train(root, 20 * length, 3),
        "chains with marks" => marked(root, 10 * length),
        "chains alone" => alone(root, 250.min(25 * length)),
        other => panic!("{other:?}"),
    }
}

/// A file system whose locks are missing or hold within one machine only, and a machine of its own.
struct Cluster {
    node: Option<String>,
    flock: Result<Verdict, i32>,
}

impl Observer for Cluster {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        match op {
            Op::Flock(_) => self.flock.map_err(io::Error::from_raw_os_error),
            _ => Ok(Verdict::Do),
        }
    }

    fn node(&self) -> Option<String> {
        self.node.clone()
    }

    fn timing(&self) -> Option<Timing> {
        Some(Timing {
            renewal: Duration::from_millis(50),
            patience: Duration::from_secs(4),
        })
    }
}

/// The entry of a child; in an ordinary test run it does nothing.
#[test]
fn child() {
    let Ok(kind) = env::var(PROGRAM) else {
        return;
    };
    let (kind, length) = kind.split_once(':').unwrap();
    let folder = env::var_os(FOLDER).unwrap();
    let cluster = match env::var(LOCKS).as_deref() {
        Ok("missing") => Some(Cluster {
            node: None,
            flock: Err(libc::ENOSYS),
        }),
        Ok("local") => Some(Cluster {
            node: Some(format!("node-{}", std::process::id())),
            flock: Ok(Verdict::Skip),
        }),
        _ => None,
    };
    let _observed = cluster.map(|cluster| observe(Box::new(cluster)));
    match program(kind, Path::new(&folder), length.parse().unwrap()) {
        Ok(ended) => println!(
            "\nENDED {} {:?}",
            ended.end.replace('\n', " "),
            ended.warnings
        ),
        Err(error) => println!("\nREFUSED {}", error.replace('\n', " ")),
    }
}

fn spawn(kind: &str, length: u64, folder: &Path, locks: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(PROGRAM, format!("{kind}:{length}"))
        .env(FOLDER, folder)
        .env(LOCKS, locks)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The line with which a child ended.
fn end(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("ENDED ") || line.starts_with("REFUSED "));
    line.unwrap_or_else(|| panic!("a child said nothing: {text}"))
        .into()
}

/// Kills children of each kind at moments all over their run until so many died; what is left of each is finished, and must be
/// what it is without kills.
fn kill(kills: u64, length: u64) {
    for kind in KINDS {
        let whole = tempfile::tempdir().unwrap();
        let begun = std::time::Instant::now();
        let expected = end(spawn(kind, length, whole.path(), ""));
        let takes = begun.elapsed();
        assert!(expected.starts_with("ENDED"), "{expected}");
        let (mut killed, mut finished) = (0, 0);
        while killed < kills {
            let home = tempfile::tempdir().unwrap();
            // Some kills to a folder, then the end.
            for number in 0..8 {
                let mut child = spawn(kind, length, home.path(), "");
                let share = (killed * 7919 + number * 104_729) % 1000;
                thread::sleep(takes * share as u32 / 1500);
                child.kill().unwrap(); // SIGKILL
                let status = child.wait().unwrap();
                killed += u64::from(!status.success());
            }
            assert_eq!(
                end(spawn(kind, length, home.path(), "")),
                expected,
                "{kind}"
            );
            finished += 1;
        }
        println!("{kind}: {killed} kills over {finished} folders, every end as without");
    }
}

/// Several processes on one folder at once: of those that get in, in turn, all end alike; the others are refused by name.
fn together(processes: usize, rounds: usize, length: u64) {
    for locks in ["working", "missing", "local"] {
        let (mut ended, mut refused) = (0, 0);
        for round in 0..rounds {
            let kind = KINDS[round % 2];
            let whole = tempfile::tempdir().unwrap();
            let expected = end(spawn(kind, length, whole.path(), ""));
            let home = tempfile::tempdir().unwrap();
            let children: Vec<Child> = (0..processes)
                .map(|_| spawn(kind, length, home.path(), locks))
                .collect();
            for child in children {
                let said = end(child);
                if said == expected {
                    ended += 1;
                } else {
                    assert!(
                        said.starts_with("REFUSED") && said.contains("in use by"),
                        "{locks}, {kind}: {said}"
                    );
                    refused += 1;
                }
            }
            assert_eq!(
                end(spawn(kind, length, home.path(), locks)),
                expected,
                "{locks}, {kind}"
            );
        }
        println!(
            "{processes} processes, locks {locks}: {rounds} rounds, {ended} ended alike, {refused} refused, none lost"
        );
        assert!(ended > 0);
    }
}

#[test]
fn killed_processes_lose_nothing() {
    kill(16, 1);
}

#[test]
fn processes_that_want_the_same_folder_harm_nothing() {
    together(2, 2, 1);
}

#[test]
#[ignore = "minutes: the campaign, recorded in experiments/results/faults.md"]
fn campaign() {
    let kills = env::var("HELMHOLTZ_KILLS").ok();
    kill(kills.and_then(|kills| kills.parse().ok()).unwrap_or(340), 2);
    together(2, 20, 1);
    together(8, 10, 1);
}
