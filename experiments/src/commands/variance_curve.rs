//! `reproduce fig3`: trains, measures gradients on the way, and draws their variance.

use super::loading::{Loading, Planning};
use super::plan_text::count;
use super::reproduce::{End, check_step, named_together, shown, stopped};
use super::streams::Streams;
use crate::backend::on_device;
use crate::cell::Cell;
use crate::cli::Reproduce;
use crate::data::Wanted;
use crate::driver::unless_stopped;
use crate::error::HarnessError;
use crate::existing::checkpoint_bytes;
use crate::figures::label::titled;
use crate::machine::{Machine, Needs};
use crate::plan::{base_folder, needs};
use crate::runner;
use crate::schedule::{Sizes, say};
use crate::source::Source;
use crate::spec::Spec;
use crate::variance_curve::run::{Told, Track};
use crate::variance_curve::show::{self, Run};
use crate::variance_curve::{Outcome, Profile, Settings};
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_report::files::write_text;
use helmholtz_report::{markdown, text};
use helmholtz_runs::{OpenMode, RunFolder, Status};
use helmholtz_training::Event;
use serde_json::{Value, json, to_value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Carries out a request for the experiment in `source`: plans, trains and measures what is not done, one method after the
/// other, and draws all that is.
///
/// # Errors
/// A flag that means nothing here, an unknown name, missing data or device, a folder that cannot be used, a run that fails.
pub fn reproduce(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let (settings, spec) = Settings::parse(source)?;
    let mut request = Request::new(args, &settings, &spec)?;
    args.device.check_built()?;
    let data = find_data(&request, locator, streams)?;
    let cells = std::mem::take(&mut request.cells).into_iter();
    request.cells = cells.map(|cell| cell.on(&data)).collect();
    let mut runs = request.runs(args)?;
    let machine = Machine::with_runs_in(&args.out).on(args.device);
    let costs = costs(args, &request, &runs, &data, (&machine, stop), streams)?;
    say_plan(args, &settings, &request, &runs, &costs.seconds, streams);
    let remedy = "give another `--out`, or choose some of the `--method`s and `--seeds`";
    machine.check(costs.needs, remedy)?;
    if args.dry_run {
        return Ok(End::Complete);
    }
    if args.fresh {
        // All of them before the first starts: however that ends, no old result is taken for a new one.
        for run in &runs {
            RunFolder::open(&run.folder, &run.config, OpenMode::Fresh)?;
        }
    }
    for run in runs.iter_mut().filter(|run| run.outcome.is_none()) {
        match run.make(args, &request, &data, stop, streams) {
            Ok(outcome) => run.outcome = Some(outcome),
            Err(HarnessError::Interrupted { .. }) => {
                let end = stopped(args, streams);
                show(args, &settings, &spec, &request, &runs, streams)?;
                return Ok(end);
            }
            Err(error) => return Err(error),
        }
    }
    show(args, &settings, &spec, &request, &runs, streams)?;
    Ok(End::Complete)
}

/// What is asked for.
struct Request {
    profile: Profile,
    cells: Vec<Cell>,
    dataset: DatasetName,
    base: PathBuf,
}

impl Request {
    fn new(args: &Reproduce, settings: &Settings, spec: &Spec) -> Result<Self, HarnessError> {
        args.refuse(
            &settings.name,
            &[
                ("--net", !args.nets.is_empty()),
                ("--particles", !args.particles.is_empty()),
                ("--steps", args.steps.is_some()),
                ("--jobs", args.jobs.is_some()),
            ],
            "it takes --profile, --method, --seeds, --epochs, --dataset, --device, --data-dir, --out, --dry-run, --json and \
             --fresh; the rest is set in its file, and an edited copy of it is run by its path",
        )?;
        let mut profile = settings.profile(&args.profile)?.clone();
        let epochs = args.epochs.filter(|&epochs| epochs != profile.epochs);
        profile.epochs = epochs.unwrap_or(profile.epochs);
        let dataset = match &args.dataset {
            Some(Wanted::Known(name)) => *name,
            Some(own) => {
                return Err(HarnessError::Unusable(format!(
                    "{} has runs of its own on data sets that the program knows, not on `{own}`",
                    settings.name
                )));
            }
            None => spec.dataset.parse()?,
        };
        let methods = match args.methods.is_empty() {
            true => &settings.methods,
            false => &args.methods,
        };
        let seeds = args.seeds.clone().unwrap_or(vec![settings.seed]);
        let name = dataset.to_string();
        Ok(Self {
            cells: settings.cells(spec, &profile, methods, &seeds, &name)?,
            base: base_folder(&args.out, &settings.name, &args.profile, epochs, &name),
            profile,
            dataset,
        })
    }

    /// The runs, with the outcome of those that are done.
    fn runs(&self, args: &Reproduce) -> Result<Vec<Planned>, HarnessError> {
        let planned = |cell: &Cell| {
            let folder = cell.folder(&self.base);
            let config = self.config(cell);
            let done = match args.fresh {
                true => None,
                false => match RunFolder::peek_as(&folder, &config)? {
                    Status::Finished(result) => Some(parse(&folder, result)?),
                    _ => None,
                },
            };
            Ok(Planned {
                cell: cell.clone(),
                folder,
                config,
                outcome: done,
            })
        };
        self.cells.iter().map(planned).collect()
    }

    /// All that decides a run's outcome.
    fn config(&self, cell: &Cell) -> Value {
        let Profile {
            every,
            images,
            replicates,
            ..
        } = self.profile;
        let title = format!("{}: {}", cell.experiment, cell.label());
        json!({"title": title, "cell": cell, "every": every, "images": images, "replicates": replicates})
    }
}

fn parse(folder: &Path, result: Value) -> Result<Outcome, HarnessError> {
    serde_json::from_value(result).map_err(|source| HarnessError::Result {
        folder: folder.to_path_buf(),
        source,
    })
}

/// A run that is done, or is to be made.
struct Planned {
    cell: Cell,
    folder: PathBuf,
    config: Value,
    outcome: Option<Outcome>,
}

impl Planned {
    fn make(
        &self,
        args: &Reproduce,
        request: &Request,
        data: &Arc<Splits>,
        stop: &AtomicBool,
        streams: &Streams,
    ) -> Result<Outcome, HarnessError> {
        let mut folder = RunFolder::open(&self.folder, &self.config, OpenMode::Resume)?;
        if let Some(result) = folder.result()? {
            return parse(&self.folder, result);
        }
        let loading = Loading::new(streams);
        let label = self.cell.label();
        let replicates = request.profile.replicates;
        let tell = |told: Told<'_>| match told {
            Told::Training(Event::Step {
                epoch,
                step,
                steps_per_epoch,
                loss,
            }) => loading.state(format!(
                "{label}: epoch {epoch}, step {step} of {steps_per_epoch}, -ELBO {loss:.1}"
            )),
            Told::Training(Event::Warning(warning)) => {
                streams.err.line(format!("{label}: warning: {warning}"));
            }
            Told::Training(_) => {}
            Told::Replicates(epoch, done) => {
                let after = count(epoch as usize, "epoch");
                loading.state(format!(
                    "{label}: after {after}, {done} of {replicates} estimates"
                ));
            }
            Told::Point(point) => {
                if args.json {
                    let line = json!({"event": "point", "cell": self.cell, "point": point});
                    streams.out.line(line.to_string());
                }
                let (phi, theta) = (point.phi.ln().0, point.theta.ln().0);
                let chains = if point.moving { ", chains moving" } else { "" };
                let after = count(point.epoch as usize, "epoch");
                streams.err.line(format!(
                    "{label}: after {after}{chains}: ln V phi {phi:.2}, theta {theta:.2}"
                ));
            }
        };
        let track = Track {
            cell: &self.cell,
            profile: &request.profile,
            folder: &mut folder,
            data,
            device: args.device.as_str(),
            tell: &tell,
            stop,
        };
        let outcome = on_device(args.device, track)?;
        let own = Run {
            method: self.cell.method.clone(),
            label: self.cell.method.clone(),
            seed: self.cell.seed,
            outcome: outcome.clone(),
        };
        let title = self.config["title"].as_str().unwrap_or_default();
        let table = markdown::render(&show::document(title, &[own]));
        write_text(folder.path(), "table.md", &table)?;
        folder.finish(&to_value(&outcome).expect("an outcome is plain data"))?;
        Ok(outcome)
    }
}

