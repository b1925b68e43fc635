//! `reproduce apg-gmm` and its like: trains by gradient steps, measures, and shows the table.

use super::loading::{Loading, Planning};
use super::plan_text::count;
use super::reproduce::{End, named_together, shown, stopped};
use super::streams::Streams;
use crate::cli::Reproduce;
use crate::driver::unless_stopped;
use crate::error::HarnessError;
use crate::machine::{Machine, Needs};
use crate::schedule::say;
use crate::source::Source;
use crate::stepwise::{Request, Stepwise};
use helmholtz_datasets::Locator;
use helmholtz_report::files::write_text;
use helmholtz_report::{markdown, text};
use helmholtz_runs::{FINGERPRINT, OpenMode, RunError, RunFolder, Status, read_checkpoint};
use helmholtz_training::Event;
use serde_json::{Value, json, to_value};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Carries out a request for the experiment in `source`: plans, trains, measures, writes figures and table.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense, a folder that cannot be used, a run that cannot go on.
pub fn reproduce<E: Stepwise>(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let mut of_run = args.clone();
    if args.fresh {
        let folder = plan::<E>(args, source, locator)?.folder;
        of_run = started_over(args, &[folder])?;
    }
    let done = match run::<E>(&of_run, source, locator, stop, streams) {
        Err(HarnessError::Interrupted { .. }) if !args.dry_run => {
            return Ok(stopped(args, streams));
        }
        done => done?,
    };
    if let (Some(outcome), false) = (&done.outcome, args.dry_run) {
        show(args, &done.experiment, outcome, &done.place, streams);
    }
    Ok(End::Complete)
}

/// A run that was asked for.
pub struct Done<E: Stepwise> {
    /// The experiment, with the seed that was asked for.
    pub experiment: E,
    /// The run folder.
    pub place: PathBuf,
    /// The result, if there is one.
    pub outcome: Option<E::Outcome>,
}

/// A run before it starts.
pub struct Planned<E> {
    experiment: E,
    /// What names the random streams.
    pub seed: u64,
    /// The profile's steps.
    pub of_profile: u64,
    /// Those that are asked for.
    pub steps: u64,
    /// Where it is, and what the training depends on.
    pub folder: Folder,
    /// How it is measured.
    evaluation: Value,
    found: Found,
}

/// A run folder, unopened.
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// Its configuration.
    pub config: Value,
}

impl Folder {
    /// Opened, with what is in it.
    ///
    /// # Errors
    /// A folder that cannot be used.
    pub fn open(&self) -> Result<RunFolder, HarnessError> {
        let Self { path, config } = self;
        Ok(RunFolder::open(path, config, OpenMode::Resume)?)
    }
}

/// The request without `--fresh`, once all `folders` are set aside where it has that: however it is stopped, none of the old
/// results is taken for a new one. A dry run sets nothing aside, and keeps the flag.
///
/// # Errors
/// A folder that a live run holds, or that cannot be renamed.
pub fn started_over(args: &Reproduce, folders: &[Folder]) -> Result<Reproduce, HarnessError> {
    if args.fresh && !args.dry_run {
        for Folder { path, config } in folders {
            RunFolder::open(path, config, OpenMode::Fresh)?;
        }
    }
    Ok(Reproduce {
        fresh: args.fresh && args.dry_run,
        ..args.clone()
    })
}

/// What is in a run folder, unless that is to be set aside.
enum Found {
    Nothing,
    /// Begun, with a checkpoint after so many steps.
    Begun(u64),
    /// Another process is at work on it.
    Running,
    /// Trained, and measured in another way.
    Trained,
    Finished(Value),
}

impl Found {
    fn of(folder: &Folder, steps: u64, evaluation: &Value) -> Result<Self, HarnessError> {
        let path = &folder.path;
        Ok(match RunFolder::peek_as(path, &folder.config)? {
            Status::Absent | Status::Started { state: None } => Self::Nothing,
            Status::Started { state: Some(state) } => Self::Begun(steps_done(&state)),
            // Where no checkpoint is whole, opening it says so.
            Status::Failed(_) => {
                let last = read_checkpoint(path).ok().flatten();
                Self::Begun(last.map_or(0, |last| steps_done(&last.state)))
            }
            Status::Running { .. } => Self::Running,
            Status::Finished(result) => match measured(result, evaluation) {
                Some(result) => Self::Finished(result),
                None => {
                    last_is_there(path, steps)?;
                    Self::Trained
                }
            },
        })
    }
}

