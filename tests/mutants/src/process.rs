//! One test, run to its end or to its time limit.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::case::Test;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It passed.
    Passed,
    /// It failed, or crashed.
    Failed,
    /// It did not end in time.
    Late,
}

/// Most memory of a test, in kB: a mutant may ask for more and more.
const MEMORY: u64 = 16_000_000;

/// Runs a test alone, with these environment variables.
pub fn run(test: &Test, variables: &[(&str, &str)], limit: Duration) -> Result<End, String> {
    let start = Instant::now();
    let limited = format!("ulimit -c 0; ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .arg(&test.binary)
        .args([&test.name, "--exact", "--test-threads=1"])
        .current_dir(&test.folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", test.binary.display()))?;
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(End::Passed),
            Some(_) => return Ok(End::Failed),
            None if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(End::Late);
            }
            None => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
        }
    }
}
