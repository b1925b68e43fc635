//! The program in a folder, and what it said and kept.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// The program with these arguments, in `folder`.
pub fn helmholtz(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_helmholtz"));
    command.args(args).current_dir(folder).output().unwrap()
}

/// All that was said.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

/// What a run measured, without the times.
pub fn metrics(run: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let timeless = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("seconds");
        line
    };
    lines.lines().map(timeless).collect()
}
