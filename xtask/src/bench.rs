//! `cargo xtask bench`: runs the benchmarks of the workspace.

use crate::cargo;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs all benchmarks, or those whose name holds the filter.
pub fn run(args: &[OsString]) -> Result<ExitCode, String> {
    let mut command = cargo::cargo("bench");
    command.args(["--workspace", "--benches", "--"]).args(args);
    cargo::wait(command)
}