/// The steps after which a checkpoint with this state was made.
fn steps_done(state: &Value) -> u64 {
    state["steps_done"].as_u64().unwrap_or(0)
}

/// That what a finished training ended with is there, to be measured: without it the training would be made again.
fn last_is_there(path: &Path, steps: u64) -> Result<(), HarnessError> {
    let last = match read_checkpoint(path) {
        Err(RunError::NoUsableCheckpoint { .. }) => None,
        last => last?,
    };
    match last.is_some_and(|last| steps_done(&last.state) == steps) {
        true => Ok(()),
        false => Err(HarnessError::Unusable(format!(
            "run folder {} is trained, but its checkpoints are gone, and it was measured by other settings; use the old \
             `[evaluation]`, or start over (`--fresh` keeps this one aside)",
            path.display()
        ))),
    }
}

/// The key of a result under which it keeps how it was measured.
const EVALUATION: &str = "evaluation_settings";

/// A result that was measured in this way.
fn measured(result: Value, evaluation: &Value) -> Option<Value> {
    (result[EVALUATION] == *evaluation).then_some(result)
}

/// Plans a run, and makes sure that it can start. Nothing is written.
///
/// # Errors
/// As [`reproduce`]; data that are not there, more memory than is free.
pub fn plan<E: Stepwise>(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
) -> Result<Planned<E>, HarnessError> {
    let (mut experiment, of_profile) = experiment::<E>(args, source)?;
    let steps = args.steps.unwrap_or(of_profile);
    args.device.check_built()?;
    let seed = *experiment.seed();
    let path = place(args, experiment.name(), seed, [of_profile, steps]);
    let mut settings = to_value(&experiment).expect("settings are plain data");
    let evaluation = settings
        .as_object_mut()
        .and_then(|all| all.remove("evaluation"));
    let evaluation = evaluation.unwrap_or_default();
    let config = json!({"settings": settings, "steps": steps});
    let mut folder = Folder { path, config };
    let mut found = match args.fresh {
        true => Found::Nothing,
        false => Found::of(&folder, steps, &evaluation)?,
    };
    if !matches!(found, Found::Finished(_)) {
        let needs = Needs {
            memory: experiment.memory(),
            disk: 0,
        };
        let remedy = "give fewer data, particles or instances at a time in a copy of its file";
        let machine = Machine::with_runs_in(&args.out).on(args.device);
        machine.check(needs, remedy)?;
        if let Some(fingerprint) = experiment.fingerprint(locator)? {
            folder.config[FINGERPRINT] = fingerprint.into();
            if !args.fresh {
                // Other data are refused; and another process may have finished the run meanwhile.
                found = Found::of(&folder, steps, &evaluation)?;
            }
        }
    }
    Ok(Planned {
        experiment,
        seed,
        of_profile,
        steps,
        folder,
        evaluation,
        found,
    })
}

