//! Checkpoints: written beside the others under a scratch name, synced, published by a rename, verified on load.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use helmholtz_files::{create_directory, names, remove, rename, sync_directory};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::RunError;
use crate::canonical::sha256;
use crate::disk::{SCRATCH, clear, failed, reject_link, write_synced};
use crate::history::History;
use crate::metrics::Seal;
use crate::names::CHECKPOINTS;
use crate::sealed::{self, Unreadable};

const MANIFEST: &str = "manifest.json";

/// A checkpoint that a later open found damaged waits under this name until the next one is published.
const DAMAGED: &str = ".damaged-";

/// Content of a checkpoint when it was saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The number in the run's sequence of checkpoints, from 1.
    pub number: u64,
    /// The caller's state, in the same bits.
    pub state: Value,
    /// The parts by name, in the same bytes.
    pub parts: BTreeMap<String, Vec<u8>>,
    /// Wall time of the run up to here, over all its resumes, in seconds.
    pub seconds: f64,
}

impl Checkpoint {
    /// The SHA-256 of each part by name: what results depend on that are computed from them.
    pub fn digests(&self) -> serde_json::Map<String, Value> {
        let parts = self.parts.iter();
        let digests = parts.map(|(name, bytes)| (name.clone(), recorded(bytes).sha256.into()));
        digests.collect()
    }
}

/// Length of some bytes when a checkpoint was taken, and their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) number: u64,
    /// The hash of the configuration, so that a checkpoint copied from another run is not taken for this one's.
    pub(crate) config: String,
    /// When the run was first opened.
    pub(crate) started: String,
    pub(crate) seconds: f64,
    /// Seal of the metrics so far. Damage to them does not make the checkpoint unusable.
    pub(crate) metrics: Seal,
    /// Parts of the run, with the program that trained each; empty in older checkpoints.
    #[serde(default)]
    pub(crate) history: History,
    pub(crate) parts: BTreeMap<String, Recorded>,
    pub(crate) state: Value,
}

/// A checkpoint that was found whole.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) manifest: Manifest,
}

/// Why a checkpoint cannot be used: it is damaged and an older one may do, or the system refused to read it.
#[derive(Debug)]
pub(crate) enum Fault {
    Damaged(String),
    Stop(RunError),
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        Self::Stop(error)
    }
}

/// The numbers of the published checkpoints of run folder `folder`, ascending.
pub(crate) fn list(folder: &Path) -> Result<Vec<u64>, RunError> {
    let directory = folder.join(CHECKPOINTS);
    reject_link(&directory)?;
    match names(&directory) {
        Ok(names) => {
            let mut numbers: Vec<u64> = names.iter().filter_map(|name| number(name)).collect();
            numbers.sort_unstable();
            Ok(numbers)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(folder, "read", &directory)(error)),
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(CHECKPOINTS).join(format!("{number:06}"))
}

fn number(name: &str) -> Option<u64> {
    name.parse()
        .ok()
        .filter(|number| format!("{number:06}") == name)
}

/// The record of some bytes.
pub(crate) fn recorded(bytes: &[u8]) -> Recorded {
    Recorded {
        bytes: bytes.len() as u64,
        sha256: sha256(bytes),
    }
}

/// Writes `parts` and then the manifest that `manifest` makes of their records, and publishes them as `number`.
pub(crate) fn save(
    folder: &Path,
    number: u64,
    parts: &[(&str, &[u8])],
    manifest: impl FnOnce(BTreeMap<String, Recorded>) -> Manifest,
) -> Result<(), RunError> {
    let mut records = BTreeMap::new();
    for (name, bytes) in parts {
        check_name(name)?;
        if records.insert(name.to_string(), recorded(bytes)).is_some() {
            return Err(RunError::PartName {
                name: name.to_string(),
                why: "is there twice",
            });
        }
    }
    let directory = folder.join(CHECKPOINTS);
    let scratch = directory.join(format!("{SCRATCH}{number:06}"));
    let result = write(folder, &scratch, parts, &manifest(records)).and_then(|()| {
        let target = path(folder, number);
        // Published by an attempt that then failed to sync it, and never counted.
        clear(&target).map_err(failed(folder, "remove", &target))?;
        rename(&scratch, &target)
            .and_then(|()| sync_directory(&directory))
            .map_err(failed(folder, "publish", &target))
    });
    if result.is_err() {
        // Room for the user; what counts is the error itself.
        let _ = remove(&scratch);
    }
    result
}

fn write(
    folder: &Path,
    scratch: &Path,
    parts: &[(&str, &[u8])],
    manifest: &Manifest,
) -> Result<(), RunError> {
    clear(scratch).map_err(failed(folder, "remove", scratch))?;
    create_directory(scratch).map_err(failed(folder, "create", scratch))?;
    for (name, bytes) in parts {
        let file = scratch.join(name);
        write_synced(&file, bytes).map_err(failed(folder, "write", &file))?;
    }
    let file = scratch.join(MANIFEST);
    let sealed = serde_json::to_value(manifest)
        .map_err(|error| failed(folder, "write", &file)(error.into()))?;
    write_synced(&file, &sealed::seal(&sealed)).map_err(failed(folder, "write", &file))?;
    sync_directory(scratch).map_err(failed(folder, "write", scratch))
}

fn check_name(name: &str) -> Result<(), RunError> {
    let why = if name.is_empty() {
        "is empty"
    } else if name.starts_with('.') {
        "starts with a dot"
    } else if name == MANIFEST {
        "is the manifest's name"
    } else if name.len() > 200 {
        "is too long"
    } else if !name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        "has characters that file names should not have"
    } else {
        return Ok(());
    };
    Err(RunError::PartName {
        name: name.into(),
        why,
    })
}

