//! The folder of a sweep: the list of runs, the job script, the manifest; and beside it the program, set aside under its hash.

use super::list::LIST;
use super::options::ClusterOptions;
use super::{io, rejected};
use crate::error::HarnessError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of sweeps below that of run folders.
pub const SWEEPS: &str = ".sweeps";
/// The manifest's name in a sweep's folder.
pub const MANIFEST: &str = "manifest.json";
/// The job script's.
pub const SCRIPT: &str = "job.sh";

/// Manifest of a sweep: enough to start any of its tasks again, and to know by what it was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The experiment's title.
    pub title: String,
    /// When it was planned (seconds since 1970).
    pub created: u64,
    /// The commit that the program was built from.
    pub commit: String,
    /// The processor's features where it was planned: bits agree among nodes that have the same.
    pub cpu_features: Vec<String>,
    /// The program, set aside.
    pub program: String,
    /// Its SHA-256.
    pub sha256: String,
    /// The request, without what hands it to a cluster.
    pub command: Vec<String>,
    /// The folder that it was made in, to which relative paths belong.
    pub directory: String,
    /// Variables that tasks see.
    pub environment: BTreeMap<String, String>,
    /// Runs.
    pub runs: usize,
    /// Tasks.
    pub tasks: usize,
    /// The most runs of a task.
    pub per_task: usize,
    /// Options of the cluster, as asked for.
    pub options: ClusterOptions,
}

impl Manifest {
    /// Reads the manifest of the sweep in `folder`.
    ///
    /// # Errors
    /// A file that cannot be read, or is no manifest.
    pub fn read(folder: &Path) -> Result<Self, HarnessError> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(io("read", &path))?;
        serde_json::from_str(&text).map_err(|error| {
            rejected(
                format!("{} is no manifest of a sweep: {error}", path.display()),
                "submit the sweep again",
            )
        })
    }
}

/// Files that are being made; what is not kept is removed.
#[derive(Debug)]
pub struct Made {
    /// Files, and folders that go again once they are empty: others may have begun to write in them.
    paths: Vec<PathBuf>,
    /// The sweep's own folder, which goes with what is in it.
    own: Option<PathBuf>,
}

impl Made {
    /// Keeps them.
    pub fn keep(mut self) {
        self.paths.clear();
        self.own = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            let _ = fs::remove_dir_all(own);
        }
        for path in self.paths.iter().rev() {
            let _ = match path.is_dir() {
                true => fs::remove_dir(path),
                false => fs::remove_file(path),
            };
        }
    }
}

const PROGRAMS: &str = "programs";

/// A new folder for a sweep below `out`, with a folder for logs.
///
/// # Errors
/// A folder that cannot be made.
pub fn create(out: &Path, name: &str) -> Result<(PathBuf, Made), HarnessError> {
    let mut made = Made {
        paths: Vec::new(),
        own: None,
    };
    let sweeps = out.join(SWEEPS);
    let missing = sweeps.ancestors().take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
    missing.reverse();
    fs::create_dir_all(&sweeps).map_err(io("create", &sweeps))?;
    made.paths = missing;
    for number in 1_u64.. {
        let folder = sweeps.join(match number {
            1 => name.to_string(),
            _ => format!("{name}-{number}"),
        });
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            created => created.map_err(io("create", &folder))?,
        }
        made.own = Some(folder.clone());
        let logs = folder.join("logs");
        fs::create_dir(&logs).map_err(io("create", &logs))?;
        return Ok((folder, made));
    }
    unreachable!("some number is free")
}

