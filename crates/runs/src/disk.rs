//! Writing so that a crash leaves the old or the new, and nothing between.

use std::io::{self, ErrorKind};
use std::path::Path;

pub(crate) use helmholtz_files::{SCRATCH, write_synced};
use helmholtz_files::{is_link, remove, replace};

use crate::RunError;

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
        ErrorKind::InvalidInput if is_link(path) => RunError::Link { path: path.into() },
        _ => RunError::Io {
            action,
            path: path.into(),
            source,
        },
    }
}

/// Replaces `folder/name` by `bytes` in one step. A link of that name is replaced, not followed.
pub(crate) fn publish(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), RunError> {
    replace(folder, name, bytes).map_err(failed(folder, "write", &folder.join(name)))
}

/// Puts a file of one's own, such as a picture, into the folder at `folder`, whole or not at all. A file of that name is
/// replaced, and so is a link: what it leads to stays.
///
/// Errors: [`RunError::DiskFull`], [`RunError::Io`].
pub fn write_file(folder: impl AsRef<Path>, name: &str, bytes: &[u8]) -> Result<(), RunError> {
    publish(folder.as_ref(), name, bytes)
}

/// Removes what has the name, if anything has.
pub(crate) fn clear(path: &Path) -> io::Result<()> {
    match remove(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Nothing, but for a link in place of our folder `path`: what lies behind it is none of ours.
pub(crate) fn reject_link(path: &Path) -> Result<(), RunError> {
    if is_link(path) {
        return Err(RunError::Link { path: path.into() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use helmholtz_files::names;

    use super::*;

    #[test]
    fn what_the_system_refuses_for_another_reason_than_a_link_is_its_own_error() {
        let (run, refused) = (Path::new("run"), || ErrorKind::InvalidInput.into());
        let error = failed(run, "write", Path::new("run/a"))(refused());
        assert!(
            matches!(
                error,
                RunError::Io {
                    action: "write",
                    ..
                }
            ),
            "{error:?}"
        );
    }

    #[test]
    fn publish_replaces_and_leaves_no_scratch() {
        let home = tempfile::tempdir().unwrap();
        publish(home.path(), "a", b"one").unwrap();
        publish(home.path(), "a", b"2").unwrap();
        assert_eq!(fs::read(home.path().join("a")).unwrap(), b"2");
        assert_eq!(names(home.path()).unwrap(), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let theirs = home.path().join("theirs");
        fs::write(&theirs, "text").unwrap();
        for name in ["a.png", ".tmp-a.png"] {
            std::os::unix::fs::symlink(&theirs, home.path().join(name)).unwrap();
        }
        write_file(home.path(), "a.png", b"ours").unwrap();
        assert_eq!(fs::read(home.path().join("a.png")).unwrap(), b"ours");
        assert_eq!(fs::read(&theirs).unwrap(), b"text");
        assert_eq!(names(home.path()).unwrap(), ["a.png", "theirs"]);
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