/// [`reproduce`] after [`started_over`], without showing the table.
///
/// # Errors
/// As [`reproduce`]; [`HarnessError::Interrupted`] for a stop.
pub fn run<E: Stepwise>(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<Done<E>, HarnessError> {
    let Planned {
        experiment,
        of_profile,
        steps,
        folder,
        evaluation,
        found,
        ..
    } = plan::<E>(args, source, locator)?;
    let done = match found {
        Found::Nothing => Some(0),
        Found::Begun(done) => Some(done),
        Found::Running | Found::Trained | Found::Finished(_) => None,
    };
    let left = match done {
        Some(done) => {
            let (_planning, loading) = (Planning::begin(), Loading::new(streams));
            loading.state(format!("measuring a step of {}", experiment.name()));
            let seconds = experiment.seconds_of_step(args.device, locator, stop)?;
            Some((steps.saturating_sub(done), seconds))
        }
        None => None,
    };
    let place = folder.path.clone();
    say_plan(
        args,
        &experiment,
        (steps, of_profile),
        (&place, &found, left),
        streams,
    );
    let outcome = match found {
        Found::Finished(result) => Some(read::<E>(result, &place)?),
        _ if args.dry_run => None,
        _ => {
            let fingerprint = folder.config.get(FINGERPRINT).cloned();
            let mut folder = folder.open()?;
            let result = folder.result()?;
            Some(
                match result.and_then(|result| measured(result, &evaluation)) {
                    Some(result) => read::<E>(result, &place)?,
                    None => compute(
                        args,
                        &experiment,
                        (steps, evaluation, fingerprint),
                        locator,
                        &mut folder,
                        stop,
                        streams,
                    )?,
                },
            )
        }
    };
    Ok(Done {
        experiment,
        place,
        outcome,
    })
}

fn read<E: Stepwise>(result: Value, place: &Path) -> Result<E::Outcome, HarnessError> {
    serde_json::from_value(result).map_err(|source| HarnessError::Result {
        folder: place.to_path_buf(),
        source,
    })
}

/// The experiment with the seed that is asked for, and the steps of its profile.
fn experiment<E: Stepwise>(args: &Reproduce, source: &Source) -> Result<(E, u64), HarnessError> {
    let (mut experiment, steps) = E::parse(source, &args.profile)?;
    let and = if E::READS_DATA { ", --data-dir" } else { "" };
    let remedy = format!(
        "it takes --profile, --steps, --seed, --device{and}, --out, --dry-run, --json and --fresh; the rest is set in its file, and \
         an edited copy of experiments/{}.toml is run by its path",
        experiment.name()
    );
    refuse(args, experiment.name(), E::READS_DATA, &remedy)?;
    if let Some([seed]) = args.seeds.as_deref() {
        *experiment.seed() = *seed;
    }
    Ok((experiment, steps))
}

/// Refuses what means nothing to experiments that are counted in gradient steps.
///
/// # Errors
/// The first such flag.
pub fn refuse(
    args: &Reproduce,
    name: &str,
    reads_data: bool,
    remedy: &str,
) -> Result<(), HarnessError> {
    let flags = [
        ("--method", !args.methods.is_empty()),
        ("--net", !args.nets.is_empty()),
        ("--epochs", args.epochs.is_some()),
        ("--data-dir", args.data_dir.is_some() && !reads_data),
        ("--dataset", args.dataset.is_some()),
        ("--jobs", args.jobs.is_some()),
        ("--particles", !args.particles.is_empty()),
    ];
    args.refuse(name, &flags, remedy)?;
    args.refuse_several_seeds(name)
}

/// The run folder `<out>/<name>/<profile>/seed-<seed>`; runs of another number of steps than the profile's have their own.
pub fn place(args: &Reproduce, name: &str, seed: u64, [of_profile, steps]: [u64; 2]) -> PathBuf {
    let profile = match steps == of_profile {
        true => args.profile.clone(),
        false => format!("{}-{steps}-steps", args.profile),
    };
    let place = args.out.join(name).join(profile);
    place.join(format!("seed-{seed}"))
}

fn say_plan(
    args: &Reproduce,
    experiment: &impl Stepwise,
    (steps, of_profile): (u64, u64),
    (place, found, left): (&Path, &Found, Option<(u64, f64)>),
    streams: &Streams,
) {
    let seconds = left.map(|(steps, seconds)| steps as f64 * seconds);
    let state = match found {
        Found::Finished(_) => "done",
        Found::Trained => "trained; measured by other settings, and will be measured again",
        Found::Nothing => "to do",
        Found::Begun(_) => "begun, will be resumed",
        Found::Running => "running in another process",
    };
    if args.json {
        let folder = place.display().to_string();
        let line = json!({"event": "plan", "settings": experiment, "steps": steps, "folder": folder, "state": state, "training_seconds": seconds});
        streams.out.line(line.to_string());
        return;
    }
    let instead = match steps == of_profile {
        true => String::new(),
        false => format!(" instead of the profile's {of_profile}"),
    };
    let [step, measured] = experiment.plan();
    let time = seconds.map_or(String::new(), |seconds| {
        let seconds = say(seconds);
        format!("\n  time        {seconds} of training left on this machine (an estimate), and the evaluation after it")
    });
    streams.out.line(format!(
        "{}\n  training    {}{instead}; {step}\n  evaluation  {measured}{time}\n  run in      {} ({state})\n",
        experiment.title(),
        count(steps as usize, "gradient step"),
        place.display(),
    ));
}

/// Seconds between lines where nothing is live.
const LINE_SECONDS: u64 = 60;

/// Shows steps as they are made: live, or a line now and then, or JSON.
struct Watch<'a> {
    json: bool,
    streams: &'a Streams,
    loading: &'a Loading,
    started: Instant,
    /// The step at the start.
    first: Cell<u64>,
    said: Cell<Option<Instant>>,
}

