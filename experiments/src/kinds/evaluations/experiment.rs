//! The finished runs of a table, a unit each.

use super::document::{Evaluated, document};
use crate::backend::on_net;
use crate::cell::Cell;
use crate::data::Wanted;
use crate::device::Device;
use crate::error::HarnessError;
use crate::folders::base_folder;
use crate::profiles::named;
use crate::request::Request;
use crate::source::{Kind, Source};
use crate::spec::{Selection, Spec};
use crate::trained::Run;
use crate::trial::Trial;
use crate::works::evaluate::{Formula, Work, in_pieces};
use crate::works::outcome::Evaluation;
use helmholtz_datasets::Splits;
use helmholtz_evaluation::{LogLikelihoods, LogWeights, Nll};
use helmholtz_harness::driver::{Event, Observer};
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::machine::Needs;
use helmholtz_harness::plan_text::count;
use helmholtz_harness::unit::Unit;
use helmholtz_harness::work::{Count, Work as Seconds};
use helmholtz_report::files::write_tables;
use helmholtz_runs::{OpenMode, RunFolder};
use helmholtz_training::Parameters;
use serde::Deserialize;
use serde_json::{Map, Value, json, to_value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// `experiments/table1-samples.toml`, or a file like it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// [`Kind::Evaluations`].
    pub kind: Kind,
    /// Names the folders.
    pub name: String,
    /// Heads the table.
    pub title: String,
    /// The experiment whose runs are evaluated.
    pub table: String,
    /// Profiles: which runs, and how.
    pub profile: BTreeMap<String, Profile>,
}

/// A scale.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The profile of the runs.
    pub profile: String,
    /// S, ascending.
    pub samples: Vec<usize>,
}

impl Settings {
    fn parse(request: &Request<'_>) -> Result<(Self, Spec), HarnessError> {
        let source = request.source;
        let settings: Self = source.parse()?;
        let senseless = |profile: &Profile| {
            let samples = &profile.samples;
            samples.is_empty() || !samples.is_sorted_by(|a, b| a < b)
        };
        let senseless = settings.profile.values().any(senseless);
        source.check(senseless.then_some("`samples` are at least one number, ascending"))?;
        let spec = Spec::parse(&Source::find(&settings.table)?, request.registry)?;
        Ok((settings, spec))
    }
}

/// The runs that are there.
pub struct Evaluations {
    title: String,
    samples: Vec<usize>,
    runs: Vec<Run>,
    /// What they trained.
    trials: Vec<Trial>,
    units: Vec<Unit>,
    /// Runs that are asked for, and are not there or not finished.
    missing: Vec<String>,
    data: Arc<Splits>,
    base: PathBuf,
    device: Device,
    threads: usize,
}

/// Bytes of an estimate of an image: two numbers as text in a piece, and one in the file beside the result.
const BYTES_OF_AN_ESTIMATE: u64 = 2 * 24 + 8;

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, an unknown name, no finished run, data that are not the runs'.
pub fn open(request: &Request<'_>) -> Result<Evaluations, HarnessError> {
    let args = request.args;
    let (settings, spec) = Settings::parse(request)?;
    args.reject(
        &settings.name,
        &[("--steps", args.steps.is_some())],
        "it evaluates finished runs of a table, and takes what chooses them: --profile, --net, --method, --particles, --seeds, \
         --epochs and --dataset",
    )?;
    let Profile { profile, samples } = named("profile", &args.profile, &settings.profile)?.clone();
    let wanted = match args.data.wanted()? {
        Some(wanted) => wanted,
        None => Wanted::Known(spec.dataset_of(&profile)?.parse()?),
    };
    let data = Arc::new(request.load(&wanted)?);
    let selection = Selection {
        nets: args.nets.clone(),
        methods: args.methods.clone(),
        particles: args.particles.clone(),
        seeds: args.seeds.clone().unwrap_or_default(),
        epochs: args.epochs,
        images: Some(data.train.len()),
    };
    let own = spec.epochs(&profile)?;
    let epochs = args.epochs.filter(|&epochs| epochs != own);
    let of_runs = base_folder(&args.out, &spec.name, &profile, epochs, &data.name);
    let base = base_folder(&args.out, &settings.name, &args.profile, epochs, &data.name);
    let cells = spec.cells(&profile, &selection, &data.name)?;
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for cell in cells {
        match finished(&cell, &of_runs) {
            Some(run) => {
                run.check_data(&data)?;
                runs.push(run);
            }
            None => missing.push(cell.label()),
        }
    }
    if runs.is_empty() {
        return Err(HarnessError::Unusable(format!(
            "{} evaluates the finished runs of {}, and there are none in {}; this makes them:\n  cargo xtask reproduce {} --profile {profile}",
            settings.name,
            spec.name,
            of_runs.display(),
            spec.name
        )));
    }
    let trials = runs.iter().map(|run| request.registry.trial(&run.cell));
    let trials = trials.collect::<Result<_, _>>()?;
    let unit = |run: &Run| unit(run, &base, &samples);
    Ok(Evaluations {
        units: runs.iter().map(unit).collect(),
        title: settings.title,
        threads: request.threads(runs.len()),
        device: args.device,
        samples,
        runs,
        trials,
        missing,
        data,
        base,
    })
}

