//! Files that are written in place or created new, never through a link.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::observer::{Op, Verdict, ask, notify, observed};

/// A file that is open for writing.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// A new, empty file.
    ///
    /// # Errors
    /// The system's; `AlreadyExists` for whatever has the name, a link too.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        ask(&Op::Create(path))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path);
        notify(&Op::Create(path), file.is_ok());
        Ok(Self {
            file: file?,
            path: path.into(),
        })
    }

    /// A file that exists, to be read and written in place.
    ///
    /// # Errors
    /// The system's; `InvalidInput` for a link or anything else that is no ordinary file.
    pub fn open(path: &Path) -> io::Result<Self> {
        ask(&Op::Open(path))?;
        Ok(Self {
            file: open(path, OpenOptions::new().read(true).write(true))?,
            path: path.into(),
        })
    }

    /// As [`open`](Self::open); where there is no file, as [`create_new`](Self::create_new).
    ///
    /// # Errors
    /// Those of both.
    pub fn open_or_create(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Self::create_new(path),
            opened => opened,
        }
    }

    /// Writes all of `bytes` at an offset.
    ///
    /// # Errors
    /// The system's; a part may then be written.
    pub fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let op = Op::Write {
            path: &self.path,
            at,
            bytes,
        };
        let (bytes, torn) = match ask(&op)? {
            Verdict::Skip => return Ok(()),
            Verdict::Do => (bytes, false),
            Verdict::Torn(length) => (&bytes[..length.min(bytes.len())], true),
        };
        self.file.seek(SeekFrom::Start(at))?;
        let written = self.file.write_all(bytes);
        notify(&op, written.is_ok());
        written?;
        match torn {
            true => Err(ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }

    /// Cuts the file, or lets it grow with zeros, to a length in bytes.
    ///
    /// # Errors
    /// The system's.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        observed(Op::SetLength(&self.path, length), || {
            self.file.set_len(length)
        })
    }

    /// Waits until the content is on the disk.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&self) -> io::Result<()> {
        observed(Op::Sync(&self.path), || self.file.sync_all())
    }

    /// As [`sync`](Self::sync), without what is known of the file beside its content and length.
    ///
    /// # Errors
    /// The system's.
    pub fn sync_data(&self) -> io::Result<()> {
        observed(Op::Sync(&self.path), || self.file.sync_data())
    }

    /// The length in bytes.
    ///
    /// # Errors
    /// The system's.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether the file has other names too: a change in place would show under each of them.
    ///
    /// # Errors
    /// The system's.
    pub fn is_shared(&self) -> io::Result<bool> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(self.file.metadata()?.nlink() > 1)
        }
        #[cfg(not(unix))]
        Ok(false)
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The system's file: to read it, or to write what no crash has to keep.
    pub fn system(&self) -> &fs::File {
        &self.file
    }

    /// The system's file alone.
    pub fn into_system(self) -> fs::File {
        self.file
    }
}

/// The bytes of a file that is no link.
///
/// # Errors
/// The system's; `InvalidInput` as of [`File::open`], `OutOfMemory` for more than memory holds.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    ask(&Op::Read(path))?;
    let mut file = open(path, OpenOptions::new().read(true))?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| ErrorKind::OutOfMemory)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether `path` names a link; false where nothing is there.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe without a writer must not hold the program.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    if is_link(path) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is a link, and links are not followed",
        ));
    }
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is no ordinary file",
        ));
    }
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_neither_read_nor_written_nor_replaced() {
        let home = tempfile::tempdir().unwrap();
        let (target, link) = (home.path().join("target"), home.path().join("link"));
        fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for refused in [
            File::open(&link).map(drop),
            File::open_or_create(&link).map(drop),
            read(&link).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        let refused = File::create_new(&link).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"theirs");
    }

    #[test]
    fn a_second_name_of_a_file_is_noticed() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        let file = File::create_new(&path).unwrap();
        assert!(!file.is_shared().unwrap());
        fs::hard_link(&path, home.path().join("b")).unwrap();
        assert!(file.is_shared().unwrap());
    }

    #[test]
    fn a_folder_or_a_pipe_is_no_file_and_holds_nothing_up() {
        let home = tempfile::tempdir().unwrap();
        let error = read(home.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IsADirectory);
        let pipe = home.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(read(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert!(File::open(&pipe).is_err());
    }
}
