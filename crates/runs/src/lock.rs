//! The lock of a run folder: held by the operating system for a live process, gone with it however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::clock;
use crate::disk::failed;

/// The lock file's name in a run folder.
pub(crate) const LOCK: &str = "lock";

/// [`holder`] takes the lock, shared, for an instant to see whether it is free, so one refusal proves nothing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Held until dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Who holds a lock, as far as its file says.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) pid: Option<u32>,
    pub(crate) since: Option<String>,
}

impl Lock {
    /// Takes the lock of `folder`, or says who has it.
    pub(crate) fn acquire(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(LOCK);
        for attempt in 0..TRIES {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(failed(folder, "open", &path))?;
            match file.try_lock() {
                // Another process may have renamed the folder aside since we opened the file in it.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => {
                    let me = Holder {
                        pid: Some(std::process::id()),
                        since: Some(clock::now()),
                    };
                    write_holder(&mut file, &me).map_err(failed(folder, "write", &path))?;
                    return Ok(Self { _file: file });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(failed(folder, "lock", &path)(error));
                }
            }
        }
        let Holder { pid, since } = File::open(&path)
            .map(|file| read_holder(&file))
            .unwrap_or_default();
        Err(RunError::Locked {
            folder: folder.into(),
            pid,
            since,
        })
    }
}

/// Who holds the lock of `folder` now; `None` when nobody does.
pub(crate) fn holder(folder: &Path) -> Result<Option<Holder>, RunError> {
    let path = folder.join(LOCK);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(folder, "open", &path)(error)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&file))),
        Err(TryLockError::Error(error)) => Err(failed(folder, "lock", &path)(error)),
    }
}

fn write_holder(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    serde_json::to_writer(&mut *file, holder)?;
    file.write_all(b"\n")
}

/// Only for the text of an error: whatever can't be read stays unknown.
fn read_holder(mut file: &File) -> Holder {
    let mut text = String::new();
    let read = file.read_to_string(&mut text);
    read.ok()
        .and_then(|_| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Whether `path` still names the open `file`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_refused_and_named_and_a_dropped_one_is_free() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(holder(home.path()).unwrap(), None);
        let lock = Lock::acquire(home.path()).unwrap();
        assert_eq!(
            holder(home.path()).unwrap().unwrap().pid,
            Some(std::process::id())
        );
        match Lock::acquire(home.path()) {
            Err(RunError::Locked { folder, pid, since }) => {
                assert_eq!(
                    (folder.as_path(), pid),
                    (home.path(), Some(std::process::id()))
                );
                assert!(since.unwrap().ends_with('Z'));
            }
            other => panic!("{other:?}"),
        }
        drop(lock);
        assert_eq!(holder(home.path()).unwrap(), None);
        Lock::acquire(home.path()).unwrap();
    }

    #[test]
    fn garbage_in_the_lock_file_hides_the_holder_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let _lock = Lock::acquire(home.path()).unwrap();
        std::fs::write(home.path().join(LOCK), b"\xff{").unwrap();
        assert_eq!(holder(home.path()).unwrap(), Some(Holder::default()));
        assert!(matches!(
            Lock::acquire(home.path()),
            Err(RunError::Locked { pid: None, .. })
        ));
    }

    #[test]
    fn a_lock_on_a_folder_that_was_renamed_aside_does_not_count() {
        let home = tempfile::tempdir().unwrap();
        let (run, aside) = (home.path().join("run"), home.path().join("run.old-1"));
        std::fs::create_dir(&run).unwrap();
        let old = Lock::acquire(&run).unwrap();
        std::fs::rename(&run, &aside).unwrap();
        std::fs::create_dir(&run).unwrap();
        let file = File::open(aside.join(LOCK)).unwrap();
        assert!(is_at(&file, &aside.join(LOCK)));
        let _new = Lock::acquire(&run).unwrap();
        assert!(!is_at(&file, &run.join(LOCK)));
        assert!(matches!(
            Lock::acquire(&aside),
            Err(RunError::Locked { .. })
        ));
        drop(old);
    }
}
