//! A model's experiment: a run a seed.

use super::reader::column_of;
use super::run::{compute, measure};
use super::stepwise::{Request as OfRun, Stepwise, bytes};
use super::{Column, Outcome as OfModel};
use crate::device::Device;
use crate::events;
use crate::request::Request;
use crate::seeds::{SeedDocument, together};
use crate::source::Source;
use helmholtz_datasets::Locator;
use helmholtz_harness::cancel::check_cancelled;
use helmholtz_harness::driver::{Event, Observer};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::loading::{Loading, Planning};
use helmholtz_harness::machine::{Machine, Needs};
use helmholtz_harness::plan_text::count;
use helmholtz_harness::status::{Status, last_checkpoint, status};
use helmholtz_harness::unit::Unit;
use helmholtz_harness::work::{Count, Work};
use helmholtz_report::Document;
use helmholtz_report::files::write_tables;
use helmholtz_runs::{FINGERPRINT, OpenMode, RunFolder};
use serde_json::{Map, Value, json, to_value};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Key of the steps in the state of a checkpoint.
const STEPS_DONE: &str = "steps_done";
/// The key of a result under which it keeps how it was measured.
const EVALUATION: &str = "evaluation_settings";

/// An experiment with the seeds that are asked for.
pub struct Population<'a, E> {
    runs: Vec<Run<E>>,
    units: Vec<Unit>,
    /// The profile's steps.
    of_profile: u64,
    steps: u64,
    device: Device,
    /// Threads of each run.
    threads: usize,
    machine: Machine,
    locator: &'a Locator,
    stop: &'a AtomicBool,
}

/// One seed's.
struct Run<E> {
    experiment: E,
    /// Settings by which it is measured.
    evaluation: Value,
}

/// Opens a model's experiment.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense, data that are not there.
pub fn open<'a, E: Stepwise>(request: &Request<'a>) -> Result<Population<'a, E>, HarnessError> {
    let args = request.args;
    let (experiment, _) = E::parse(request.source, &args.profile)?;
    let and = if E::READS_DATA { ", --data-dir" } else { "" };
    let remedy = format!(
        "it takes --profile, --steps, --seeds, --jobs, --threads, --device{and}, --out, --dry-run, --json and --fresh. The rest is set in its \
         file, and an edited copy of experiments/{}.toml is run by its path",
        experiment.name()
    );
    reject(request, experiment.name(), E::READS_DATA, &remedy)?;
    opened(request, request.source, (&args.profile, args.steps), 1)
}

/// Refuses what means nothing to experiments that are counted in gradient steps.
///
/// # Errors
/// The first such flag.
pub fn reject(
    request: &Request<'_>,
    name: &str,
    reads_data: bool,
    remedy: &str,
) -> Result<(), HarnessError> {
    let args = request.args;
    let flags = [
        ("--method", !args.methods.is_empty()),
        ("--net", !args.nets.is_empty()),
        ("--epochs", args.epochs.is_some()),
        ("--data-dir", args.data_dir.is_some() && !reads_data),
        ("--dataset", args.data.dataset.is_some()),
        ("--particles", !args.particles.is_empty()),
    ];
    args.reject(name, &flags, remedy)
}

/// A profile of the experiment in `source`, with other steps than its own if any, and the seeds that are asked for. It is one of
/// `beside` experiments whose runs share the cores.
///
/// # Errors
/// As [`open`].
pub fn opened<'a, E: Stepwise>(
    request: &Request<'a>,
    source: &Source,
    (profile, steps): (&str, Option<u64>),
    beside: usize,
) -> Result<Population<'a, E>, HarnessError> {
    let args = request.args;
    let (mut experiment, of_profile) = E::parse(source, profile)?;
    args.device.check_built()?;
    let seeds = args.seeds.clone().unwrap_or(vec![*experiment.seed()]);
    let mut all = Population {
        runs: Vec::new(),
        units: Vec::new(),
        of_profile,
        steps: steps.unwrap_or(of_profile),
        device: args.device,
        threads: request.threads(seeds.len() * beside),
        machine: request.machine(),
        locator: request.locator,
        stop: request.stop,
    };
    for seed in seeds {
        let mut experiment = experiment.clone();
        *experiment.seed() = seed;
        all.push(request, experiment, profile, seed)?;
    }
    Ok(all)
}

