//! What a caller can show while a data set is being loaded.

use std::path::PathBuf;

/// A step of loading, told to the `progress` callback.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A file is being read.
    Reading {
        /// The file.
        file: PathBuf,
        /// Its checksum is being verified; false where none is published.
        verifying: bool,
    },
    /// Another program is downloading into the same cache folder; waiting for it.
    WaitingForDownload {
        /// The cache folder.
        folder: PathBuf,
    },
    /// A download has come this far.
    Downloading {
        /// From where.
        url: String,
        /// Bytes of the file that are on the disk, those of earlier attempts included.
        received: u64,
        /// Bytes of the whole file, if the server said.
        total: Option<u64>,
    },
    /// An attempt failed; another one follows, if any mirror is left.
    DownloadFailed {
        /// From where.
        url: String,
        /// Why.
        reason: String,
    },
    /// A download is complete and verified.
    Downloaded {
        /// The file in the cache folder.
        file: PathBuf,
    },
    /// A data set is being generated.
    Generating {
        /// The data set's name.
        name: String,
    },
}

/// The callback that is told each [`Event`].
pub type Progress<'a> = dyn FnMut(Event) + 'a;
