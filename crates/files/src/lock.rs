//! The lock of a folder: `flock` where it works, and beside it a file that is created exclusively and renewed.
//!
//! `flock` answers ENOSYS or ENOLCK on some file systems of clusters, and on others it holds within one node only. So the holder
//! also has a file `lock.N`, made by exclusive creation, that says who it is and that it renews every few seconds. Who
//! finds such a file decides whether its owner lives: by `flock` or by the process number on the same machine, else by
//! watching whether it is renewed. To take over a stale lock N is to create N + 1; the highest number holds. An owner that
//! was suspended so long that it was taken for dead finds that out by [`Lock::check`].

use std::fs;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use crate::file::{File, read};
use crate::holder::{Holder, Life};
use crate::observer::{self, Op, observed};
use crate::{Timing, names, remove};

const LOCK: &str = "lock";
const NUMBERED: &str = "lock.";

/// [`holder_of`] takes the lock, shared, for an instant to see whether it is free, so one refusal proves nothing.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// How long a lock that was not renewed still counts in [`holder_of`], which does not wait.
const RECENT: Duration = Duration::from_secs(600);

/// Why a lock was not given, or no longer holds.
#[derive(Debug)]
pub enum LockError {
    /// Somebody has it.
    Held(Box<Holder>),
    /// It was taken over by this holder, or its file was removed.
    Lost(Option<Box<Holder>>),
    /// The file system refused; on which file.
    Io(PathBuf, io::Error),
}

/// Whether a name in a locked folder is that of a lock's file.
pub fn is_lock_name(name: &str) -> bool {
    name == LOCK || number(name).is_some()
}

fn number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(NUMBERED)?.parse().ok()?;
    (name == format!("{NUMBERED}{number}")).then_some(number)
}

fn at(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{NUMBERED}{number}"))
}

/// A folder's lock, held until dropped.
#[derive(Debug)]
pub struct Lock {
    folder: PathBuf,
    number: u64,
    me: Holder,
    renewal: Option<(Sender<()>, JoinHandle<()>)>,
    /// Locked by `flock` where that works.
    file: File,
}

impl Lock {
    /// Takes the lock of `folder`, which exists. A lock whose holder cannot be asked is watched first, for as long as
    /// [`Timing::patience`].
    ///
    /// # Errors
    /// [`LockError::Held`], [`LockError::Io`]; `InvalidInput` there for a link in place of a lock's file.
    pub fn acquire(folder: &Path) -> Result<Self, LockError> {
        let timing = observer::timing().unwrap_or_default();
        let me = Holder::me();
        let (file, flocked) = flock(folder, &me)?;
        let number = claim(folder, &me, flocked, timing)?;
        let path = at(folder, number);
        let io = |error| LockError::Io(path.clone(), error);
        // Dropped, and with it the lock's file, where one of the next two fails.
        let mut lock = Self {
            folder: folder.into(),
            number,
            renewal: None,
            me,
            file,
        };
        let handle = File::open(&path).map_err(io)?.into_system();
        lock.renewal = Some(renew(handle, lock.me.clone(), timing.renewal).map_err(io)?);
        Ok(lock)
    }

    /// Whether the lock still holds: its file is there, and nobody has taken over.
    ///
    /// # Errors
    /// [`LockError::Lost`], [`LockError::Io`].
    pub fn check(&self) -> Result<(), LockError> {
        let numbers = numbers(&self.folder)?;
        if let Some(&last) = numbers.last().filter(|last| **last > self.number) {
            let by = read_numbered(&self.folder, last)?;
            return Err(LockError::Lost(by.map(|text| Holder::parse(&text).into())));
        }
        match read_numbered(&self.folder, self.number)? {
            Some(text) if Holder::parse(&text).nonce == self.me.nonce => Ok(()),
            Some(text) => Err(LockError::Lost(Some(Holder::parse(&text).into()))),
            None => Err(LockError::Lost(None)),
        }
    }

