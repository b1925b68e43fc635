//! The programs of Slurm, and what they answer.

use super::options::{format_time, parse_time};
use super::rejected;
use crate::error::HarnessError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Slurm, by its programs.
#[derive(Debug, Clone, Default)]
pub struct Slurm {
    /// The folder of its programs, instead of those of PATH.
    pub programs: Option<PathBuf>,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Partition {
    name: String,
    default: bool,
    /// Its longest time limit in seconds; none without one.
    limit: Option<u64>,
}

/// Whether a variable describes the job that this runs in, or is meant for it: another job must not see it.
fn is_of_a_job(name: &str) -> bool {
    (name.starts_with("SBATCH_") || name.starts_with("SLURM_")) && name != "SLURM_CONF"
}

impl Slurm {
    fn output(&self, program: &str, args: &[&str]) -> Result<Output, HarnessError> {
        let path = self
            .programs
            .as_ref()
            .map_or(program.into(), |folder| folder.join(program));
        let mut command = Command::new(path);
        // Of an interactive job that this runs in.
        for (name, _) in std::env::vars_os() {
            if is_of_a_job(&name.to_string_lossy()) {
                command.env_remove(&name);
            }
        }
        command.args(args).output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => rejected(
                format!("there is no `{program}` here"),
                "give the command on a login node of the cluster, load its module (`module load slurm`), or use `--on script`",
            ),
            _ => rejected(format!("`{program}` cannot be started: {error}"), "see what it is"),
        })
    }

    /// Standard output, or why there is none.
    fn ask(&self, program: &str, args: &[&str]) -> Result<String, String> {
        let output = self
            .output(program, args)
            .map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(match text(&output.stderr) {
                error if error.is_empty() => format!("`{program}` ended with {}", output.status),
                error => error,
            }),
        }
    }

    /// The most tasks of an array.
    ///
    /// # Errors
    /// No Slurm here, or one whose controller does not answer.
    pub fn largest_array(&self) -> Result<usize, HarnessError> {
        self.output("sbatch", &["--version"])?;
        let config = self.ask("scontrol", &["show", "config"]).map_err(|error| {
            rejected(
                format!("Slurm does not answer: {error}"),
                "try again when `scontrol ping` says that the controller is up; nothing was submitted",
            )
        })?;
        let line = config.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
        });
        // An array's last number is one less; 0 means that there are no arrays.
        Ok(line.unwrap_or(1001).max(1))
    }

    /// Checks that the partition is there and allows the time.
    ///
    /// # Errors
    /// One that is not there, with those that are; a longer time than it allows.
    pub fn check_partition(
        &self,
        wanted: Option<&str>,
        seconds: Option<u64>,
    ) -> Result<(), HarnessError> {
        // A Slurm that does not tell is asked by `sbatch --test-only`.
        let Ok(text) = self.ask("sinfo", &["--noheader", "--format=%P %l"]) else {
            return Ok(());
        };
        let partitions: Vec<Partition> = text.lines().filter_map(partition).collect();
        let names: Vec<&str> = partitions.iter().map(|p| p.name.as_str()).collect();
        let found = match wanted {
            Some(name) => partitions.iter().find(|p| p.name == name),
            None => partitions.iter().find(|p| p.default),
        };
        let Some(found) = found else {
            let which = wanted.map_or("a default".to_string(), |name| format!("called `{name}`"));
            return Err(rejected(
                format!("the cluster has no partition {which}"),
                format!("give one of {} by `--partition`", names.join(", ")),
            ));
        };
        match (seconds, found.limit) {
            (Some(seconds), Some(limit)) if seconds > limit => Err(rejected(
                format!(
                    "`--time {}` is longer than partition `{}` allows",
                    format_time(seconds),
                    found.name
                ),
                format!(
                    "give `--time {}` or less: a task that is not done then writes a checkpoint and queues itself again",
                    format_time(limit)
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Checks that Slurm would take the script.
    ///
    /// # Errors
    /// What it says.
    pub fn would_take(&self, script: &Path) -> Result<(), HarnessError> {
        let path = script.to_string_lossy();
        let asked = self.ask("sbatch", &["--test-only", &path]);
        asked.map(|_| ()).map_err(|error| not_taken(&error))
    }

    /// Checks that a node sees the folder, if one is free within a few seconds. Returns false where no node was.
    ///
    /// # Errors
    /// A node that does not.
    pub fn check_seen(&self, file: &Path, options: &[String]) -> Result<bool, HarnessError> {
        let path = file.to_string_lossy();
        let test = "if test -e \"$0\"; then echo seen; else echo \"unseen on $(uname -n)\"; fi";
        let mut args = vec![
            "--immediate=10",
            "--ntasks=1",
            "--time=2",
            "--chdir=/",
            "--quiet",
            "--job-name=helmholtz-look",
        ];
        args.extend(options.iter().map(String::as_str));
        args.extend(["sh", "-c", test, &path]);
        match self.ask("srun", &args) {
            Ok(text) if text.starts_with("unseen") => Err(rejected(
                format!("{} is {text}", file.display()),
                "give an `--out` on a file system that all nodes share, such as your home or project folder; nothing was submitted",
            )),
            Ok(text) => Ok(text.contains("seen")),
            Err(_) => Ok(false),
        }
    }

    /// Submits the script; returns the job's number.
    ///
    /// # Errors
    /// What Slurm says against it.
    pub fn submit(&self, script: &Path) -> Result<u64, HarnessError> {
        let path = script.to_string_lossy();
        let text = self
            .ask("sbatch", &["--parsable", &path])
            .map_err(|error| not_taken(&error))?;
        // The number, and the cluster's name behind it where there are several.
        let number = text
            .split(';')
            .next()
            .and_then(|number| number.trim().parse().ok());
        number.ok_or_else(|| {
            rejected(
                format!("`sbatch` answered {text:?} instead of a job's number"),
                "see by `squeue --me` what it has queued",
            )
        })
    }

    /// Queues a task of an array again. By the array's number and the task's: one of an array's tasks has the array's own number as its
    /// job number, and requeueing that number would requeue every task.
    ///
    /// # Errors
    /// What Slurm says against it.
    pub fn requeue(&self, task: &str) -> Result<(), String> {
        self.ask("scontrol", &["requeue", task]).map(|_| ())
    }

    /// Whether tasks of the job are queued or at work; none where Slurm does not answer.
    pub fn is_queued(&self, job: u64) -> Option<bool> {
        match self.ask(
            "squeue",
            &["--noheader", "--format=%i", &format!("--jobs={job}")],
        ) {
            Ok(text) => Some(!text.is_empty()),
            Err(error) if error.contains("Invalid job id") => Some(false),
            Err(_) => None,
        }
    }
}

/// `short* 4:00:00`.
fn partition(line: &str) -> Option<Partition> {
    let (name, limit) = line.trim().split_once(' ')?;
    Some(Partition {
        name: name.trim_end_matches('*').to_string(),
        default: name.ends_with('*'),
        limit: parse_time(limit.trim()),
    })
}

fn not_taken(error: &str) -> HarnessError {
    let lower = error.to_lowercase();
    let about = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let remedy = if about(&["partition"]) {
        "`sinfo` lists the partitions; give one by `--partition`"
    } else if about(&["account", "qos"]) {
        "`sacctmgr show assoc user=$USER` lists yours; give them by `--account` and `--qos`"
    } else if about(&["limit", "too many", "exceed"]) {
        "give fewer and longer tasks by `--per-task`, or a shorter `--time`"
    } else if about(&["node config", "memory", "cpu", "gres"]) {
        "no node has that much: give less by `--mem`, `--cpus` or `--gpus`"
    } else {
        "change what is asked for, by `--sbatch` where no other option has it"
    };
    rejected(
        format!("Slurm does not take the job: {error}"),
        format!("{remedy}; nothing was submitted"),
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::streams::assert_contains;

    /// A Slurm of shell scripts: a program's name and its body each.
    pub(in crate::engine) fn fake(folder: &Path, programs: &[(&str, &str)]) -> Slurm {
        // Written by a process of its own: what another test starts meanwhile would keep a file open that is written here, and what is
        // open for writing cannot be started.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
        for (name, body) in programs {
            let mut writing = Command::new("sh");
            writing
                .args(["-c", write, "sh"])
                .arg(folder.join(name))
                .arg(body);
            let written = writing.status();
            assert!(written.unwrap().success(), "{name} cannot be written");
        }
        let programs = Some(folder.to_path_buf());
        Slurm { programs }
    }

    /// One that answers.
    pub(in crate::engine) const ANSWERS: [(&str, &str); 4] = [
        (
            "sbatch",
            "case \"$*\" in *--parsable*) echo \"$*\" >> \"$(dirname \"$0\")/submitted\"; echo '17;here';; esac",
        ),
        ("scontrol", "echo 'MaxArraySize            = 4'"),
        ("sinfo", "echo 'short* 4:00:00'; echo 'long infinite'"),
        ("srun", "echo seen"),
    ];

    #[test]
    fn a_slurm_that_answers_is_understood() {
        let dir = tempfile::tempdir().unwrap();
        let slurm = fake(dir.path(), &ANSWERS);
        assert_eq!(slurm.largest_array().unwrap(), 4);
        assert_eq!(slurm.submit("x".as_ref()).unwrap(), 17);
        assert!(slurm.check_seen("x".as_ref(), &[]).unwrap());
        for (name, seconds) in [
            (None, Some(14_400)),
            (Some("long"), Some(1 << 30)),
            (Some("short"), None),
        ] {
            slurm.check_partition(name, seconds).unwrap();
        }
    }

    #[test]
    fn a_job_is_queued_or_not_or_nobody_knows() {
        let dir = tempfile::tempdir().unwrap();
        let asked = |body| fake(dir.path(), &[("squeue", body)]).is_queued(17);
        let echo = "case \"$*\" in *--jobs=17*) echo 17_1;; esac";
        assert_eq!(asked(echo), Some(true));
        assert_eq!(asked("true"), Some(false));
        let gone = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1";
        assert_eq!(asked(gone), Some(false));
        assert_eq!(
            asked("echo 'Unable to contact slurm controller' >&2; exit 1"),
            None
        );
        let slurm = fake(dir.path(), &[("scontrol", "exit 3")]);
        assert_contains(
            slurm.requeue("17_1").unwrap_err(),
            &["`scontrol` ended with"],
        );
    }

    #[test]
    fn without_slurm_the_error_says_where_to_go() {
        let dir = tempfile::tempdir().unwrap();
        let slurm = fake(dir.path(), &[]);
        let text = slurm.largest_array().unwrap_err().to_string();
        assert_contains(&text, &["no `sbatch`", "--on script"]);
        let slurm = fake(
            dir.path(),
            &[("sbatch", "true"), ("scontrol", "echo down >&2; exit 1")],
        );
        assert_contains(
            slurm.largest_array().unwrap_err(),
            &["does not answer: down", "scontrol ping"],
        );
    }

    #[test]
    fn partitions_that_are_not_there_or_are_shorter_are_refused_with_the_choices() {
        let dir = tempfile::tempdir().unwrap();
        let slurm = fake(dir.path(), &ANSWERS);
        assert_contains(
            slurm.check_partition(Some("shrot"), None).unwrap_err(),
            &["`shrot`", "short, long"],
        );
        assert_contains(
            slurm.check_partition(None, Some(14_401)).unwrap_err(),
            &["--time 04:00:00", "checkpoint"],
        );
    }

    #[test]
    fn a_node_that_does_not_see_the_folder_is_named_and_a_busy_cluster_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let slurm = fake(dir.path(), &[("srun", "echo 'unseen on n7'")]);
        let text = slurm
            .check_seen("/x/y".as_ref(), &[])
            .unwrap_err()
            .to_string();
        assert_contains(&text, &["/x/y", "n7", "--out"]);
        let slurm = fake(dir.path(), &[("srun", "exit 1")]);
        assert!(!slurm.check_seen("/x/y".as_ref(), &[]).unwrap());
    }

    #[test]
    fn what_slurm_says_against_a_job_is_passed_on_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        for (says, remedy) in [
            (
                "Invalid account or account/partition combination specified",
                "--partition",
            ),
            ("Invalid qos specification", "--qos"),
            (
                "Job violates accounting/QOS policy (job submit limit)",
                "--qos",
            ),
            ("Requested node configuration is not available", "--mem"),
            ("Memory required by task is not available", "--mem"),
        ] {
            let body = format!("echo '{says}' >&2; exit 1");
            let slurm = fake(dir.path(), &[("sbatch", &body)]);
            for error in [
                slurm.submit("x".as_ref()).map(|_| ()),
                slurm.would_take("x".as_ref()),
            ] {
                let text = error.unwrap_err().to_string();
                assert!(text.contains(says) && text.contains(remedy), "{text}");
                assert!(text.contains("nothing was submitted"), "{text}");
            }
        }
    }

    #[test]
    fn variables_of_the_job_around_are_not_handed_on_but_where_slurm_is() {
        let names = [
            "SLURM_JOB_ID",
            "SBATCH_QOS",
            "SLURM_CONF",
            "PATH",
            "MY_SLURM_X",
        ];
        assert_eq!(names.map(is_of_a_job), [true, true, false, false, false]);
    }
}