/// Reads checkpoint `number` and checks every byte of it.
pub(crate) fn load(folder: &Path, number: u64, config: &str) -> Result<Loaded, Fault> {
    reject_link(&path(folder, number))?;
    let manifest = read_manifest(folder, number, config)?;
    let mut parts = BTreeMap::new();
    for (name, record) in &manifest.parts {
        let file = path(folder, number).join(name);
        check_length(folder, &file, record)?;
        let bytes =
            helmholtz_files::read(&file).map_err(|error| unreadable(folder, &file, error))?;
        if sha256(&bytes) != record.sha256 {
            return Err(Fault::Damaged(format!("{name} differs from its sha256")));
        }
        parts.insert(name.clone(), bytes);
    }
    let checkpoint = Checkpoint {
        number,
        state: manifest.state.clone(),
        parts,
        seconds: manifest.seconds,
    };
    Ok(Loaded {
        checkpoint,
        manifest,
    })
}

/// The state of the newest checkpoint that looks whole by the lengths of its files; their content is not read.
pub(crate) fn glance(folder: &Path, config: &str) -> Result<Option<Value>, RunError> {
    for number in list(folder)?.into_iter().rev() {
        match glance_at(folder, number, config) {
            Ok(state) => return Ok(Some(state)),
            Err(Fault::Damaged(_)) => {}
            Err(Fault::Stop(error)) => return Err(error),
        }
    }
    Ok(None)
}

fn glance_at(folder: &Path, number: u64, config: &str) -> Result<Value, Fault> {
    let manifest = read_manifest(folder, number, config)?;
    for (name, record) in &manifest.parts {
        check_length(folder, &path(folder, number).join(name), record)?;
    }
    Ok(manifest.state)
}

fn read_manifest(folder: &Path, number: u64, config: &str) -> Result<Manifest, Fault> {
    let file = path(folder, number).join(MANIFEST);
    let content = sealed::read(&file).map_err(|unreadable| match unreadable {
        Unreadable::Missing => Fault::Damaged(format!("{MANIFEST} is missing")),
        Unreadable::Damaged(what) => Fault::Damaged(format!("{MANIFEST}: {what}")),
        Unreadable::OtherVersion(found) => Fault::Damaged(format!("{MANIFEST} has format {found}")),
        Unreadable::Io(error) => Fault::Stop(failed(folder, "read", &file)(error)),
    })?;
    let manifest: Manifest = serde_json::from_value(content)
        .map_err(|error| Fault::Damaged(format!("{MANIFEST}: {error}")))?;
    if manifest.number != number {
        return Err(Fault::Damaged(format!(
            "it is a copy of checkpoint {}",
            manifest.number
        )));
    }
    if manifest.config != config {
        return Err(Fault::Damaged("it belongs to another configuration".into()));
    }
    // The names come from a file: they must not lead out of the checkpoint.
    for name in manifest.parts.keys() {
        check_name(name).map_err(|error| Fault::Damaged(error.to_string()))?;
    }
    Ok(manifest)
}

fn check_length(folder: &Path, file: &Path, record: &Recorded) -> Result<(), Fault> {
    let found = fs::symlink_metadata(file).map_err(|error| unreadable(folder, file, error))?;
    if !found.is_file() || found.len() != record.bytes {
        let name = file.file_name().unwrap_or_default().display();
        return Err(Fault::Damaged(format!(
            "{name} has {} bytes, {} were written",
            found.len(),
            record.bytes
        )));
    }
    Ok(())
}

fn unreadable(folder: &Path, file: &Path, error: io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => {
            Fault::Damaged(format!(
                "{} is missing",
                file.file_name().unwrap_or_default().display()
            ))
        }
        _ => Fault::Stop(failed(folder, "read", file)(error)),
    }
}

/// Takes a damaged checkpoint out of the sequence, for good: once the metrics are cut back and grow again, it must not
/// come to life. Its files wait for the next [`prune`].
pub(crate) fn set_aside(folder: &Path, number: u64) -> Result<(), RunError> {
    let (from, directory) = (path(folder, number), folder.join(CHECKPOINTS));
    let to = directory.join(format!("{DAMAGED}{number:06}"));
    let moved = (|| {
        clear(&to)?;
        rename(&from, &to)?;
        sync_directory(&directory)
    })();
    moved.map_err(failed(folder, "set aside", &from))
}

