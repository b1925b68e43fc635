//! The decompressed content of a file, checked as it passes by.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::{DataFile, Error, Event, event::Progress};

/// The most bytes of content whose length is not published: more than any data set here has, less than a small machine's memory.
const UNPUBLISHED: u64 = 1 << 30;

/// What is compared where there is more than was published.
pub(crate) const LENGTH: &str = "length of the decompressed content";

/// A file opened for reading: gunzipped when its name ends in `.gz`, its sha256 computed in the same pass.
pub(crate) struct Content<'a> {
    path: PathBuf,
    published: Option<&'a DataFile>,
    reader: Box<dyn Read>,
    length: u64,
    /// The most bytes that there may be.
    limit: u64,
    /// Of the content read so far; none where there is no published checksum to compare it with.
    hash: Option<Sha256>,
}

impl<'a> Content<'a> {
    /// Opens `path`, which should hold the `published` content, if that is given.
    pub(crate) fn open(
        path: &Path,
        published: Option<&'a DataFile>,
        progress: &mut Progress,
    ) -> Result<Self, Error> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        progress(Event::Reading {
            file: path.to_owned(),
            verifying: published.is_some(),
        });
        let gzipped = path.extension().is_some_and(|e| e == "gz");
        Self::new(path, file, gzipped, published)
    }

    /// Whether `path`, whose name does not tell if it is gzipped, holds the `published` content.
    #[cfg(feature = "download")]
    pub(crate) fn verify(path: &Path, gzipped: bool, published: &'a DataFile) -> Result<(), Error> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        Self::new(path, file, gzipped, Some(published))?.finish()
    }

    fn new(
        path: &Path,
        file: File,
        gzipped: bool,
        published: Option<&'a DataFile>,
    ) -> Result<Self, Error> {
        let mut file = BufReader::with_capacity(1 << 17, file);
        let reader: Box<dyn Read> = if gzipped {
            let start = file.fill_buf().map_err(|e| Error::io("read", path, e))?;
            if !start.starts_with(&[0x1f, 0x8b]) {
                return Err(Error::NotGzip {
                    file: path.to_owned(),
                    found: describe(start),
                });
            }
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        Ok(Self {
            path: path.to_owned(),
            published,
            reader,
            length: 0,
            limit: published.map_or(UNPUBLISHED, |published| published.length),
            hash: published.map(|_| Sha256::new()),
        })
    }

    /// Of content without a published length: it may have so many bytes at most.
    pub(crate) fn at_most(mut self, bytes: u64) -> Self {
        self.limit = self.limit.min(bytes);
        self
    }

    /// Of content without a published length that may be longer than that of most: it may have so many bytes.
    pub(crate) fn of_length(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads until `buffer` is full or the content ends; gives the bytes read.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.read_error(e, filled)),
            }
        }
        self.length += filled as u64;
        if self.length > self.limit {
            if let Some(published) = self.published {
                return Err(Error::WrongChecksum {
                    file: self.path.clone(),
                    kind: LENGTH,
                    expected: format!("{} bytes", published.length),
                    found: "more".into(),
                });
            }
            return Err(self.corrupt(
                format!("decompressed byte {}", self.limit),
                format!(
                    "it goes on beyond the {} bytes that it may have",
                    self.limit
                ),
            ));
        }
        if let Some(hash) = &mut self.hash {
            hash.update(&buffer[..filled]);
        }
        Ok(filled)
    }

    /// Reads all that is left.
    pub(crate) fn rest(&mut self) -> Result<Vec<u8>, Error> {
        const CHUNK: usize = 1 << 20;
        let mut bytes = Vec::new();
        loop {
            let start = bytes.len();
            bytes.resize(start + CHUNK, 0);
            let filled = self.fill(&mut bytes[start..])?;
            bytes.truncate(start + filled);
            if filled < CHUNK {
                return Ok(bytes);
            }
        }
    }

    /// The error of a content that ends where it must not; `found` says how much there is.
    pub(crate) fn truncated(&self, found: String) -> Error {
        Error::Truncated {
            file: self.path.clone(),
            found,
            sha256: self.published.map(|p| p.sha256.clone()),
        }
    }

    /// The error of a content that its format does not allow.
    pub(crate) fn corrupt(&self, at: String, found: String) -> Error {
        Error::Corrupt {
            file: self.path.clone(),
            at,
            found,
        }
    }

    /// Reads what is left, and compares length and sha256 with the published ones.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let mut rest = vec![0; 1 << 16];
        while self.fill(&mut rest)? > 0 {}
        let (Some(published), Some(hash)) = (self.published, self.hash.take()) else {
            return Ok(());
        };
        if self.length < published.length {
            let found = format!("{} of {} bytes", self.length, published.length);
            return Err(self.truncated(found));
        }
        let found = hex(&hash.finalize());
        if found != published.sha256 {
            return Err(Error::WrongChecksum {
                file: self.path,
                kind: "sha256 of the decompressed content",
                expected: published.sha256.clone(),
                found,
            });
        }
        Ok(())
    }

    /// What a failed read means: gzip that ends early, gzip that is damaged, or the system's error.
    fn read_error(&self, error: std::io::Error, filled: usize) -> Error {
        let at = self.length + filled as u64;
        match error.kind() {
            ErrorKind::UnexpectedEof => {
                self.truncated(format!("the gzip data end after {at} decompressed bytes"))
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => self.corrupt(
                format!("decompressed byte {at}"),
                format!("damaged gzip data ({error})"),
            ),
            _ => Error::io("read", &self.path, error),
        }
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The first bytes of something, for an error message.
pub(crate) fn describe(start: &[u8]) -> String {
    match start {
        [] => "nothing (it is empty)".to_owned(),
        _ => format!("`{}`", start[..start.len().min(16)].escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{gzip, published};
    use std::fs;

    const TEXT: &[u8] = b"0 1 1\n1 0 0\n";

    /// Reads the whole content; gives what was read and whether its checksum was verified.
    fn read(path: &Path, published: Option<&DataFile>) -> Result<(Vec<u8>, bool), Error> {
        let mut verified = false;
        let mut progress = |event| {
            if let Event::Reading { verifying, .. } = event {
                verified = verifying;
            }
        };
        let mut content = Content::open(path, published, &mut progress)?;
        let mut text = vec![0; 5];
        content.fill(&mut text)?;
        content.finish()?;
        Ok((text, verified))
    }

    #[test]
    fn plain_and_gzipped_content_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let expected = published("a.amat", TEXT);
        for (name, bytes) in [("a.amat", TEXT.to_vec()), ("a.amat.gz", gzip(TEXT))] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            assert_eq!(
                read(&path, Some(&expected)).unwrap(),
                (TEXT[..5].to_vec(), true)
            );
        }
    }

    #[test]
    fn a_file_changed_behind_its_length_and_time_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat");
        let expected = published("a.amat", TEXT);
        fs::write(&path, TEXT).unwrap();
        assert!(read(&path, Some(&expected)).unwrap().1);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, b"0 1 1\n1 0 1\n").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        let error = read(&path, Some(&expected)).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
    }

    #[test]
    fn a_note_beside_a_file_vouches_for_nothing_and_none_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat");
        let expected = published("a.amat", TEXT);
        fs::write(&path, b"0 1 1\n1 0 1\n").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        let modified = metadata.modified().unwrap();
        let nanoseconds = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
        let note = format!("{} 12 {}\n", expected.sha256, nanoseconds.as_nanos());
        let beside = folder.path().join("a.amat.sha256-ok");
        fs::write(&beside, note).unwrap();
        let error = read(&path, Some(&expected)).unwrap_err();
        assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
        fs::remove_file(&beside).unwrap();
        fs::write(&path, TEXT).unwrap();
        read(&path, Some(&expected)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn wrong_content_is_named_with_both_checksums_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat");
        fs::write(&path, b"1 1 1\n1 0 0\n").unwrap();
        let expected = published("a.amat", TEXT);
        let text = read(&path, Some(&expected)).unwrap_err().to_string();
        let found = published("", b"1 1 1\n1 0 0\n").sha256;
        for part in ["a.amat", &expected.sha256, &found, "fresh copy"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"1 1 1\n1 0 0\n");
    }

    #[test]
    fn content_cut_short_is_truncated_however_it_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let expected = published("a.amat", TEXT);
        let packed = gzip(TEXT);
        for (name, bytes) in [
            ("a.amat", &TEXT[..6]),
            ("b.amat.gz", &packed[..packed.len() - 9]),
            ("c.amat.gz", &packed[..12]),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let error = read(&path, Some(&expected)).unwrap_err();
            assert!(matches!(error, Error::Truncated { .. }), "{error}");
            assert!(error.to_string().contains(name) && error.to_string().contains("cut short"));
        }
    }

    #[test]
    fn damaged_gzip_and_a_false_gz_name_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat.gz");
        let mut packed = gzip(&TEXT.repeat(100));
        let trailer = packed.len() - 8;
        packed[trailer] ^= 1;
        fs::write(&path, &packed).unwrap();
        let error = read(&path, None).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        fs::write(&path, b"<!DOCTYPE html>\n<p>moved").unwrap();
        let error = read(&path, None).unwrap_err();
        assert!(matches!(error, Error::NotGzip { .. }), "{error}");
        assert!(error.to_string().contains("<!DOCTYPE html>"), "{error}");
        fs::write(&path, b"").unwrap();
        assert!(read(&path, None).unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn a_bomb_is_left_at_the_published_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat.gz");
        let expected = published("a.amat", TEXT);
        // 64 MB of zeros in 64 kB.
        fs::write(&path, gzip(&vec![0; 1 << 26])).unwrap();
        let mut content = Content::open(&path, Some(&expected), &mut |_| {}).unwrap();
        let mut read = 0;
        let error = loop {
            let mut buffer = [0; 4096];
            match content.fill(&mut buffer) {
                Ok(filled) => read += filled,
                Err(error) => break error,
            }
        };
        assert!(read <= TEXT.len() + 4096, "{read}");
        assert!(
            matches!(error, Error::WrongChecksum { kind: LENGTH, .. }),
            "{error}"
        );
        let content = Content::open(&path, None, &mut |_| {}).unwrap();
        let error = content.at_most(1000).rest().unwrap_err();
        assert!(
            error.to_string().contains("beyond the 1000 bytes"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let error = read(Path::new("no-such-folder/a.amat"), None).unwrap_err();
        assert!(error.to_string().contains("no-such-folder"), "{error}");
    }

    /// A reader that is interrupted before each byte.
    struct Interrupted(Vec<u8>, bool);

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            match (self.1, self.0.is_empty()) {
                (true, _) => Err(ErrorKind::Interrupted.into()),
                (false, true) => Ok(0),
                (false, false) => {
                    buffer[0] = self.0.remove(0);
                    Ok(1)
                }
            }
        }
    }

    #[test]
    fn an_interrupted_read_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat");
        fs::write(&path, "").unwrap();
        let mut content = Content::open(&path, None, &mut |_| {}).unwrap();
        content.reader = Box::new(Interrupted(TEXT.to_vec(), false));
        assert_eq!(content.rest().unwrap(), TEXT);
    }

    #[test]
    fn where_packed_content_ends_is_told_in_bytes_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.amat.gz");
        // Bytes without a pattern are packed as they are: most of them are there.
        let bytes: Vec<u8> = (0..50_000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 15) as u8)
            .collect();
        let packed = gzip(&bytes);
        fs::write(&path, &packed[..packed.len() - 100]).unwrap();
        let mut content = Content::open(&path, None, &mut |_| {}).unwrap();
        let mut buffer = vec![0; 30_000];
        assert_eq!(content.fill(&mut buffer).unwrap(), 30_000);
        let text = content.fill(&mut buffer).unwrap_err().to_string();
        let (_, after) = text.split_once("end after ").unwrap();
        let at: usize = after.split(' ').next().unwrap().parse().unwrap();
        assert!((40_000..50_000).contains(&at), "{text}");
    }
}