fn find_data(
    request: &Request,
    locator: &Locator,
    streams: &Streams,
) -> Result<Arc<Splits>, HarnessError> {
    let (_planning, mut loading) = (Planning::begin(), Loading::new(streams));
    let data = load(request.dataset, locator, &mut |event| loading.event(event))?;
    let (there, images) = (data.train.len(), request.profile.images);
    if there < images {
        return Err(HarnessError::Unusable(format!(
            "the profile asks for a mini-batch of {images} images, but {} has {there} to train on",
            request.dataset
        )));
    }
    Ok(Arc::new(data))
}

/// What is left to do.
struct Costs {
    /// How long it takes, for each run.
    seconds: Vec<f64>,
    /// The least that it needs, one run after the other.
    needs: Needs,
}

/// Measures what is left to do.
fn costs(
    args: &Reproduce,
    request: &Request,
    runs: &[Planned],
    data: &Arc<Splits>,
    (machine, stop): (&Machine, &AtomicBool),
    streams: &Streams,
) -> Result<Costs, HarnessError> {
    let sizes = Sizes::of(data);
    let runner = runner::new(args.device, Arc::clone(data), 1)?;
    let loading = Loading::new(streams);
    let (mut seconds, mut needed) = (Vec::new(), Needs::default());
    for run in runs {
        let left = match (&run.outcome, RunFolder::peek(&run.folder)) {
            (Some(_), _) => 0.0,
            (None, status) => {
                unless_stopped(stop)?;
                check_step(machine, &run.cell, sizes)?;
                loading.state(format!("measuring {}", run.cell.label()));
                let done = match status {
                    Ok(Status::Started { state: Some(state) }) if !args.fresh => {
                        state["epochs_done"].as_u64()
                    }
                    _ => None,
                };
                let cost = runner.measure(&run.cell)?;
                let own = needs(&run.cell, cost, sizes);
                let there = match args.fresh {
                    true => 0,
                    false => checkpoint_bytes(&run.folder),
                };
                needed.memory = needed.memory.max(own.memory);
                needed.disk += own.disk.saturating_sub(there);
                cost.step
                    * steps(
                        &request.profile,
                        &run.cell,
                        data.train.len(),
                        done.unwrap_or(0),
                    )?
            }
        };
        seconds.push(left);
    }
    unless_stopped(stop)?;
    Ok(Costs {
        seconds,
        needs: needed,
    })
}