/// The run folder `<out>/<name>/<profile>/seed-<seed>`; runs of another number of steps than the profile's have their own.
pub fn place(
    out: &Path,
    [name, profile]: [&str; 2],
    seed: u64,
    [of_profile, steps]: [u64; 2],
) -> PathBuf {
    let profile = match steps == of_profile {
        true => profile.to_string(),
        false => format!("{profile}-{steps}-steps"),
    };
    let place = out.join(name).join(profile);
    place.join(format!("seed-{seed}"))
}

impl<E: Stepwise> Population<'_, E> {
    /// Adds a seed's run. The data of one that is not finished are read, for their fingerprint.
    fn push(
        &mut self,
        request: &Request<'_>,
        experiment: E,
        profile: &str,
        seed: u64,
    ) -> Result<(), HarnessError> {
        let names = [experiment.name(), profile];
        let folder = place(
            &request.args.out,
            names,
            seed,
            [self.of_profile, self.steps],
        );
        let mut settings = to_value(&experiment).expect("settings are plain data");
        let evaluation = settings
            .as_object_mut()
            .and_then(|all| all.remove("evaluation"))
            .unwrap_or_default();
        let mut fields = Map::new();
        fields.insert("experiment".into(), experiment.name().into());
        let unit = Unit {
            label: format!("{} / seed {seed}", experiment.name()),
            names: vec![experiment.name().to_string()],
            seed,
            folder,
            config: json!({"settings": settings, "steps": self.steps}),
            count: Count {
                name: "step",
                all: self.steps,
            },
            score: "log Ẑ",
            fields,
        };
        self.runs.push(Run {
            experiment,
            evaluation,
        });
        self.units.push(unit);
        let last = self.units.len() - 1;
        if request.args.fresh || !self.status(&self.units[last]).is_done() {
            let experiment = &self.runs[last].experiment;
            self.check_memory(experiment)?;
            let _planning = Planning::begin();
            let loading = Loading::new(request.streams);
            loading.state(format!("reading the data of {}", experiment.name()));
            if let Some(fingerprint) = experiment.fingerprint(self.locator)? {
                self.units[last].config[FINGERPRINT] = fingerprint.into();
            }
        }
        Ok(())
    }

    fn check_memory(&self, experiment: &E) -> Result<(), HarnessError> {
        let needs = Needs {
            memory: experiment.memory(),
            disk: 0,
        };
        let remedy = "give fewer data, particles or instances at a time in a copy of its file";
        self.machine.check(needs, remedy)
    }

    fn of(&self, unit: &Unit) -> &Run<E> {
        let own = self.units.iter().position(|own| own.folder == unit.folder);
        &self.runs[own.expect("a unit of its own")]
    }

    /// The seed of the first run, and the profile's steps and those that are asked for.
    pub fn place(&self) -> (u64, [u64; 2]) {
        (self.units[0].seed, [self.of_profile, self.steps])
    }

    /// A result, as its type.
    ///
    /// # Errors
    /// One of another shape.
    pub fn read(
        &self,
        index: usize,
        result: &Value,
    ) -> Result<OfModel<E::Evaluation>, HarnessError> {
        serde_json::from_value(result.clone()).map_err(|source| HarnessError::Result {
            folder: self.units[index].folder.clone(),
            source,
        })
    }

    /// The experiment of a run.
    pub fn experiment(&self, index: usize) -> &E {
        &self.runs[index].experiment
    }

    /// Returns what the samplers of a finished run reached, as a column of a table of several models.
    ///
    /// # Errors
    /// A result of another shape.
    pub fn column(&self, index: usize, result: &Value) -> Result<Column, HarnessError> {
        let outcome = self.read(index, result)?;
        let folder = &self.units[index].folder;
        Ok(column_of(self.experiment(index), outcome, folder))
    }
}

