//! A chain store on disk that a kill cannot harm.

use std::fs;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use helmholtz_files::{File, Lock, LockError, create_directories, remove, rename, sync_directory};

use super::ChainStore;
use super::image::{Shape, damaged};
use super::log::{Log, io};
use super::working_copy::WorkingCopy;
use crate::{Latents, SamplerError};

/// Older generations that [`MappedStore::fold`] keeps: those that the checkpoint just published, and the one before
/// it, may name.
const KEPT: u64 = 2;

/// Where a chain store stood when a checkpoint was made: the checkpoint records it, [`MappedStore::open`] returns to it.
///
/// With feature `serde` it is serialised as a map of its three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mark {
    /// Which base file the states build on.
    pub generation: u64,
    /// Bytes of that generation's log that count.
    pub log_bytes: u64,
    /// The log's running checksum at that length.
    pub checksum: u32,
}

/// A chain store in a folder: a base file that never changes, a log of the changes since, and a memory-mapped working
/// copy of what the two come to.
///
/// **Crash safety.** A file mutated in place would be ahead of the last checkpoint after a kill. So the working copy is
/// nobody's to read after a kill, and each [`store`](ChainStore::store) appends checksummed records to the log.
/// A checkpoint calls [`sync`](Self::sync) and publishes the [`Mark`]; after a kill, [`open`](Self::open) with that
/// mark discards whatever came later. [`fold`](Self::fold), right after a checkpoint is published, writes the current
/// states as the base of the next *generation* and starts an empty log. The mark names its generation, whose files
/// stay until two folds later, so whichever instant a kill comes at:
///
/// | killed | files of generation g | last published mark | so `open` finds |
/// |---|---|---|---|
/// | between stores | base g, log g longer than the mark | g | the log cut at the mark |
/// | while appending | base g, log g with a torn tail | g | the same |
/// | after `sync`, before the checkpoint is published | as between stores | g, older | the same |
/// | in `fold`, base g + 1 not yet renamed | log g + 1 (empty), a scratch file | g | base g, log g; the others are removed |
/// | after `fold`, before the next checkpoint | base g + 1, log g + 1 | g | base g, log g; the others are removed |
/// | after the next checkpoint | base g + 1, log g + 1 | g + 1 | these |
///
/// **Cost.** Memory does not grow with the rows: the system may write out any page of the working copy and read it
/// again, so the data set may outgrow memory. On disk lie the base, the working copy, the base of each generation kept,
/// and bytes_per_row + 8 bytes of log for each state stored since the fold. [`open`](Self::open) writes the whole store
/// once and stores again what the log holds; [`fold`](Self::fold) writes the whole store once. While the changed pages
/// stay within what the system keeps unwritten (on Linux 10 to 20 % of the free memory), storing goes at the speed of
/// memory. Beyond, it goes at the speed at which the disk takes pages in random order.
///
/// **One at a time.** A store holds the lock of its folder ([`helmholtz_files::Lock`]) until it is dropped; another one is
/// refused. In the folder the names `working-copy`, `lock` and `lock.N` are reserved, besides those of bases and logs: a
/// file of the first is replaced.
///
/// ```
/// use helmholtz_samplers::{ChainStore, Latents, MappedStore};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = &folder.path().join("chains");
/// let latents = Latents::new(&[16])?;
/// let mut store = MappedStore::create(path, &latents, 1000)?;
/// store.store(&[7], &[1, 2])?;
/// let mark = store.sync()?; // goes into the checkpoint
/// store.store(&[7], &[8, 9])?; // and now the process is killed
/// drop(store);
///
/// let store = MappedStore::open(path, &latents, 1000, Some(&mark))?;
/// let mut packed = [0; 2];
/// store.load(&[7], &mut packed)?;
/// assert_eq!(packed, [1, 2]);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Debug)]
pub struct MappedStore {
    folder: PathBuf,
    shape: Shape,
    generation: u64,
    /// The base with the log's changes.
    working: WorkingCopy,
    log: Log,
    /// Length of the log at the last mark.
    marked: u64,
    discarded: u64,
    _lock: Lock,
}