/// Says what is done, and how long the rest takes.
fn say_plan(
    args: &Reproduce,
    settings: &Settings,
    request: &Request,
    runs: &[Planned],
    seconds: &[f64],
    streams: &Streams,
) {
    let all: f64 = seconds.iter().sum();
    if args.json {
        let runs = runs.iter().zip(seconds).map(|(run, left)| {
            let folder = run.folder.display().to_string();
            json!({"cell": run.cell, "folder": folder, "done": run.outcome.is_some(), "seconds_left": left})
        });
        let runs: Vec<_> = runs.collect();
        let line = json!({"event": "plan", "cells": runs, "seconds": all});
        streams.out.line(line.to_string());
        return;
    }
    let Profile {
        epochs,
        every,
        images,
        replicates,
        about,
    } = &request.profile;
    streams.out.line(format!(
        "{}\n  {}: {about}\n  {} on {}; every {every}, {replicates} estimates on {}\n  runs in {}\n",
        settings.title,
        args.profile,
        count(*epochs as usize, "epoch"),
        request.dataset,
        count(*images, "image"),
        request.base.display()
    ));
    for (run, left) in runs.iter().zip(seconds) {
        let what = match run.outcome {
            Some(_) => "done".to_string(),
            None => format!("about {}", say(*left)),
        };
        streams
            .out
            .line(format!("  {:44} {what}", run.cell.label()));
    }
    let line = format!("\n  {} in all, one after the other\n", say(all));
    streams.out.line(line);
}

/// The training steps, and the estimates that cost as much, that are left after `done` epochs.
fn steps(profile: &Profile, cell: &Cell, train: usize, done: u64) -> Result<f64, HarnessError> {
    let method = cell.method()?;
    let settings = &cell.settings;
    let of_epoch = (train / settings.batch.max(1)) as f64;
    let left = profile.epochs.saturating_sub(1 + done) as f64;
    let measured = profile
        .measured()
        .into_iter()
        .filter(|&epoch| epoch >= done);
    // In stage II the estimate is made with the chains held, and again with them moving.
    let times =
        measured.map(
            |epoch| match method.keeps_chains() && epoch >= settings.switch_epoch() {
                true => 2.0,
                false => 1.0,
            },
        );
    let images = profile.images as f64 / settings.batch.max(1) as f64;
    Ok(left * of_epoch + times.sum::<f64>() * profile.replicates as f64 * images)
}

