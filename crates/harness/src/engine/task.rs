//! Run of a task: its units, as anywhere, without a plan or a table; and how it ends.

use super::attempts::{Attempts, How, Line, now};
use super::list::{self, Listed};
use super::rejected;
use super::signals::Signals;
use super::slurm::Slurm;
use super::sweep::Manifest;
use crate::driver::{Ended, drive};
use crate::error::HarnessError;
use crate::experiment::{Cost, Experiment};
use crate::plan::{Plan, PlannedUnit};
use crate::progress::Progress;
use crate::progress::lines::Lines;
use crate::reproduce::{End, tries_again};
use crate::status::Status;
use crate::streams::Streams;
use crate::unit::Unit;
use helmholtz_runs::{Failure, OpenMode, RunError, RunFolder};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

/// A task of a sweep.
#[derive(Debug, Clone)]
pub struct Task {
    /// The sweep's folder.
    pub sweep: PathBuf,
    /// Its number.
    pub number: usize,
}

/// Job of a task, as Slurm describes it.
#[derive(Debug, Clone, Default)]
pub struct Job {
    /// Array and task, `17_3`: what `scontrol requeue` takes.
    pub name: Option<String>,
    /// Number of times that it was started before.
    pub restart: u32,
    /// Access to Slurm.
    pub slurm: Slurm,
}

impl Job {
    /// Reads the job from the environment.
    pub fn of_environment() -> Self {
        let value = |name: &str| std::env::var(name).ok();
        let array = value("SLURM_ARRAY_JOB_ID").zip(value("SLURM_ARRAY_TASK_ID"));
        Self {
            name: array.map(|(job, task)| format!("{job}_{task}")),
            restart: value("SLURM_RESTART_COUNT")
                .and_then(|n| n.parse().ok())
                .unwrap_or(0),
            slurm: Slurm::default(),
        }
    }
}

/// Interval at which a folder is looked at whose lock an earlier copy of the job may still hold.
const LOOK: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 5000 });
/// Number of times that a controller that does not answer is asked to requeue.
const TRIES: usize = 5;

/// Runs the units of a task, each to its end unless a signal comes.
///
/// | what happens | the task |
/// |---|---|
/// | all its runs are done, or other processes are at work on the rest | ends well |
/// | a run fails for good: bad configuration, NaN, full disk | says so, ends badly, and is not started again |
/// | SIGUSR1, the time limit is near | writes checkpoints, queues itself again |
/// | SIGTERM, pre-emption or `scancel` | writes checkpoints, ends; Slurm queues a pre-empted job again by itself |
/// | a fault of the node | queues itself again, a number of times |
///
/// A job that was started before may find that its earlier copy, on a node that Slurm lost, still holds a run: it waits for that one to go.
///
/// # Errors
/// A sweep that cannot be read, or is not of this experiment; too many faults before.
pub fn run(
    experiment: &dyn Experiment,
    task: &Task,
    job: &Job,
    signals: &Signals,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let manifest = Manifest::read(&task.sweep)?;
    let listed = list::read(&task.sweep, task.number)?;
    let mut attempts = Attempts::read(&task.sweep, task.number)?;
    let log = |text: &str| streams.err.line(text);
    let retries = manifest.options.retries() as usize;
    if attempts.faults() > retries {
        return Err(given_up(task, attempts.faults()));
    }
    let host = helmholtz_host();
    log(&format!(
        "task {} on {host}, start {}",
        task.number,
        job.restart + 1
    ));
    let restart = job.restart;
    attempts.push(Line::Started {
        at: now(),
        host,
        restart,
    })?;
    let left = listed
        .iter()
        .filter(|run| !attempts.has_failed(&run.folder));
    let mut units = left
        .map(|run| planned(experiment, run))
        .collect::<Result<Vec<_>, _>>()?;
    for planned in &mut units {
        if job.restart > 0 {
            wait_for_earlier_copy(experiment, &planned.unit, signals, streams);
        }
        planned.status = experiment.status(&planned.unit);
    }
    let plan = Plan { units };
    let jobs = manifest.options.cpus();
    let lines = Lines::new(streams.err.clone(), plan.units.len());
    let progress = Progress::new(
        &plan,
        jobs,
        Arc::clone(&signals.stop),
        vec![Box::new(lines)],
    );
    let ends = drive(experiment, &plan, jobs, &progress, &signals.stop);
    progress.finish();

    let ended = plan.units.iter().zip(&ends);
    let verdicts: Vec<Verdict> = ended
        .map(|(planned, end)| verdict(&planned.unit, end))
        .collect();
    let failed = failed(&plan, &ends, &verdicts, &log);
    let how = how(&verdicts, signals.time_limit.load(Ordering::SeqCst));
    attempts.push(Line::Ended {
        at: now(),
        how,
        failed,
    })?;
    Ok(match how {
        How::Done => End::Complete,
        How::Failed => End::Failed,
        How::Terminated => {
            log(
                "Asked to end: what is left goes on from its last checkpoint when the task is started again.",
            );
            End::Interrupted
        }
        How::TimeLimit => requeue(job, streams, "The time limit is near"),
        How::Fault if attempts.faults() <= retries => requeue(job, streams, "The node is at fault"),
        How::Fault => End::Failed,
    })
}

