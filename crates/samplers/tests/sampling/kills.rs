//! A test that runs itself in another process, which the system kills.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "TRACE_FOLDER_OF_A_CHILD";

/// The folder to run in, if this process is the child.
pub fn folder_of_a_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Runs `test` in a child with `folder`, and kills it once `ready`.
pub fn kill_once(test: &str, folder: &Path, ready: impl Fn() -> bool) {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", test])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("a child");
    while !ready() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
}
