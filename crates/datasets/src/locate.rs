//! Where a published file is looked for, in one order everywhere.

use std::env;
use std::path::PathBuf;

#[cfg(feature = "download")]
use crate::Downloader;
use crate::event::Progress;
use crate::folder::find_in;
use crate::{DataFile, Error, Missing};

/// The folders in which files are looked for, in this order; what is in none of them may be downloaded into the cache.
///
/// The folders may be absent: every file is checked by its sha256, so it does not matter which folder it comes from.
#[derive(Debug, Clone)]
pub struct Locator {
    /// The folder the user named for this run (`--data-dir`).
    pub data_dir: Option<PathBuf>,
    /// The folder named by the environment variable `HELMHOLTZ_DATA`.
    pub environment_dir: Option<PathBuf>,
    /// `helmholtz/` in the user's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// How to download into the cache folder; `None`: do not.
    #[cfg(feature = "download")]
    pub download: Option<Downloader>,
}

impl Locator {
    /// The usual order: `data_dir`, `HELMHOLTZ_DATA`, the user's cache folder, download.
    ///
    /// The cache folder is `helmholtz/` in `$XDG_CACHE_HOME` or `~/.cache` (Linux), `~/Library/Caches` (macOS),
    /// `%LOCALAPPDATA%` (Windows).
    pub fn new(data_dir: Option<PathBuf>) -> Self {
        Self {
            data_dir,
            environment_dir: env::var_os("HELMHOLTZ_DATA")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
            cache_dir: dirs::cache_dir().map(|cache| cache.join("helmholtz")),
            #[cfg(feature = "download")]
            download: Some(Downloader::default()),
        }
    }

    /// This folder only, and nothing is downloaded.
    pub fn only_in(folder: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: Some(folder.into()),
            environment_dir: None,
            cache_dir: None,
            #[cfg(feature = "download")]
            download: None,
        }
    }

    /// The same folders, but nothing is downloaded.
    pub fn offline(self) -> Self {
        Self {
            #[cfg(feature = "download")]
            download: None,
            ..self
        }
    }

    /// The same, but a download ends with [`Error::Stopped`] soon after `stop` is set.
    #[cfg(feature = "download")]
    pub fn stopped_by(mut self, stop: std::sync::Arc<std::sync::atomic::AtomicBool>) -> Self {
        if let Some(download) = &mut self.download {
            download.stop = stop;
        }
        self
    }

    /// Finds `file`, plain or `.gz`, or downloads it; its content is checked where it is read.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]; when downloading, also [`Error::DiskFull`], [`Error::Stopped`] and [`Error::Io`].
    pub fn find(&self, file: &DataFile, progress: &mut Progress) -> Result<PathBuf, Error> {
        let tried = match self.search(&file.name) {
            Ok(path) => return Ok(path),
            Err(tried) => tried,
        };
        #[cfg(feature = "download")]
        let failures = match (&self.download, &self.cache_dir) {
            (Some(downloader), Some(cache)) => match downloader.download(file, cache, progress)? {
                Ok(path) => return Ok(path),
                Err(failures) => failures,
            },
            _ => Vec::new(),
        };
        #[cfg(not(feature = "download"))]
        let (failures, _) = (Vec::new(), progress);
        Err(Error::Missing(Box::new(Missing {
            file: file.name.clone(),
            checksum: format!("sha256 {} (decompressed)", file.sha256),
            tried,
            homes: file.urls.clone(),
            failures,
            instead: Missing::GLYPHS,
        })))
    }

    /// Finds a file that is never downloaded, since no checksum of its bytes is published; its content is recognised by
    /// `checksum`, where it is read.
    pub(crate) fn find_supplied(
        &self,
        name: &str,
        checksum: &str,
        home: &str,
        instead: &'static str,
    ) -> Result<PathBuf, Error> {
        self.search(name).map_err(|tried| {
            Error::Missing(Box::new(Missing {
                file: name.to_owned(),
                checksum: checksum.to_owned(),
                tried,
                homes: vec![home.to_owned()],
                failures: Vec::new(),
                instead,
            }))
        })
    }

    /// The file in the first folder that has it; else every folder, with what is wrong with it.
    fn search(&self, name: &str) -> Result<PathBuf, Vec<(String, String)>> {
        let mut tried = Vec::new();
        for (origin, folder) in [
            ("--data-dir", &self.data_dir),
            ("HELMHOLTZ_DATA", &self.environment_dir),
            ("cache", &self.cache_dir),
        ] {
            let Some(folder) = folder else {
                tried.push((format!("{origin}: not set"), String::new()));
                continue;
            };
            match find_in(folder, name) {
                Ok(path) => return Ok(path),
                Err(problem) => tried.push((format!("{origin}: {}", folder.display()), problem)),
            }
        }
        Err(tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::published;
    use std::fs;

    /// Three folders of which the first `with` is not empty, and a locator over them that downloads nothing.
    fn folders(in_folders: [bool; 3]) -> (tempfile::TempDir, Locator) {
        let root = tempfile::tempdir().unwrap();
        let [data, environment, cache] = ["data", "environment", "cache"].map(|name| {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        });
        for (folder, there) in [&data, &environment, &cache].into_iter().zip(in_folders) {
            if there {
                fs::write(folder.join("a.amat"), "0\n").unwrap();
            }
        }
        let mut locator = Locator::only_in(data);
        locator.environment_dir = Some(environment);
        locator.cache_dir = Some(cache);
        (root, locator)
    }

    fn find(locator: &Locator) -> Result<PathBuf, Error> {
        locator.find(&published("a.amat", b"0\n"), &mut |_| {})
    }

    #[test]
    fn the_order_is_data_dir_then_environment_then_cache() {
        for (in_folders, expected) in [
            ([true, true, true], "data"),
            ([false, true, true], "environment"),
            ([false, false, true], "cache"),
        ] {
            let (root, locator) = folders(in_folders);
            assert_eq!(
                find(&locator).unwrap(),
                root.path().join(expected).join("a.amat")
            );
        }
    }

    #[test]
    fn a_gzipped_file_is_as_good_as_a_plain_one() {
        let (root, locator) = folders([false; 3]);
        let path = root.path().join("environment").join("a.amat.gz");
        fs::write(&path, "").unwrap();
        assert_eq!(find(&locator).unwrap(), path);
    }

    #[test]
    fn a_missing_file_names_every_folder_and_what_is_wrong_with_it() {
        let (root, mut locator) = folders([false; 3]);
        locator.data_dir = Some(root.path().join("typo"));
        locator.environment_dir = None;
        let error = find(&locator).unwrap_err();
        assert!(error.is_missing());
        let text = error.to_string();
        let typo = format!(
            "--data-dir: {} (no such folder)",
            root.path().join("typo").display()
        );
        let cache = format!("cache: {}\n", root.path().join("cache").display());
        for part in ["a.amat", &typo, "HELMHOLTZ_DATA: not set", &cache] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn offline_downloads_nothing() {
        let cache = tempfile::tempdir().unwrap();
        let mut locator = Locator::new(Some("no-such-folder".into()));
        locator.cache_dir = Some(cache.path().to_owned());
        let file = DataFile {
            urls: vec!["http://127.0.0.1:0/a".into()],
            ..published("a.amat", b"0\n")
        };
        let error = locator.offline().find(&file, &mut |_| {}).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no download was tried"), "{text}");
    }
}
