//! Hands the commit to a release build, for `helmholtz --version` and the provenance of an installed program's runs.
//!
//! `cargo xtask` sets HELMHOLTZ_XTASK and tells the commit when it starts the program: a new commit is then no reason to build again.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HELMHOLTZ_XTASK");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !is_release || std::env::var_os("HELMHOLTZ_XTASK").is_some() {
        return;
    }
    for place in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", place]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let Some(commit) = git(&["rev-parse", "HEAD"]) else {
        return;
    };
    let changes = git(&["status", "--porcelain", "--untracked-files=no"]);
    let mark = match changes.is_none_or(|changes| changes.is_empty()) {
        true => "",
        false => "-dirty",
    };
    println!("cargo:rustc-env=HELMHOLTZ_BUILT_FROM={commit}{mark}");
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}