    /// Takes in that the folder was renamed to `folder`.
    pub fn moved_to(&mut self, folder: &Path) {
        self.folder = folder.into();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.renewal.take() {
            drop(stop);
            let _ = thread.join();
        }
        let own = read_numbered(&self.folder, self.number);
        if let Ok(Some(text)) = own
            && Holder::parse(&text).nonce == self.me.nonce
        {
            // What stays is stale to whoever finds it.
            let _ = remove(&at(&self.folder, self.number));
        }
        // Closing it is not enough: a child that was forked meanwhile has a copy until it executes its program.
        let _ = self.file.system().unlock();
    }
}

/// The lock file, and whether `flock` granted it. Its content is for programs that know no other lock.
fn flock(folder: &Path, me: &Holder) -> Result<(File, bool), LockError> {
    let path = folder.join(LOCK);
    let io = |error| LockError::Io(path.clone(), error);
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let mut file = match File::open_or_create(&path) {
            // Made by another process meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            opened => opened.map_err(io)?,
        };
        let flocked = match observed(Op::Flock(&path), || {
            file.system().try_lock().map_err(io::Error::from)
        }) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) if cannot_lock(&error) => false,
            Err(error) => return Err(io(error)),
        };
        // Another process may have renamed the folder aside since we opened the file in it.
        if !is_at(file.system(), &path) {
            continue;
        }
        if flocked {
            let text = me.json();
            file.set_length(0)
                .and_then(|()| file.write_at(0, text.as_bytes()))
                .map_err(io)?;
        }
        return Ok((file, flocked));
    }
    let text = read(&path).unwrap_or_default();
    let found = Holder::parse_json(&String::from_utf8_lossy(&text));
    Err(LockError::Held(named(folder, found).into()))
}

/// `found`, with what the file of the same process tells beside.
fn named(folder: &Path, found: Holder) -> Holder {
    let files = numbers(folder).unwrap_or_default().into_iter().rev();
    let holders = files.filter_map(|number| read_numbered(folder, number).ok().flatten());
    let mut holders = holders.map(|text| Holder::parse(&text));
    holders
        .find(|holder| holder.pid.is_some() && holder.pid == found.pid)
        .unwrap_or(found)
}

fn cannot_lock(error: &io::Error) -> bool {
    #[cfg(unix)]
    let known = [libc::ENOSYS, libc::ENOLCK, libc::ENOTSUP, libc::EINVAL];
    #[cfg(not(unix))]
    let known: [i32; 0] = [];
    let number = error.raw_os_error();
    error.kind() == ErrorKind::Unsupported || number.is_some_and(|number| known.contains(&number))
}

/// Creates the next numbered file, once every earlier one is known to be stale.
fn claim(folder: &Path, me: &Holder, flocked: bool, timing: Timing) -> Result<u64, LockError> {
    let mut last = Holder::default();
    for attempt in 0..TRIES {
        if attempt > 0 {
            // Two that met go apart.
            thread::sleep(PAUSE * (1 + std::process::id() % 7));
        }
        let stale = numbers(folder)?;
        for &number in &stale {
            if let Some(holder) = living(folder, number, me, flocked, timing)? {
                return Err(LockError::Held(holder.into()));
            }
        }
        let next = stale.last().map_or(Some(1), |last| last.checked_add(1));
        let Some(next) = next else {
            let path = at(folder, u64::MAX);
            return Err(LockError::Io(path, ErrorKind::InvalidInput.into()));
        };
        let path = at(folder, next);
        let io = |error| LockError::Io(path.clone(), error);
        let mut file = match File::create_new(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            created => created.map_err(io)?,
        };
        // Synced: an empty file, left by a crash of the machine, would have to be watched.
        let written = file.write_at(0, me.text(0).as_bytes());
        if let Err(error) = written.and_then(|()| file.sync()) {
            let _ = remove(&path);
            return Err(io(error));
        }
        let others = numbers(folder)?;
        let rival = others
            .iter()
            .find(|number| **number != next && !stale.contains(number));
        if let Some(&rival) = rival {
            let text = read_numbered(folder, rival)?;
            last = text.map_or_else(Holder::default, |text| Holder::parse(&text));
            let _ = remove(&path);
            continue;
        }
        for number in stale {
            let _ = remove(&at(folder, number));
        }
        return Ok(next);
    }
    Err(LockError::Held(last.into()))
}

