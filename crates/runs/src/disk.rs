//! Writing so that a crash leaves the old or the new, and nothing between.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::RunError;

/// Names that begin so are scratch: they may lie around after a crash and are removed on the next open.
pub(crate) const SCRATCH: &str = ".tmp-";

/// Turns the system's error into ours; `path` lies in run folder `folder`.
pub(crate) fn failed(
    folder: &Path,
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> RunError {
    move |source| match source.kind() {
        // A file-size limit (EFBIG) and a write of nothing mean the same to the user: there is no room.
        ErrorKind::StorageFull
        | ErrorKind::QuotaExceeded
        | ErrorKind::FileTooLarge
        | ErrorKind::WriteZero => RunError::DiskFull {
            folder: folder.into(),
            file: path.into(),
            source,
        },
        _ => RunError::Io {
            action,
            path: path.into(),
            source,
        },
    }
}

/// Creates `path` with `bytes` and waits until they are on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Waits until the names in `directory` are on the disk.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Replaces `folder/name` by `bytes` in one step: scratch file, sync, rename, sync of the folder.
pub(crate) fn publish(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RunError> {
    let target = folder.join(name);
    let scratch = folder.join(format!("{SCRATCH}{name}"));
    let written = write_synced(&scratch, bytes)
        .and_then(|()| fs::rename(&scratch, &target))
        .and_then(|()| sync_directory(folder));
    if written.is_err() {
        // Room for the user; what counts is the error itself.
        let _ = fs::remove_file(&scratch);
    }
    written.map_err(failed(folder, "write", &target))
}

/// Removes a file or a folder with all it holds.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

/// The names in `directory`, sorted; those that are not UTF-8 are none of ours and left out.
pub(crate) fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publish_replaces_and_leaves_no_scratch() {
        let home = tempfile::tempdir().unwrap();
        publish(home.path(), "a", b"one").unwrap();
        publish(home.path(), "a", b"2").unwrap();
        assert_eq!(fs::read(home.path().join("a")).unwrap(), b"2");
        assert_eq!(names(home.path()).unwrap(), ["a"]);
    }

    #[test]
    fn a_failed_publish_keeps_the_old_file_and_leaves_no_scratch() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("a")).unwrap();
        fs::write(home.path().join("a/old"), "old").unwrap();
        let error = publish(home.path(), "a", b"new").unwrap_err(); // a file cannot replace a directory
        assert!(
            matches!(
                error,
                RunError::Io {
                    action: "write",
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(names(home.path()).unwrap(), ["a"]);
        assert_eq!(fs::read(home.path().join("a/old")).unwrap(), b"old");
    }

    #[test]
    fn exhausted_space_is_disk_full_and_anything_else_is_io() {
        let (folder, file) = (Path::new("run"), Path::new("run/x"));
        for kind in [
            ErrorKind::StorageFull,
            ErrorKind::QuotaExceeded,
            ErrorKind::FileTooLarge,
        ] {
            let error = failed(folder, "write", file)(kind.into());
            assert!(matches!(error, RunError::DiskFull { .. }));
            let text = error.to_string();
            assert!(
                text.contains("run folder run ") && text.contains("free some space"),
                "{text}"
            );
        }
        let error = failed(folder, "write", file)(ErrorKind::PermissionDenied.into());
        assert!(matches!(error, RunError::Io { .. }));
    }
}