/// A run of the list as a unit of the experiment, which is found by its folder, at the cost that was measured where the plan was made.
///
/// # Errors
/// A folder that no unit has.
fn planned(experiment: &dyn Experiment, run: &Listed) -> Result<PlannedUnit, HarnessError> {
    let mut units = experiment.units().iter().enumerate();
    let found = units.find(|(_, unit)| unit.folder == run.folder);
    let (index, unit) = found.ok_or_else(|| {
        let folder = run.folder.display();
        rejected(
            format!("the experiment has no run with the folder {folder}"),
            "submit the sweep again: its file, or what it names, has changed since",
        )
    })?;
    Ok(PlannedUnit {
        index,
        unit: unit.clone(),
        status: Status::New,
        cost: Cost {
            work: run.work,
            ..Cost::default()
        },
    })
}

/// A task with too many faults.
fn given_up(task: &Task, faults: usize) -> HarnessError {
    rejected(
        format!(
            "task {} was killed or its node failed {faults} times, the last time too; it is not started again",
            task.number
        ),
        "see its log, give more `--mem` or `--time`, or leave nodes out by `--sbatch --exclude=…`, and submit again: what is done stays",
    )
}

/// Returns how a task ends whose runs ended so.
fn how(verdicts: &[Verdict], time_is_up: bool) -> How {
    let any = |of: Verdict| verdicts.contains(&of);
    match () {
        () if any(Verdict::Stopped) && time_is_up => How::TimeLimit,
        () if any(Verdict::Stopped) => How::Terminated,
        () if any(Verdict::Fault) => How::Fault,
        () if any(Verdict::Failed) => How::Failed,
        () => How::Done,
    }
}

/// Says what failed, and gives the folders of the runs that failed for good.
fn failed(plan: &Plan, ends: &[Ended], verdicts: &[Verdict], log: &dyn Fn(&str)) -> Vec<PathBuf> {
    let mut failed = Vec::new();
    for ((planned, end), verdict) in plan.units.iter().zip(ends).zip(verdicts) {
        let (label, Ended::Failed(error)) = (&planned.unit.label, end) else {
            continue;
        };
        match verdict {
            Verdict::Held => log(&format!(
                "{label}: another process is at work on it; nothing is done here"
            )),
            Verdict::Fault => log(&format!("{label}: {error}")),
            _ => {
                note(planned, error);
                failed.push(planned.unit.folder.clone());
            }
        }
    }
    failed
}

/// Meaning of a run's end for the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Done,
    Stopped,
    Held,
    Fault,
    Failed,
}

fn verdict(unit: &Unit, end: &Ended) -> Verdict {
    match end {
        Ended::Done(..) => Verdict::Done,
        Ended::Interrupted { .. } | Ended::NotStarted => Verdict::Stopped,
        Ended::Failed(error) => match error {
            HarnessError::Io { .. } | HarnessError::Device { .. } => Verdict::Fault,
            HarnessError::Run(error) => of_run(error),
            // Why its folder was found unusable is asked again: the file system may be at fault.
            HarnessError::Unusable(_) => match RunFolder::peek_as(&unit.folder, &unit.config) {
                Err(error) => of_run(&error),
                Ok(_) => Verdict::Failed,
            },
            HarnessError::Cell(error) => {
                let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
                while let Some(error) = cause {
                    if let Some(error) = error.downcast_ref::<RunError>() {
                        return of_run(error);
                    }
                    cause = error.source();
                }
                Verdict::Failed
            }
            _ => Verdict::Failed,
        },
    }
}

