//! What to do about an error of the system.

use std::io::{self, ErrorKind};

/// What a user can do about `error`, as the end of a sentence.
pub fn remedy(error: &io::Error) -> &'static str {
    #[cfg(unix)]
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => {
            return "too many files are open: raise the limit (`ulimit -n`), or run fewer jobs at once";
        }
        Some(libc::ENOSYS | libc::ENOTSUP | libc::ENOLCK) => {
            return "this file system cannot do that: choose a folder on another one (ext4, XFS, Btrfs, overlay, tmpfs and FUSE are tested)";
        }
        Some(libc::EIO) => {
            return "the disk or the connection to it failed: look into the system's log, and go on from a copy on another disk";
        }
        Some(libc::ENOMEM) => {
            return "memory is exhausted: run fewer jobs at once, or raise the limit";
        }
        Some(libc::ENOTCONN | libc::EHOSTDOWN | libc::EREMOTEIO) => {
            return "the file system's server is away: try again when it is back";
        }
        _ => {}
    }
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::WriteZero => {
            "there is no space left: free some, and give the same command again"
        }
        ErrorKind::FileTooLarge => {
            "a limit on the size of files is reached: raise it (`ulimit -f`)"
        }
        ErrorKind::PermissionDenied => "you may not do that: check owner and permissions",
        ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only: mount it for writing, or choose another folder"
        }
        ErrorKind::NotFound => "it is not there, or was removed meanwhile: check the path",
        ErrorKind::StaleNetworkFileHandle | ErrorKind::TimedOut => {
            "the file system's server is away: try again when it is back"
        }
        ErrorKind::InvalidInput => "remove what has that name, or choose another folder",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            "something else has that name: remove it, or choose another folder"
        }
        ErrorKind::InvalidFilename => "the name is too long: choose a shorter path",
        ErrorKind::OutOfMemory => "memory is exhausted: run fewer jobs at once, or raise the limit",
        _ => "check that the disk is there and that you may write to it",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_speaks_of_what_happened() {
        for (number, word) in [
            (libc::EMFILE, "ulimit -n"),
            (libc::ENOSYS, "this file system cannot"),
            (libc::ENOLCK, "this file system cannot"),
            (libc::EIO, "system's log"),
            (libc::EROFS, "read-only"),
            (libc::EACCES, "permissions"),
            (libc::ENOSPC, "free some"),
            (libc::EDQUOT, "free some"),
            (libc::ESTALE, "server"),
            (libc::ENOENT, "removed"),
            (libc::ENOTDIR, "something else"),
            (libc::ENAMETOOLONG, "too long"),
            (libc::ENOMEM, "memory"),
        ] {
            let text = remedy(&io::Error::from_raw_os_error(number));
            assert!(text.contains(word), "{number}: {text}");
        }
        // Of a system that has no number for it.
        for (kind, word) in [
            (ErrorKind::OutOfMemory, "memory"),
            (ErrorKind::TimedOut, "server"),
            (ErrorKind::FileTooLarge, "ulimit -f"),
            (ErrorKind::InvalidInput, "has that name"),
            (ErrorKind::Other, "check that the disk"),
        ] {
            let text = remedy(&kind.into());
            assert!(text.contains(word), "{kind}: {text}");
        }
    }
}
