//! What the tests of all models need.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command in `folder`.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.arg("reproduce").args(args).current_dir(folder);
    command
}

pub fn reproduce(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// `small.toml` in `folder`: a bundled experiment with each of these texts once replaced by the other.
pub fn cut(folder: &Path, bundled: &str, replaced: &[(&str, &str)]) {
    let mut text = bundled.to_string();
    for (from, to) in replaced {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    fs::write(folder.join("small.toml"), text).unwrap();
}

/// What a run has written of its checks, without the time.
pub fn metrics(run: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let rows = text.lines().map(|line| {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row.as_object_mut().unwrap().remove("seconds");
        row
    });
    rows.collect()
}

/// The folder with the real files, if there is one.
pub fn data() -> Option<PathBuf> {
    let data = std::env::var_os("HELMHOLTZ_DATA").map(PathBuf::from);
    if data.is_none() {
        println!(
            "SKIPPED: HELMHOLTZ_DATA names no folder with the real files; nothing was checked"
        );
    }
    data
}
