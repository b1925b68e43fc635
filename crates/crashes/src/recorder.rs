//! The observer that writes the log.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use helmholtz_files::{Observer, Op, Timing, Verdict, is_lock_name, observe};

use crate::image::Image;
use crate::log::{Change, Log, Names};

thread_local! {
    static LOG: RefCell<Option<Rc<RefCell<Made>>>> = const { RefCell::new(None) };
}

struct Made {
    names: Names,
    log: Log,
}

struct Recorder(Rc<RefCell<Made>>);

impl Observer for Recorder {
    fn before(&mut self, _: &Op<'_>) -> io::Result<Verdict> {
        Ok(Verdict::Do)
    }

    /// Nobody renews a lock in a state that a crash left.
    fn timing(&self) -> Option<Timing> {
        Some(Timing {
            renewal: Duration::from_millis(4),
            patience: Duration::from_millis(2),
        })
    }

    fn after(&mut self, op: &Op<'_>, done: bool) {
        if done {
            self.0.borrow_mut().take(op);
        }
    }
}

impl Made {
    fn take(&mut self, op: &Op<'_>) {
        let Self { names, log } = self;
        let (path, change) = match *op {
            Op::CreateDirectory(path) => (path, names.create(path, true)),
            Op::Create(path) => {
                let change = names.create(path, false);
                if let Some(Change::Create { node, name, .. }) = &change
                    && is_lock_name(name)
                {
                    log.volatile.push(*node);
                }
                (path, change)
            }
            Op::Write { path, at, bytes } => {
                let bytes = bytes.to_vec();
                let write = |node| Change::Write { node, at, bytes };
                (path, names.node(path).map(write))
            }
            Op::SetLength(path, length) => {
                let set = |node| Change::SetLength { node, length };
                (path, names.node(path).map(set))
            }
            Op::Sync(path) | Op::SyncDirectory(path) => {
                (path, names.node(path).map(|node| Change::Sync { node }))
            }
            Op::Rename(from, to) => (to, names.rename(from, to)),
            Op::Remove(path) | Op::RemoveDirectory(path) => (path, names.remove(path)),
            Op::Open(_) | Op::Read(_) | Op::Flock(_) => return,
        };
        if let (Some(change), Some(path)) = (change, names.below(path)) {
            log.changes.push((change, path));
        }
    }
}

/// Runs `program` on the folder `root`, which must be an absolute path without links, and gives what it did to its files
/// beside what it returned.
pub fn record<T>(root: &Path, program: impl FnOnce(&Path) -> T) -> (Log, T) {
    let start = Image::of(root);
    let names = Names::new(root, &start);
    let volatile = start.paths().enumerate();
    let is_lock = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(is_lock_name)
    };
    let log = Log {
        volatile: volatile
            .filter(|(_, path)| is_lock(path))
            .map(|(index, _)| index + 1)
            .collect(),
        start,
        changes: Vec::new(),
    };
    let made = Rc::new(RefCell::new(Made { names, log }));
    let before = LOG.replace(Some(made.clone()));
    let observed = observe(Box::new(Recorder(made.clone())));
    let result = program(root);
    drop(observed);
    LOG.set(before);
    let made = Rc::try_unwrap(made).ok().expect("nobody else has the log");
    (made.into_inner().log, result)
}

/// Says that the program will go on from `progress`, or later, after any crash from now on. Does nothing where no log is made.
pub fn promise(progress: u64) {
    LOG.with_borrow(|made| {
        if let Some(made) = made {
            let promise = (Change::Promise { progress }, PathBuf::new());
            made.borrow_mut().log.changes.push(promise);
        }
    });
}
