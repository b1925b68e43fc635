//! Options that hand an experiment's runs to a cluster, and the request that a task is started with.

use crate::cli::{DataArgs, Reproduce};
use crate::data::Wanted;
use crate::device::Device;
use crate::source::Source;
use crate::started;
use clap::Args;
use helmholtz_harness::engine::Engine;
use helmholtz_harness::engine::job::quoted;
use helmholtz_harness::engine::options::ClusterOptions;
use helmholtz_harness::engine::slurm::Slurm;
use helmholtz_harness::engine::submit::Submission;
use helmholtz_harness::engine::task::Task;
use helmholtz_harness::error::HarnessError;
use std::path::{Path, PathBuf};

/// Options for runs on a cluster, other than in this process. Defaults are read from `helmholtz-cluster.toml` in the working
/// folder.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On a cluster")]
pub struct Cluster {
    /// Hand the runs to a cluster; defaults of the options below are read from helmholtz-cluster.toml
    #[arg(long, value_enum)]
    pub on: Option<Engine>,

    /// What the cluster is asked for
    #[command(flatten)]
    pub options: ClusterOptions,

    /// Wait until all is done, with live progress from the run folders
    #[arg(long, requires = "on")]
    pub wait: bool,

    /// The folder of the sweep whose task this is
    #[arg(long, hide = true, requires = "task", conflicts_with = "on")]
    pub sweep: Option<PathBuf>,

    /// The task's number
    #[arg(long, hide = true, requires = "sweep")]
    pub task: Option<usize>,
}

impl Cluster {
    /// The task that this process is.
    pub fn task(&self) -> Option<Task> {
        let (sweep, number) = (self.sweep.clone()?, self.task?);
        Some(Task { sweep, number })
    }
}

/// The request with an absolute folder of runs, and on the CPU: a login node has no GPU, and planning needs none.
pub fn planned(args: &Reproduce) -> Result<Reproduce, HarnessError> {
    let mut args = args.clone();
    args.out = absolute(&args.out)?;
    args.data_dir = args.data_dir.as_deref().map(absolute).transpose()?;
    args.device.check_built()?;
    args.device = Device::Cpu;
    Ok(args)
}

/// Returns the submission of what is handed out of `args`, as [`planned`] has left it but for its device.
///
/// # Errors
/// A file of defaults that makes no sense; `--jobs`, which `--max` and `--cpus` take the place of.
pub fn submission(
    args: &Reproduce,
    engine: Engine,
    source: &Source,
) -> Result<Submission, HarnessError> {
    let flags = [
        ("--jobs", args.jobs.is_some()),
        ("--threads", args.threads.is_some()),
    ];
    let remedy =
        "with `--on`, `--max` limits the jobs at once, and `--cpus` the runs at once in each";
    args.reject(&args.experiment, &flags, remedy)?;
    let here = std::env::current_dir().unwrap_or_default();
    let own = args.cluster.options.clone();
    let mut options = own.or(ClusterOptions::defaults(&here)?);
    if args.device == Device::Cuda {
        options.gpus = options.gpus.or(Some(1));
    }
    let is_file = args.experiment.ends_with(".toml");
    let stem = Path::new(&args.experiment).file_stem().unwrap_or_default();
    let name = format!("{}-{}", stem.to_string_lossy(), args.profile);
    let known = |name: &str| Some((name.to_string(), std::env::var(name).ok()?));
    let out = absolute(&args.out)?;
    Ok(Submission {
        engine,
        options,
        name: name.replace(
            |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_',
            "_",
        ),
        command: [vec!["reproduce".into()], words(args)?].concat(),
        // The experiment stands behind the command's name.
        file: is_file.then(|| (1, source.text.clone())),
        environment: ["HELMHOLTZ_COMMIT", "HELMHOLTZ_DATA", "MIMALLOC_PURGE_DELAY"]
            .into_iter()
            .filter_map(known)
            .collect(),
        hints: ["status", "reproduce"].map(|command| {
            let words = words(args).unwrap_or_default();
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let line = format!("cargo xtask {command} {}", words.join(" "));
            started::as_started(&line).into_owned()
        }),
        wait: args.cluster.wait,
        slurm: Slurm::default(),
        out,
    })
}

