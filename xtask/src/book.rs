//! `cargo xtask book`: makes the parts of the book that are made, and its pages.

use crate::cargo;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Writes what comes from the estimators' declarations, then what comes from records, and calls mdBook with the arguments.
pub fn run(args: &[OsString]) -> Result<ExitCode, String> {
    let mut declared = cargo::cargo("test");
    declared.args(["--quiet", "--workspace", "--test", "documents"]);
    declared.env("HELMHOLTZ_DOCUMENTS", "write");
    if cargo::wait(declared)? != ExitCode::SUCCESS {
        return Err("the pages of the methods could not be written".into());
    }
    if crate::documents::run(&["--write".into()])? != ExitCode::SUCCESS {
        return Err("the copied parts could not be written".into());
    }
    let mut pages = Command::new("mdbook");
    pages.args(["build", "docs"]).args(args);
    cargo::wait(pages).map_err(|error| {
        format!(
            "{error}; `cargo install --locked mdbook mdbook-katex` installs what makes the pages"
        )
    })
}
