//! From a plan to a queued array, or to a list of runs and a script.

use super::attempts::now;
use super::follow::follow;
use super::job::{self, quoted, script};
use super::list::{LIST, Listed, divide, sizes, text};
use super::options::{ClusterOptions, format_time};
use super::slurm::Slurm;
use super::sweep::{self, Made, Manifest, SCRIPT};
use super::{Engine, rejected, shared};
use crate::error::HarnessError;
use crate::experiment::Experiment;
use crate::plan::Plan;
use crate::plan_text::{self, count};
use crate::reproduce::{End, Options, archive_folders, plan, print_notice};
use crate::schedule::format_duration;
use crate::status::Status;
use crate::streams::Streams;
use helmholtz_runs::Provenance;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A plan that is to be handed out.
#[derive(Debug, Clone)]
pub struct Submission {
    /// To whom.
    pub engine: Engine,
    /// Options of the cluster.
    pub options: ClusterOptions,
    /// The name of the sweep.
    pub name: String,
    /// The folder of run folders, from the root.
    pub out: PathBuf,
    /// The request that a task is started with.
    pub command: Vec<String>,
    /// A file of the request that is set aside, with the word of `command` that names it.
    pub file: Option<(usize, String)>,
    /// Variables that tasks see.
    pub environment: BTreeMap<String, String>,
    /// The command that tells how far it is, and the one that shows what is done.
    pub hints: [String; 2],
    /// Wait for its end, and show it.
    pub wait: bool,
    /// Access to Slurm.
    pub slurm: Slurm,
}

/// Seconds that a task may take from its start to its first step.
const START: f64 = 30.0;
/// Slurm looks at time limits twice a minute, so that a signal may come half a minute late, and a whole one early.
const COARSE: f64 = 60.0;
/// Memory that a task needs whatever it runs: the program, and its data.
const BASE: u64 = 1 << 30;

/// Hands out what a plan leaves to do.
///
/// # Errors
/// Whatever keeps it from being handed out: then nothing was, and nothing is left of it.
pub fn submit(
    experiment: &dyn Experiment,
    options: &Options,
    submission: &Submission,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let cluster = &submission.options;
    cluster.check()?;
    let seconds = cluster.seconds()?;
    let most = largest_array(submission, seconds)?;
    let heading = experiment.heading();
    print_notice(&experiment.banner(), streams);
    let (mut plan, _) = plan(experiment, options, stop, streams)?;
    let mut queue = plan.queue();
    queue.retain(|&index| !matches!(plan.units[index].status, Status::Running { .. }));
    let runs = divide(&plan, &queue, cluster.per_task.unwrap_or(1), most);
    let (tasks, per_task) = sizes(&runs);
    let of_task = cluster.cpus().min(per_task.max(1));
    let at_once = cluster.max.unwrap_or(tasks).clamp(1, tasks.max(1)) * of_task;
    streams.out.line(match options.json {
        true => plan_text::json(&plan, at_once, None).to_string(),
        false => plan_text::render(&plan, &heading, at_once, streams.out_colours),
    });
    if plan.has_unusable() {
        print_unusable(&plan, streams);
        return Ok(End::Failed);
    }
    print_running(plan.queue().len() - queue.len(), streams);
    if queue.is_empty() {
        streams.out.line("Nothing is left to be handed out.");
        return Ok(End::Complete);
    }
    let lead = lead(experiment, &plan, &queue);
    check_time(seconds, lead)?;
    // The nodes' memory is theirs; the disk is shared.
    let mut needs = plan.needs(at_once);
    needs.memory = 0;
    options.machine.check(
        needs,
        "free some space or give another `--out`; nothing was submitted",
    )?;
    let request = job::Request {
        name: submission.name.clone(),
        memory: memory(&plan, &queue, cluster.cpus().min(per_task)) >> 20,
        lead: lead.ceil() as u64,
    };
    let manifest = manifest(submission, heading.title, &runs);
    if options.dry_run {
        print_sweep(submission, manifest, &request, streams);
        return Ok(End::Complete);
    }
    let (folder, made) = written(submission, manifest, &runs, &request)?;
    if submission.engine == Engine::Slurm {
        check_taken(submission, &folder, streams)?;
    }
    if options.fresh {
        experiment.archive_folders()?;
        archive_folders(&mut plan);
    }
    if submission.engine == Engine::Script {
        made.keep();
        print_script(&folder, &runs, submission, options, streams);
        return Ok(End::Complete);
    }
    let job = submission.slurm.submit(&folder.join(SCRIPT))?;
    made.keep();
    // Known from here on: a job that is queued is not lost to a full disk.
    let line = json!({"job": job, "at": now()}).to_string() + "\n";
    let _ = std::fs::write(folder.join("submitted.json"), line);
    print_job(job, &folder, &runs, submission, options, streams);
    if !submission.wait {
        return Ok(End::Complete);
    }
    let is_queued = || submission.slurm.is_queued(job);
    follow(experiment, options, &plan, &is_queued, stop, streams)
}

