//! `cargo xtask mutants`: the mutation run.

use crate::cargo;
use std::process::ExitCode;

/// Runs it; the arguments are its own.
pub fn run(args: &[String]) -> Result<ExitCode, String> {
    let mut command = cargo::cargo("run");
    command.args(["--quiet", "-p", "helmholtz-mutants", "--"]);
    command.args(args);
    cargo::wait(command)
}
