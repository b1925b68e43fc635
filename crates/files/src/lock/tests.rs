//! Working, missing and local `flock`; other machines are played by observers.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use super::*;
use crate::{Observer, Verdict, observe};

const FAST: Timing = Timing {
    renewal: Duration::from_millis(20),
    patience: Duration::from_millis(400),
};

/// A machine of this name, on which `flock` answers so.
struct Node(&'static str, Flock);

#[derive(Clone, Copy)]
enum Flock {
    Works,
    Answers(i32),
    /// Granted to all: it holds within one machine only.
    Local,
}

impl Observer for Node {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        match (op, self.1) {
            (Op::Flock(_), Flock::Answers(number)) => Err(io::Error::from_raw_os_error(number)),
            (Op::Flock(_), Flock::Local) => Ok(Verdict::Skip),
            _ => Ok(Verdict::Do),
        }
    }

    fn node(&self) -> Option<String> {
        Some(self.0.into())
    }

    fn timing(&self) -> Option<Timing> {
        Some(FAST)
    }
}

fn acquire_on(node: &'static str, flock: Flock, folder: &Path) -> Result<Lock, LockError> {
    let _observed = observe(Box::new(Node(node, flock)));
    Lock::acquire(folder)
}

fn held_by(result: Result<Lock, LockError>) -> Holder {
    match result {
        Err(LockError::Held(holder)) => *holder,
        other => panic!("{other:?}"),
    }
}

/// What a child has of its parent's files from its fork until it executes its program.
#[test]
fn a_dropped_lock_is_free_while_a_child_still_has_a_copy_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let lock = Lock::acquire(dir.path()).unwrap();
    let copy = lock.file.system().try_clone().unwrap();
    assert!(holder_of(dir.path()).unwrap().is_some());
    drop(lock);
    assert!(holder_of(dir.path()).unwrap().is_none());
    drop(Lock::acquire(dir.path()).unwrap());
    drop(copy);
}

#[test]
fn a_held_lock_is_refused_and_named_and_a_dropped_one_is_free() {
    for flock in [
        Flock::Works,
        Flock::Answers(libc::ENOSYS),
        Flock::Answers(libc::ENOLCK),
    ] {
        let home = tempfile::tempdir().unwrap();
        let lock = acquire_on("a", flock, home.path()).unwrap();
        lock.check().unwrap();
        let holder = held_by(acquire_on("a", flock, home.path()));
        assert_eq!(holder.pid, Some(std::process::id()));
        assert_eq!(holder.host.as_deref(), Some("a"));
        assert!(holder.since.unwrap().ends_with('Z'));
        drop(lock);
        acquire_on("a", flock, home.path()).unwrap();
    }
}

#[test]
fn a_lock_on_another_machine_holds_while_it_is_renewed() {
    for flock in [Flock::Local, Flock::Answers(libc::ENOSYS)] {
        let home = tempfile::tempdir().unwrap();
        let lock = acquire_on("a", flock, home.path()).unwrap();
        for _ in 0..3 {
            let holder = held_by(acquire_on("b", flock, home.path()));
            assert_eq!(holder.host.as_deref(), Some("a"));
        }
        lock.check().unwrap();
        drop(lock);
        acquire_on("b", flock, home.path()).unwrap();
    }
}

#[test]
fn a_lock_that_is_not_renewed_is_taken_over_and_its_owner_is_told() {
    let home = tempfile::tempdir().unwrap();
    let mut suspended = acquire_on("a", Flock::Local, home.path()).unwrap();
    let (stop, thread) = suspended.renewal.take().unwrap();
    drop(stop);
    thread.join().unwrap();
    let lock = acquire_on("b", Flock::Local, home.path()).unwrap();
    match suspended.check() {
        Err(LockError::Lost(Some(by))) => assert_eq!(by.host.as_deref(), Some("b")),
        other => panic!("{other:?}"),
    }
    drop(suspended);
    lock.check().unwrap();
    fs::remove_file(at(home.path(), lock.number)).unwrap();
    assert!(matches!(lock.check(), Err(LockError::Lost(None))));
}