impl MappedStore {
    /// Makes a store of `rows` rows in `folder`, none of them initialised, in place of any that is there.
    ///
    /// # Errors
    /// [`SamplerError::TooManyRows`], [`SamplerError::Locked`], [`SamplerError::Io`].
    pub fn create(folder: &Path, latents: &Latents, rows: usize) -> Result<Self, SamplerError> {
        let shape = Shape::new(latents, rows)?;
        create_directories(folder).map_err(io("create", folder))?;
        let lock = lock(folder)?;
        remove_generations(folder, |_| true)?;
        let zeros = vec![0; (1 << 16).min(shape.body_len())];
        let chunks = (0..shape.body_len())
            .step_by(1 << 16)
            .map(|at| &zeros[..(shape.body_len() - at).min(1 << 16)]);
        let log = start_generation(folder, &shape, 0, chunks)?;
        sync_folder(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            working: WorkingCopy::new(folder, &base_path(folder, 0), &shape, 0)?,
            shape,
            generation: 0,
            marked: log.len,
            log,
            discarded: 0,
            _lock: lock,
        })
    }

    /// Opens the store in `folder`, of `rows` rows of `latents`, as it was at `mark`; everything after the mark is
    /// discarded. Without a mark: as it was last, but for a torn record at the log's end, which is cut off.
    ///
    /// # Errors
    /// On every error bases and logs are as they were, but for a [`SamplerError::Io`] that comes when the log is being cut
    /// or later: opening again finishes what it began.
    /// * [`SamplerError::Locked`]: another store has the folder.
    /// * [`SamplerError::NoStore`]: no store, or none of the mark's generation.
    /// * [`SamplerError::Shape`]: of other rows or latents.
    /// * [`SamplerError::MarkBeyondLog`]: the log has fewer whole bytes than the mark says.
    /// * [`SamplerError::Damaged`]: the base, or the log's header, is not what was written.
    /// * [`SamplerError::Io`].
    pub fn open(
        folder: &Path,
        latents: &Latents,
        rows: usize,
        mark: Option<&Mark>,
    ) -> Result<Self, SamplerError> {
        let shape = Shape::new(latents, rows)?;
        let no_store = |generation| SamplerError::NoStore {
            path: folder.to_owned(),
            generation,
        };
        if newest_generation(folder)?.is_none() {
            return Err(no_store(mark.map(|mark| mark.generation)));
        }
        let lock = lock(folder)?;
        let generation = match mark {
            Some(mark) => mark.generation,
            None => newest_generation(folder)?.ok_or_else(|| no_store(None))?,
        };
        let path = base_path(folder, generation);
        if let Err(error) = fs::metadata(&path) {
            return Err(match error.kind() {
                ErrorKind::NotFound => no_store(Some(generation)),
                _ => io("open", &path)(error),
            });
        }
        let mut working = WorkingCopy::new(folder, &path, &shape, generation)?;

        let limit = mark.map_or(u64::MAX, |mark| mark.log_bytes);
        let body = working.body_mut();
        let mut log = Log::replay(
            log_path(folder, generation),
            &shape,
            generation,
            limit,
            |row, state| {
                shape.put(body, row, state);
            },
        )?;
        if let Some(mark) = mark {
            if log.len != mark.log_bytes {
                let (marked, found) = (mark.log_bytes, log.len);
                return Err(SamplerError::MarkBeyondLog {
                    generation,
                    marked,
                    found,
                });
            }
            if log.checksum != mark.checksum {
                return Err(damaged("its log is not the one that was marked"));
            }
        }
        let discarded = log.cut()?;
        remove_generations(folder, |other| other > generation)?;
        // What is logged from now on must not be hidden by a later generation that comes back after a crash.
        sync_folder(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            shape,
            generation,
            working,
            marked: log.len,
            log,
            discarded,
            _lock: lock,
        })
    }

    /// Makes all states durable, and says where that is. Resuming at the mark gives the states as they are now, once a
    /// checkpoint that records it is published.
    ///
    /// # Errors
    /// [`SamplerError::Io`].
    pub fn sync(&mut self) -> Result<Mark, SamplerError> {
        self.log.sync()?;
        self.marked = self.log.len;
        Ok(Mark {
            generation: self.generation,
            log_bytes: self.log.len,
            checksum: self.log.checksum,
        })
    }

    /// Folds the log into a new base. To be called right after the checkpoint with the mark of the last
    /// [`sync`](Self::sync) was published, when the log has grown long; costs writing the whole store.
    ///
    /// The published mark stays good, and the one of the checkpoint before it.
    ///
    /// # Errors
    /// [`SamplerError::Unsynced`] if there were changes since that `sync`; [`SamplerError::Io`]. The states are as they
    /// were, and the published mark still holds.
    pub fn fold(&mut self) -> Result<(), SamplerError> {
        if self.log.len != self.marked {
            return Err(SamplerError::Unsynced {
                bytes: self.log.len - self.marked,
            });
        }
        let generation = self
            .generation
            .checked_add(1)
            .ok_or_else(|| damaged("its generation is the last that has a number"))?;
        self.working.read_ahead(true);
        let body = [self.working.body()].into_iter();
        let started = start_generation(&self.folder, &self.shape, generation, body);
        self.working.read_ahead(false);
        let log = started?;
        (self.marked, self.log, self.generation) = (log.len, log, generation);
        sync_folder(&self.folder)?;
        remove_generations(&self.folder, |other| {
            other.saturating_add(KEPT) < generation
        })
    }

    /// Bytes of log since the last fold. When it is longer than the store itself, it is time for a
    /// [`fold`](Self::fold).
    pub fn log_bytes(&self) -> u64 {
        self.log.len
    }

    /// Bytes of log that [`open`](Self::open) cut off: work after the mark, or a torn record.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }
}

impl ChainStore for MappedStore {
    fn latents(&self) -> &Latents {
        &self.shape.latents
    }

    fn len(&self) -> usize {
        self.shape.rows
    }

