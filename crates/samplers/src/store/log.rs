//! The append-only log of a mapped store.
//!
//! ```text
//! header   "hhchnlog" | generation u64 | rows u64 | bytes_per_row u64 | CRC-32 of these, u32
//! record   row u32 | packed state | CRC-32 of (the checksum before, row, state), u32
//! ```
//! Integers are little endian. The checksums are a chain: a record is whole only if everything before it is.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use helmholtz_files::{File, remove};

use super::image::{Shape, damaged};
use crate::SamplerError;

const MAGIC: [u8; 8] = *b"hhchnlog";

/// A log open for appending.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    /// Bytes in it, all of them whole records.
    pub len: u64,
    /// The checksum that the next record goes on from.
    pub checksum: u32,
}

impl Log {
    /// Makes an empty log, its content durable when this returns, in place of any old one.
    pub fn create(path: PathBuf, shape: &Shape, generation: u64) -> Result<Self, SamplerError> {
        let (header, checksum) = header(shape, generation);
        let make = || -> std::io::Result<File> {
            match remove(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = File::create_new(&path)?;
            file.write_at(0, &header)?;
            file.sync()?;
            Ok(file)
        };
        let file = make().map_err(io("create", &path))?;
        Ok(Self {
            file,
            len: header.len() as u64,
            checksum,
            path,
        })
    }

    /// Opens a log and replays its records, the first `limit` bytes of it at most, up to the first that is not whole.
    ///
    /// Changes nothing on disk: bytes after the ones replayed are there until [`cut`](Self::cut).
    pub fn replay(
        path: PathBuf,
        shape: &Shape,
        generation: u64,
        limit: u64,
        mut apply: impl FnMut(u32, &[u8]),
    ) -> Result<Self, SamplerError> {
        let file = File::open(&path).map_err(io("open", &path))?;
        let mut records = BufReader::new(file.system());
        let (header, mut checksum) = header(shape, generation);
        let mut found = vec![0; header.len()];
        if !read_whole(&mut records, &mut found).map_err(io("read", &path))? || found != header {
            return Err(damaged("the header of its log is wrong"));
        }
        let mut len = header.len() as u64;
        let mut record = vec![0; record_len(shape)];
        while len + record.len() as u64 <= limit
            && read_whole(&mut records, &mut record).map_err(io("read", &path))?
        {
            let Some((content, seal)) = record.split_last_chunk::<4>() else {
                break;
            };
            let Some((row, state)) = content.split_first_chunk::<4>() else {
                break;
            };
            let (row, expected) = (u32::from_le_bytes(*row), chained(checksum, content));
            if u32::from_le_bytes(*seal) != expected || row as usize >= shape.rows {
                break;
            }
            apply(row, state);
            checksum = expected;
            len += record.len() as u64;
        }
        Ok(Self {
            file,
            path,
            len,
            checksum,
        })
    }

    /// Cuts off what lies after the replayed records, durably; returns how many bytes that were.
    pub fn cut(&mut self) -> Result<u64, SamplerError> {
        let surplus = self.file.length().map_err(io("read", &self.path))? - self.len;
        if surplus > 0 {
            self.file
                .set_length(self.len)
                .and_then(|()| self.file.sync())
                .map_err(io("cut", &self.path))?;
        }
        Ok(surplus)
    }

    /// Appends a record for each row. On an error the log is as before: what was written is not counted, and will be
    /// overwritten.
    pub fn append(
        &mut self,
        rows: &[u32],
        packed: &[u8],
        shape: &Shape,
    ) -> Result<(), SamplerError> {
        let mut bytes = Vec::with_capacity(rows.len() * record_len(shape));
        let mut checksum = self.checksum;
        for (row, state) in rows
            .iter()
            .zip(packed.chunks_exact(shape.latents.bytes_per_row()))
        {
            let start = bytes.len();
            bytes.extend_from_slice(&row.to_le_bytes());
            bytes.extend_from_slice(state);
            checksum = chained(checksum, &bytes[start..]);
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        self.file
            .write_at(self.len, &bytes)
            .map_err(io("append to", &self.path))?;
        self.len += bytes.len() as u64;
        self.checksum = checksum;
        Ok(())
    }

    /// Makes all records durable.
    pub fn sync(&self) -> Result<(), SamplerError> {
        self.file.sync_data().map_err(io("sync", &self.path))
    }
}

fn record_len(shape: &Shape) -> usize {
    4 + shape.latents.bytes_per_row() + 4
}

/// The header, and the checksum that the first record goes on from.
fn header(shape: &Shape, generation: u64) -> (Vec<u8>, u32) {
    let numbers = [
        generation,
        shape.rows as u64,
        shape.latents.bytes_per_row() as u64,
    ];
    let mut header: Vec<u8> = MAGIC
        .into_iter()
        .chain(numbers.into_iter().flat_map(u64::to_le_bytes))
        .collect();
    let checksum = crc32fast::hash(&header);
    header.extend_from_slice(&checksum.to_le_bytes());
    (header, checksum)
}

fn chained(before: u32, content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&before.to_le_bytes());
    hasher.update(content);
    hasher.finalize()
}

/// Fills `buffer`; false if the source ends before.
fn read_whole(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// An [`SamplerError::Io`] that says what was tried on which file.
pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> SamplerError {
    let path = path.to_owned();
    move |source| SamplerError::Io {
        action,
        path,
        source,
    }
}
