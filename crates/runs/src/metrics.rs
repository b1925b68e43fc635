//! The append-only `metrics.jsonl`: one JSON value a line.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::disk::failed;

/// The metrics file's name in a run folder.
pub(crate) const METRICS: &str = "metrics.jsonl";

/// How long some bytes were when a checkpoint was taken, and their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// The open metrics file: what is beyond `bytes` does not count.
#[derive(Debug)]
pub(crate) struct Metrics {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    bytes: u64,
    hash: Sha256,
}

impl Metrics {
    /// Opens the metrics of `folder` cut to their first `bytes`, which [`hash_prefix`] has found to be there.
    pub(crate) fn rewind(folder: &Path, bytes: u64, hash: Sha256) -> Result<Self, RunError> {
        let path = folder.join(METRICS);
        let cut = || {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            file.set_len(bytes)?;
            file.sync_all()?;
            Ok(file)
        };
        let file = cut().map_err(failed(folder, "open", &path))?;
        Ok(Self {
            folder: folder.into(),
            path,
            file,
            bytes,
            hash,
        })
    }

    /// Appends one line, whole or not at all.
    pub(crate) fn append(&mut self, row: &Value) -> Result<(), RunError> {
        let line = format!("{row}\n");
        let written = self
            .file
            .seek(SeekFrom::Start(self.bytes))
            .and_then(|_| self.file.write_all(line.as_bytes()));
        if let Err(error) = written {
            // Should this fail too, the torn line is overwritten by the next one or cut by the next checkpoint.
            let _ = self.file.set_len(self.bytes);
            return Err(failed(&self.folder, "append to", &self.path)(error));
        }
        self.bytes += line.len() as u64;
        self.hash.update(line.as_bytes());
        Ok(())
    }

    /// Waits until the lines so far are on the disk, and describes them.
    pub(crate) fn sync(&self) -> Result<Recorded, RunError> {
        let synced = self
            .file
            .set_len(self.bytes)
            .and_then(|()| self.file.sync_all());
        synced.map_err(failed(&self.folder, "write", &self.path))?;
        Ok(Recorded {
            bytes: self.bytes,
            sha256: format!("{:x}", self.hash.clone().finalize()),
        })
    }
}

/// The hash over the first `bytes` of the metrics in `folder`; `None` where there are fewer.
pub(crate) fn hash_prefix(folder: &Path, bytes: u64) -> Result<Option<Sha256>, RunError> {
    let path = folder.join(METRICS);
    let mut hash = Sha256::new();
    let mut left = match File::open(&path) {
        Ok(file) => file.take(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok((bytes == 0).then_some(hash));
        }
        Err(error) => return Err(failed(folder, "read", &path)(error)),
    };
    let mut chunk = vec![0; 1 << 16];
    loop {
        match left.read(&mut chunk) {
            Ok(0) => return Ok((left.limit() == 0).then_some(hash)),
            Ok(n) => hash.update(&chunk[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(folder, "read", &path)(error)),
        }
    }
}

/// The metrics of the run folder at `path`, one value a line; empty where there are none yet. May be called beside a
/// live run: a last line that is not complete yet is left out.
///
/// Errors: [`RunError::Damaged`] where a complete line is not JSON, [`RunError::Io`].
pub fn read_metrics(path: impl AsRef<Path>) -> Result<Vec<Value>, RunError> {
    let folder = path.as_ref();
    let file = folder.join(METRICS);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, "read", &file)(error)),
    };
    let mut rows = Vec::new();
    for line in bytes
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
    {
        rows.push(serde_json::from_slice(line).map_err(|error| RunError::Damaged {
            file: file.clone(),
            what: format!("line {}: {error}", rows.len() + 1),
            remedy: "correct or remove that line in a copy; the run itself, if unfinished, goes by its checkpoints",
        })?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::sha256;
    use serde_json::json;

    fn fresh(folder: &Path) -> Metrics {
        Metrics::rewind(folder, 0, Sha256::new()).unwrap()
    }

    #[test]
    fn the_record_is_the_files_length_and_hash() {
        let home = tempfile::tempdir().unwrap();
        let mut metrics = fresh(home.path());
        metrics.append(&json!({"epoch": 1, "nll": 0.1})).unwrap();
        metrics.append(&json!([2])).unwrap();
        let text = fs::read(home.path().join(METRICS)).unwrap();
        assert_eq!(text, b"{\"epoch\":1,\"nll\":0.1}\n[2]\n");
        assert_eq!(
            metrics.sync().unwrap(),
            Recorded {
                bytes: text.len() as u64,
                sha256: sha256(&text)
            }
        );
        assert_eq!(
            read_metrics(home.path()).unwrap(),
            [json!({"epoch": 1, "nll": 0.1}), json!([2])]
        );
    }

    #[test]
    fn rewinding_cuts_and_continues_in_the_same_bytes() {
        let home = tempfile::tempdir().unwrap();
        let mut metrics = fresh(home.path());
        metrics.append(&json!(1)).unwrap();
        let mark = metrics.sync().unwrap();
        metrics.append(&json!(2)).unwrap();
        let end = metrics.sync().unwrap();

        let hash = hash_prefix(home.path(), mark.bytes).unwrap().unwrap();
        let mut metrics = Metrics::rewind(home.path(), mark.bytes, hash).unwrap();
        assert_eq!(metrics.sync().unwrap(), mark);
        metrics.append(&json!(2)).unwrap();
        assert_eq!(metrics.sync().unwrap(), end);
    }

    #[test]
    fn a_prefix_longer_than_the_file_is_not_there() {
        let home = tempfile::tempdir().unwrap();
        assert!(hash_prefix(home.path(), 0).unwrap().is_some());
        assert!(hash_prefix(home.path(), 1).unwrap().is_none());
        fs::write(home.path().join(METRICS), "12\n").unwrap();
        assert!(hash_prefix(home.path(), 3).unwrap().is_some());
        assert!(hash_prefix(home.path(), 4).unwrap().is_none());
    }

    #[test]
    fn a_torn_last_line_is_left_out_and_a_broken_one_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        assert!(read_metrics(home.path()).unwrap().is_empty());
        fs::write(home.path().join(METRICS), "1\n{\"a\":").unwrap();
        assert_eq!(read_metrics(home.path()).unwrap(), [json!(1)]);
        fs::write(home.path().join(METRICS), "1\n{\"a\":\n3\n").unwrap();
        let error = read_metrics(home.path()).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