fn of_run(error: &RunError) -> Verdict {
    match error {
        RunError::Locked { .. } | RunError::LockLost { .. } => Verdict::Held,
        RunError::Io { .. } => Verdict::Fault,
        _ => Verdict::Failed,
    }
}

/// Leaves a note in the run folder that it failed, where the run has not left one.
fn note(planned: &PlannedUnit, error: &HarnessError) {
    let unit = &planned.unit;
    let noted = matches!(
        RunFolder::peek(&unit.folder),
        Ok(helmholtz_runs::Status::Failed(_) | helmholtz_runs::Status::Running { .. }) | Err(_)
    );
    if noted || !tries_again(planned, error) {
        return;
    }
    if let Ok(mut folder) = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume) {
        let reason = error.to_string();
        // On a full disk there is none; the log has it.
        let _ = folder.fail(&Failure {
            reason,
            seed: unit.seed,
            ..Failure::default()
        });
    }
}

fn wait_for_earlier_copy(
    experiment: &dyn Experiment,
    unit: &Unit,
    signals: &Signals,
    streams: &Streams,
) {
    let is_held = || matches!(experiment.status(unit), Status::Running { .. });
    let mut said = false;
    while is_held() && !signals.stop.load(Ordering::SeqCst) {
        if !said {
            said = true;
            let label = &unit.label;
            let line = format!("{label}: waiting for the process that is at work on it");
            streams.err.line(line);
        }
        sleep(LOOK);
    }
}

fn requeue(job: &Job, streams: &Streams, why: &str) -> End {
    let Some(name) = &job.name else {
        streams.err.line(format!(
            "{why}: start the task again, and it goes on from its last checkpoint."
        ));
        return End::Requeued;
    };
    for attempt in 1..=TRIES {
        match job.slurm.requeue(name) {
            Ok(()) => {
                streams.err.line(format!(
                    "{why}: {name} is queued again, and goes on from its last checkpoint."
                ));
                break;
            }
            Err(error) => {
                streams.err.line(format!(
                    "`scontrol requeue {name}` failed ({attempt} of {TRIES}): {error}"
                ));
                if attempt < TRIES {
                    sleep(LOOK);
                }
            }
        }
    }
    End::Requeued
}

