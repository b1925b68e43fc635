//! What can go wrong between a data set's name and its bits; every text names the thing and the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a data set could not be had.
///
/// No error is followed by a deletion: a bad file stays where it is, for its owner to look at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file is in none of the folders, and was not, or could not be, downloaded.
    #[error("{0}")]
    Missing(Box<Missing>),

    /// A file ends before its content does.
    #[error(
        "{file}: cut short: {found}; put a complete copy in its place (sha256 of the decompressed content: {sha256})",
        file = file.display(), sha256 = sha256.as_deref().unwrap_or("unknown")
    )]
    Truncated {
        /// The file.
        file: PathBuf,
        /// How much of it is there.
        found: String,
        /// The checksum of a complete copy, where it is known.
        sha256: Option<String>,
    },

    /// A file holds something that its format does not allow.
    #[error("{file}: corrupt at {at}: {found}; put a fresh copy in its place", file = file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// Where: the line of a text file, the header of a binary one.
        at: String,
        /// What is there, and what should be.
        found: String,
    },

    /// A file is well-formed, but it is not the published one.
    #[error(
        "{file}: wrong content: expected {kind} {expected}, found {found}; \
         it is left as it is: move it away and run again, or put a fresh copy in its place", file = file.display()
    )]
    WrongChecksum {
        /// The file.
        file: PathBuf,
        /// What is compared.
        kind: &'static str,
        /// That of the published content.
        expected: String,
        /// That of the content of this file.
        found: String,
    },

    /// A file whose name ends in `.gz` is not gzip.
    #[error(
        "{file}: not gzip: it starts with {found}; if it is already decompressed, rename it without `.gz`, \
         else put a fresh copy in its place", file = file.display()
    )]
    NotGzip {
        /// The file.
        file: PathBuf,
        /// Its first bytes.
        found: String,
    },

    /// The disk is full.
    #[error(
        "{file}: no space left while writing; free some space and run again: what is already there is kept, and a \
         download continues where it stopped", file = file.display()
    )]
    DiskFull {
        /// The file that was being written.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// The system refused to read or write.
    #[error("{file}: cannot {doing}: {source}", file = file.display())]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// What was being done: "open", "read", "create" …
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },

    /// The caller asked to stop.
    #[error("stopped while downloading {file}; what has arrived is kept, and the same command goes on from there", file = file.display())]
    Stopped {
        /// The file that was being downloaded.
        file: PathBuf,
    },

    /// A file of one's own holds no data as they are needed.
    #[error("{file}: {problem}", file = file.display())]
    Unsuitable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },

    /// There is no data set of this name.
    #[error("unknown data set `{found}`; choose one of {choices}")]
    UnknownDataset {
        /// The name that was asked for.
        found: String,
        /// The names that there are, each in backquotes.
        choices: String,
    },
}

impl Error {
    /// Whether the data are simply not to be had here (no file and no download), as opposed to being there and bad.
    ///
    /// Only then may a caller fall back to the generated data set.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }

    /// The error of doing something to a file; a full disk has its own.
    pub(crate) fn io(doing: &'static str, file: &Path, source: io::Error) -> Self {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { file, source }
            }
            _ => Self::Io {
                file,
                doing,
                source,
            },
        }
    }
}

/// A file that was not found: what it is, where it was looked for, and where it can be had.
#[derive(Debug, Clone)]
pub struct Missing {
    /// The file's name, without `.gz`.
    pub file: String,
    /// By what its content is recognised.
    pub checksum: String,
    /// Every folder that was looked in, in order, with what was wrong with it (empty: the file is not there).
    pub tried: Vec<(String, String)>,
    /// Its public homes.
    pub homes: Vec<String>,
    /// Why each download failed, by address; empty when none was tried.
    pub failures: Vec<(String, String)>,
    /// The data set that can be used in its place.
    pub instead: &'static str,
}

impl Missing {
    /// What can be used in the place of any data set.
    pub(crate) const GLYPHS: &'static str = "the data set `glyphs` needs no file";
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{name} (or {name}.gz) is missing", name = self.file)?;
        writeln!(f, "  looked in:")?;
        for (place, problem) in &self.tried {
            match problem.as_str() {
                "" => writeln!(f, "    {place}")?,
                _ => writeln!(f, "    {place} ({problem})")?,
            }
        }
        if self.failures.is_empty() {
            writeln!(f, "  public homes (no download was tried):")?;
            for home in &self.homes {
                writeln!(f, "    {home}")?;
            }
        } else {
            writeln!(
                f,
                "  downloading from its public homes failed (another try goes on where this one stopped):"
            )?;
            for (home, reason) in &self.failures {
                writeln!(f, "    {home}: {reason}")?;
            }
        }
        writeln!(f, "  its content: {}", self.checksum)?;
        write!(
            f,
            "  remedy: put the file into a folder and name that folder with --data-dir or in HELMHOLTZ_DATA; {}",
            self.instead
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_with_its_folders_homes_checksum_and_remedy() {
        let missing = Missing {
            file: "digits.amat".into(),
            checksum: "sha256 5eed".into(),
            tried: vec![
                ("/data".into(), "no such folder".into()),
                ("/cache".into(), String::new()),
            ],
            homes: vec!["http://home.example/digits.amat".into()],
            failures: Vec::new(),
            instead: Missing::GLYPHS,
        };
        let text = Error::Missing(Box::new(missing.clone())).to_string();
        for part in [
            "digits.amat",
            "/data (no such folder)",
            "    /cache\n",
            "http://home.example/digits.amat",
            "5eed",
            "--data-dir",
            "HELMHOLTZ_DATA",
            "glyphs",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let failures = vec![(missing.homes[0].clone(), "host not found".into())];
        let text = Missing {
            failures,
            ..missing
        }
        .to_string();
        assert!(text.contains("digits.amat: host not found"), "{text}");
    }

    #[test]
    fn a_full_disk_has_its_own_error() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::io("write", Path::new("x.part"), full);
        assert!(matches!(error, Error::DiskFull { .. }));
        assert!(error.to_string().contains("no space left"));
    }
}
