//! Writing so that a crash leaves the old or the new, and nothing between.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::directories::{remove, rename, sync_directory};
use crate::file::File;

/// Names that begin so are scratch: they may lie around after a crash.
pub const SCRATCH: &str = ".tmp-";

/// Creates `path`, which must not exist, with `bytes` and waits until they are on the disk.
///
/// # Errors
/// The system's; `AlreadyExists` for whatever has the name.
pub fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_at(0, bytes)?;
    file.sync()
}

/// Replaces `folder/name` by `bytes` in one step: scratch file, sync, rename, sync of the folder. A link of that name is replaced, not
/// followed.
///
/// # Errors
/// The system's; what was there before stays whole.
pub fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    // Two processes that write the same file have scratch files of their own.
    let scratch = folder.join(format!("{SCRATCH}{name}.{}", std::process::id()));
    let cleared = match remove(&scratch) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    let written = cleared
        .and_then(|()| write_synced(&scratch, bytes))
        .and_then(|()| rename(&scratch, &folder.join(name)))
        .and_then(|()| sync_directory(folder));
    if written.is_err() {
        // Room for the user; what counts is the error itself.
        let _ = remove(&scratch);
    }
    written
}
