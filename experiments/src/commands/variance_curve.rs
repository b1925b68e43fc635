//! `reproduce fig3`: trains, measures gradients on the way, and draws their variance.

use super::loading::Loading;
use super::reproduce::{End, named_together};
use super::streams::Streams;
use crate::backend::on_device;
use crate::cell::Cell;
use crate::cli::Reproduce;
use crate::error::HarnessError;
use crate::machine::{Machine, Needs};
use crate::plan::{base_folder, needs};
use crate::runner;
use crate::schedule::{Sizes, say};
use crate::source::Source;
use crate::spec::Spec;
use crate::table::files::write_one;
use crate::variance_curve::run::{Told, Track};
use crate::variance_curve::show::{self, Run};
use crate::variance_curve::{Outcome, Profile, Settings};
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_estimators::Method;
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
    let request = Request::new(args, &settings, &spec)?;
    args.device.check_built()?;
    let data = find_data(&request, locator, streams)?;
    let mut runs = request.runs(args)?;
    let needs = say_plan(args, &settings, &request, &runs, &data, streams)?;
    let remedy = "give another `--out`, or choose some of the `--method`s and `--seeds`";
    Machine::with_runs_in(&args.out).check(needs, remedy)?;
    if args.dry_run {
        return Ok(End::Complete);
    }
    for run in runs.iter_mut().filter(|run| run.outcome.is_none()) {
        match run.make(args, &request, &data, stop, streams) {
            Ok(outcome) => run.outcome = Some(outcome),
            Err(HarnessError::Interrupted { .. }) => {
                let without = if args.fresh { " without --fresh" } else { "" };
                streams
                    .err
                    .line(format!("Stopped. The same command{without} resumes."));
                show(args, &settings, &spec, &request, &runs, streams)?;
                return Ok(End::Interrupted);
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
        let dataset = match args.dataset {
            Some(name) => name,
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
        let mode = match args.fresh {
            true => OpenMode::Fresh,
            false => OpenMode::Resume,
        };
        let mut folder = RunFolder::open(&self.folder, &self.config, mode)?;
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
                loading.state(format!(
                    "{label}: after {epoch} epochs, {done} of {replicates} estimates"
                ));
            }
            Told::Point(point) => {
                if args.json {
                    let line = json!({"event": "point", "cell": self.cell, "point": point});
                    streams.out.line(line.to_string());
                }
                let (phi, theta) = (point.phi.ln().0, point.theta.ln().0);
                let chains = if point.moving { ", chains moving" } else { "" };
                let epoch = point.epoch;
                streams.err.line(format!(
                    "{label}: after {epoch} epochs{chains}: ln V phi {phi:.2}, theta {theta:.2}"
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
        write_one(folder.path(), "table.md", &show::markdown(title, &[own]))?;
        folder.finish(&to_value(&outcome).expect("an outcome is plain data"))?;
        Ok(outcome)
    }
}

fn find_data(
    request: &Request,
    locator: &Locator,
    streams: &Streams,
) -> Result<Arc<Splits>, HarnessError> {
    let mut loading = Loading::new(streams);
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

/// Says what is done, and how long the rest takes; gives the least that it needs, one run after the other.
fn say_plan(
    args: &Reproduce,
    settings: &Settings,
    request: &Request,
    runs: &[Planned],
    data: &Arc<Splits>,
    streams: &Streams,
) -> Result<Needs, HarnessError> {
    let runner = runner::new(args.device, Arc::clone(data), 1)?;
    let loading = Loading::new(streams);
    let (mut seconds, mut needed) = (Vec::new(), Needs::default());
    for run in runs {
        let left = match (&run.outcome, RunFolder::peek(&run.folder)) {
            (Some(_), _) => 0.0,
            (None, status) => {
                loading.state(format!("measuring {}", run.cell.label()));
                let done = match status {
                    Ok(Status::Started { state: Some(state) }) if !args.fresh => {
                        state["epochs_done"].as_u64()
                    }
                    _ => None,
                };
                let cost = runner.measure(&run.cell)?;
                let own = needs(cost, Sizes::of(data));
                needed.memory = needed.memory.max(own.memory);
                needed.disk += own.disk;
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
    drop(loading);
    let all: f64 = seconds.iter().sum();
    if args.json {
        let runs = runs.iter().zip(&seconds).map(|(run, left)| {
            json!({"cell": run.cell, "folder": run.folder, "done": run.outcome.is_some(), "seconds_left": left})
        });
        let runs: Vec<_> = runs.collect();
        let line = json!({"event": "plan", "cells": runs, "seconds": all});
        streams.out.line(line.to_string());
        return Ok(needed);
    }
    let Profile {
        epochs,
        every,
        images,
        replicates,
        about,
    } = &request.profile;
    streams.out.line(format!(
        "{}\n  {}: {about}\n  {epochs} epochs on {}; every {every}, {replicates} estimates on {images} images\n  runs in {}\n",
        settings.title,
        args.profile,
        request.dataset,
        request.base.display()
    ));
    for (run, left) in runs.iter().zip(&seconds) {
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
    Ok(needed)
}

/// The training steps, and the estimates that cost as much, that are left after `done` epochs.
fn steps(profile: &Profile, cell: &Cell, train: usize, done: u64) -> Result<f64, HarnessError> {
    let method: Method = cell.method.parse().map_err(runner::failed)?;
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
    let table = show::markdown(&settings.title, &done);
    let mut files = vec![write_one(&request.base, "table.md", &table)?];
    files.extend(show::figure(&settings.title, &done).write(&request.base, &settings.name)?);
    if args.json {
        let outcomes: Vec<_> = done.iter().map(|run| &run.outcome).collect();
        let line = json!({"event": "table", "table": outcomes, "files": files});
        streams.out.line(line.to_string());
    } else {
        streams.out.line(table);
        streams
            .out
            .line(format!("Written to {}", named_together(&files)));
    }
    Ok(())
}
