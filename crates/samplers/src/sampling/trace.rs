//! A chain in a file that a kill cannot harm.
//!
//! The file is a header and then a record a transition: its length, the kernel's report, the state after it, and a
//! checksum of these. Records are only appended. A torn one at the end is cut off when the file is opened. The chain
//! goes on from the state of the last whole one, which is all that it needs.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::Record;
use crate::{Info, SamplerError};

const MAGIC: &[u8; 8] = b"HHTRACE1";

/// Of a chain with a tuned kernel, whose first record is the state after the tuning.
const TUNED: &[u8; 8] = b"HHTUNED1";

/// Bytes of a record beside its state: length, report, checksum.
const AROUND: usize = 4 + 7 * 8 + 4;

/// A file that is being written.
pub(super) struct Trace {
    path: PathBuf,
    file: BufWriter<File>,
    record: Vec<u8>,
}

/// What a chain is, beside its kernel: a trace goes on only for the same.
pub(super) struct Name<'a> {
    pub label: &'a str,
    pub seed: u64,
    pub chain: u64,
    /// Whether its kernel is tuned.
    pub tuned: bool,
}

impl Trace {
    /// The trace at `path`, made if there is none, and what it holds. `start` is where the chain starts.
    ///
    /// # Errors
    /// [`SamplerError::Shape`] for the trace of another chain, [`SamplerError::Damaged`] for a file that is none,
    /// [`SamplerError::Io`].
    pub fn open<S: Record>(
        path: &Path,
        name: &Name<'_>,
        start: &S,
    ) -> Result<(Self, Vec<(Info, S)>), SamplerError> {
        let io = |action| io(action, path);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io("open"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        let header = header(name, start);
        let mut records = Vec::new();
        // A header cut short is a run that was killed before its first step.
        let mut end = 0;
        if bytes.len() >= header.len() {
            if bytes[..8] != *MAGIC && bytes[..8] != *TUNED {
                return Err(SamplerError::Damaged {
                    reason: format!("{} is no trace of a chain", path.display()),
                });
            }
            if bytes[..header.len()] != header {
                return Err(SamplerError::Shape {
                    found: format!(
                        "a trace of another label, seed, chain, start or way to tune in {}",
                        path.display()
                    ),
                    expected: format!("{:?}, seed {}, chain {}", name.label, name.seed, name.chain),
                });
            }
            end = header.len();
            while let Some((length, info, state)) = record(&bytes[end..]) {
                records.push((info, state));
                end += length;
            }
        }
        file.set_len(end as u64).map_err(io("cut"))?;
        file.seek(SeekFrom::Start(end as u64))
            .map_err(io("seek in"))?;
        let mut trace = Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            record: Vec::new(),
        };
        if end == 0 {
            trace.put(&header)?;
        }
        Ok((trace, records))
    }

    pub fn append(&mut self, info: &Info, state: &impl Record) -> Result<(), SamplerError> {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        record.extend([0; 4]);
        info.write(&mut record);
        state.write(&mut record);
        let length = (record.len() + 4) as u32;
        record[..4].copy_from_slice(&length.to_le_bytes());
        record.extend(crc32fast::hash(&record).to_le_bytes());
        let done = self.put(&record);
        self.record = record;
        done
    }

    /// Hands everything to the system, which keeps it if the process is killed.
    pub fn flush(&mut self) -> Result<(), SamplerError> {
        self.file.flush().map_err(io("write", &self.path))
    }

    /// Has the disk keep everything, if the machine stops too.
    pub fn sync(&mut self) -> Result<(), SamplerError> {
        self.flush()?;
        let synced = self.file.get_ref().sync_data();
        synced.map_err(io("sync", &self.path))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), SamplerError> {
        self.file.write_all(bytes).map_err(io("write", &self.path))
    }
}

fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> SamplerError {
    let path = path.to_owned();
    move |source| SamplerError::Io {
        action,
        path: path.clone(),
        source,
    }
}

fn header(name: &Name<'_>, start: &impl Record) -> Vec<u8> {
    let mut of_start = Vec::new();
    start.write(&mut of_start);
    let mut header = if name.tuned { TUNED } else { MAGIC }.to_vec();
    header.extend(name.seed.to_le_bytes());
    header.extend(name.chain.to_le_bytes());
    header.extend(crc32fast::hash(name.label.as_bytes()).to_le_bytes());
    header.extend(crc32fast::hash(&of_start).to_le_bytes());
    header
}

/// The first record of these bytes and its length, if it is whole.
fn record<S: Record>(bytes: &[u8]) -> Option<(usize, Info, S)> {
    let (length, _) = bytes.split_first_chunk()?;
    let length = u32::from_le_bytes(*length) as usize;
    if length < AROUND || length > bytes.len() {
        return None;
    }
    let (body, seal) = bytes[..length].split_last_chunk()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*seal) {
        return None;
    }
    let info = Info::read(&body[4..60])?;
    Some((length, info, S::read(&body[AROUND - 4..])?))
}
