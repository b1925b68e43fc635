//! `reproduce apg-gmm` and its like: trains by gradient steps, measures, and shows the table.

use super::loading::Loading;
use super::reproduce::{End, named_together};
use super::streams::Streams;
use crate::cli::Reproduce;
use crate::device::Device;
use crate::error::HarnessError;
use crate::machine::{Machine, Needs};
use crate::schedule::say;
use crate::source::Source;
use crate::stepwise::{Request, Stepwise};
use crate::table::files::write_one;
use helmholtz_datasets::Locator;
use helmholtz_runs::{OpenMode, RunFolder, Status, read_metrics};
use helmholtz_training::Event;
use serde_json::{Value, json, to_value};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
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
    let done = run::<E>(args, source, locator, stop, streams)?;
    if let (Some(outcome), false) = (&done.outcome, args.dry_run) {
        show(args, &done.experiment, outcome, &done.place, streams);
    }
    Ok(done.end)
}

/// A run that was asked for.
pub struct Done<E: Stepwise> {
    /// The experiment, with the seed that was asked for.
    pub experiment: E,
    /// The run folder.
    pub place: PathBuf,
    /// The result, if there is one.
    pub outcome: Option<E::Outcome>,
    /// How it ended.
    pub end: End,
}

/// A run before it starts.
pub struct Planned<E> {
    experiment: E,
    /// The profile's steps, and those that are asked for.
    of_profile: u64,
    steps: u64,
    place: PathBuf,
    /// What the training depends on.
    config: Value,
    /// How it is measured.
    evaluation: Value,
    found: Found,
}

/// What is in a run folder, unless that is to be set aside.
enum Found {
    Nothing,
    Begun,
    /// Trained, and measured in another way.
    Trained,
    Finished(Value),
}

impl Found {
    fn of(status: Status, evaluation: &Value) -> Self {
        match status {
            Status::Absent => Self::Nothing,
            Status::Finished(result) => match measured(result, evaluation) {
                Some(result) => Self::Finished(result),
                None => Self::Trained,
            },
            _ => Self::Begun,
        }
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
    let place = place(args, &mut experiment, of_profile, steps);
    let mut settings = to_value(&experiment).expect("settings are plain data");
    let evaluation = settings
        .as_object_mut()
        .and_then(|all| all.remove("evaluation"));
    let evaluation = evaluation.unwrap_or_default();
    let config = json!({"settings": settings, "steps": steps});
    let found = match args.fresh {
        true => Found::Nothing,
        false => Found::of(RunFolder::peek_as(&place, &config)?, &evaluation),
    };
    if !matches!(found, Found::Finished(_)) {
        if args.device == Device::Cpu {
            let needs = Needs {
                memory: experiment.memory(),
                disk: 0,
            };
            let remedy = "give fewer data, particles or instances at a time in a copy of its file";
            Machine::with_runs_in(&args.out).check(needs, remedy)?;
        }
        experiment.find_data(locator)?;
    }
    Ok(Planned {
        experiment,
        of_profile,
        steps,
        place,
        config,
        evaluation,
        found,
    })
}

/// [`reproduce`], without showing the table.
///
/// # Errors
/// As [`reproduce`].
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
        place,
        config,
        evaluation,
        found,
    } = plan::<E>(args, source, locator)?;
    let left = match &found {
        Found::Finished(_) | Found::Trained => None,
        found => {
            let done = match found {
                Found::Nothing => 0,
                _ => steps_done(&place)?,
            };
            let loading = Loading::new(streams);
            loading.state(format!("measuring a step of {}", experiment.name()));
            let seconds = experiment.seconds_of_step(args.device, locator)?;
            Some((steps.saturating_sub(done), seconds))
        }
    };
    say_plan(
        args,
        &experiment,
        (steps, of_profile),
        (&place, &found, left),
        streams,
    );
    let finished = match found {
        Found::Finished(result) => Some(read::<E>(result, &place)?),
        _ => None,
    };
    let done = |experiment, outcome, end| {
        let place = place.clone();
        Ok(Done {
            experiment,
            place,
            outcome,
            end,
        })
    };
    if finished.is_some() {
        return done(experiment, finished, End::Complete);
    }
    if args.dry_run {
        return done(experiment, None, End::Complete);
    }

    let mode = match args.fresh {
        true => OpenMode::Fresh,
        false => OpenMode::Resume,
    };
    let mut folder = RunFolder::open(&place, &config, mode)?;
    let result = folder.result()?;
    let outcome = match result.and_then(|result| measured(result, &evaluation)) {
        Some(result) => read::<E>(result, &place)?,
        None => match compute(
            args,
            &experiment,
            (steps, evaluation),
            locator,
            &mut folder,
            stop,
            streams,
        ) {
            Err(HarnessError::Interrupted { .. }) => {
                let without = if args.fresh { " without --fresh" } else { "" };
                let remedy = format!("Stopped. The same command{without} resumes.");
                streams.err.line(remedy);
                return done(experiment, None, End::Interrupted);
            }
            outcome => outcome?,
        },
    };
    done(experiment, Some(outcome), End::Complete)
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
    let several = args.seeds.as_ref().is_some_and(|seeds| seeds.len() != 1);
    let flags = [
        ("--method", !args.methods.is_empty()),
        ("--net", !args.nets.is_empty()),
        ("--epochs", args.epochs.is_some()),
        ("--data-dir", args.data_dir.is_some() && !reads_data),
        ("--dataset", args.dataset.is_some()),
        ("--jobs", args.jobs.is_some()),
        ("--particles", !args.particles.is_empty()),
        ("--seeds with several", several),
    ];
    args.refuse(name, &flags, remedy)
}

/// The run folder; runs of another number of steps than the profile's have their own.
fn place(args: &Reproduce, experiment: &mut impl Stepwise, of_profile: u64, steps: u64) -> PathBuf {
    let profile = match steps == of_profile {
        true => args.profile.clone(),
        false => format!("{}-{steps}-steps", args.profile),
    };
    let seed = *experiment.seed();
    let place = args.out.join(experiment.name()).join(profile);
    place.join(format!("seed-{seed}"))
}

/// The steps at the last check of a run that was begun.
fn steps_done(place: &Path) -> Result<u64, HarnessError> {
    let last = read_metrics(place)?.pop();
    Ok(last.and_then(|row| row["step"].as_u64()).unwrap_or(0))
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
        Found::Begun => "begun, will be resumed",
    };
    if args.json {
        let line = json!({"event": "plan", "settings": experiment, "steps": steps, "folder": place, "state": state, "training_seconds": seconds});
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
        "{}\n  training    {steps} gradient steps{instead}; {step}\n  evaluation  {measured}{time}\n  run in      {} ({state})\n",
        experiment.title(),
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
                self.streams
                    .err
                    .line(format!("Resumed after {step} steps."));
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
    (steps, evaluation): (u64, Value),
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
        match stop.load(Ordering::Relaxed) {
            true => Err(HarnessError::Interrupted { epoch: 0 }),
            false => Ok(()),
        }
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
    write_one(folder.path(), "table.md", &experiment.markdown(&outcome))?;
    let mut result = to_value(&outcome).expect("an outcome is plain data");
    result[EVALUATION] = evaluation;
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
        let line = json!({"event": "table", "table": outcome, "files": files});
        streams.out.line(line.to_string());
    } else {
        streams.out.line(experiment.markdown(outcome));
        let line = format!(
            "Written to {}; each figure's data beside it, as CSV",
            named_together(&files)
        );
        streams.out.line(line);
    }
}
