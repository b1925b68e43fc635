//! `cargo xtask documents`: checks of the project's documents.

use crate::cargo;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs them; the arguments are theirs.
pub fn run(args: &[OsString]) -> Result<ExitCode, String> {
    let mut command = cargo::cargo("run");
    command.args(["--quiet", "-p", "helmholtz-documents", "--"]);
    command.args(args);
    cargo::wait(command)
}
