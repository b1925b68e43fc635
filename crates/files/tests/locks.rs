//! Locks as programs see them.

use std::fs;
use std::path::Path;

use helmholtz_files::{Lock, is_lock_name, names};

/// The files of a lock.
fn files(folder: &Path) -> Vec<String> {
    let mut names = names(folder).unwrap();
    names.retain(|name| is_lock_name(name));
    names
}

#[test]
fn a_lock_whose_file_is_anothers_is_lost() {
    let [own, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (lock, another) = (
        Lock::acquire(own.path()).unwrap(),
        Lock::acquire(other.path()).unwrap(),
    );
    lock.check().unwrap();
    assert_eq!(files(own.path()), files(other.path()));
    for name in files(own.path()) {
        fs::copy(other.path().join(&name), own.path().join(&name)).unwrap();
    }
    lock.check().unwrap_err();
    another.check().unwrap();
}