/// The holder of a numbered file, if it lives; waits to see whether one on another machine renews it.
fn living(
    folder: &Path,
    number: u64,
    me: &Holder,
    flocked: bool,
    timing: Timing,
) -> Result<Option<Holder>, LockError> {
    let Some(before) = read_numbered(folder, number)? else {
        return Ok(None);
    };
    let holder = Holder::parse(&before);
    match holder.life(me, flocked) {
        Life::Alive => return Ok(Some(holder)),
        Life::Dead => return Ok(None),
        Life::Elsewhere => {}
    }
    let begun = Instant::now();
    while begun.elapsed() < timing.patience {
        thread::sleep((timing.renewal / 4).max(Duration::from_millis(1)));
        match read_numbered(folder, number)? {
            Some(now) if now == before => {}
            Some(now) => return Ok(Some(Holder::parse(&now))),
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// Rewrites the lock's file until the sender is dropped.
fn renew(
    mut file: fs::File,
    me: Holder,
    every: Duration,
) -> io::Result<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = channel();
    let thread = thread::Builder::new().spawn(move || {
        let mut renewed = 0;
        while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            renewed += 1;
            // A renewal that fails is tried again; should all fail, the lock becomes stale.
            let _ = file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.write_all(me.text(renewed).as_bytes()))
                .and_then(|()| file.sync_data());
        }
    })?;
    Ok((stop, thread))
}

/// Who holds the lock of `folder`, as far as can be told without waiting; `None` when nobody does. A holder on another
/// machine counts while its file was renewed in the last ten minutes.
///
/// # Errors
/// [`LockError::Io`].
pub fn holder_of(folder: &Path) -> Result<Option<Holder>, LockError> {
    let path = folder.join(LOCK);
    let io = |error| LockError::Io(path.clone(), error);
    if crate::is_link(&path) {
        return Err(io(ErrorKind::InvalidInput.into()));
    }
    let mut file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let flocked = match observed(Op::Flock(&path), || {
        file.try_lock_shared().map_err(io::Error::from)
    }) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let mut text = Vec::new();
            let _ = file.read_to_end(&mut text);
            let found = Holder::parse_json(&String::from_utf8_lossy(&text));
            return Ok(Some(named(folder, found)));
        }
        Err(error) if cannot_lock(&error) => false,
        Err(error) => return Err(io(error)),
    };
    let me = Holder::me();
    for number in numbers(folder)?.into_iter().rev() {
        let Some(text) = read_numbered(folder, number)? else {
            continue;
        };
        let holder = Holder::parse(&text);
        let lives = match holder.life(&me, flocked) {
            Life::Alive => true,
            Life::Dead => false,
            Life::Elsewhere => is_recent(&at(folder, number)),
        };
        if lives {
            return Ok(Some(holder));
        }
    }
    Ok(None)
}

fn is_recent(path: &Path) -> bool {
    let written = fs::symlink_metadata(path).and_then(|found| found.modified());
    written.is_ok_and(|written| {
        // A clock that is ahead gives no age.
        let age = SystemTime::now().duration_since(written);
        age.unwrap_or_default() < RECENT
    })
}

/// The numbers of the lock files in `folder`, ascending.
fn numbers(folder: &Path) -> Result<Vec<u64>, LockError> {
    let names = names(folder).map_err(|error| LockError::Io(folder.into(), error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The text of a numbered file; `None` where it is gone.
fn read_numbered(folder: &Path, number: u64) -> Result<Option<String>, LockError> {
    let path = at(folder, number);
    match read(&path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LockError::Io(path, error)),
    }
}

/// Whether `path` still names the open `file`.
#[cfg(unix)]
fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &fs::File, _: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests;
