//! Who is told of each file operation before it is done.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use crate::Timing;

/// An operation on a file or folder. Paths are as the caller gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<'a> {
    /// A folder gets its name.
    CreateDirectory(&'a Path),
    /// A new, empty file gets its name.
    Create(&'a Path),
    /// A file that exists is opened for writing.
    Open(&'a Path),
    /// Bytes are written at an offset.
    Write {
        /// The file.
        path: &'a Path,
        /// The offset in bytes.
        at: u64,
        /// What is written.
        bytes: &'a [u8],
    },
    /// A file is cut or grows to a length in bytes.
    SetLength(&'a Path, u64),
    /// The content of a file is made durable.
    Sync(&'a Path),
    /// The names in a folder are made durable.
    SyncDirectory(&'a Path),
    /// A file or folder gets another name, in place of what has it.
    Rename(&'a Path, &'a Path),
    /// A file or link loses its name.
    Remove(&'a Path),
    /// An empty folder loses its name.
    RemoveDirectory(&'a Path),
    /// A whole file is read.
    Read(&'a Path),
    /// A file is locked by `flock`.
    Flock(&'a Path),
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is done.
    Do,
    /// It is left out, and the caller is told that it was done.
    Skip,
    /// Of a write this many bytes are written, and then the disk is full. Other operations are done.
    Torn(usize),
}

/// Told of each operation of one thread before it is done.
pub trait Observer {
    /// What becomes of `op`; an error is what the caller gets instead.
    ///
    /// # Errors
    /// Those that the observer injects.
    fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict>;

    /// Told once `op` is done, `done` or in vain. Not called for one that was skipped.
    fn after(&mut self, _op: &Op<'_>, _done: bool) {}

    /// The name of the machine that this thread plays; its own if there is none.
    fn node(&self) -> Option<String> {
        None
    }

    /// How often locks are renewed, if not as in production.
    fn timing(&self) -> Option<Timing> {
        None
    }
}

thread_local! {
    static OBSERVER: RefCell<Option<Box<dyn Observer>>> = const { RefCell::new(None) };
}

/// Has `observer` told of every operation of this thread, until the returned value is dropped. Operations of other threads,
/// such as the renewal of a lock, are not observed.
#[must_use]
pub fn observe(observer: Box<dyn Observer>) -> Observed {
    Observed(OBSERVER.replace(Some(observer)))
}

/// Ends an observation when dropped; the observer before it is in force again.
pub struct Observed(Option<Box<dyn Observer>>);

impl Drop for Observed {
    fn drop(&mut self) {
        OBSERVER.set(self.0.take());
    }
}

pub(crate) fn ask(op: &Op<'_>) -> io::Result<Verdict> {
    OBSERVER.with_borrow_mut(|observer| match observer {
        Some(observer) => observer.before(op),
        None => Ok(Verdict::Do),
    })
}

pub(crate) fn node() -> Option<String> {
    OBSERVER.with_borrow(|observer| observer.as_ref()?.node())
}

pub(crate) fn timing() -> Option<Timing> {
    OBSERVER.with_borrow(|observer| observer.as_ref()?.timing())
}

/// Does `op` by `act`, unless the observer has it otherwise.
pub(crate) fn observed<T: Default>(
    op: Op<'_>,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    match ask(&op)? {
        Verdict::Skip => Ok(T::default()),
        Verdict::Do | Verdict::Torn(_) => {
            let result = act();
            notify(&op, result.is_ok());
            result
        }
    }
}

pub(crate) fn notify(op: &Op<'_>, done: bool) {
    OBSERVER.with_borrow_mut(|observer| {
        if let Some(observer) = observer {
            observer.after(op, done);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, names};

    struct Full;

    impl Observer for Full {
        fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
            match op {
                Op::Write { .. } => Ok(Verdict::Torn(2)),
                Op::Sync(_) => Err(io::ErrorKind::Other.into()),
                _ => Ok(Verdict::Do),
            }
        }
    }

    #[test]
    fn an_observer_that_says_nothing_of_them_leaves_machine_and_times_as_they_are() {
        let _observed = observe(Box::new(Full));
        assert_eq!((node(), timing()), (None, None));
    }

    #[test]
    fn an_observer_tears_writes_and_fails_syncs_until_it_is_dropped() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        let observed = observe(Box::new(Full));
        let mut file = File::create_new(&path).unwrap();
        let error = file.write_at(0, b"abcd").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(file.sync().is_err());
        drop(observed);
        assert_eq!(std::fs::read(&path).unwrap(), b"ab");
        file.sync().unwrap();
        assert_eq!(names(home.path()).unwrap(), ["a"]);
    }
}
