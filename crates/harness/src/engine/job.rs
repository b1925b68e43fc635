//! The job script: what Slurm is asked for, and the one line that becomes the program.

use super::options::ClusterOptions;
use super::sweep::Manifest;
use std::path::Path;

/// Settings of a Slurm job beside the options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The name of the job.
    pub name: String,
    /// Memory of a task in MiB, where the options have none.
    pub memory: u64,
    /// Seconds from SIGUSR1 to the time limit.
    pub lead: u64,
}

/// The script for the sweep in `folder`. Its lines for Slurm are comments to a shell: the same script starts a task anywhere, the number
/// being its argument or what Slurm, HyperQueue or Kubernetes set.
///
/// The shell becomes the program by `exec`, so that signals for the job's first process (`--signal=B:`) reach it. SIGUSR1 is ignored until the
/// program listens: the default would end it.
pub fn script(
    folder: &Path,
    manifest: &Manifest,
    options: &ClusterOptions,
    of: &Request,
) -> String {
    let mut lines = vec!["#!/bin/bash".to_string()];
    lines.extend(directives(folder, manifest, options, of));
    lines.push("# Starts one task: its number is the argument, or is set by Slurm, HyperQueue or Kubernetes.".into());
    lines.push("task=${1:-${SLURM_ARRAY_TASK_ID:-${HQ_TASK_ID:-$JOB_COMPLETION_INDEX}}}".into());
    lines.push(": \"${task:?give the number of a task}\"".into());
    lines.push("trap '' USR1".into());
    for (name, value) in &manifest.environment {
        lines.push(format!("export {name}={}", quoted(value)));
    }
    lines.push(format!("cd {} || exit", quoted(&manifest.directory)));
    let program = quoted(&manifest.program);
    let words: Vec<String> = manifest.command.iter().map(|word| quoted(word)).collect();
    let sweep = quoted(&folder.to_string_lossy());
    lines.push(format!(
        "exec {program} {} --sweep {sweep} --task \"$task\"",
        words.join(" ")
    ));
    lines.join("\n") + "\n"
}

fn directives(
    folder: &Path,
    manifest: &Manifest,
    options: &ClusterOptions,
    of: &Request,
) -> Vec<String> {
    let max = options.max.map_or(String::new(), |max| format!("%{max}"));
    let log = format!("{}/logs/%a.log", folder.display());
    let mut directives = vec![
        format!("--job-name={}", of.name),
        format!("--array=0-{}{max}", manifest.tasks.saturating_sub(1)),
        "--ntasks=1".into(),
        format!("--cpus-per-task={}", options.cpus()),
        match &options.mem {
            Some(mem) => format!("--mem={mem}"),
            None => format!("--mem={}M", of.memory),
        },
        format!("--signal=B:USR1@{}", of.lead),
        "--requeue".into(),
        "--open-mode=append".into(),
        format!("--output=\"{log}\""),
    ];
    let time = [("time", &options.time)];
    for (name, value) in options.place().into_iter().chain(time) {
        directives.extend(value.as_ref().map(|value| format!("--{name}={value}")));
    }
    let gpus = options.gpus.filter(|gpus| *gpus > 0);
    directives.extend(gpus.map(|gpus| format!("--gres=gpu:{gpus}")));
    directives.extend(options.sbatch.iter().cloned());
    directives
        .into_iter()
        .map(|line| format!("#SBATCH {line}"))
        .collect()
}

/// A word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,+:@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_asked_for_if_there_are_to_be_any() {
        let asked = |gpus| {
            let options = ClusterOptions {
                gpus,
                ..ClusterOptions::default()
            };
            let request = Request {
                name: "x".into(),
                memory: 1,
                lead: 70,
            };
            let lines = directives("x".as_ref(), &manifest(), &options, &request);
            lines.into_iter().find(|line| line.contains("gres"))
        };
        assert_eq!(asked(Some(2)), Some("#SBATCH --gres=gpu:2".into()));
        assert_eq!((asked(Some(0)), asked(None)), (None, None));
    }
    use crate::engine::sweep::SCRIPT;

    fn manifest() -> Manifest {
        Manifest {
            program: "/out/.sweeps/programs/helm holtz".into(),
            command: ["reproduce", "table1", "--net", "it's"]
                .map(String::from)
                .into(),
            directory: "/home/me".into(),
            environment: [("HELMHOLTZ_COMMIT".to_string(), "abc".to_string())].into(),
            tasks: 120,
            ..Manifest::default()
        }
    }

    fn request() -> Request {
        Request {
            name: "table1".into(),
            memory: 1536,
            lead: 70,
        }
    }

    #[test]
    fn the_script_asks_for_what_was_asked_for_and_becomes_the_program() {
        let options = ClusterOptions {
            partition: Some("short".into()),
            time: Some("4:00:00".into()),
            gpus: Some(1),
            max: Some(16),
            sbatch: vec!["--constraint=avx512".into()],
            ..ClusterOptions::default()
        };
        let text = script("/out/.sweeps/x".as_ref(), &manifest(), &options, &request());
        for line in [
            "#SBATCH --array=0-119%16",
            "#SBATCH --mem=1536M",
            "#SBATCH --signal=B:USR1@70",
            "#SBATCH --requeue",
            "#SBATCH --open-mode=append",
            "#SBATCH --partition=short",
            "#SBATCH --time=4:00:00",
            "#SBATCH --gres=gpu:1",
            "#SBATCH --constraint=avx512",
            "export HELMHOLTZ_COMMIT=abc",
            "exec '/out/.sweeps/programs/helm holtz' reproduce table1 --net 'it'\\''s' --sweep /out/.sweeps/x --task \"$task\"",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} in\n{text}");
        }
        let directives = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .count();
        let rest = text.lines().skip(directives);
        assert!(
            rest.clone().all(|line| !line.starts_with("#SBATCH")),
            "Slurm stops reading there"
        );
    }

    #[test]
    fn a_shell_starts_the_task_that_is_named_by_argument_or_environment() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            program: "/bin/echo".into(),
            directory: "/".into(),
            ..manifest()
        };
        let text = script(
            dir.path(),
            &manifest,
            &ClusterOptions::default(),
            &request(),
        );
        let path = dir.path().join(SCRIPT);
        std::fs::write(&path, text).unwrap();
        let run = |args: &[&str], name: &str| {
            let mut command = std::process::Command::new("bash");
            for unset in ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID", "JOB_COMPLETION_INDEX"] {
                command.env_remove(unset);
            }
            let output = command
                .arg(&path)
                .args(args)
                .env(name, "5")
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(
            run(&["7"], "SLURM_ARRAY_TASK_ID")
                .trim_end()
                .ends_with("--task 7")
        );
        for name in ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID", "JOB_COMPLETION_INDEX"] {
            assert!(run(&[], name).trim_end().ends_with("--task 5"), "{name}");
        }
        assert_eq!(run(&[], "NOTHING"), "");
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        assert_eq!(quoted("runs/a-b_1.0"), "runs/a-b_1.0");
        assert_eq!(quoted("a/b c d"), "'a/b c d'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
