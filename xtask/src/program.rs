//! The program `helmholtz`: built for the device that the arguments name; `xtask` then becomes it.

use crate::cargo;
use std::borrow::Cow;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Builds the program and hands the command with all its arguments on to it.
pub fn run(name: &str, args: &[OsString]) -> Result<ExitCode, String> {
    let features = features(&device(args))?;
    let mut build = vec![
        "--release",
        "--package",
        "helmholtz-experiments",
        "--bin",
        "helmholtz",
    ];
    build.extend(features);
    if args
        .iter()
        .any(|arg| arg.to_string_lossy().contains(".parquet"))
    {
        build.extend(["--features", "parquet"]);
    }
    eprintln!("xtask: cargo build {}", build.join(" "));
    let program = cargo::build(&build)?;
    let mut command = Command::new(program);
    command
        .arg(name)
        .args(args)
        .env("HELMHOLTZ_COMMIT", commit());
    become_it(command)
}

/// The value of the last `--device`, `cpu` without one.
fn device(args: &[OsString]) -> Cow<'_, str> {
    let mut device = Cow::from("cpu");
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--device" {
            device = args.next().map_or(device, |value| value.to_string_lossy());
        } else if let Some(value) = arg.to_str().and_then(|arg| arg.strip_prefix("--device=")) {
            device = value.into();
        }
    }
    device
}

/// What cargo needs to build a runner with the device.
fn features(device: &str) -> Result<&'static [&'static str], String> {
    match device {
        "cpu" => Ok(&[]),
        "wgpu" => Ok(&["--features", "wgpu"]),
        "cuda" => Ok(&["--features", "cuda"]),
        other => Err(format!(
            "unknown device `{other}`; the devices are: cpu, wgpu, cuda"
        )),
    }
}

/// The commit for the results' provenance: `<sha>`, `<sha>-dirty` with uncommitted changes, `unknown` without git.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(cargo::root())
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    match (
        git(&["rev-parse", "HEAD"]),
        git(&["status", "--porcelain", "--untracked-files=no"]),
    ) {
        (Some(sha), Some(changes)) if changes.is_empty() => sha,
        (Some(sha), _) => format!("{sha}-dirty"),
        (None, _) => "unknown".to_string(),
    }
}

/// Replaces this process, so that Ctrl-C reaches the program directly.
#[cfg(unix)]
fn become_it(mut command: Command) -> Result<ExitCode, String> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(format!(
        "cannot start {}: {error}",
        command.get_program().to_string_lossy()
    ))
}

/// Starts the program and waits for it.
#[cfg(not(unix))]
fn become_it(command: Command) -> Result<ExitCode, String> {
    cargo::wait(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_device_is_found_in_both_spellings_and_is_cpu_otherwise() {
        assert_eq!(device(&args("table1 --profile paper")), "cpu");
        assert_eq!(device(&args("table1 --device cuda --jobs 2")), "cuda");
        assert_eq!(device(&args("--device=wgpu table1")), "wgpu");
        assert_eq!(device(&args("table1 --device")), "cpu");
    }

    #[cfg(unix)]
    #[test]
    fn an_argument_that_is_no_text_is_passed_over() {
        use std::os::unix::ffi::OsStringExt;
        let mut args = args("report --out");
        args.push(OsString::from_vec(b"--device=\xff".to_vec()));
        args.push("--device".into());
        args.push("wgpu".into());
        assert_eq!(device(&args), "wgpu");
    }

    #[test]
    fn an_unknown_device_is_refused_before_anything_is_built() {
        assert!(features("gpu").unwrap_err().contains("cpu, wgpu, cuda"));
        assert_eq!(features("cuda").unwrap(), ["--features", "cuda"]);
    }

    #[test]
    fn a_commit_is_never_empty() {
        assert!(!commit().is_empty());
    }
}
