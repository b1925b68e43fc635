//! Folders and names.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::observer::{Op, observed};

/// Creates one folder.
///
/// # Errors
/// The system's; `AlreadyExists` for whatever has the name.
pub fn create_directory(path: &Path) -> io::Result<()> {
    observed(Op::CreateDirectory(path), || fs::create_dir(path))
}

/// Creates a folder and those above it that are missing, and waits until each new name is on the disk.
///
/// # Errors
/// The system's.
pub fn create_directories(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    if let Some(parent) = parent {
        create_directories(parent)?;
    }
    match create_directory(path) {
        // Another process made it meanwhile.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    sync_directory(parent.unwrap_or(Path::new(".")))
}

/// Waits until the names in `directory` are on the disk. A file system that cannot sync folders is taken as it is.
///
/// # Errors
/// The system's, but for EINVAL, ENOSYS and ENOTSUP.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    let synced = observed(Op::SyncDirectory(directory), || {
        #[cfg(unix)]
        fs::File::open(directory)?.sync_all()?;
        Ok(())
    });
    match synced {
        Err(error) if is_unsupported(&error) => Ok(()),
        synced => synced,
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    #[cfg(unix)]
    let known = [libc::EINVAL, libc::ENOSYS, libc::ENOTSUP];
    #[cfg(not(unix))]
    let known: [i32; 0] = [];
    error
        .raw_os_error()
        .is_some_and(|number| known.contains(&number))
}

/// Gives a file or folder another name, in place of the file that has it.
///
/// # Errors
/// The system's.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    observed(Op::Rename(from, to), || fs::rename(from, to))
}

/// Removes a file, a link, or a folder with all it holds; links are not followed.
///
/// # Errors
/// The system's.
pub fn remove(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return observed(Op::Remove(path), || fs::remove_file(path));
    }
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        remove(&entry.path())?;
    }
    observed(Op::RemoveDirectory(path), || fs::remove_dir(path))
}

/// The names in `directory`, sorted; those that are not UTF-8 are left out.
///
/// # Errors
/// The system's.
pub fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::{Observer, Verdict, observe};

    struct Answers(i32);

    impl Observer for Answers {
        fn before(&mut self, op: &Op<'_>) -> io::Result<Verdict> {
            match op {
                Op::SyncDirectory(_) => Err(io::Error::from_raw_os_error(self.0)),
                _ => Ok(Verdict::Do),
            }
        }
    }

    #[test]
    fn a_folder_that_is_there_is_kept_and_a_file_in_its_place_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let deep = home.path().join("a/b/c");
        create_directories(&deep).unwrap();
        create_directories(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(home.path().join("file"), "text").unwrap();
        for path in ["file", "file/below"] {
            create_directories(&home.path().join(path)).unwrap_err();
        }
    }

    #[test]
    fn a_folder_that_cannot_be_synced_is_no_error_but_a_broken_disk_is() {
        let home = tempfile::tempdir().unwrap();
        for (number, fatal) in [
            (libc::EINVAL, false),
            (libc::ENOSYS, false),
            (libc::EIO, true),
        ] {
            let _observed = observe(Box::new(Answers(number)));
            assert_eq!(sync_directory(home.path()).is_err(), fatal, "{number}");
        }
    }

    #[test]
    fn removing_a_folder_leaves_what_its_links_lead_to() {
        let home = tempfile::tempdir().unwrap();
        let (theirs, ours) = (home.path().join("theirs"), home.path().join("ours"));
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("text"), "t").unwrap();
        create_directories(&ours.join("a/b")).unwrap();
        std::os::unix::fs::symlink(&theirs, ours.join("a/link")).unwrap();
        remove(&ours).unwrap();
        assert!(!ours.exists());
        assert_eq!(fs::read(theirs.join("text")).unwrap(), b"t");
    }
}
