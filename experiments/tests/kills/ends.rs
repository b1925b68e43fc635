//! What runs have left in the end, without what differs between two runs of the same: times, and how often a run was begun.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Keys whose values tell of time, of how often a run was begun or saved, or of where its data lie. Also hashes over such, or over files that are
/// compared themselves.
const LEFT_OUT: [&str; 8] = [
    "seconds",
    "started",
    "number",
    "history",
    "provenance",
    "files",
    "metrics",
    "sha256",
];

/// The content of each file, by its path below `runs`.
#[derive(Debug, PartialEq)]
pub struct Ends(BTreeMap<String, Vec<u8>>);

impl Ends {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files that are not in both, or differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let names = self.0.keys().chain(other.0.keys());
        let mut names: Vec<&String> = names.filter(|&n| self.0.get(n) != other.0.get(n)).collect();
        names.sort();
        names.dedup();
        names.into_iter().cloned().collect()
    }
}

/// What is below `runs` in `folder`: of checkpoints the newest alone, of locks and scratch files nothing.
pub fn ends(folder: &Path) -> Ends {
    let mut all = BTreeMap::new();
    add(&folder.join("runs"), "", &mut all);
    Ends(all)
}

fn add(folder: &Path, name: &str, all: &mut BTreeMap<String, Vec<u8>>) {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        !name.starts_with('.') && name != "lock" && !name.starts_with("lock.")
    });
    paths.sort();
    let of_checkpoints = folder.ends_with("checkpoints");
    if of_checkpoints {
        paths = paths.pop().into_iter().collect();
    }
    for path in paths {
        let own = match of_checkpoints {
            true => "newest".into(),
            false => path.file_name().unwrap().to_string_lossy(),
        };
        let name = format!("{name}{own}");
        if path.is_dir() {
            add(&path, &format!("{name}/"), all);
        } else {
            all.insert(name, without_time(&path));
        }
    }
}

/// The content of a file, without time where it is JSON or a table.
fn without_time(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let extension = path.extension().unwrap_or_default();
    if extension == "md" {
        let text = String::from_utf8(bytes).unwrap();
        let lines = text.lines().filter(|line| !line.contains(", started "));
        return lines.collect::<Vec<&str>>().join("\n").into_bytes();
    }
    if extension != "json" && extension != "jsonl" {
        return bytes;
    }
    let text = String::from_utf8(bytes).unwrap();
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let values = values.map(|value| {
        let mut value = value.unwrap();
        strip(&mut value);
        value.to_string()
    });
    values.collect::<Vec<String>>().join("\n").into_bytes()
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}