    fn is_initialised(&self, row: u32) -> bool {
        self.shape.is_initialised(self.working.body(), row)
    }

    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        self.shape.check_rows(rows, packed.len())?;
        self.working.fetch(rows, self.shape.latents.bytes_per_row());
        self.shape.gather(self.working.body(), rows, packed)
    }

    fn store(&mut self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError> {
        self.shape.check_states(rows, packed)?;
        self.log.append(rows, packed, &self.shape)?;
        let bytes = self.shape.latents.bytes_per_row();
        self.working.fetch(rows, bytes);
        let body = self.working.body_mut();
        for (&row, state) in rows.iter().zip(packed.chunks_exact(bytes)) {
            self.shape.put(body, row, state);
        }
        Ok(())
    }
}

fn base_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{generation:06}.base"))
}

fn log_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("{generation:06}.log"))
}

/// Writes an empty log and a base of these `chunks`. The generation exists from the moment its base gets its name, which
/// is the last thing done. The caller makes that name durable.
fn start_generation<'a>(
    folder: &Path,
    shape: &Shape,
    generation: u64,
    mut chunks: impl Iterator<Item = &'a [u8]>,
) -> Result<Log, SamplerError> {
    let log = Log::create(log_path(folder, generation), shape, generation)?;
    let scratch = folder.join(format!("{generation:06}.scratch"));
    let mut write = || -> std::io::Result<()> {
        match remove(&scratch) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = File::create_new(&scratch)?;
        let mut out = BufWriter::new(Appending { file, at: 0 });
        let mut seal = crc32fast::Hasher::new();
        let mut put = |bytes: &[u8]| {
            seal.update(bytes);
            out.write_all(bytes)
        };
        put(&shape.header(generation))?;
        chunks.try_for_each(&mut put)?;
        out.write_all(&seal.finalize().to_le_bytes())?;
        let Appending { file, .. } = out.into_inner().map_err(|error| error.into_error())?;
        file.sync()
    };
    write().map_err(io("write", &scratch))?;
    // The log's name is durable before the base's, which makes the generation exist.
    sync_folder(folder)?;
    let path = base_path(folder, generation);
    rename(&scratch, &path).map_err(io("rename", &scratch))?;
    Ok(log)
}

/// Makes the names in `folder` durable.
fn sync_folder(folder: &Path) -> Result<(), SamplerError> {
    sync_directory(folder).map_err(io("sync", folder))
}

/// The lock of a store's folder.
fn lock(folder: &Path) -> Result<Lock, SamplerError> {
    Lock::acquire(folder).map_err(|error| match error {
        LockError::Held(holder) => SamplerError::Locked {
            path: folder.to_owned(),
            pid: holder.pid,
            host: holder.host,
        },
        LockError::Io(path, source) => io("lock", &path)(source),
        LockError::Lost(_) => io("lock", folder)(ErrorKind::NotFound.into()),
    })
}

/// A file that is written from its start on.
struct Appending {
    file: File,
    at: u64,
}

impl Write for Appending {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write_at(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Every file of the store in `folder`, with its generation.
fn files(folder: &Path) -> Result<Vec<(u64, PathBuf)>, SamplerError> {
    let paths = fs::read_dir(folder).and_then(|entries| {
        entries
            .map(|e| Ok(e?.path()))
            .collect::<std::io::Result<Vec<_>>>()
    });
    let generation = |path: &PathBuf| -> Option<u64> {
        let ours = matches!(path.extension()?.to_str()?, "base" | "log" | "scratch");
        let name = path.file_stem()?.to_str()?;
        let generation = name.parse().ok()?;
        (ours && name == format!("{generation:06}")).then_some(generation)
    };
    Ok(paths
        .map_err(io("list", folder))?
        .into_iter()
        .filter_map(|path| Some((generation(&path)?, path)))
        .collect())
}

fn newest_generation(folder: &Path) -> Result<Option<u64>, SamplerError> {
    if !folder.exists() {
        return Ok(None);
    }
    let bases = files(folder)?
        .into_iter()
        .filter(|(_, path)| path.extension().is_some_and(|e| e == "base"));
    Ok(bases.map(|(generation, _)| generation).max())
}

/// Removes the files of some generations, bases first: a log alone is no store.
fn remove_generations(folder: &Path, which: impl Fn(u64) -> bool) -> Result<(), SamplerError> {
    let mut doomed: Vec<PathBuf> = files(folder)?
        .into_iter()
        .filter(|(g, _)| which(*g))
        .map(|(_, path)| path)
        .collect();
    doomed.sort_by_key(|path| path.extension().is_none_or(|extension| extension != "base"));
    doomed
        .iter()
        .try_for_each(|path| remove(path).map_err(io("remove", path)))
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::Mark;

    #[test]
    fn a_mark_is_a_map_of_three_numbers_and_comes_back() {
        let mark = Mark {
            generation: 3,
            log_bytes: u64::MAX,
            checksum: 7,
        };
        let text = serde_json::to_string(&mark).unwrap();
        let expected = r#"{"generation":3,"log_bytes":18446744073709551615,"checksum":7}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Mark>(&text).unwrap(), mark);
    }
}