impl Watch<'_> {
    fn event(&self, event: &Event) {
        match event {
            Event::Resumed { step, .. } => {
                self.first.set(*step);
                let steps = count(*step as usize, "step");
                self.streams.err.line(format!("Resumed after {steps}."));
            }
            Event::Warning(text) => self.streams.err.line(format!("warning: {text}")),
            Event::Step {
                step,
                steps_per_epoch,
                loss,
                ..
            } => self.step(*step, *steps_per_epoch, *loss),
            _ => {}
        }
    }

    fn step(&self, step: u64, steps: u64, loss: f64) {
        let rate = (step - self.first.get()) as f64 / self.started.elapsed().as_secs_f64();
        let left = Duration::from_secs_f64((steps - step) as f64 / rate.max(1e-9));
        let left = indicatif::HumanDuration(left);
        let text = format!(
            "step {step} of {steps}, log Ẑ {:.1}, {rate:.1} steps/s, {left} left",
            -loss
        );
        self.loading.state(text.clone());
        let due = |said: Instant| said.elapsed() >= Duration::from_secs(LINE_SECONDS);
        if self.said.get().is_none_or(due) {
            self.said.set(Some(Instant::now()));
            if self.json {
                let line = json!({"event": "step", "step": step, "steps": steps, "log_evidence": -loss, "steps_per_second": rate});
                self.streams.out.line(line.to_string());
            } else if !self.streams.err_is_live {
                self.streams.err.line(text);
            }
        }
    }
}

/// Trains and measures, writes the files, and last the result.
fn compute<E: Stepwise>(
    args: &Reproduce,
    experiment: &E,
    (steps, evaluation, fingerprint): (u64, Value, Option<Value>),
    locator: &Locator,
    folder: &mut RunFolder,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<E::Outcome, HarnessError> {
    let loading = Loading::new(streams);
    let watch = Watch {
        json: args.json,
        streams,
        loading: &loading,
        started: Instant::now(),
        first: Cell::new(0),
        said: Cell::new(None),
    };
    let going_on = |what: &str| {
        loading.state(format!("measuring: {what}"));
        unless_stopped(stop)
    };
    let outcome = experiment.compute(Request {
        steps,
        device: args.device,
        locator,
        folder: &mut *folder,
        observe: &|event| watch.event(event),
        going_on: &going_on,
        stop,
    })?;
    drop(loading);
    let table = markdown::render(&experiment.document(&outcome));
    write_text(folder.path(), "table.md", &table)?;
    let mut result = to_value(&outcome).expect("an outcome is plain data");
    result[EVALUATION] = evaluation;
    if let Some(fingerprint) = fingerprint {
        result[FINGERPRINT] = fingerprint;
    }
    folder.finish(&result)?;
    Ok(outcome)
}

fn show<E: Stepwise>(
    args: &Reproduce,
    experiment: &E,
    outcome: &E::Outcome,
    place: &Path,
    streams: &Streams,
) {
    let names = std::iter::once(&"table.md").chain(E::FILES);
    let files: Vec<PathBuf> = names.map(|name| place.join(name)).collect();
    if args.json {
        let line = json!({"event": "table", "table": outcome, "files": shown(&files)});
        streams.out.line(line.to_string());
    } else {
        let document = experiment.document(outcome);
        let shown = text::render(&document, streams.out_colours);
        streams.out.line(shown);
        let line = format!(
            "Written to {}; each figure's data beside it, as CSV",
            named_together(&files)
        );
        streams.out.line(line);
    }
}
