//! The program killed at moments all over a run of every kind, and gone on with: at the end every file is what it is without a kill.
//!
//! The full campaign is asked for by `cargo test -p helmholtz-experiments --test kills -- --ignored --nocapture`; `HELMHOLTZ_KILLS`
//! sets the kills of each kind, and `HELMHOLTZ_KIND` takes one kind alone. Bouncing digits need the real MNIST: without `HELMHOLTZ_DATA`
//! that kind is skipped, and said.
#![cfg(unix)]

mod clocks;
mod ends;
mod kinds;
#[cfg(target_os = "linux")]
mod memory;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ends::{Ends, ends};
use kinds::{KINDS, Kind};

/// Kills of one folder, before it is finished.
const KILLS: u32 = 8;

fn command(kind: &Kind, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command
        .arg("reproduce")
        .args(kind.args.split(' '))
        .current_dir(folder);
    command
}

fn finish(kind: &Kind, folder: &Path) -> Output {
    let output = command(kind, folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", kind.name);
    output
}

/// Kills a run after a share of `takes`, unless it has ended by then. Gives how long it took in that case.
fn kill(kind: &Kind, folder: &Path, takes: Duration, share: f64) -> Option<Duration> {
    let begun = Instant::now();
    let mut child = command(kind, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while begun.elapsed() < takes.mul_f64(share) {
        if child.try_wait().unwrap().is_some() {
            return Some(begun.elapsed());
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap(); // SIGKILL
    let ended = child.wait().unwrap().success();
    ended.then(|| begun.elapsed())
}

/// What a run leaves that nothing disturbs, and how long it takes.
fn undisturbed(kind: &Kind) -> (Ends, Duration) {
    let whole = tempfile::tempdir().unwrap();
    (kind.prepare)(whole.path());
    let begun = Instant::now();
    finish(kind, whole.path());
    let takes = begun.elapsed();
    let again = tempfile::tempdir().unwrap();
    (kind.prepare)(again.path());
    finish(kind, again.path());
    let expected = ends(whole.path());
    assert!(!expected.is_empty());
    // What is compared below does not differ by itself.
    assert_eq!(expected.differences(&ends(again.path())), [""; 0]);
    (expected, takes)
}

/// Kills runs of a kind until so many died, and finishes each folder.
fn campaign(kind: &Kind, kills: u32) -> (u32, u32) {
    let (expected, mut takes) = undisturbed(kind);
    let (mut killed, mut tried, mut folders) = (0, 0u32, 0);
    while killed < kills {
        let home = tempfile::tempdir().unwrap();
        (kind.prepare)(home.path());
        for _ in 0..KILLS.min(kills) {
            // The fractional parts of the golden ratio's multiples fill [0, 1) evenly. A run that goes on takes less than a whole
            // one, so the moments are those of three quarters of it.
            let share = 0.75 * (f64::from(tried) * 0.618_033_988_749_894_9).fract();
            tried += 1;
            match kill(kind, home.path(), takes, share) {
                None => killed += 1,
                // The machine has become quicker, or there was less left to do.
                Some(took) => takes = takes.mul_f64(0.9).max(took),
            }
        }
        let said = finish(kind, home.path());
        folders += 1;
        let differences = expected.differences(&ends(home.path()));
        assert!(
            differences.is_empty(),
            "{}, folder {folders}: {differences:#?}\n{}",
            kind.name,
            String::from_utf8_lossy(&said.stderr)
        );
        assert!(
            tried < 20 * kills.max(KILLS),
            "{}: it ends before it is killed",
            kind.name
        );
    }
    println!(
        "{}: {killed} kills of {tried} processes over {folders} folders, every end as without ({:.1} s a run)",
        kind.name,
        takes.as_secs_f64()
    );
    (killed, folders)
}

/// Kills runs of all kinds, two at a time.
fn all(kills: u32) {
    let asked = std::env::var("HELMHOLTZ_KIND").ok();
    let is_asked = |kind: &&Kind| asked.as_ref().is_none_or(|name| name == kind.name);
    let kinds: Vec<&Kind> = KINDS.iter().filter(is_asked).collect();
    let each = |kind: &&Kind| {
        if kind.needs_digits && std::env::var_os("HELMHOLTZ_DATA").is_none() {
            println!("SKIPPED: {} needs HELMHOLTZ_DATA", kind.name);
            return (0, 0);
        }
        campaign(kind, kills)
    };
    let every_second = |first| kinds.iter().skip(first).step_by(2).map(each);
    let ends: Vec<(u32, u32)> = thread::scope(|scope| {
        let half = scope.spawn(|| every_second(1).collect::<Vec<_>>());
        let mut ends: Vec<_> = every_second(0).collect();
        ends.extend(half.join().unwrap());
        ends
    });
    let [killed, folders]: [u32; 2] = [
        ends.iter().map(|end| end.0).sum(),
        ends.iter().map(|end| end.1).sum(),
    ];
    println!("{killed} kills over {folders} folders, nothing lost");
}

#[test]
fn a_program_that_is_killed_twice_ends_as_one_that_is_not() {
    all(2);
}

#[test]
#[ignore = "an hour: the campaign, recorded in experiments/results/faults.md"]
fn a_program_that_is_killed_a_thousand_times_ends_as_one_that_is_not() {
    let kills = std::env::var("HELMHOLTZ_KILLS").ok();
    all(kills.and_then(|kills| kills.parse().ok()).unwrap_or(110));
}

/// A bundled file names its kind, and there is one of each.
#[test]
fn every_kind_is_killed() {
    let files = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    let kinds = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let kinds = kinds.filter_map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let kind = text.lines().find_map(|line| line.strip_prefix("kind = "))?;
        Some(kind.trim_matches('"').to_owned())
    });
    let mut kinds: Vec<String> = kinds.chain(["table".into()]).collect();
    kinds.sort();
    kinds.dedup();
    let mut killed: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    killed.sort_unstable();
    assert_eq!(kinds, killed);
}

#[test]
fn an_end_with_another_bit_is_a_difference() {
    let [a, b] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for (home, loss) in [(&a, "0.5"), (&b, "0.25")] {
        let run = home.path().join("runs/x/seed-1");
        std::fs::create_dir_all(run.join("checkpoints/000002")).unwrap();
        let row = format!("{{\"epoch\":1,\"loss\":{loss},\"seconds\":{loss}}}\n");
        std::fs::write(run.join("metrics.jsonl"), row).unwrap();
        std::fs::write(run.join("checkpoints/000002/model"), loss).unwrap();
    }
    let differences = ends(a.path()).differences(&ends(b.path()));
    assert_eq!(
        differences,
        [
            "x/seed-1/checkpoints/newest/model",
            "x/seed-1/metrics.jsonl"
        ]
    );
    assert_eq!(ends(a.path()).differences(&ends(a.path())), [""; 0]);
}
