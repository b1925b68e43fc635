//! Content of a path, and making room for a run there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use helmholtz_files::{
    Lock, create_directories, is_lock_name, names, remove, rename, sync_directory,
};

use crate::RunError;
use crate::disk::{SCRATCH, failed, reject_link};
use crate::lock;
use crate::names::{CHECKPOINTS, CONFIG, METRICS};

/// Content of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Nothing, or what a run leaves that was killed before its configuration was published.
    Nothing,
    /// A run, of whatever configuration and format.
    Run,
}

/// Tells a run folder from nothing, and both from what is none of ours, which is [`RunError::NotARunFolder`].
pub(crate) fn contents(path: &Path) -> Result<Contents, RunError> {
    let not_ours = |why: String| RunError::NotARunFolder {
        path: path.into(),
        why,
    };
    let names = match names(path) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::Nothing),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(not_ours("it is a file".into()));
        }
        Err(error) => return Err(failed(path, "read", path)(error)),
    };
    let has = |name: &str| names.iter().any(|other| other == name);
    if has(CONFIG) || (has(CHECKPOINTS) && has(METRICS)) {
        return Ok(Contents::Run);
    }
    match names
        .iter()
        .find(|name| !is_lock_name(name) && !name.starts_with(SCRATCH))
    {
        Some(name) => Err(not_ours(format!("it holds `{name}` and no {CONFIG}"))),
        None => Ok(Contents::Nothing),
    }
}

/// The absolute path, through links, so that a folder renamed aside leaves its link in place.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, RunError> {
    match fs::canonicalize(path) {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            std::path::absolute(path).map_err(failed(path, "find", path))
        }
        Err(error) => Err(failed(path, "find", path)(error)),
    }
}

/// Creates the folder where there is none, in a way that survives a power cut.
pub(crate) fn create(path: &Path) -> Result<(), RunError> {
    create_directories(path).map_err(failed(path, "create", path))
}

/// Creates the folder of checkpoints in run folder `folder` where there is none.
pub(crate) fn create_checkpoints(folder: &Path) -> Result<(), RunError> {
    let checkpoints = folder.join(CHECKPOINTS);
    reject_link(&checkpoints)?;
    create_directories(&checkpoints).map_err(failed(folder, "create", &checkpoints))
}

/// Renames the run folder at `path` to the first free `<name>.old-N`, unless a live run holds it.
pub(crate) fn set_aside(path: &Path) -> Result<Lock, RunError> {
    let mut lock = lock::acquire(path)?;
    let mut number = 1;
    let aside = loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".old-{number}"));
        let aside = PathBuf::from(name);
        if fs::symlink_metadata(&aside).is_err() {
            break aside;
        }
        number += 1;
    };
    let parent = path.parent().unwrap_or(path);
    rename(path, &aside)
        .and_then(|()| sync_directory(parent))
        .map_err(failed(path, "rename aside", path))?;
    lock.moved_to(&aside);
    Ok(lock)
}

/// Removes what a crash left half written in `directory` of run folder `folder`.
pub(crate) fn remove_scratch(folder: &Path, directory: &Path) -> Result<(), RunError> {
    for name in names(directory).map_err(failed(folder, "read", directory))? {
        if name.starts_with(SCRATCH) {
            let path = directory.join(name);
            remove(&path).map_err(failed(folder, "remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_or_checkpoints_alone_make_no_run() {
        for alone in [METRICS, CHECKPOINTS] {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir(home.path().join(alone)).unwrap();
            let found = contents(home.path());
            assert!(
                matches!(found, Err(RunError::NotARunFolder { .. })),
                "{alone}: {found:?}"
            );
        }
    }

    #[test]
    fn what_a_crash_left_half_written_is_removed_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        for name in [".tmp-result.json", "result.json"] {
            fs::write(home.path().join(name), "text").unwrap();
        }
        fs::create_dir(home.path().join(".tmp-000001")).unwrap();
        remove_scratch(home.path(), home.path()).unwrap();
        assert_eq!(names(home.path()).unwrap(), ["result.json"]);
    }

    #[test]
    fn a_path_that_cannot_be_read_is_told_from_a_file() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "text").unwrap();
        let found = contents(&file);
        assert!(
            matches!(found, Err(RunError::NotARunFolder { .. })),
            "{found:?}"
        );
        let found = contents(&home.path().join("x".repeat(1000)));
        assert!(matches!(found, Err(RunError::Io { .. })), "{found:?}");
    }
}