/// The request as words of a command line. It names every field, so that a new one is not forgotten here.
fn words(args: &Reproduce) -> Result<Vec<String>, HarnessError> {
    let Reproduce {
        experiment,
        profile,
        methods,
        nets,
        particles,
        seeds,
        epochs,
        steps,
        device,
        data_dir,
        data: DataArgs {
            dataset,
            split,
            split_seed,
        },
        jobs: _,
        threads: _,
        out,
        dry_run: _,
        json: _,
        fresh: _,
        cluster: _,
    } = args;
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let path = |path: &Path| absolute(path).map(|path| path.display().to_string());
    let flags = [
        ("--profile", (profile != "quick").then(|| profile.clone())),
        ("--method", joined(methods)),
        ("--net", joined(nets)),
        ("--particles", joined(particles)),
        ("--seeds", joined(seeds.as_deref().unwrap_or_default())),
        ("--epochs", text(*epochs)),
        ("--steps", text(*steps)),
        (
            "--device",
            (*device != Device::Cpu).then(|| device.as_str().to_string()),
        ),
        ("--data-dir", data_dir.as_deref().map(path).transpose()?),
        (
            "--dataset",
            dataset
                .as_ref()
                .map(|wanted| named(wanted, &path))
                .transpose()?,
        ),
        ("--split", joined(split.as_deref().unwrap_or_default())),
        ("--split-seed", text(*split_seed)),
        ("--out", Some(path(out)?)),
    ];
    let mut words = vec![experiment.clone()];
    for (flag, value) in flags {
        if let Some(value) = value {
            words.extend([flag.to_string(), value]);
        }
    }
    Ok(words)
}

fn joined<T: ToString>(items: &[T]) -> Option<String> {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// A data set by its name, files by their paths.
fn named(
    wanted: &Wanted,
    path: &dyn Fn(&Path) -> Result<String, HarnessError>,
) -> Result<String, HarnessError> {
    match wanted {
        Wanted::Own(own) => {
            let files = own.files.iter().map(|file| path(file));
            Ok(files.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        known => Ok(known.to_string()),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, HarnessError> {
    std::path::absolute(path).map_err(|source| HarnessError::Io {
        action: "find",
        path: path.to_path_buf(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::parsed;

    fn reproduce(line: &str) -> Result<Reproduce, clap::Error> {
        parsed(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn a_task_is_started_with_the_same_request() {
        let line = "table1 --profile paper --method jsa,rws --net linear --particles 2,5 --seeds 1-3,7 --epochs 4 \
                    --steps 5 --data-dir /data --dataset glyphs --out /runs";
        let asked = reproduce(line).unwrap();
        let again = reproduce(&words(&asked).unwrap().join(" ")).unwrap();
        assert_eq!(format!("{asked:?}"), format!("{again:?}"));
        let asked = reproduce("arm-toy").unwrap();
        let again = reproduce(&words(&asked).unwrap().join(" ")).unwrap();
        assert!(again.out.is_absolute() && again.out.ends_with("runs") && again.seeds.is_none());
    }

    #[test]
    fn options_of_a_cluster_need_one() {
        assert!(reproduce("table1 --partition short").is_err());
        assert!(reproduce("table1 --task 3").is_err());
        let source = Source::find("table1").unwrap();
        let submitted = |line: &str| submission(&reproduce(line).unwrap(), Engine::Slurm, &source);
        let line = "table1 --on slurm --sbatch --constraint=avx512 --per-task 4";
        let submission = submitted(line).unwrap();
        assert_eq!(
            (submission.options.per_task, submission.options.gpus),
            (Some(4), None)
        );
        assert_eq!(submission.options.sbatch, ["--constraint=avx512"]);
        assert!(submission.hints[0].starts_with("cargo xtask status table1 --out "));
        let on_a_gpu = submitted("table1 --on slurm --device cuda").unwrap();
        assert_eq!(on_a_gpu.options.gpus, Some(1));
        let text = submitted("table1 --on slurm --jobs 3")
            .unwrap_err()
            .to_string();
        assert!(text.contains("--max"), "{text}");
    }
}
