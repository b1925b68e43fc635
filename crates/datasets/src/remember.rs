//! A file's verified checksum, remembered beside it.
//!
//! `NAME.sha256-ok` holds one line: the sha256 of the decompressed content, then the length and the modification time
//! (nanoseconds since 1970) that the file had when it was verified. Any change makes the note worthless. In a
//! read-only folder nothing is remembered, and the file is verified each time.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The length and modification time by which an unchanged file is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    modified: u128,
}

impl Stamp {
    /// The stamp of a file, where the system tells modification times.
    pub(crate) fn of(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            length: metadata.len(),
            modified: modified.as_nanos(),
        })
    }

    fn line(self, sha256: &str) -> String {
        format!("{sha256} {} {}\n", self.length, self.modified)
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether the file with this stamp is known to have this sha256.
pub(crate) fn is_verified(path: &Path, sha256: &str, stamp: Option<Stamp>) -> bool {
    let noted = fs::read_to_string(beside(path, ".sha256-ok"));
    stamp.is_some_and(|s| noted.is_ok_and(|line| line == s.line(sha256)))
}

/// Notes that the file with this stamp has this sha256; a note that cannot be written is no error.
pub(crate) fn remember(path: &Path, sha256: &str, stamp: Option<Stamp>) {
    let Some(stamp) = stamp else { return };
    // An administrator could write into a folder marked read-only, but should not.
    let folder = path.parent().and_then(|folder| folder.metadata().ok());
    if folder.is_some_and(|folder| folder.permissions().readonly()) {
        return;
    }
    let scratch = beside(path, &format!(".sha256-ok.{}", std::process::id()));
    let written = fs::write(&scratch, stamp.line(sha256))
        .and_then(|()| fs::rename(&scratch, beside(path, ".sha256-ok")));
    if written.is_err() {
        let _ = fs::remove_file(&scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_holds_for_the_same_checksum_length_and_time_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let stamp = Stamp {
            length: 12,
            modified: 34,
        };
        assert!(!is_verified(&path, "abc", Some(stamp)));
        remember(&path, "abc", Some(stamp));
        assert!(is_verified(&path, "abc", Some(stamp)));
        assert!(!is_verified(&path, "abd", Some(stamp)));
        assert!(!is_verified(
            &path,
            "abc",
            Some(Stamp {
                length: 13,
                ..stamp
            })
        ));
        assert!(!is_verified(
            &path,
            "abc",
            Some(Stamp {
                modified: 35,
                ..stamp
            })
        ));
        assert!(!is_verified(&path, "abc", None));
    }

    #[test]
    fn a_cut_note_is_worthless() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let stamp = Stamp {
            length: 12,
            modified: 345,
        };
        fs::write(folder.path().join("data.sha256-ok"), "abc 12 34").unwrap();
        assert!(!is_verified(&path, "abc", Some(stamp)));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_into_a_read_only_folder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mark = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
        let stamp = Stamp {
            length: 1,
            modified: 1,
        };
        mark(0o555).unwrap();
        remember(&folder.path().join("data"), "abc", Some(stamp));
        mark(0o755).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone").join("data");
        let stamp = Stamp {
            length: 1,
            modified: 1,
        };
        remember(&path, "abc", Some(stamp));
        assert!(!is_verified(&path, "abc", Some(stamp)));
    }
}
