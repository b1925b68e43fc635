//! Cargo, called from the workspace's root.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The workspace's root.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The cargo that started us, on this workspace. It runs in the caller's folder: relative paths in arguments stay right.
pub fn cargo(subcommand: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .arg(subcommand)
        .arg("--manifest-path")
        .arg(root().join("Cargo.toml"));
    command
}

/// Builds with these arguments, and returns the path of the program that was built.
pub fn build(args: &[&str]) -> Result<PathBuf, String> {
    let mut command = cargo("build");
    command
        .args(args)
        .arg("--message-format=json-render-diagnostics")
        // The commit is told when the program is started: a new one is no reason to build again.
        .env("HELMHOLTZ_XTASK", "1");
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("the build failed; its messages are above".to_string());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    messages
        .lines()
        .filter_map(executable)
        .next_back()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo built no program".to_string())
}

/// The path in a message of cargo about a built program.
fn executable(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    let mut path = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(path),
            '\\' => path.push(characters.next()?),
            c => path.push(c),
        }
    }
}

/// Runs a command to its end; its exit status becomes ours.
pub fn wait(mut command: Command) -> Result<ExitCode, String> {
    let status = command.status().map_err(|error| {
        format!(
            "cannot start {}: {error}",
            command.get_program().to_string_lossy()
        )
    })?;
    let code = status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1);
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_read_from_cargos_messages() {
        let message =
            r#"{"reason":"compiler-artifact","executable":"C:\\x\\helm \"h\".exe","fresh":true}"#;
        assert_eq!(executable(message).unwrap(), r#"C:\x\helm "h".exe"#);
        assert_eq!(
            executable(r#"{"reason":"compiler-artifact","executable":null}"#),
            None
        );
    }

    #[test]
    fn the_root_is_the_workspace() {
        assert!(root().join("Cargo.toml").is_file() && root().join("xtask").is_dir());
    }
}