#[test]
fn whether_a_lock_is_given_does_not_depend_on_what_time_it_is_anywhere() {
    let day = Duration::from_secs(86_400);
    let now = SystemTime::now();
    for date in [now - day, now + day] {
        let home = tempfile::tempdir().unwrap();
        let mut lock = acquire_on("a", Flock::Local, home.path()).unwrap();
        let file = fs::File::options()
            .write(true)
            .open(at(home.path(), lock.number))
            .unwrap();
        // As dated by a machine, or a file server, whose clock is a day behind or ahead.
        let (stop, stopped) = channel::<()>();
        let redate = file.try_clone().unwrap();
        let dating = thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {
                redate.set_modified(date).unwrap();
            }
        });
        let holder = held_by(acquire_on("b", Flock::Local, home.path()));
        assert_eq!(holder.host.as_deref(), Some("a"), "it is renewed");
        drop(stop);
        dating.join().unwrap();
        if let Some((stop, thread)) = lock.renewal.take() {
            drop(stop);
            thread.join().unwrap();
        }
        file.set_modified(date).unwrap();
        acquire_on("b", Flock::Local, home.path()).unwrap();
    }
}

#[test]
fn what_a_dead_process_left_on_this_machine_does_not_hold() {
    for (flock, started) in [
        (Flock::Works, None),
        (Flock::Answers(libc::ENOSYS), Some("1".to_string())),
    ] {
        let home = tempfile::tempdir().unwrap();
        let observed = observe(Box::new(Node("a", flock)));
        let mut dead = Holder::me();
        dead.started = started.or(dead.started);
        fs::write(home.path().join("lock.7"), dead.text(3)).unwrap();
        assert_eq!(holder_of(home.path()).unwrap(), None);
        let lock = Lock::acquire(home.path()).unwrap();
        assert_eq!(lock.number, 8);
        assert!(!home.path().join("lock.7").exists());
        drop((lock, observed));
    }
}

#[test]
fn of_many_that_take_over_a_stale_lock_at_once_one_gets_it() {
    for round in 0..6 {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("lock.1"), "left by somebody").unwrap();
        let barrier = Arc::new(Barrier::new(4));
        let nodes = ["a", "b", "c", "d"].map(|node| {
            let (barrier, folder) = (barrier.clone(), home.path().to_owned());
            thread::spawn(move || {
                barrier.wait();
                acquire_on(node, Flock::Local, &folder).ok()
            })
        });
        let got: Vec<Lock> = nodes
            .into_iter()
            .filter_map(|thread| thread.join().unwrap())
            .collect();
        assert!(
            got.len() <= 1,
            "round {round}: {} hold the folder",
            got.len()
        );
        for lock in &got {
            lock.check().unwrap();
        }
    }
}

#[test]
fn garbage_in_the_lock_file_hides_the_holder_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let lock = Lock::acquire(home.path()).unwrap();
    fs::write(home.path().join(LOCK), b"\xff{").unwrap();
    fs::remove_file(at(home.path(), lock.number)).unwrap();
    assert_eq!(holder_of(home.path()).unwrap(), Some(Holder::default()));
    assert_eq!(held_by(Lock::acquire(home.path())), Holder::default());
}

#[test]
fn links_in_place_of_lock_files_are_refused() {
    for name in ["lock", "lock.1"] {
        let home = tempfile::tempdir().unwrap();
        let (folder, text) = (home.path().join("run"), home.path().join("text"));
        fs::create_dir(&folder).unwrap();
        fs::write(&text, "theirs").unwrap();
        std::os::unix::fs::symlink(&text, folder.join(name)).unwrap();
        match Lock::acquire(&folder) {
            Err(LockError::Io(path, error)) => {
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
                assert!(path.ends_with(name));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&text).unwrap(), b"theirs");
    }
}

