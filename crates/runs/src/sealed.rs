//! JSON files that know whether they are whole: `{"format": 1, "sha256": <of the content>, "content": ...}`.

use std::io::{self, ErrorKind};
use std::path::Path;

use serde_json::{Value, json};

use crate::canonical::config_hash;

/// The format of run folders that this crate reads and writes.
pub(crate) const FORMAT: u64 = 1;

/// The key of the metrics' record in a result.
const METRICS: &str = "metrics";

/// Why a sealed file gave no content.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Missing,
    Damaged(String),
    OtherVersion(u64),
    Io(io::Error),
}

/// The bytes of a sealed file with `content`; the hash is [`config_hash`] of it.
pub(crate) fn seal(content: &Value) -> Vec<u8> {
    let sealed = json!({"format": FORMAT, "sha256": config_hash(content), "content": content});
    format!("{sealed:#}\n").into_bytes()
}

/// Does what [`seal`] does, with the record of the metrics that belong to `content` beside it.
pub(crate) fn seal_beside(content: &Value, metrics: &Value) -> Vec<u8> {
    let sealed = json!({"format": FORMAT, "sha256": config_hash(content), "content": content, METRICS: metrics});
    format!("{sealed:#}\n").into_bytes()
}

/// Reads a sealed file and checks its hash.
pub(crate) fn read(path: &Path) -> Result<Value, Unreadable> {
    read_beside(path).map(|(content, _)| content)
}

/// Reads as [`read`] does, with the record of the metrics that [`seal_beside`] put there.
pub(crate) fn read_beside(path: &Path) -> Result<(Value, Option<Value>), Unreadable> {
    let bytes = helmholtz_files::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unreadable::Missing,
        ErrorKind::IsADirectory => Unreadable::Damaged("it is a directory".into()),
        _ => Unreadable::Io(error),
    })?;
    let mut sealed: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Unreadable::Damaged(format!("not JSON: {error}")))?;
    let unsealed = || Unreadable::Damaged("it lacks its format, sha256 or content".into());
    let format = sealed["format"].as_u64().ok_or_else(unsealed)?;
    if format != FORMAT {
        return Err(Unreadable::OtherVersion(format));
    }
    let content = sealed
        .get_mut("content")
        .map(Value::take)
        .ok_or_else(unsealed)?;
    if sealed["sha256"].as_str() != Some(&config_hash(&content)) {
        return Err(Unreadable::Damaged(
            "its content differs from its sha256".into(),
        ));
    }
    let known = |key: &&String| ["format", "sha256", "content", METRICS].contains(&key.as_str());
    let mut keys = sealed.as_object().into_iter().flat_map(|all| all.keys());
    if let Some(unknown) = keys.find(|key| !known(key)) {
        // A damaged key would hide the metrics' record.
        return Err(Unreadable::Damaged(format!(
            "it holds an unknown key `{unknown}`"
        )));
    }
    Ok((content, sealed.get_mut(METRICS).map(Value::take)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_sealed_value_comes_back() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let content = json!({"b": 0.1, "a": [null, "text"]});
        fs::write(file.path(), seal(&content)).unwrap();
        assert_eq!(read(file.path()).unwrap(), content);
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed_or_harmless() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let content = json!({"nll": 105.5, "text": "abc"});
        let whole = seal(&content);
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                fs::write(file.path(), flipped).unwrap();
                if let Ok(read) = read(file.path()) {
                    assert_eq!(read, content); // white space
                }
            }
            fs::write(file.path(), &whole[..at]).unwrap();
            match read(file.path()) {
                Err(Unreadable::Damaged(_)) => {}
                Ok(read) => assert_eq!((read, at), (content.clone(), whole.len() - 1)), // the final newline
                other => panic!("{at}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_metrics_record_beside_a_content_comes_back_and_a_damaged_key_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (content, metrics) = (json!({"nll": 1}), json!({"bytes": 3}));
        let whole = String::from_utf8(seal_beside(&content, &metrics)).unwrap();
        fs::write(file.path(), &whole).unwrap();
        let (read, beside) = read_beside(file.path()).unwrap();
        assert_eq!((read, beside), (content, Some(metrics)));
        fs::write(file.path(), whole.replace("metrics", "mftrics")).unwrap();
        assert!(matches!(
            read_beside(file.path()),
            Err(Unreadable::Damaged(_))
        ));
    }

    #[test]
    fn a_missing_file_another_version_and_a_wrong_hash_are_told_apart() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("x.json");
        assert!(matches!(read(&path), Err(Unreadable::Missing)));
        fs::write(&path, json!({"format": 2, "anything": 1}).to_string()).unwrap();
        assert!(matches!(read(&path), Err(Unreadable::OtherVersion(2))));
        fs::write(
            &path,
            json!({"format": 1, "sha256": config_hash(&json!(1)), "content": 2}).to_string(),
        )
        .unwrap();
        assert!(matches!(read(&path), Err(Unreadable::Damaged(_))));
        fs::write(&path, "[]").unwrap();
        assert!(matches!(read(&path), Err(Unreadable::Damaged(_))));
    }
}
