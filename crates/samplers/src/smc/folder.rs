//! The files of an SMC run: the last state, replaced as a whole, and the reports of all steps, appended.
//!
//! `steps.log` is appended to first, then `state` takes over, by a rename. It says how many bytes of the log belong to it;
//! a kill in between leaves a longer log, whose end is cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::SamplerError;

const MAGIC: &[u8; 8] = b"HHSMC001";

/// What a run is: a folder goes on only for the same.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub label: &'a str,
    pub seed: u64,
}

/// The files of a run.
pub(super) struct Folder {
    path: PathBuf,
    /// The first bytes of the state's file.
    header: Vec<u8>,
    log: File,
    log_length: u64,
}

/// What a folder holds.
pub(super) struct Contents {
    pub state: Vec<u8>,
    pub reports: Vec<Vec<u8>>,
}

impl Folder {
    /// The files in `path`, made if there are none, and what they hold.
    ///
    /// # Errors
    /// [`SamplerError::Shape`] for those of another run, [`SamplerError::Damaged`] for what is none, [`SamplerError::Io`].
    pub fn open(path: &Path, name: &Name<'_>) -> Result<(Self, Option<Contents>), SamplerError> {
        fs::create_dir_all(path).map_err(io("create", path))?;
        let log_path = path.join("steps.log");
        let mut log = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&log_path)
            .map_err(io("open", &log_path))?;
        let mut header = MAGIC.to_vec();
        header.extend(name.seed.to_le_bytes());
        header.extend(crc32fast::hash(name.label.as_bytes()).to_le_bytes());
        let kept = kept(path, name, &header, &mut log)?;
        let (log_length, kept) = match kept {
            Some((length, kept)) => (length, Some(kept)),
            None => (0, None),
        };
        let cut = log.set_len(log_length);
        cut.and_then(|()| log.seek(SeekFrom::Start(log_length)))
            .map_err(io("cut", &log_path))?;
        let folder = Self {
            path: path.to_owned(),
            header,
            log,
            log_length,
        };
        Ok((folder, kept))
    }

    /// Adds a report, which counts once the state after it is published.
    pub fn append(&mut self, report: &[u8]) -> Result<(), SamplerError> {
        let mut record = (report.len() as u64).to_le_bytes().to_vec();
        record.extend(report);
        record.extend(crc32fast::hash(&record).to_le_bytes());
        self.log_length += record.len() as u64;
        let path = self.path.join("steps.log");
        let written = self.log.write_all(&record);
        written
            .and_then(|()| self.log.sync_data())
            .map_err(io("write", &path))
    }

    /// Puts `state` in the place of the one before it.
    pub fn publish(&mut self, state: &[u8]) -> Result<(), SamplerError> {
        let mut bytes = self.header.clone();
        bytes.extend(self.log_length.to_le_bytes());
        bytes.extend(state);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let (new, path) = (self.path.join("state.new"), self.path.join("state"));
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_data()
        });
        written.map_err(io("write", &new))?;
        fs::rename(&new, &path).map_err(io("publish", &path))?;
        // So that the name is on the disk too, where folders can be synced.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// The state, the reports that belong to it, and the length of their log; none before the first state.
fn kept(
    path: &Path,
    name: &Name<'_>,
    header: &[u8],
    log: &mut File,
) -> Result<Option<(u64, Contents)>, SamplerError> {
    let damaged = |what: &str| SamplerError::Damaged {
        reason: format!("{} {what}", path.display()),
    };
    let state_path = path.join("state");
    let bytes = match fs::read(&state_path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", &state_path)(error)),
    };
    let sealed = bytes.split_last_chunk();
    let Some((body, seal)) = sealed.filter(|(body, _)| body.len() >= header.len() + 8) else {
        return Err(damaged("holds no whole state"));
    };
    if crc32fast::hash(body) != u32::from_le_bytes(*seal) || body[..8] != *MAGIC {
        return Err(damaged("holds no whole state"));
    }
    if body[..header.len()] != *header {
        return Err(SamplerError::Shape {
            found: format!("a run of another label or seed in {}", path.display()),
            expected: format!("{:?}, seed {}", name.label, name.seed),
        });
    }
    let (length, state) = body[header.len()..].split_at(8);
    let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
    let mut logged = Vec::new();
    log.read_to_end(&mut logged)
        .map_err(io("read", &path.join("steps.log")))?;
    let own = usize::try_from(length).ok().and_then(|n| logged.get(..n));
    let mut rest = own.ok_or_else(|| damaged("lost reports of steps"))?;
    let mut reports = Vec::new();
    while !rest.is_empty() {
        let (report, others) = record(rest).ok_or_else(|| damaged("has changed reports"))?;
        reports.push(report.to_vec());
        rest = others;
    }
    let state = state.to_vec();
    Ok(Some((length, Contents { state, reports })))
}

/// The first report of these bytes, and what comes after it.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, _) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let end = length.checked_add(8).filter(|end| *end <= bytes.len())?;
    let (body, rest) = bytes.split_at(end);
    let (seal, rest) = rest.split_first_chunk()?;
    (crc32fast::hash(body) == u32::from_le_bytes(*seal)).then(|| (&body[8..], rest))
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> SamplerError {
    let path = path.to_owned();
    move |source| SamplerError::Io {
        action,
        path,
        source,
    }
}