/// The cell's run, if it is finished and keeps its parameters.
fn finished(cell: &Cell, base: &std::path::Path) -> Option<Run> {
    let folder = cell.folder(base);
    let status = RunFolder::peek(&folder).ok()?;
    matches!(status, helmholtz_runs::Status::Finished(_)).then_some(())?;
    Run::read(&folder, Parameters::Selected).ok()
}

fn unit(run: &Run, base: &std::path::Path, samples: &[usize]) -> Unit {
    let cell = &run.cell;
    let mut fields = Map::new();
    fields.insert("net".into(), cell.net.as_str().into());
    fields.insert("method".into(), cell.method.as_str().into());
    Unit {
        label: cell.label(),
        names: vec![cell.column(), cell.method.clone()],
        seed: cell.seed,
        folder: cell.folder(base),
        config: json!({
            "title": format!("{}: {}, with several numbers of samples", cell.experiment, cell.label()),
            "cell": cell,
            "epoch": run.epoch(),
            "samples": samples,
        }),
        count: Count {
            name: "image",
            all: 0,
        },
        score: "",
        fields,
    }
}

impl Experiment for Evaluations {
    fn heading(&self) -> Heading {
        let samples: Vec<String> = self.samples.iter().map(usize::to_string).collect();
        let mut facts = vec![
            (
                "samples",
                format!(
                    "S = {} on {} test images",
                    samples.join(", "),
                    self.data.test.len()
                ),
            ),
            ("device", self.device.as_str().into()),
            ("runs in", self.base.display().to_string()),
        ];
        if !self.missing.is_empty() {
            facts.push((
                "left out",
                format!("{}, not finished", count(self.missing.len(), "run")),
            ));
        }
        Heading {
            title: self.title.clone(),
            facts,
            columns: vec!["Net", "Method"],
            may_end_early: false,
            remedy: "give fewer `--jobs`",
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    /// From the time of a few images with a thousand samples, or fewer.
    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let few = self.data.test.len().min(20);
        let start = Instant::now();
        let never = AtomicBool::new(false);
        let largest = self.samples.iter().copied().max().unwrap_or(1);
        let samples = largest.min(1000);
        self.weights(index, 0..few, &[samples], &|_| (), &never)?;
        let times = largest as f64 / samples as f64;
        let each = times * start.elapsed().as_secs_f64() / few.max(1) as f64;
        Ok(Cost {
            work: Seconds {
                last: each * self.data.test.len() as f64,
                ..Seconds::default()
            },
            needs: Needs {
                memory: self.runs[index]
                    .checkpoint
                    .parts
                    .values()
                    .map(|part| part.len() as u64)
                    .sum(),
                disk: (self.data.test.len() * self.samples.len()) as u64 * BYTES_OF_AN_ESTIMATE,
            },
        })
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (unit, run) = (&self.units[index], &self.runs[index]);
        let mut folder = RunFolder::open(&unit.folder, &unit.config, OpenMode::Resume)?;
        if let Some(result) = folder.result()? {
            return Ok(result);
        }
        let pieces = folder.pieces(&json!("evaluations"))?;
        let all = self.data.test.len();
        let weights = in_pieces(all, self.threads, "weights", &pieces, |rows| {
            let part = Some(rows.start as f64 / all as f64);
            let state = |what: String| observer.event(&Event::Evaluating { part, what });
            self.weights(index, rows, &self.samples, &state, stop)
        })?
        .concat();
        let kept = LogLikelihoods::new(&self.samples, &weights);
        let result = Evaluation {
            rows: Nll::each(&weights, &self.samples),
            log_likelihoods: crate::log_likelihoods::write(folder.path(), &kept)?,
            provenance: folder.provenance(run.cell.seed, self.device.as_str()),
        };
        let result = to_value(&result).expect("a result is plain data");
        folder.finish(&result)?;
        Ok(result)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let Evaluation { rows, .. } = self.units[index].result(result)?;
        let rows = rows
            .iter()
            .map(|row| format!("{:.2} (S = {})", row.mean, row.samples));
        Ok(format!("NLL {}", rows.collect::<Vec<_>>().join(", ")))
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let mut found = Vec::new();
        for (index, result) in results.iter().enumerate() {
            if let Some(result) = result {
                let Evaluation { rows, .. } = self.units[index].result(result)?;
                found.push(Evaluated::new(&self.runs[index].cell, rows));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let document = document(&self.title, &self.data.name, &found);
        let rows: Vec<Value> = found
            .iter()
            .map(|run| json!({"run": run.label, "rows": run.rows}))
            .collect();
        let shown = document.clone();
        Ok(Some(Outcome {
            document,
            json: json!(rows),
            write: Box::new(move || Ok(write_tables(&shown, &self.base)?)),
        }))
    }
}

impl Evaluations {
    fn weights(
        &self,
        index: usize,
        rows: std::ops::Range<usize>,
        samples: &[usize],
        state: &(dyn Fn(String) + Sync),
        stop: &AtomicBool,
    ) -> Result<Option<Vec<LogWeights>>, HarnessError> {
        let (run, Trial { net, entry, .. }) = (&self.runs[index], &self.trials[index]);
        let work = Work {
            run,
            method: entry.method,
            images: &self.data.test,
            rows,
            samples,
            formula: Formula::Likelihood,
            tempered: None,
            seed: run.cell.seed,
            threads: self.threads,
            state,
            stop,
        };
        let evaluated = on_net(self.device, net.clone(), run.cell.seed, work)?;
        Ok(evaluated.map(|evaluated| evaluated.weights))
    }
}
