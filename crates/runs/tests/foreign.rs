//! Folders that others prepared, and file systems that cannot do everything.
#![cfg(unix)]

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use helmholtz_files::{Observer, Op, Timing, Verdict, observe};
use helmholtz_runs::{OpenMode, RunError, RunFolder, Status, read_metrics};
use serde_json::{Value, json};

fn config() -> Value {
    json!({"net": "linear", "seed": 1})
}

fn open(path: &Path) -> Result<RunFolder, RunError> {
    RunFolder::open(path, &config(), OpenMode::Resume)
}

fn train(path: &Path) -> Result<(), RunError> {
    let mut run = open(path)?;
    for epoch in 1..=3 {
        run.append_metrics(&json!({"epoch": epoch}))?;
        run.save_checkpoint(&json!({"epoch": epoch}), &[("theta", &[epoch])])?;
    }
    Ok(())
}

/// Every file below `path` with its bytes.
fn content(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(content(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[test]
fn links_at_every_name_of_a_run_folder_are_refused_and_what_they_lead_to_is_untouched() {
    let names = [
        "config.json",
        "lock",
        "lock.1",
        "metrics.jsonl",
        "result.json",
        "failure.json",
        "checkpoints",
        "checkpoints/000002",
        "checkpoints/000002/manifest.json",
        "checkpoints/000003/theta",
    ];
    for name in names {
        let home = tempfile::tempdir().unwrap();
        let (run, theirs) = (home.path().join("run"), home.path().join("theirs"));
        train(&run).unwrap();
        let at = run.join(name);
        // What lies behind the link is as the run would have it, so that following it would succeed.
        match fs::symlink_metadata(&at) {
            Ok(_) => fs::rename(&at, &theirs).unwrap(),
            Err(_) => fs::write(&theirs, "somebody's text").unwrap(),
        }
        symlink(&theirs, &at).unwrap();
        let state = |path: &Path| match path.is_dir() {
            true => content(path),
            false => vec![(path.into(), fs::read(path).unwrap())],
        };
        let before = state(&theirs);
        match open(&run) {
            Err(RunError::Link { path }) => {
                assert!(path.ends_with(name), "{name}: {}", path.display());
            }
            // A damaged newest checkpoint gives way to the one before, with a word.
            Ok(mut run) if name.ends_with("theta") => {
                assert!(run.warnings()[0].contains("checkpoint 3"), "{name}");
                run.save_checkpoint(&json!(4), &[]).unwrap();
            }
            // Older than the newest: not looked at, and pruned as a link.
            Ok(mut run) if name.starts_with("checkpoints/000002") => {
                run.save_checkpoint(&json!(4), &[]).unwrap();
                run.save_checkpoint(&json!(5), &[]).unwrap();
            }
            other => panic!("{name}: {other:?}"),
        }
        assert!(state(&theirs) == before, "{name}: the target changed");
    }
}

#[test]
fn a_copy_by_hard_links_stays_as_it_was_when_the_run_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (run, copy) = (home.path().join("run"), home.path().join("copy.jsonl"));
    train(&run).unwrap();
    fs::hard_link(run.join("metrics.jsonl"), &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    let mut folder = open(&run).unwrap();
    folder.append_metrics(&json!({"epoch": 4})).unwrap();
    drop(folder);
    assert_eq!(fs::read(&copy).unwrap(), before);
}

/// A file system, and the machine that it is seen from.
struct FileSystem {
    node: &'static str,
    flock: Result<Verdict, i32>,
    sync_directory: Result<Verdict, i32>,
}

impl Observer for FileSystem {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        let answer = match op {
            Op::Flock(_) => self.flock,
            Op::SyncDirectory(_) => self.sync_directory,
            _ => Ok(Verdict::Do),
        };
        answer.map_err(io::Error::from_raw_os_error)
    }

    fn node(&self) -> Option<String> {
        Some(self.node.into())
    }

    fn timing(&self) -> Option<Timing> {
        Some(Timing {
            renewal: Duration::from_millis(20),
            patience: Duration::from_millis(500),
        })
    }
}

fn on(node: &'static str, flock: Result<Verdict, i32>) -> helmholtz_files::Observed {
    observe(Box::new(FileSystem {
        node,
        flock,
        sync_directory: Err(libc::EINVAL),
    }))
}

#[test]
fn a_file_system_without_flock_and_synced_folders_trains_and_still_locks() {
    for number in [libc::ENOSYS, libc::ENOLCK, libc::EOPNOTSUPP] {
        let home = tempfile::tempdir().unwrap();
        let _observed = on("a", Err(number));
        train(home.path()).unwrap();
        let run = open(home.path()).unwrap();
        assert_eq!(run.latest_checkpoint().unwrap().unwrap().number, 3);
        let own = Some(std::process::id());
        let status = RunFolder::peek(home.path()).unwrap();
        assert_eq!(status, Status::Running { pid: own });
        let error = open(home.path()).unwrap_err();
        assert!(
            matches!(&error, RunError::Locked { pid, .. } if *pid == own),
            "{error}"
        );
        drop(run);
        assert!(matches!(
            RunFolder::peek(home.path()).unwrap(),
            Status::Started { .. }
        ));
    }
}

#[test]
fn where_flock_holds_within_one_machine_two_machines_do_not_train_in_one_folder() {
    let home = tempfile::tempdir().unwrap();
    let first = on("a", Ok(Verdict::Skip));
    let mut run = open(home.path()).unwrap();
    drop(first);
    for mode in [OpenMode::Resume, OpenMode::Fresh] {
        let _second = on("b", Ok(Verdict::Skip));
        let error = RunFolder::open(home.path(), &config(), mode).unwrap_err();
        assert!(error.to_string().contains("on a"), "{error}");
    }
    run.append_metrics(&json!(1)).unwrap();
    run.save_checkpoint(&json!(1), &[]).unwrap();
    assert_eq!(read_metrics(home.path()).unwrap(), [json!(1)]);
}

#[test]
fn a_run_whose_lock_was_taken_over_writes_nothing_more() {
    let home = tempfile::tempdir().unwrap();
    let mut run = open(home.path()).unwrap();
    run.save_checkpoint(&json!(1), &[]).unwrap();
    fs::write(home.path().join("lock.2"), "host b\npid 7\nnonce 1\n").unwrap();
    let before = content(home.path());
    for refused in [
        run.append_metrics(&json!(1)),
        run.save_checkpoint(&json!(2), &[]),
        run.finish(&json!(1)),
    ] {
        let error = refused.unwrap_err();
        assert!(
            matches!(error, RunError::LockLost { pid: Some(7), .. }),
            "{error}"
        );
        assert!(error.to_string().contains("process 7 on b"), "{error}");
    }
    assert!(content(home.path()) == before);
}

#[test]
fn remedies_speak_of_what_happened_and_not_of_the_disk() {
    for (number, word) in [
        (libc::EMFILE, "ulimit -n"),
        (libc::EIO, "system's log"),
        (libc::EROFS, "read-only"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let _observed = on("a", Err(number));
        let text = open(home.path()).unwrap_err().to_string();
        assert!(text.contains(word), "{text}");
    }
}