/// Removes every checkpoint but those in `keep`, and what was set aside. Names that are none of ours stay.
pub(crate) fn prune(folder: &Path, keep: &[u64]) -> Result<(), RunError> {
    let directory = folder.join(CHECKPOINTS);
    for name in names(&directory).map_err(failed(folder, "read", &directory))? {
        let old = number(&name).is_some_and(|number| !keep.contains(&number));
        if old || name.starts_with(DAMAGED) || name.starts_with(SCRATCH) {
            let path = directory.join(&name);
            remove(&path).map_err(failed(folder, "remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn save_one(folder: &Path, number: u64, parts: &[(&str, &[u8])]) -> Result<(), RunError> {
        fs::create_dir_all(folder.join(CHECKPOINTS)).unwrap();
        save(folder, number, parts, |parts| Manifest {
            number,
            config: "c".into(),
            started: "s".into(),
            seconds: 0.1,
            metrics: serde_json::from_value(json!({"bytes": 0, "sha256": sha256(b"")})).unwrap(),
            history: History::default(),
            parts,
            state: json!({"epoch": number}),
        })
    }

    #[test]
    fn a_folder_without_checkpoints_has_none_and_a_file_in_their_place_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(list(home.path()).unwrap(), [0u64; 0]);
        fs::write(home.path().join(CHECKPOINTS), "text").unwrap();
        assert!(matches!(list(home.path()), Err(RunError::Io { .. })));
    }

    #[test]
    fn a_saved_checkpoint_comes_back_in_the_same_bytes() {
        let home = tempfile::tempdir().unwrap();
        save_one(home.path(), 3, &[("a", b"\x00\xff"), ("b.bin", b"")]).unwrap();
        let checkpoint = load(home.path(), 3, "c").unwrap().checkpoint;
        let parts = [
            ("a".to_string(), vec![0, 255]),
            ("b.bin".to_string(), vec![]),
        ]
        .into();
        assert_eq!(
            checkpoint,
            Checkpoint {
                number: 3,
                state: json!({"epoch": 3}),
                parts,
                seconds: 0.1
            }
        );
        assert_eq!(names(&home.path().join(CHECKPOINTS)).unwrap(), ["000003"]);
    }

    #[test]
    fn a_number_that_was_published_and_never_counted_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        save_one(home.path(), 1, &[("a", b"not counted")]).unwrap();
        save_one(home.path(), 1, &[("b", b"counted")]).unwrap();
        let parts = load(home.path(), 1, "c").unwrap().checkpoint.parts;
        assert_eq!(parts, [("b".to_string(), b"counted".to_vec())].into());
    }

    #[test]
    fn names_that_are_no_part_names_are_refused_before_anything_is_written() {
        let home = tempfile::tempdir().unwrap();
        for name in [
            "",
            ".hidden",
            "..",
            "a/b",
            "manifest.json",
            "ä",
            &"x".repeat(201),
        ] {
            let error = save_one(home.path(), 1, &[(name, b"")]).unwrap_err();
            assert!(matches!(error, RunError::PartName { .. }), "{name}");
        }
        let error = save_one(home.path(), 1, &[("a", b"1"), ("a", b"2")]).unwrap_err();
        assert!(error.to_string().contains("twice"), "{error}");
        assert!(names(&home.path().join(CHECKPOINTS)).unwrap().is_empty());
    }

    #[test]
    fn a_checkpoint_of_another_run_or_number_is_not_taken() {
        let home = tempfile::tempdir().unwrap();
        save_one(home.path(), 1, &[]).unwrap();
        assert!(matches!(
            load(home.path(), 1, "other"),
            Err(Fault::Damaged(_))
        ));
        fs::rename(path(home.path(), 1), path(home.path(), 2)).unwrap();
        assert!(matches!(load(home.path(), 2, "c"), Err(Fault::Damaged(_))));
    }

    #[test]
    fn only_names_of_six_digits_and_more_are_checkpoints() {
        assert_eq!(number("000007"), Some(7));
        assert_eq!(number("1000000"), Some(1_000_000));
        for name in ["7", "+00007", ".tmp-000007", "0000007", "best", ""] {
            assert_eq!(number(name), None, "{name}");
        }
    }

    #[test]
    fn pruning_keeps_what_is_named_and_what_is_not_ours() {
        let home = tempfile::tempdir().unwrap();
        for number in 1..=4 {
            save_one(home.path(), number, &[("a", b"x")]).unwrap();
        }
        set_aside(home.path(), 2).unwrap();
        let directory = home.path().join(CHECKPOINTS);
        fs::create_dir(directory.join("best")).unwrap();
        fs::create_dir(directory.join(".tmp-000009")).unwrap();
        prune(home.path(), &[3, 4]).unwrap();
        assert_eq!(names(&directory).unwrap(), ["000003", "000004", "best"]);
    }
}
