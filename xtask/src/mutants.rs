//! `cargo xtask mutants`: the mutation run.

use crate::cargo;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs it; the arguments are its own.
pub fn run(args: &[OsString]) -> Result<ExitCode, String> {
    let mut command = cargo::cargo("run");
    command.args(["--quiet", "-p", "helmholtz-mutants", "--"]);
    command.args(args);
    cargo::wait(command)
}
