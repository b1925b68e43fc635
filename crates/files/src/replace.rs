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
/// followed. The folder is this process's alone.
///
/// # Errors
/// The system's; what was there before stays whole.
pub fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    by(folder, &format!("{SCRATCH}{name}"), name, bytes)
}

/// [`replace`] in a folder that several processes write into: each has a scratch file of its own.
///
/// # Errors
/// The system's; what was there before stays whole.
pub fn replace_shared(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let process = std::process::id();
    by(folder, &format!("{SCRATCH}{name}.{process}"), name, bytes)
}

fn by(folder: &Path, scratch: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let scratch = folder.join(scratch);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::names;

    #[test]
    fn each_process_replaces_by_a_scratch_file_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let of_another = format!("{SCRATCH}a");
        fs::write(home.path().join(&of_another), "half").unwrap();
        for text in ["one", "2"] {
            replace_shared(home.path(), "a", text.as_bytes()).unwrap();
            assert_eq!(fs::read(home.path().join("a")).unwrap(), text.as_bytes());
            assert_eq!(names(home.path()).unwrap(), [of_another.as_str(), "a"]);
        }
    }
}
