//! The toy as an experiment: a run a seed.

use super::{Estimator, Outcome, Run, Settings};
use crate::backend::on_device;
use crate::device::Device;
use crate::request::Request;
use crate::seeds::{SeedDocument, together};
use helmholtz_harness::driver::{Event, Observer};
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{self as harness, Cost, Experiment, Heading};
use helmholtz_harness::machine::{Machine, Needs};
use helmholtz_harness::unit::Unit;
use helmholtz_harness::work::{Count, Work};
use helmholtz_report::Document;
use helmholtz_report::files::write_tables;
use helmholtz_runs::{OpenMode, Pieces, RunFolder};
use serde_json::{Map, Value, json, to_value};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The toy with the seeds that are asked for.
pub struct Toy {
    /// One for each seed.
    settings: Vec<Settings>,
    units: Vec<Unit>,
    machine: Machine,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense.
pub fn open(request: &Request<'_>) -> Result<Toy, HarnessError> {
    let (args, settings) = (request.args, Settings::parse(request.source)?);
    args.reject(
        &settings.name,
        &[
            ("--profile", args.profile != "quick"),
            ("--method", !args.methods.is_empty()),
            ("--net", !args.nets.is_empty()),
            ("--epochs", args.epochs.is_some()),
            ("--steps", args.steps.is_some()),
            ("--device", args.device != Device::Cpu),
            ("--data-dir", args.data_dir.is_some()),
            ("--dataset", args.data.dataset.is_some()),
            ("--particles", !args.particles.is_empty()),
        ],
        "it takes --seeds, --jobs, --out, --dry-run, --json and --fresh. The rest is set in its file, and an edited copy of \
         experiments/arm-toy.toml is run by its path",
    )?;
    let seeds = args.seeds.clone().unwrap_or(vec![settings.seed]);
    let of_seed = |&seed: &u64| Settings {
        seed,
        ..settings.clone()
    };
    let settings: Vec<Settings> = seeds.iter().map(of_seed).collect();
    let unit = |settings: &Settings| Unit {
        label: format!("{} / seed {}", settings.name, settings.seed),
        names: vec![settings.name.clone()],
        seed: settings.seed,
        folder: args
            .out
            .join(&settings.name)
            .join(format!("seed-{}", settings.seed)),
        config: to_value(settings).expect("settings are plain data"),
        count: Count {
            name: "part",
            all: settings.parts(),
        },
        score: "",
        fields: Map::new(),
    };
    Ok(Toy {
        units: settings.iter().map(unit).collect(),
        settings,
        machine: request.machine(),
    })
}

/// Factor by which the experiment whose time is taken is smaller.
const SMALLER: usize = 100;

/// For how long one copy is timed at most, before a smaller one is.
const LONGEST: Duration = Duration::from_secs(3);

impl Experiment for Toy {
    fn heading(&self) -> Heading {
        let settings = &self.settings[0];
        let a = &settings.ascent;
        let labels = |estimators: &[Estimator]| -> String {
            let labels: Vec<_> = estimators.iter().map(|e| e.label()).collect();
            labels.join(", ")
        };
        let k: Vec<String> = a.samples.iter().map(usize::to_string).collect();
        let ascent = format!(
            "{} problems × {} runs, {} iterations; {}; K = {}",
            a.targets.len(),
            a.replicates,
            a.iterations,
            labels(&a.estimators),
            k.join(", ")
        );
        let c = &settings.classes;
        let classes = format!(
            "{} iterations, {} classes; {}",
            c.iterations,
            c.classes,
            labels(&c.estimators)
        );
        let folder = self.units[0].folder.parent().unwrap_or("".as_ref());
        Heading {
            title: settings.title.clone(),
            facts: vec![
                ("ascent", ascent),
                ("variance", labels(&settings.variance.estimators)),
                ("classes", classes),
                ("T1", labels(&settings.t1.estimators)),
                ("runs in", folder.display().to_string()),
            ],
            columns: vec!["Experiment"],
            may_end_early: false,
            remedy: "give another `--out`",
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    /// From the time of a copy with fewer iterations and replicates: as few as it takes for seconds.
    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let whole = &self.settings[index];
        let needs = Needs {
            memory: whole.memory(),
            disk: whole.disk(),
        };
        self.machine.check(
            needs,
            "give fewer replicates or samples in a copy of its file",
        )?;
        let mut times = SMALLER;
        let seconds = loop {
            let (settings, start) = (whole.smaller(times), Instant::now());
            let last = times > usize::MAX / SMALLER;
            let before = |_: &str| match !last && start.elapsed() > LONGEST {
                true => Err(HarnessError::Interrupted { epoch: 0 }),
                false => Ok(()),
            };
            let run = Run {
                settings: &settings,
                before: &before,
                after: &|_| (),
                pieces: &Pieces::none(),
            };
            match on_device(Device::Cpu, run) {
                Ok(_) => break times as f64 * start.elapsed().as_secs_f64(),
                Err(HarnessError::Interrupted { .. }) => times = times.saturating_mul(SMALLER),
                Err(error) => return Err(error),
            }
        };
        Ok(Cost {
            work: Work {
                each: seconds / whole.parts() as f64,
                ..Work::default()
            },
            needs,
        })
    }

    /// A part is not divided.
    fn stops_within(&self, cost: &Cost) -> f64 {
        cost.work.each
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (settings, unit) = (&self.settings[index], &self.units[index]);
        let mut folder = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume)?;
        if let Some(result) = folder.result()? {
            return Ok(result);
        }
        let pieces = folder.pieces(&json!("toy"))?;
        let before = |what: &str| {
            observer.event(&Event::Evaluating {
                part: None,
                what: what.into(),
            });
            helmholtz_harness::cancel::check_cancelled(stop)
        };
        let after = |done: u64| {
            observer.event(&Event::Step {
                done: done as f64,
                score: None,
            });
        };
        let run = Run {
            settings,
            before: &before,
            after: &after,
            pieces: &pieces,
        };
        let report = on_device(Device::Cpu, run)?;
        for (name, figure) in &report.figures {
            figure.write(folder.path(), name)?;
        }
        let outcome = Outcome {
            numbers: report.numbers,
            provenance: folder.provenance(settings.seed, Device::Cpu.as_str()),
        };
        write_tables(&outcome.document(settings), folder.path())?;
        let result = to_value(&outcome).expect("an outcome is plain data");
        folder.finish(&result)?;
        Ok(result)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let outcome: Outcome = self.units[index].result(result)?;
        Ok(format!("{} ascents", outcome.numbers.ascents.len()))
    }

    fn outcome(
        &self,
        results: &[Option<Value>],
    ) -> Result<Option<harness::Outcome<'_>>, HarnessError> {
        let mut shown = Vec::new();
        let mut tables: Vec<(&Path, Document)> = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let Some(result) = result else { continue };
            let (settings, unit) = (&self.settings[index], &self.units[index]);
            let outcome: Outcome = unit.result(result)?;
            let document = outcome.document(settings);
            tables.push((&unit.folder, document.clone()));
            shown.push(SeedDocument {
                seed: settings.seed,
                document,
                json: result.clone(),
            });
        }
        let together = together(&self.settings[0].title, shown);
        Ok(together.map(|(document, json)| harness::Outcome {
            document,
            json,
            write: Box::new(move || {
                let mut files = Vec::new();
                for (folder, document) in &tables {
                    files.extend(write_tables(document, folder)?);
                    files.extend(FIGURES.map(|name| folder.join(name)));
                }
                Ok(files)
            }),
        }))
    }
}

/// Figures that a run draws, each beside its data.
const FIGURES: [&str; 4] = [
    "trajectories.svg",
    "gradients.svg",
    "variance.svg",
    "classes.svg",
];