/// Draws the runs that are done, and shows their table.
fn show(
    args: &Reproduce,
    settings: &Settings,
    spec: &Spec,
    request: &Request,
    runs: &[Planned],
    streams: &Streams,
) -> Result<(), HarnessError> {
    let done = runs.iter().filter_map(|run| {
        Some(Run {
            method: run.cell.method.clone(),
            label: spec.method_label(&run.cell.method).to_string(),
            seed: run.cell.seed,
            outcome: run.outcome.clone()?,
        })
    });
    let done: Vec<Run> = done.collect();
    if done.is_empty() {
        return Ok(());
    }
    let document = show::document(&settings.title, &done);
    if !args.json {
        let shown = text::render(&document, streams.out_colours);
        streams.out.line(shown);
    }
    let mut files = vec![write_text(
        &request.base,
        "table.md",
        &markdown::render(&document),
    )?];
    let title = titled(&settings.title, request.dataset.as_str());
    files.extend(show::figure(&title, &done).write(&request.base, &settings.name)?);
    if args.json {
        let outcomes: Vec<_> = done.iter().map(|run| &run.outcome).collect();
        let line = json!({"event": "table", "table": outcomes, "files": shown(&files)});
        streams.out.line(line.to_string());
    } else {
        streams
            .out
            .line(format!("Written to {}", named_together(&files)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::streams::Shared;
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use std::sync::atomic::Ordering;

    /// A small cut of figure 3.
    fn small() -> Source {
        let text = include_str!("../../fig3.toml")
            .replace("epochs = 4\n", "epochs = 3\n")
            .replace(
                "images = 200\nreplicates = 20\n",
                "images = 20\nreplicates = 4\n",
            )
            .replace("valid_images = 500", "valid_images = 20\nparticles = 2");
        let file = "small.toml".into();
        Source { file, text }
    }

    fn request(out: &Path, more: &[&str]) -> Reproduce {
        let line = ["helmholtz", "reproduce", "fig3", "--method", "jsa,rloo"];
        let place = ["--dataset", "glyphs", "--out", out.to_str().unwrap()];
        let line = line.iter().chain(&place).chain(more);
        match Cli::try_parse_from(line).unwrap().command {
            Command::Reproduce(args) => args,
            other => unreachable!("{other:?}"),
        }
    }

    /// Sets `stop` as soon as something is said.
    struct Stopper(Arc<AtomicBool>);

    impl std::io::Write for Stopper {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.store(true, Ordering::Relaxed);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn carried_out(args: &Reproduce, stop: &Arc<AtomicBool>) -> Result<End, HarnessError> {
        let streams = Streams {
            out: Shared::new(Stopper(Arc::clone(stop))),
            err: Shared::new(std::io::sink()),
            out_colours: false,
            err_is_live: false,
        };
        let nowhere = Locator {
            environment_dir: None,
            cache_dir: None,
            ..Locator::new(None).offline()
        };
        reproduce(args, &small(), &nowhere, stop, &streams)
    }

    #[test]
    fn runs_are_all_set_aside_before_the_first_is_started_over() {
        let dir = tempfile::tempdir().unwrap();
        let args = request(dir.path(), &["--fresh"]);
        let (settings, spec) = Settings::parse(&small()).unwrap();
        let runs = Request::new(&args, &settings, &spec).unwrap();
        let runs = runs.runs(&args).unwrap();
        for run in &runs {
            let mut folder = RunFolder::open(&run.folder, &run.config, OpenMode::Resume).unwrap();
            folder.finish(&json!("old")).unwrap();
        }
        // Stopped as soon as the plan is said.
        let end = carried_out(&args, &Arc::default());
        assert_eq!(end.unwrap(), End::Interrupted);
        assert_eq!(runs.len(), 2);
        for run in &runs {
            let status = |folder: &Path| RunFolder::peek(folder).unwrap();
            assert!(matches!(status(&run.folder), Status::Started { .. }));
            let aside = run.folder.with_file_name("seed-1.old-1");
            assert_eq!(status(&aside), Status::Finished(json!("old")));
        }
    }

    #[test]
    fn a_stop_while_measuring_is_heard_and_nothing_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let args = request(dir.path(), &["--dry-run"]);
        let end = carried_out(&args, &Arc::new(AtomicBool::new(true)));
        assert!(matches!(end, Err(HarnessError::Interrupted { .. })));
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