#[test]
fn a_lock_on_a_folder_that_was_renamed_aside_does_not_count() {
    let home = tempfile::tempdir().unwrap();
    let (run, aside) = (home.path().join("run"), home.path().join("run.old-1"));
    fs::create_dir(&run).unwrap();
    let mut old = Lock::acquire(&run).unwrap();
    fs::rename(&run, &aside).unwrap();
    old.moved_to(&aside);
    fs::create_dir(&run).unwrap();
    let new = Lock::acquire(&run).unwrap();
    assert!(matches!(Lock::acquire(&aside), Err(LockError::Held(_))));
    drop(old);
    new.check().unwrap();
    assert_eq!(names(&aside).unwrap(), ["lock"]);
}

#[test]
fn a_held_lock_is_not_named_after_what_another_process_left() {
    let home = tempfile::tempdir().unwrap();
    let left = Holder {
        pid: Some(7),
        host: Some("left".into()),
        ..Holder::default()
    };
    fs::write(at(home.path(), 1), left.text(0)).unwrap();
    let of = |pid| Holder {
        pid,
        ..Holder::default()
    };
    assert_eq!(named(home.path(), of(Some(8))), of(Some(8)));
    assert_eq!(named(home.path(), of(None)), of(None));
    assert_eq!(
        named(home.path(), of(Some(7))).host.as_deref(),
        Some("left")
    );
}

#[test]
fn who_asks_for_the_holder_is_told_of_an_error_that_says_nothing_of_locks() {
    let home = tempfile::tempdir().unwrap();
    let _lock = acquire_on("a", Flock::Works, home.path()).unwrap();
    let asked = |number| {
        let _observed = observe(Box::new(Node("a", Flock::Answers(number))));
        holder_of(home.path())
    };
    assert!(matches!(asked(libc::EACCES), Err(LockError::Io(..))));
    assert!(asked(libc::ENOLCK).unwrap().is_some());
}

#[test]
fn a_lock_file_is_recent_for_a_while_and_by_a_clock_that_is_ahead() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lock.1");
    assert!(!is_recent(&path), "there is none");
    let file = fs::File::create(&path).unwrap();
    let now = SystemTime::now();
    for (written, recent) in [
        (now, true),
        (now + Duration::from_secs(1000), true),
        (now - RECENT / 2, true),
        (now - RECENT * 2, false),
    ] {
        file.set_modified(written).unwrap();
        assert_eq!(is_recent(&path), recent, "{written:?}");
    }
}

/// Of whom another process makes each file just before.
#[derive(Default)]
struct Late(std::collections::BTreeSet<std::path::PathBuf>);

impl Observer for Late {
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
        match op {
            Op::Create(path) if self.0.insert(path.to_path_buf()) => {
                Err(ErrorKind::AlreadyExists.into())
            }
            _ => Ok(Verdict::Do),
        }
    }
}

#[test]
fn who_meets_another_at_a_file_tries_again() {
    let home = tempfile::tempdir().unwrap();
    let observed = observe(Box::new(Late::default()));
    let lock = Lock::acquire(home.path()).unwrap();
    drop(observed);
    lock.check().unwrap();
}

#[test]
fn a_lock_file_that_cannot_be_made_or_read_is_an_error_and_no_holder() {
    struct Refuses;
    impl Observer for Refuses {
        fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
            match op {
                Op::Create(path) if !path.ends_with(LOCK) => {
                    Err(ErrorKind::PermissionDenied.into())
                }
                _ => Ok(Verdict::Do),
            }
        }
    }
    let home = tempfile::tempdir().unwrap();
    let observed = observe(Box::new(Refuses));
    let refused = Lock::acquire(home.path());
    drop(observed);
    assert!(matches!(refused, Err(LockError::Io(..))), "{refused:?}");
    let file = home.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(holder_of(&home.path().join("none")).unwrap().is_none());
    assert!(holder_of(&file).is_err());
}

#[test]
fn a_file_that_was_renamed_is_not_at_its_old_path() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (home.path().join("old"), home.path().join("new"));
    let file = fs::File::create(&old).unwrap();
    assert!(is_at(&file, &old) && !is_at(&file, &new));
    fs::rename(&old, &new).unwrap();
    assert!(is_at(&file, &new) && !is_at(&file, &old));
    fs::write(&old, "another").unwrap();
    assert!(!is_at(&file, &old));
}