/// The most tasks of an array; without an engine there is no limit.
fn largest_array(submission: &Submission, seconds: Option<u64>) -> Result<usize, HarnessError> {
    if submission.engine == Engine::Script {
        return Ok(usize::MAX);
    }
    let slurm = &submission.slurm;
    let most = slurm.largest_array()?;
    slurm.check_partition(submission.options.partition.as_deref(), seconds)?;
    shared::check(&submission.out)?;
    Ok(most)
}

fn manifest(submission: &Submission, title: String, runs: &[Listed]) -> Manifest {
    let here = Provenance::of(&Value::Null, 0, "");
    let directory = std::env::current_dir();
    let (tasks, per_task) = sizes(runs);
    Manifest {
        title,
        created: now(),
        commit: here.commit,
        cpu_features: here.cpu_features,
        command: submission.command.clone(),
        directory: directory.map_or(String::new(), |folder| folder.display().to_string()),
        environment: submission.environment.clone(),
        runs: runs.len(),
        tasks,
        per_task,
        options: submission.options.clone(),
        ..Manifest::default()
    }
}

/// Writes the folder of the sweep and sets the program aside; both go again unless they are kept.
fn written(
    submission: &Submission,
    mut manifest: Manifest,
    runs: &[Listed],
    request: &job::Request,
) -> Result<(PathBuf, Made), HarnessError> {
    let (folder, mut made) = sweep::create(&submission.out, &submission.name)?;
    let (program, sha256) = sweep::set_program_aside(&submission.out, &mut made)?;
    sweep::check_runs(&program)?;
    (manifest.program, manifest.sha256) = (program.display().to_string(), sha256);
    if let Some((word, content)) = &submission.file {
        let path = folder.join("experiment.toml");
        std::fs::write(&path, content).map_err(super::io("write", &path))?;
        manifest.command[*word] = path.display().to_string();
    }
    let script = script(&folder, &manifest, &submission.options, request);
    sweep::write(&folder, &manifest, &text(runs)?, &script)?;
    Ok((folder, made))
}

/// Checks that Slurm takes the job, and its nodes see the folder.
fn check_taken(
    submission: &Submission,
    folder: &Path,
    streams: &Streams,
) -> Result<(), HarnessError> {
    let path = folder.join(SCRIPT);
    submission.slurm.would_take(&path)?;
    let places = places(&submission.options);
    if !submission.slurm.check_seen(&path, &places)? {
        streams.err.line("No node was free to be asked whether it sees the folder; tasks on one that does not fail at once.");
    }
    Ok(())
}

/// Options that place a step that looks at the folder: as the tasks run, as far as that is in plain words.
fn places(cluster: &ClusterOptions) -> Vec<String> {
    let given = cluster.place().into_iter();
    let given = given.filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
    let plain = cluster
        .sbatch
        .iter()
        .filter(|line| !line.contains(['"', '\'']));
    let words = plain
        .flat_map(|line| line.split_whitespace())
        .map(String::from);
    given.chain(words).collect()
}

/// Seconds before the time limit at which a task is asked to end: twice what it may go on for.
fn lead(experiment: &dyn Experiment, plan: &Plan, queue: &[usize]) -> f64 {
    let within = queue
        .iter()
        .map(|&index| experiment.stops_within(&plan.units[index].cost));
    COARSE + 2.0 * within.fold(5.0, f64::max)
}

