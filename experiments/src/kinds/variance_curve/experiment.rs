//! The figure as an experiment: a run for each method and seed, and one figure of all.

use super::document::{self as view, Run};
use super::{Outcome, Profile, Settings};
use crate::backend::on_net;
use crate::cell::Cell;
use crate::data::{Sizes, Wanted};
use crate::device::Device;
use crate::folders::{EPOCHS_DONE, base_folder};
use crate::kinds::figures::label::titled;
use crate::kinds::likelihood::costs::{check_step, needs};
use crate::kinds::likelihood::runner;
use crate::request::Request;
use crate::spec::Spec;
use crate::trial::{CellRunner, Trial};
use crate::works::track::Track;
use helmholtz_datasets::Splits;
use helmholtz_harness::driver::Observer;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{self as harness, Cost, Experiment, Heading};
use helmholtz_harness::machine::Machine;
use helmholtz_harness::plan_text::count;
use helmholtz_harness::unit::Unit;
use helmholtz_harness::work::{Count, Work};
use helmholtz_report::files::write_tables;
use helmholtz_runs::{OpenMode, RunFolder};
use serde_json::{Map, Value, json, to_value};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The methods and seeds that are asked for.
pub struct VarianceCurves {
    settings: Settings,
    spec: Spec,
    profile_name: String,
    profile: Profile,
    trials: Vec<Trial>,
    units: Vec<Unit>,
    dataset: String,
    data: Arc<Splits>,
    base: PathBuf,
    device: Device,
    machine: Machine,
    runner: Box<dyn CellRunner>,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, an unknown name, data or a device that are not there.
pub fn open(request: &Request<'_>) -> Result<VarianceCurves, HarnessError> {
    let args = request.args;
    let (settings, spec) = Settings::parse(request.source, request.registry)?;
    args.reject(
        &settings.name,
        &[
            ("--net", !args.nets.is_empty()),
            ("--particles", !args.particles.is_empty()),
            ("--steps", args.steps.is_some()),
        ],
        "it takes --profile, --method, --seeds, --jobs, --epochs, --dataset, --device, --data-dir, --out, --dry-run, --json and \
         --fresh. The rest is set in its file, and an edited copy of it is run by its path",
    )?;
    let mut profile = settings.profile(&args.profile)?.clone();
    let epochs = args.epochs.filter(|&epochs| epochs != profile.epochs);
    profile.epochs = epochs.unwrap_or(profile.epochs);
    let asked = args.data.wanted()?;
    let wanted = match &asked {
        Some(wanted) => wanted.clone(),
        None => Wanted::Known(spec.dataset.parse()?),
    };
    let methods = match args.methods.is_empty() {
        true => &settings.methods,
        false => &args.methods,
    };
    let seeds = args.seeds.clone().unwrap_or(vec![settings.seed]);
    // What is wrong with the request is found before anything is loaded.
    settings.cells(&spec, &profile, methods, &seeds, &spec.dataset)?;
    args.device.check_built()?;
    let data = Arc::new(request.load(&wanted)?);
    let dataset = data.name.clone();
    let cells = settings.cells(&spec, &profile, methods, &seeds, &dataset)?;
    let (there, images) = (data.train.len(), profile.images);
    if there < images {
        return Err(HarnessError::Unusable(format!(
            "the profile asks for a mini-batch of {images} images, but {dataset} has {there} to train on"
        )));
    }
    let base = base_folder(&args.out, &settings.name, &args.profile, epochs, &dataset);
    let trial = |cell: Cell| request.registry.trial(&cell.on(&data));
    let trials: Vec<Trial> = cells.into_iter().map(trial).collect::<Result<_, _>>()?;
    let unit = |cell: &Cell| {
        let mut fields = Map::new();
        fields.insert("net".into(), cell.net.as_str().into());
        fields.insert("method".into(), cell.method.as_str().into());
        Unit {
            label: cell.label(),
            names: vec![cell.net.clone(), cell.method.clone()],
            seed: cell.seed,
            folder: cell.folder(&base),
            config: config(cell, &profile),
            count: Count {
                name: "epoch",
                // The last is measured before its updates, and not made.
                all: profile.epochs - 1,
            },
            score: "NLL",
            fields,
        }
    };
    Ok(VarianceCurves {
        units: trials.iter().map(|trial| unit(&trial.cell)).collect(),
        runner: runner::new(args.device, Arc::clone(&data), 1)?,
        machine: request.machine(),
        profile_name: args.profile.clone(),
        device: args.device,
        data,
        settings,
        spec,
        profile,
        trials,
        dataset,
        base,
    })
}

/// All that decides a run's outcome.
fn config(cell: &Cell, profile: &Profile) -> Value {
    let Profile {
        every,
        images,
        replicates,
        ..
    } = profile;
    let title = format!("{}: {}", cell.experiment, cell.label());
    json!({"title": title, "cell": cell, "every": every, "images": images, "replicates": replicates})
}

impl Experiment for VarianceCurves {
    fn heading(&self) -> Heading {
        let Profile {
            epochs,
            every,
            images,
            replicates,
            about,
        } = &self.profile;
        Heading {
            title: self.settings.title.clone(),
            facts: vec![
                ("profile", format!("{}: {about}", self.profile_name)),
                (
                    "training",
                    format!("{} on {}", count(*epochs as usize, "epoch"), self.dataset),
                ),
                (
                    "measured",
                    format!(
                        "every {every}, {replicates} estimates on {}",
                        count(*images, "image")
                    ),
                ),
                ("device", self.device.as_str().into()),
                ("runs in", self.base.display().to_string()),
            ],
            columns: vec!["Net", "Method"],
            may_end_early: false,
            remedy: "give fewer `--jobs` or another `--out`, or choose some of the `--method`s and `--seeds`",
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn done_key(&self) -> &'static str {
        EPOCHS_DONE
    }

    /// An estimate costs as a step does, by the image; in stage II it is made with the chains held, and again with them moving.
    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let (trial, sizes) = (&self.trials[index], Sizes::of(&self.data));
        check_step(&self.machine, trial, sizes)?;
        let cost = self.runner.measure(trial)?;
        let settings = &trial.cell.settings;
        let batch = settings.batch.max(1);
        let in_stage_2 = match trial.entry.method.keeps_chains() {
            true => 1.0 - settings.switch_epoch() as f64 / self.profile.epochs as f64,
            false => 0.0,
        };
        let estimates = self.profile.replicates as f64 * self.profile.images as f64 / batch as f64;
        let measurement = (1.0 + in_stage_2) * estimates * cost.step;
        Ok(Cost {
            work: Work {
                each: (self.data.train.len() / batch) as f64 * cost.step,
                check: measurement,
                check_every: Some(self.profile.every),
                last: measurement,
            },
            needs: needs(trial, cost, sizes),
        })
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (trial, unit) = (&self.trials[index], &self.units[index]);
        let Trial { cell, net, entry } = trial;
        let mut folder = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume)?;
        if let Some(result) = folder.result()? {
            return Ok(result);
        }
        let track = Track {
            cell,
            entry,
            profile: &self.profile,
            folder: &mut folder,
            data: &self.data,
            device: self.device.as_str(),
            observer,
            stop,
        };
        let outcome = on_net(self.device, net.clone(), cell.seed, track)?;
        let own = Run {
            method: cell.method.clone(),
            label: cell.method.clone(),
            seed: cell.seed,
            outcome: outcome.clone(),
        };
        let title = unit.config["title"].as_str().unwrap_or_default();
        write_tables(&view::document(title, &self.dataset, &[own]), folder.path())?;
        let result = to_value(&outcome).expect("an outcome is plain data");
        folder.finish(&result)?;
        Ok(result)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let outcome: Outcome = self.units[index].result(result)?;
        Ok(count(outcome.points.len(), "measurement"))
    }

    fn outcome(
        &self,
        results: &[Option<Value>],
    ) -> Result<Option<harness::Outcome<'_>>, HarnessError> {
        let mut done = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let Some(result) = result else { continue };
            let Trial { cell, .. } = &self.trials[index];
            done.push(Run {
                method: cell.method.clone(),
                label: self.spec.method_label(&cell.method).to_string(),
                seed: cell.seed,
                outcome: self.units[index].result(result)?,
            });
        }
        if done.is_empty() {
            return Ok(None);
        }
        let document = view::document(&self.settings.title, &self.dataset, &done);
        let outcomes: Vec<_> = done.iter().map(|run| &run.outcome).collect();
        let json = json!(outcomes);
        let shown = document.clone();
        let write = move || {
            let mut files = write_tables(&shown, &self.base)?;
            let title = titled(&self.settings.title, &self.dataset);
            files.extend(view::figure(&title, &done).write(&self.base, &self.settings.name)?);
            Ok(files)
        };
        Ok(Some(harness::Outcome {
            document,
            json,
            write: Box::new(write),
        }))
    }
}
