//! Plants the faults of `tests/faults.toml` one by one and sees that the proofs find them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use serde::Deserialize;

const HELP: &str = "\
Usage: cargo run -p helmholtz-tests --bin faults [-- [--only TEXT] [--out FILE]]

Plants each fault of tests/faults.toml in a scratch checkout of HEAD, below target/faults, runs the tests that guard the place,
and expects them to fail. The first build there takes as long as a clean one. Prints a Markdown table; ends with 1 if a
fault survives.

  --only TEXT   only faults whose description holds TEXT
  --out FILE    write the table there";

/// One fault: a text of a file, and what stands there instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    /// What is wrong then.
    about: String,
    /// The file, from the workspace's root.
    file: String,
    /// What stands there once.
    from: String,
    /// What takes its place.
    to: String,
    /// The arguments of `cargo test` that must fail.
    test: String,
}

#[derive(Debug, Deserialize)]
struct Faults {
    fault: Vec<Fault>,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, String> {
    let (mut only, mut out) = (String::new(), None);
    let mut given = std::env::args().skip(1);
    while let Some(flag) = given.next() {
        let mut value = || given.next().ok_or(format!("`{flag}` needs a value"));
        match flag.as_str() {
            "--only" => only = value()?,
            "--out" => out = Some(PathBuf::from(value()?)),
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(true);
            }
            other => return Err(format!("there is no flag `{other}`\n\n{HELP}")),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = read(&root.join("tests/faults.toml"))?;
    let faults: Faults = toml::from_str(&text).map_err(|error| error.to_string())?;
    let scratch = root.join("target/faults");
    let tree = checkout(&root, &scratch)?;
    let mut table = String::from("| fault | file | tests | found |\n|---|---|---|---|\n");
    let (mut planted, mut found) = (0, 0);
    for fault in faults.fault.iter().filter(|f| f.about.contains(&only)) {
        let start = Instant::now();
        let fails = plant(&tree, &scratch, fault)?;
        planted += 1;
        found += usize::from(fails);
        let verdict = if fails { "yes" } else { "**no**" };
        eprintln!(
            "{verdict:6} {:3} s  {}",
            start.elapsed().as_secs(),
            fault.about
        );
        let row = [&fault.about, &fault.file, &fault.test].map(|cell| cell.replace('|', "\\|"));
        table.push_str(&format!(
            "| {} | `{}` | `{}` | {verdict} |\n",
            row[0], row[1], row[2]
        ));
    }
    table.push_str(&format!("\n{found} of {planted} faults found.\n"));
    println!("{table}");
    if let Some(file) = out {
        fs::write(&file, &table).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    }
    Ok(found == planted)
}

/// A checkout of HEAD in the scratch folder.
fn checkout(root: &Path, scratch: &Path) -> Result<PathBuf, String> {
    let tree = scratch.join("tree");
    let git = |arguments: &[&str], at: &Path| {
        let done = Command::new("git").args(arguments).current_dir(at).status();
        match done {
            Ok(status) if status.success() => Ok(()),
            _ => Err(format!("`git {}` failed", arguments.join(" "))),
        }
    };
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(root)
        .output();
    let head = head.map_err(|error| format!("no git: {error}"))?.stdout;
    let head = String::from_utf8_lossy(&head).trim().to_owned();
    if tree.exists() {
        git(
            &["checkout", "--quiet", "--force", "--detach", &head],
            &tree,
        )?;
    } else {
        let path = tree.to_string_lossy().into_owned();
        git(&["worktree", "prune"], root)?;
        git(
            &["worktree", "add", "--quiet", "--detach", &path, &head],
            root,
        )?;
    }
    Ok(tree)
}

/// Whether the tests that guard the place fail with the fault in it.
fn plant(tree: &Path, scratch: &Path, fault: &Fault) -> Result<bool, String> {
    let file = tree.join(&fault.file);
    let sound = read(&file)?;
    if sound.matches(&fault.from).count() != 1 {
        let Fault { about, file, .. } = fault;
        return Err(format!("`{about}`: its text is not once in {file}"));
    }
    let write = |text: &str| fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()));
    write(&sound.replace(&fault.from, &fault.to))?;
    let built = cargo(tree, scratch, &format!("{} --no-run", fault.test))?;
    let fails = built && !cargo(tree, scratch, &fault.test)?;
    write(&sound)?;
    match built {
        true => Ok(fails),
        false => Err(format!("`{}` does not compile", fault.about)),
    }
}

/// Whether `cargo test` with these arguments succeeds.
fn cargo(tree: &Path, scratch: &Path, arguments: &str) -> Result<bool, String> {
    let status = Command::new("cargo")
        .arg("test")
        .arg("--quiet")
        .args(arguments.split_whitespace())
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", scratch.join("target"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status
        .map(|s| s.success())
        .map_err(|error| format!("no cargo: {error}"))
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}