fn check_time(seconds: Option<u64>, lead: f64) -> Result<(), HarnessError> {
    let least = (lead + START).ceil() as u64;
    match seconds {
        Some(seconds) if seconds < least => Err(rejected(
            format!(
                "`--time {}` is shorter than a checkpoint: a task is asked to end {} before its time limit, so that it can write one",
                format_time(seconds),
                format_duration(lead)
            ),
            format!(
                "give `--time {}` or more; a run that takes longer goes on in its next job",
                format_time(least.div_ceil(60) * 60)
            ),
        )),
        _ => Ok(()),
    }
}

/// Bytes of a task's memory: twice the least that its largest runs need, and what the program and its data take.
fn memory(plan: &Plan, queue: &[usize], at_once: usize) -> u64 {
    let mut needs: Vec<u64> = queue
        .iter()
        .map(|&index| plan.units[index].cost.needs.memory)
        .collect();
    needs.sort_unstable_by(|a, b| b.cmp(a));
    let largest = needs
        .into_iter()
        .take(at_once.max(1))
        .fold(0, u64::saturating_add);
    BASE.saturating_add(largest.saturating_mul(2))
        .next_multiple_of(256 << 20)
}

fn print_unusable(plan: &Plan, streams: &Streams) {
    for planned in &plan.units {
        if let Status::Unusable { reason } = &planned.status {
            streams
                .err
                .line(format!("  {}: {reason}", planned.unit.label));
        }
    }
    streams
        .err
        .line("Nothing was submitted: not every run folder can be used.");
}

fn print_running(running: usize, streams: &Streams) {
    if running > 0 {
        let are = if running == 1 { "is" } else { "are" };
        streams.err.line(format!(
            "{} {are} at work in other processes, and left to them.",
            count(running, "run")
        ));
    }
}

/// Prints what would be written.
fn print_sweep(
    submission: &Submission,
    mut manifest: Manifest,
    request: &job::Request,
    streams: &Streams,
) {
    let folder = submission.out.join(sweep::SWEEPS).join(&submission.name);
    manifest.program = "PROGRAM".into();
    streams.out.line(format!(
        "{} would have {} of {}. Its job script:\n",
        folder.display(),
        count(manifest.tasks, "task"),
        count(manifest.runs, "run")
    ));
    let script = script(&folder, &manifest, &submission.options, request);
    streams.out.line(script);
}

/// A line of JSON with what was handed out.
fn line(mut own: Value, folder: &Path, runs: &[Listed]) -> Value {
    let (tasks, per_task) = sizes(runs);
    own["folder"] = folder.display().to_string().into();
    (own["tasks"], own["runs"], own["per_task"]) =
        (tasks.into(), runs.len().into(), per_task.into());
    own
}

fn print_job(
    job: u64,
    folder: &Path,
    runs: &[Listed],
    submission: &Submission,
    options: &Options,
    streams: &Streams,
) {
    let (tasks, per_task) = sizes(runs);
    if options.json {
        let own = json!({"event": "submitted", "job": job});
        return streams.out.line(line(own, folder, runs).to_string());
    }
    let [status, show] = &submission.hints;
    streams.out.line(format!(
        "Submitted job {job}: an array of {} with {}, at most {per_task} each.
  folder   {}
  watch    {status}
           squeue --jobs={job}; tail -f {}/logs/0.log
  cancel   scancel {job}
  show     {show}",
        count(tasks, "task"),
        count(runs.len(), "run"),
        folder.display(),
        quoted(&folder.to_string_lossy()),
    ));
}

