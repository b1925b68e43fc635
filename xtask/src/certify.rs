//! `cargo xtask certify`: the certificates of the gradient estimators.

use crate::cargo;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the certificates; the arguments are theirs.
pub fn run(args: &[OsString]) -> Result<ExitCode, String> {
    let mut command = cargo::cargo("run");
    command.args([
        "--release",
        "--quiet",
        "-p",
        "helmholtz-tests",
        "--bin",
        "certify",
        "--",
    ]);
    command.args(args);
    cargo::wait(command)
}
