//! The scratch checkout that mutants are planted in.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::scope::Scope;

/// A checkout of HEAD below `target/mutants`.
pub struct Checkout {
    /// What is mutated in it.
    pub scope: &'static Scope,
    /// `target/mutants`.
    pub scratch: PathBuf,
    /// The checkout.
    pub tree: PathBuf,
    /// The commit.
    pub commit: String,
    /// Names the sources of the packages.
    pub sources: String,
    /// What stood in the changed files before, and since when: a file whose first text is the same is given its old time
    /// again, so that cargo doesn't rebuild.
    before: RefCell<BTreeMap<PathBuf, (String, SystemTime)>>,
}

impl Checkout {
    /// For what is mutated together.
    pub fn of_head(root: &Path, scope: &'static Scope) -> Result<Self, String> {
        let scratch = root.join("target/mutants");
        let tree = scratch.join("tree");
        let commit = git(root, &["rev-parse", "HEAD"])?;
        let mut before = BTreeMap::new();
        if tree.exists() {
            for file in git(&tree, &["ls-files", "--modified", "--others"])?.lines() {
                let file = tree.join(file);
                let since = fs::metadata(&file).and_then(|meta| meta.modified());
                if let (Ok(text), Ok(since)) = (fs::read_to_string(&file), since) {
                    before.insert(file, (text, since));
                }
            }
            git(&tree, &["checkout", "--force", "--detach", &commit])?;
        } else {
            git(root, &["worktree", "prune"])?;
            let path = tree.to_string_lossy();
            git(root, &["worktree", "add", "--detach", &path, &commit])?;
        }
        let folders = scope.packages.iter().map(|package| match *package {
            "helmholtz-tests" => "HEAD:tests/faults.toml".to_string(),
            _ => format!("HEAD:{}/src", folder_of(&tree, package)),
        });
        let folders: Vec<String> = folders.collect();
        let mut arguments = vec!["rev-parse"];
        arguments.extend(folders.iter().map(String::as_str));
        let hashes = git(&tree, &arguments)?;
        let sources = hashes.lines().map(|hash| &hash[..8]).collect();
        Ok(Self {
            scope,
            scratch,
            tree,
            commit,
            sources,
            before: RefCell::new(before),
        })
    }

    /// A file as the commit has it, whatever was planted in it.
    pub fn read(&self, file: &str) -> Result<String, String> {
        output_of(&self.tree, &["show", &format!("{}:{file}", self.commit)])
    }

    /// Writes a file of the checkout.
    pub fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.tree.join(file);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        match self.before.borrow_mut().remove(&path) {
            Some((old, since)) if old == text => set_time(&path, since),
            _ => Ok(()),
        }
    }

    /// The cargo of this machine, on the checkout.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command
            .args(arguments)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", self.scratch.join("target"));
        command
    }
}

/// The folder of a package of ours.
fn folder_of(tree: &Path, package: &str) -> String {
    let name = package.trim_start_matches("helmholtz-");
    let model = format!("crates/models/{name}");
    match tree.join(&model).is_dir() {
        true => model,
        false => format!("crates/{name}"),
    }
}

fn set_time(path: &Path, time: SystemTime) -> Result<(), String> {
    let file = fs::File::options().write(true).open(path);
    file.and_then(|file| file.set_modified(time))
        .map_err(|error| format!("cannot set the time of {}: {error}", path.display()))
}

/// What git prints, without the space around it.
fn git(at: &Path, arguments: &[&str]) -> Result<String, String> {
    output_of(at, arguments).map(|text| text.trim().to_owned())
}

/// What git prints.
fn output_of(at: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(at).output();
    let output = output.map_err(|error| format!("no git: {error}"))?;
    if !output.status.success() {
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`git {}` failed: {problem}", arguments.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