fn helmholtz_host() -> String {
    let name = std::env::var("SLURMD_NODENAME").ok();
    let host = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.or_else(host)
        .map_or("unknown".into(), |name| name.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list::{LIST, divide, text};
    use crate::engine::options::ClusterOptions;
    use crate::engine::slurm::tests::fake;
    use crate::engine::sweep::MANIFEST;
    use crate::fake::Counting;
    use crate::streams::Captured;
    use crate::streams::assert_contains;
    use std::path::Path;

    const SCONTROL: &str = "echo \"$*\" >> \"$(dirname \"$0\")/called\"";

    /// A sweep of one task, with all runs of `experiment` in it.
    fn sweep(folder: &Path, experiment: &Counting) -> Task {
        let plan = Plan::new(experiment, false, &|_| Ok(())).unwrap();
        let runs = divide(&plan, &plan.queue(), 100, 100);
        std::fs::write(folder.join(LIST), text(&runs).unwrap()).unwrap();
        let manifest = Manifest {
            options: ClusterOptions {
                retries: Some(1),
                ..ClusterOptions::default()
            },
            ..Manifest::default()
        };
        let manifest = serde_json::to_string(&manifest).unwrap();
        std::fs::write(folder.join(MANIFEST), manifest).unwrap();
        Task {
            sweep: folder.to_path_buf(),
            number: 0,
        }
    }

    fn job(folder: &Path) -> Job {
        Job {
            name: Some("17_0".into()),
            restart: 0,
            slurm: fake(folder, &[("scontrol", SCONTROL)]),
        }
    }

    fn go(experiment: &Counting, folder: &Path, signals: &Signals) -> Result<End, HarnessError> {
        let task = Task {
            sweep: folder.to_path_buf(),
            number: 0,
        };
        let written = Captured::default();
        let streams = Captured::streams(&written, &written);
        run(experiment, &task, &job(folder), signals, &streams)
    }

    /// The end of a task that no signal reaches.
    fn end(experiment: &Counting, folder: &Path) -> End {
        go(experiment, folder, &Signals::default()).unwrap()
    }

    fn requeued(folder: &Path) -> usize {
        let text = std::fs::read_to_string(folder.join("called")).unwrap_or_default();
        assert!(text.lines().all(|line| line == "requeue 17_0"), "{text}");
        text.lines().count()
    }

    #[test]
    fn a_task_runs_its_units_and_started_again_does_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        sweep(dir.path(), &experiment);
        for _ in 0..2 {
            assert_eq!(end(&experiment, dir.path()), End::Complete);
        }
        let done = |unit| experiment.status(unit).is_done();
        assert!(experiment.units().iter().all(done) && requeued(dir.path()) == 0);
    }

    #[test]
    fn at_the_time_limit_a_task_queues_itself_again_and_at_sigterm_it_does_not() {
        for (time_limit, ended, times) in [(true, End::Requeued, 1), (false, End::Interrupted, 0)] {
            let dir = tempfile::tempdir().unwrap();
            let mut experiment = Counting::new(dir.path(), &["a", "b"]);
            sweep(dir.path(), &experiment);
            let signals = Signals::default();
            signals.time_limit.store(time_limit, Ordering::SeqCst);
            experiment.stop = Some(Arc::clone(&signals.stop));
            experiment.stop_in = Some(("a", 2));
            assert_eq!(go(&experiment, dir.path(), &signals).unwrap(), ended);
            assert_eq!(requeued(dir.path()), times);
            assert_eq!(
                experiment.status(&experiment.units()[0]),
                Status::Partial { done: 2 }
            );
            let again = Counting::new(dir.path(), &["a", "b"]);
            assert_eq!(end(&again, dir.path()), End::Complete);
        }
    }

    #[test]
    fn a_run_that_fails_for_good_is_noted_and_neither_requeued_nor_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a", "b"]);
        experiment.fail = "a";
        sweep(dir.path(), &experiment);
        assert_eq!(end(&experiment, dir.path()), End::Failed);
        let status = |n: usize| experiment.status(&experiment.units()[n]);
        assert!(matches!(status(0), Status::Failed { reason, .. } if reason.contains("NaN")));
        assert!(status(1).is_done() && requeued(dir.path()) == 0);
        // A restart of the same task, after a pre-emption of another run in it, say.
        let well = Counting::new(dir.path(), &["a", "b"]);
        assert_eq!(end(&well, dir.path()), End::Complete);
        assert!(matches!(status(0), Status::Failed { .. }));
    }

    #[test]
    fn a_second_copy_meets_the_lock_and_ends_well() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a", "b"]);
        sweep(dir.path(), &experiment);
        let unit = &experiment.units()[0];
        let lock = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap();
        assert_eq!(end(&experiment, dir.path()), End::Complete);
        assert!(matches!(experiment.status(unit), Status::Running { .. }));
        assert!(experiment.status(&experiment.units()[1]).is_done());
        drop(lock);
    }

    #[test]
    fn a_fault_of_the_node_is_requeued_so_many_times_and_a_killed_start_counts() {
        let dir = tempfile::tempdir().unwrap();
        let mut experiment = Counting::new(dir.path(), &["a"]);
        experiment.fault = "a";
        sweep(dir.path(), &experiment);
        assert_eq!(end(&experiment, dir.path()), End::Requeued);
        assert_eq!(requeued(dir.path()), 1);
        // The second is one too many.
        assert_eq!(end(&experiment, dir.path()), End::Failed);
        let text = go(&experiment, dir.path(), &Signals::default())
            .unwrap_err()
            .to_string();
        assert_contains(&text, &["2 times", "submit again"]);
        assert_eq!(requeued(dir.path()), 1);
    }

    #[test]
    fn only_what_the_node_or_its_file_system_did_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let unit = crate::fake::unit(dir.path(), "a", 1);
        let io = || RunError::Io {
            action: "read",
            path: "a".into(),
            source: std::io::Error::other("stale file handle"),
        };
        let lost = || RunError::LockLost {
            folder: "a".into(),
            pid: None,
            host: None,
        };
        let cell = |error: RunError| HarnessError::Cell(error.into());
        let of = |error| verdict(&unit, &Ended::Failed(error));
        assert_eq!(of(HarnessError::Run(io())), Verdict::Fault);
        assert_eq!(of(HarnessError::Run(lost())), Verdict::Held);
        assert_eq!(of(cell(io())), Verdict::Fault);
        assert_eq!(of(cell(lost())), Verdict::Held);
        // Inside of another error.
        let inside = HarnessError::Cell(cell(lost()).into());
        assert_eq!(of(inside), Verdict::Held);
        assert_eq!(of(HarnessError::Cell("NaN loss".into())), Verdict::Failed);
        // A folder that is no run's, and one that cannot be looked at.
        let unusable = || HarnessError::Unusable("why".into());
        assert_eq!(of(unusable()), Verdict::Failed);
        let far = crate::fake::unit(dir.path(), &"x".repeat(1000), 1);
        let failed = Ended::Failed(unusable());
        assert_eq!(verdict(&far, &failed), Verdict::Fault);
    }

    #[test]
    fn a_failure_is_said_if_it_is_not_of_the_run_and_noted_with_its_seed_if_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let unit = |name: &str| PlannedUnit {
            unit: crate::fake::unit(dir.path(), name, 7),
            ..crate::fake::planned(name, Status::New, crate::work::Work::default())
        };
        let plan = Plan {
            units: ["held", "fault", "failed"].map(unit).into(),
        };
        let ends = [(); 3].map(|()| Ended::Failed(HarnessError::Cell("why".into())));
        let verdicts = [Verdict::Held, Verdict::Fault, Verdict::Failed];
        let said = std::cell::RefCell::new(Vec::new());
        let log = |text: &str| said.borrow_mut().push(text.to_string());
        let folder = plan.units[2].unit.folder.clone();
        assert_eq!(failed(&plan, &ends, &verdicts, &log), [&*folder]);
        let said = said.into_inner();
        assert_eq!(said.len(), 2);
        assert_contains(&said[0], &["held / seed 7: another process"]);
        assert_contains(&said[1], &["fault / seed 7", "why"]);
        let Ok(helmholtz_runs::Status::Failed(noted)) = RunFolder::peek(&folder) else {
            panic!("no note in {}", folder.display());
        };
        assert_eq!(noted.seed, 7);
        assert_contains(noted.reason, &["why"]);
    }

    #[test]
    fn a_task_waits_for_an_earlier_copy_until_it_is_asked_to_end() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a"]);
        let unit = &experiment.units()[0];
        let (err, signals) = (Captured::default(), Signals::default());
        let streams = Captured::streams(&Captured::default(), &err);
        let wait = || wait_for_earlier_copy(&experiment, unit, &signals, &streams);
        wait();
        assert_eq!(err.take(), "", "nobody is at work on it");
        let held = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap();
        signals.stop.store(true, Ordering::SeqCst);
        wait();
        assert_eq!(err.take(), "");
        signals.stop.store(false, Ordering::SeqCst);
        std::thread::scope(|threads| {
            let waiting = threads.spawn(wait);
            while !err.take().contains("a / seed 1: waiting for the process") {
                assert!(!waiting.is_finished(), "it did not wait");
                std::thread::yield_now();
            }
            signals.stop.store(true, Ordering::SeqCst);
        });
        drop(held);
    }

    #[test]
    fn without_a_name_a_task_says_that_it_is_to_be_started_again() {
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        assert_eq!(requeue(&Job::default(), &streams, "Why"), End::Requeued);
        assert_contains(err.take(), &["Why: start the task again"]);
    }

    #[test]
    fn a_killed_start_counts_as_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a"]);
        sweep(dir.path(), &experiment);
        let mut attempts = Attempts::read(dir.path(), 0).unwrap();
        for restart in 0..2 {
            let (at, host) = (0, "n1".into());
            attempts.push(Line::Started { at, host, restart }).unwrap();
        }
        let text = go(&experiment, dir.path(), &Signals::default()).unwrap_err();
        assert_contains(text, &["2 times", "submit again"]);
    }

    #[test]
    fn a_task_that_was_started_before_waits_for_its_earlier_copy_and_runs_what_it_left() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a"]);
        let task = sweep(dir.path(), &experiment);
        let unit = &experiment.units()[0];
        let held = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap();
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        let job = Job {
            restart: 1,
            ..job(dir.path())
        };
        std::thread::scope(|threads| {
            let run = threads
                .spawn(|| run(&experiment, &task, &job, &Signals::default(), &streams).unwrap());
            while !err.take().contains("waiting for the process") {
                assert!(!run.is_finished(), "it did not wait");
                std::thread::yield_now();
            }
            drop(held);
            assert_eq!(run.join().unwrap(), End::Complete);
        });
        assert!(experiment.status(unit).is_done());
    }

    #[test]
    fn a_unit_of_the_list_keeps_the_cost_that_was_measured() {
        let experiment = Counting::new("x".as_ref(), &["a", "b"]);
        let mut run = Listed {
            task: 0,
            label: String::new(),
            folder: experiment.units()[1].folder.clone(),
            work: crate::work::Work {
                each: 3.0,
                ..crate::work::Work::default()
            },
        };
        let found = planned(&experiment, &run).unwrap();
        assert_eq!((found.index, found.cost.work), (1, run.work));
        run.folder = "elsewhere".into();
        let error = planned(&experiment, &run).unwrap_err();
        assert_contains(error, &["no run with the folder elsewhere"]);
    }

    #[test]
    fn the_note_that_a_run_left_itself_stays() {
        let dir = tempfile::tempdir().unwrap();
        let planned = PlannedUnit {
            unit: crate::fake::unit(dir.path(), "a", 7),
            ..crate::fake::planned("a", Status::New, crate::work::Work::default())
        };
        let unit = &planned.unit;
        let own = Failure {
            reason: "its own".into(),
            ..Failure::default()
        };
        let mut folder = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume).unwrap();
        folder.fail(&own).unwrap();
        drop(folder);
        note(&planned, &HarnessError::Cell("another".into()));
        let Ok(helmholtz_runs::Status::Failed(noted)) = RunFolder::peek(&unit.folder) else {
            panic!("it failed")
        };
        assert_eq!(noted.reason, "its own");
        // What is wrong with a folder is not noted in it.
        let other = PlannedUnit {
            unit: crate::fake::unit(dir.path(), "b", 7),
            ..planned
        };
        let of_folder = RunError::NotARunFolder {
            path: other.unit.folder.clone(),
            why: String::new(),
        };
        note(&other, &HarnessError::Run(of_folder));
        assert!(!other.unit.folder.exists());
    }

    #[test]
    fn a_controller_that_does_not_answer_is_asked_five_times() {
        let dir = tempfile::tempdir().unwrap();
        let busy = format!("{SCONTROL}; echo busy >&2; exit 1");
        let job = Job {
            name: Some("17_0".into()),
            restart: 0,
            slurm: fake(dir.path(), &[("scontrol", &busy)]),
        };
        let err = Captured::default();
        let streams = Captured::streams(&Captured::default(), &err);
        assert_eq!(requeue(&job, &streams, "Why"), End::Requeued);
        assert_eq!(requeued(dir.path()), 5);
        assert_contains(err.take(), &["failed (1 of 5): busy", "(5 of 5)"]);
    }

    #[test]
    fn a_start_is_kept_with_the_name_of_its_machine() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = Counting::new(dir.path(), &["a"]);
        sweep(dir.path(), &experiment);
        end(&experiment, dir.path());
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
        let name = std::env::var("SLURMD_NODENAME").or(name).unwrap();
        let kept = std::fs::read_to_string(dir.path().join("attempts/0.jsonl")).unwrap();
        assert_contains(kept, &[&format!("\"host\":\"{}\"", name.trim())]);
    }
}