fn print_script(
    folder: &Path,
    runs: &[Listed],
    submission: &Submission,
    options: &Options,
    streams: &Streams,
) {
    let (tasks, per_task) = sizes(runs);
    let path = folder.join(SCRIPT);
    if options.json {
        let own = json!({"event": "script", "script": path.display().to_string()});
        return streams.out.line(line(own, folder, runs).to_string());
    }
    let last = tasks.saturating_sub(1);
    let script = quoted(&path.to_string_lossy());
    let [status, show] = &submission.hints;
    streams.out.line(format!(
        "{} with {}, at most {per_task} each, listed in {}.
  task i          bash {script} i                          (i = 0 to {last})
  GNU parallel    seq 0 {last} | parallel --jobs 8 --retries 3 --joblog joblog bash {script}
  HyperQueue      hq submit --array=0-{last} --cpus={} bash {script}
  Kubernetes      an indexed Job of {tasks} completions: see the documentation
  watch           {status}
  show            {show}",
        count(tasks, "task"),
        count(runs.len(), "run"),
        folder.join(LIST).display(),
        submission.options.cpus(),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list;
    use crate::engine::slurm::tests::{ANSWERS, fake};
    use crate::fake::Counting;
    use crate::machine::Machine;
    use crate::streams::Captured;
    use crate::streams::assert_contains;

    /// A cluster of scripts, and a folder that counts as shared.
    struct Cluster {
        bin: tempfile::TempDir,
        out: tempfile::TempDir,
    }

    impl Cluster {
        fn new() -> Self {
            let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
            std::fs::create_dir_all(&here).unwrap();
            Self {
                bin: tempfile::tempdir().unwrap(),
                out: tempfile::tempdir_in(here.canonicalize().unwrap()).unwrap(),
            }
        }

        fn experiment(&self) -> Counting {
            Counting::new(self.out.path(), &["a", "b", "c", "d", "e", "f"])
        }

        /// Returns the end of a submission with these programs in place of those that answer, and what is printed.
        fn submit(
            &self,
            programs: &[(&str, &str)],
            change: impl FnOnce(&mut Submission, &mut Options),
        ) -> (Result<End, HarnessError>, String) {
            fake(self.bin.path(), &ANSWERS);
            let mut submission = Submission {
                engine: Engine::Slurm,
                options: ClusterOptions::default(),
                name: "counting".into(),
                out: self.out.path().to_path_buf(),
                command: vec!["reproduce".into(), "counting".into()],
                file: None,
                environment: BTreeMap::new(),
                hints: ["STATUS".into(), "SHOW".into()],
                wait: false,
                slurm: fake(self.bin.path(), programs),
            };
            let mut options = Options {
                jobs: 1,
                machine: Machine {
                    memory: Some(1 << 10),
                    disk: Some(1 << 30),
                },
                ..Options::default()
            };
            change(&mut submission, &mut options);
            let written = Captured::default();
            let streams = Captured::streams(&written, &written);
            let end = submit(
                &self.experiment(),
                &options,
                &submission,
                &Arc::default(),
                &streams,
            );
            let text = written.take();
            (end, text)
        }

        fn submissions(&self) -> usize {
            let text = std::fs::read_to_string(self.bin.path().join("submitted"));
            text.map_or(0, |text| text.lines().count())
        }

        fn is_empty(&self) -> bool {
            self.out.path().read_dir().unwrap().next().is_none()
        }
    }

    fn request(options: ClusterOptions) -> Submission {
        Submission {
            engine: Engine::Script,
            options,
            name: "counting".into(),
            out: "runs".into(),
            command: vec!["reproduce".into()],
            file: None,
            environment: [("A".to_string(), "b".to_string())].into(),
            hints: ["STATUS".into(), "SHOW".into()],
            wait: false,
            slurm: Slurm::default(),
        }
    }

    #[test]
    fn a_time_limit_leaves_a_task_its_start_and_what_comes_before_its_end() {
        check_time(None, 1e9).unwrap();
        check_time(Some(110), 80.0).unwrap();
        let error = check_time(Some(109), 80.0).unwrap_err();
        assert_contains(
            error,
            &["--time 00:01:49", "give `--time 00:02:00`", "1 min 20 s"],
        );
    }

    #[test]
    fn a_step_that_looks_at_the_folder_is_placed_as_the_tasks_by_plain_words() {
        let options = ClusterOptions {
            partition: Some("short".into()),
            qos: Some("high".into()),
            sbatch: vec!["--nodes=1 --exclusive".into(), "--comment=\"a b\"".into()],
            ..ClusterOptions::default()
        };
        let expected = [
            "--partition=short",
            "--qos=high",
            "--nodes=1",
            "--exclusive",
        ];
        assert_eq!(places(&options), expected);
    }

    #[test]
    fn a_tasks_memory_is_twice_that_of_its_largest_runs_and_the_programs() {
        let unit = |memory: u64| {
            let mut unit = crate::fake::planned("a", Status::New, crate::work::Work::default());
            unit.cost.needs.memory = memory;
            unit
        };
        let units = [1 << 30, 3 << 30, 2 << 30].map(unit).into();
        let plan = Plan { units };
        let of = |at_once| memory(&plan, &[0, 1, 2], at_once) >> 28;
        assert_eq!([of(0), of(1), of(2), of(9)], [4 * 7, 4 * 7, 4 * 11, 4 * 13]);
        assert_eq!(memory(&plan, &[0], 1) >> 28, 4 * 3);
    }

    #[test]
    fn a_task_is_asked_to_end_a_minute_and_twice_its_slowest_stop_before_its_limit() {
        let experiment = Counting::new("x".as_ref(), &["a", "b"]);
        let unit = |name| crate::fake::planned(name, Status::New, crate::work::Work::default());
        let plan = Plan {
            units: ["a", "b"].map(unit).into(),
        };
        assert_eq!(lead(&experiment, &plan, &[0, 1]), 70.0);
        assert_eq!(lead(&experiment, &plan, &[]), 70.0);
    }

    #[test]
    fn folders_that_cannot_be_used_are_named_with_the_reason() {
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        let unit = |status| crate::fake::planned("a", status, crate::work::Work::default());
        let unusable = Status::Unusable {
            reason: "of another configuration".into(),
        };
        let units = vec![unit(Status::New), unit(unusable)];
        print_unusable(&Plan { units }, &streams);
        let text = err.take();
        assert_contains(
            &text,
            &[
                "a / seed 1: of another configuration",
                "Nothing was submitted",
            ],
        );
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn a_line_of_json_says_where_and_how_much() {
        let found = line(json!({"event": "submitted"}), "runs/x".as_ref(), &[]);
        let expected =
            json!({"event": "submitted", "folder": "runs/x", "tasks": 0, "runs": 0, "per_task": 0});
        assert_eq!(found, expected);
    }

    #[test]
    fn runs_at_work_elsewhere_are_named_if_there_are_any() {
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        print_running(0, &streams);
        assert_eq!(err.take(), "");
        print_running(1, &streams);
        assert_contains(err.take(), &["1 run is at work"]);
        print_running(2, &streams);
        assert_contains(err.take(), &["2 runs are at work"]);
    }

    #[test]
    fn a_sweep_says_what_it_is_of_and_where_it_was_made() {
        let submission = request(ClusterOptions {
            cpus: Some(3),
            ..ClusterOptions::default()
        });
        let found = manifest(&submission, "Title".into(), &[]);
        let here = Provenance::of(&Value::Null, 0, "");
        assert_eq!((found.title.as_str(), found.commit), ("Title", here.commit));
        assert_eq!(found.cpu_features, here.cpu_features);
        assert!(found.created.abs_diff(now()) < 100);
        let directory = std::env::current_dir().unwrap();
        assert_eq!(found.directory, directory.display().to_string());
        assert_eq!(
            (found.command, found.environment),
            (submission.command, submission.environment)
        );
        assert_eq!(found.options, submission.options);
    }

    #[test]
    fn a_plan_becomes_one_array_with_every_run_in_it() {
        let cluster = Cluster::new();
        let (end, text) = cluster.submit(&[], |_, _| ());
        assert_eq!(end.unwrap(), End::Complete);
        assert_eq!(cluster.submissions(), 1);
        assert!(!text.contains("No node was free"), "{text}");
        // The array may have four tasks.
        for part in [
            "job 17",
            "scancel 17",
            "STATUS",
            "SHOW",
            "4 tasks with 6 runs",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let folder = cluster.out.path().join(".sweeps/counting");
        let manifest = Manifest::read(&folder).unwrap();
        assert_eq!(
            (manifest.runs, manifest.tasks, manifest.per_task),
            (6, 4, 2)
        );
        assert!(Path::new(&manifest.program).is_file());
        let listed = (0..4).flat_map(|task| list::read(&folder, task).unwrap());
        assert_eq!(listed.count(), 6);
        let script = std::fs::read_to_string(folder.join(SCRIPT)).unwrap();
        assert!(
            script.contains("#SBATCH --array=0-3\n")
                && script.contains("reproduce counting --sweep")
        );
    }

    #[test]
    fn whatever_keeps_a_plan_from_being_submitted_leaves_nothing_behind() {
        type Change = fn(&mut Submission, &mut Options);
        let none: Change = |_, _| ();
        type Case<'a> = (&'a [(&'a str, &'a str)], Change, &'a str);
        let cases: [Case<'_>; 9] = [
            (
                &[("sbatch", "exit 127")],
                |s, _| s.slurm.programs = Some("/nowhere".into()),
                "no `sbatch`",
            ),
            (&[("scontrol", "exit 1")], none, "does not answer"),
            (
                &[],
                |s, _| s.options.partition = Some("shrot".into()),
                "short, long",
            ),
            (
                &[],
                |s, _| s.options.time = Some("1".into()),
                "shorter than a checkpoint",
            ),
            (
                &[],
                |s, _| s.options.time = Some("5:00:00".into()),
                "longer than partition",
            ),
            (
                &[],
                |s, _| s.out = "/dev/shm/runs".into(),
                "other nodes do not see",
            ),
            (&[("srun", "echo unseen on n2")], none, "unseen on n2"),
            (
                &[("sbatch", "echo 'Invalid qos specification' >&2; exit 1")],
                none,
                "--qos",
            ),
            (&[], |_, o| o.machine.disk = Some(1), "not enough disk"),
        ];
        for (programs, change, part) in cases {
            let cluster = Cluster::new();
            let (end, _) = cluster.submit(programs, change);
            let text = end.unwrap_err().to_string();
            assert!(text.contains(part), "{part}: {text}");
            assert!(cluster.submissions() == 0 && cluster.is_empty(), "{part}");
        }
    }

    #[test]
    fn a_dry_run_shows_the_script_and_writes_and_submits_nothing() {
        let cluster = Cluster::new();
        let (end, text) = cluster.submit(&[], |_, options| options.dry_run = true);
        assert_eq!(end.unwrap(), End::Complete);
        // The program and its data, and what the runs need.
        assert_contains(&text, &["#SBATCH --array=0-3", "#SBATCH --mem=1280M"]);
        assert!(cluster.submissions() == 0 && cluster.is_empty());
    }

    #[test]
    fn a_script_needs_no_slurm_and_lists_every_run() {
        let cluster = Cluster::new();
        let (end, text) = cluster.submit(&[("sbatch", "exit 1")], |submission, _| {
            submission.engine = Engine::Script;
        });
        assert_eq!(end.unwrap(), End::Complete);
        assert_contains(&text, &["6 tasks with 6 runs", "seq 0 5 | parallel"]);
    }

    #[test]
    fn runs_that_are_done_or_at_work_elsewhere_are_not_submitted() {
        let cluster = Cluster::new();
        let experiment = cluster.experiment();
        let stop = AtomicBool::new(false);
        experiment
            .run(0, &crate::driver::NoopObserver, &stop)
            .unwrap();
        let _busy = [1, 2].map(|n| {
            let busy = &experiment.units()[n];
            let mode = helmholtz_runs::OpenMode::Resume;
            helmholtz_runs::RunFolder::open(&busy.folder, &busy.config, mode).unwrap()
        });
        let (end, text) = cluster.submit(&[], |_, _| ());
        assert_eq!(end.unwrap(), End::Complete);
        assert_contains(&text, &["3 tasks with 3 runs", "2 runs are at work"]);
    }

    #[test]
    fn the_plan_counts_what_all_tasks_run_at_once() {
        let cluster = Cluster::new();
        let (end, text) = cluster.submit(&[], |submission, options| {
            submission.options.cpus = Some(2);
            (options.json, options.dry_run) = (true, true);
        });
        assert_eq!(end.unwrap(), End::Complete);
        let plan: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        // Four tasks of two runs.
        assert_eq!(plan["jobs"], 8, "{plan}");
    }

    #[test]
    fn that_no_node_could_be_asked_is_said() {
        let cluster = Cluster::new();
        let (end, text) = cluster.submit(&[("srun", "exit 1")], |_, _| ());
        assert_eq!(end.unwrap(), End::Complete);
        assert_contains(&text, &["No node was free to be asked", "job 17"]);
    }
}