/// Sets the running program aside in `out`, under its hash, unless it is there; returns its path and SHA-256.
///
/// # Errors
/// A program that cannot be read, copied, or run from there.
pub fn set_program_aside(out: &Path, made: &mut Made) -> Result<(PathBuf, String), HarnessError> {
    let current = Path::new("/proc/self/exe"); // readable, though a build has replaced the file
    let current = match current.exists() {
        true => current.to_path_buf(),
        false => std::env::current_exe().map_err(io("find", Path::new("the program")))?,
    };
    let bytes = fs::read(&current).map_err(io("read", &current))?;
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    let folder = out.join(SWEEPS).join(PROGRAMS);
    if !folder.exists() {
        fs::create_dir_all(&folder).map_err(io("create", &folder))?;
        made.paths.push(folder.clone());
    }
    let path = folder.join(format!("helmholtz-{}", &sha256[..16]));
    let there = fs::read(&path).is_ok_and(|own| own == bytes);
    if !there {
        let scratch = folder.join(format!(".tmp-{}", std::process::id()));
        made.paths.push(scratch.clone());
        fs::write(&scratch, &bytes).map_err(io("write", &scratch))?;
        let file = fs::File::open(&scratch).map_err(io("open", &scratch))?;
        file.sync_all().map_err(io("write", &scratch))?;
        executable(&scratch).map_err(io("write", &scratch))?;
        made.paths.push(path.clone());
        fs::rename(&scratch, &path).map_err(io("write", &path))?;
    }
    Ok((path, sha256))
}

/// Checks that a program set aside runs: the file system may forbid it.
///
/// # Errors
/// One that does not.
pub fn check_runs(program: &Path) -> Result<(), HarnessError> {
    let problem = match Command::new(program).arg("--help").output() {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => format!("ends with {}", output.status),
        Err(error) => format!("cannot be run: {error}"),
    };
    Err(rejected(
        format!("{} {problem}", program.display()),
        "programs may be forbidden on that file system (mounted noexec): give another `--out`",
    ))
}

/// Writes the files of a sweep.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    folder: &Path,
    manifest: &Manifest,
    list: &str,
    script: &str,
) -> Result<(), HarnessError> {
    let manifest = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
    for (name, text) in [(LIST, list), (MANIFEST, &manifest), (SCRIPT, script)] {
        let path = folder.join(name);
        let written = fs::write(&path, text).and_then(|()| fs::File::open(&path)?.sync_all());
        written.map_err(io("write", &path))?;
    }
    let script = folder.join(SCRIPT);
    executable(&script).map_err(io("write", &script))
}

#[cfg(unix)]
fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sweeps_of_a_name_have_two_folders_and_one_that_is_not_kept_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/runs");
        {
            let (folder, mut made) = create(&out, "x").unwrap();
            let (program, sha256) = set_program_aside(&out, &mut made).unwrap();
            assert!(folder.join("logs").is_dir() && program.is_file());
            assert_eq!(sha256.len(), 64);
        }
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
        let (first, made) = create(&out, "x").unwrap();
        made.keep();
        let (second, _made) = create(&out, "x").unwrap();
        assert!(first.ends_with("x") && second.ends_with("x-2") && first.is_dir());
    }

    #[test]
    fn what_others_wrote_in_new_folders_stays() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/runs");
        let (folder, mut made) = create(&out, "x").unwrap();
        let (program, _) = set_program_aside(&out, &mut made).unwrap();
        fs::create_dir_all(out.join("table1/seed-1")).unwrap();
        let theirs = out.join(SWEEPS).join(PROGRAMS).join("theirs");
        fs::write(&theirs, "theirs").unwrap();
        drop(made);
        assert!(out.join("table1/seed-1").is_dir() && theirs.is_file());
        assert!(!folder.exists() && !program.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let made = create(dir.path(), "none/x");
        assert!(matches!(made, Err(HarnessError::Io { .. })));
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_does_not_run_where_it_lies_is_refused() {
        use crate::engine::slurm::tests::fake;
        let dir = tempfile::tempdir().unwrap();
        fake(dir.path(), &[("runs", "true"), ("fails", "exit 3")]);
        check_runs(&dir.path().join("runs")).unwrap();
        let text = check_runs(&dir.path().join("fails"))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("ends with") && text.contains("noexec"),
            "{text}"
        );
        let text = check_runs(&dir.path().join("none"))
            .unwrap_err()
            .to_string();
        assert!(text.contains("cannot be run"), "{text}");
    }

    #[test]
    fn the_program_is_set_aside_once_and_is_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let (_folder, mut made) = create(dir.path(), "x").unwrap();
        let (program, _) = set_program_aside(dir.path(), &mut made).unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(fs::read(&program).unwrap(), fs::read(own).unwrap());
        let written = program.metadata().unwrap().modified().unwrap();
        let (again, _) = set_program_aside(dir.path(), &mut made).unwrap();
        assert_eq!(again.metadata().unwrap().modified().unwrap(), written);
        assert_eq!(again, program);
    }
}