impl<E: Stepwise> Experiment for Population<'_, E> {
    fn heading(&self) -> Heading {
        let experiment = &self.runs[0].experiment;
        let instead = match self.steps == self.of_profile {
            true => String::new(),
            false => format!(" instead of the profile's {}", self.of_profile),
        };
        let [step, measured] = experiment.plan();
        let training = count(self.steps as usize, "gradient step");
        let folder = self.units[0].folder.parent().unwrap_or("".as_ref());
        Heading {
            title: experiment.title().into(),
            facts: vec![
                ("training", format!("{training}{instead}; {step}")),
                (
                    "measured",
                    format!("{measured}; how long that takes is not known before"),
                ),
                ("device", self.device.as_str().into()),
                ("runs in", folder.display().to_string()),
            ],
            columns: vec!["Experiment"],
            may_end_early: false,
            remedy: "give fewer `--jobs`, or fewer data, particles or instances at a time in a copy of its file",
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn done_key(&self) -> &'static str {
        STEPS_DONE
    }

    /// A run that was measured by other settings is trained, if what its training ended with is there.
    fn status(&self, unit: &Unit) -> Status {
        let found: Status = status(&unit.folder, &unit.config, STEPS_DONE);
        match &found {
            Status::Done(result) if result[EVALUATION] != self.of(unit).evaluation => {}
            _ => return found,
        }
        let unusable = |reason: String| Status::Unusable { reason };
        match last_checkpoint(&unit.folder, STEPS_DONE) {
            Err(error) => unusable(error.to_string()),
            Ok(Some(steps)) if steps == unit.count.all => Status::Trained,
            Ok(_) => unusable(format!(
                "run folder {} is trained, but its checkpoints are gone, and it was measured by other settings; use the old \
                 `[evaluation]`, or start over (`--fresh` keeps this one aside)",
                unit.folder.display()
            )),
        }
    }

    /// The time of two gradient steps, or of shorter ones where these would take long; how long the evaluation takes is not known before.
    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let experiment = &self.runs[index].experiment;
        self.check_memory(experiment)?;
        let (shorter, times) = experiment.shorter();
        let place = (self.device, self.threads);
        let measured = measure(&shorter, place, self.locator, self.stop)?;
        Ok(Cost {
            work: Work {
                each: times * measured.step,
                ..Work::default()
            },
            needs: Needs {
                memory: experiment.memory(),
                // Parameters and Adam's two moments, in two checkpoints while a third is written.
                disk: 3 * bytes(&[3, measured.parameters]),
            },
        })
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (run, unit) = (&self.runs[index], &self.units[index]);
        let mut folder = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume)?;
        if let Some(result) = folder.result()?
            && result[EVALUATION] == run.evaluation
        {
            return Ok(result);
        }
        let on_progress = |what: &str| {
            observer.event(&Event::Evaluating {
                part: None,
                what: what.into(),
            });
            check_cancelled(stop)
        };
        let request = OfRun {
            steps: self.steps,
            device: self.device,
            threads: self.threads,
            locator: self.locator,
            folder: &mut folder,
            observe: &|event| observer.event(&events::of_steps(event)),
            on_progress: &on_progress,
            stop,
        };
        let outcome = compute(&run.experiment, request)?;
        write_tables(&run.experiment.document(&outcome), folder.path())?;
        let mut result = to_value(&outcome).expect("an outcome is plain data");
        result[EVALUATION] = run.evaluation.clone();
        if let Some(fingerprint) = unit.config.get(FINGERPRINT) {
            result[FINGERPRINT] = fingerprint.clone();
        }
        folder.finish(&result)?;
        Ok(result)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        self.read(index, result)?;
        let steps = count(self.steps as usize, "gradient step");
        Ok(format!("trained by {steps}, and measured"))
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let mut shown = Vec::new();
        let mut tables: Vec<(&Path, Document)> = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let Some(result) = result else { continue };
            let (unit, experiment) = (&self.units[index], &self.runs[index].experiment);
            let document = experiment.document(&self.read(index, result)?);
            tables.push((&unit.folder, document.clone()));
            shown.push(SeedDocument {
                seed: unit.seed,
                document,
                json: result.clone(),
            });
        }
        let together = together(self.runs[0].experiment.title(), shown);
        Ok(together.map(|(document, json)| Outcome {
            document,
            json,
            // As a run wrote it, or as it reads today: a run that was finished before writes nothing itself.
            write: Box::new(move || {
                let mut files = Vec::new();
                for (folder, document) in &tables {
                    files.extend(write_tables(document, folder)?);
                    files.extend(E::FILES.iter().map(|name| folder.join(name)));
                }
                files.retain(|file| file.exists());
                Ok(files)
            }),
        }))
    }
}
