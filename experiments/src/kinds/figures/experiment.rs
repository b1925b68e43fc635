//! A figure as an experiment: it trains nothing, and draws the runs of a table as far as they are there.

use super::curves::Quantity;
use super::runs::{Found, Run, command, figure, runs};
use super::settings::Settings;
use crate::cli::Reproduce;
use crate::data::Wanted;
use crate::device::Device;
use crate::folders::base_folder;
use crate::names::lookup;
use crate::request::Request;
use helmholtz_datasets::is_own;
use helmholtz_harness::driver::Observer;
use helmholtz_harness::engine::job::quoted;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::unit::Unit;
use helmholtz_report::{Block, Cell, Document, Note, Table};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The figure of the runs that are there.
pub struct Curves {
    settings: Settings,
    runs: Vec<Run>,
    /// Folders where they were looked for.
    searched: String,
    /// The command that makes the others.
    missing: Option<String>,
    dataset: String,
    folder: PathBuf,
}

/// Opens it.
///
/// # Errors
/// A flag that means nothing here, an unknown name, no runs at all.
pub fn open(request: &Request<'_>) -> Result<Curves, HarnessError> {
    let args = request.args;
    let (mut settings, spec) = Settings::parse(request.source, request.registry)?;
    args.reject(
        &settings.name,
        &[
            ("--net", !args.nets.is_empty()),
            ("--particles", !args.particles.is_empty()),
            ("--steps", args.steps.is_some()),
            ("--device", args.device != Device::Cpu),
            ("--data-dir", args.data_dir.is_some()),
            ("--jobs", args.jobs.is_some()),
            ("--fresh", args.fresh),
        ],
        &format!(
            "it trains nothing, and draws the runs of {}; it takes --profile, --method, --seeds, --epochs, --dataset, --out, \
             --dry-run and --json",
            settings.table
        ),
    )?;
    for method in &args.methods {
        lookup("method", method, &spec.method, |m| &m.name)?;
    }
    if !args.methods.is_empty() {
        settings.methods = Vec::new();
        for method in &args.methods {
            if !settings.methods.contains(method) {
                settings.methods.push(method.clone());
            }
        }
    }
    let of_profile = spec.epochs(&args.profile)?;
    let epochs = args.epochs.filter(|&epochs| epochs != of_profile);
    let dataset = match &args.data.wanted()? {
        Some(wanted) => name_of(wanted, request)?,
        None => spec.dataset_of(&args.profile)?.to_string(),
    };
    let seeds = args.seeds.as_deref().unwrap_or_default();
    let place = |name: &str, profile: &str| -> PathBuf {
        let folder = base_folder(&args.out, name, profile, epochs, "");
        // Without the data set, and the separator before it.
        folder.components().collect()
    };
    let profiles = spec.training_as(&args.profile)?.into_iter();
    let searched: Vec<PathBuf> = profiles.map(|name| place(&spec.name, name)).collect();
    let (runs, problems) = runs(&settings, &spec, &dataset, seeds, &searched)?;
    for problem in &problems {
        let line = format!("warning: {}", problem.display());
        request.streams.err.line(line);
    }
    let searched = searched.iter().map(|path| path.display().to_string());
    let searched = searched.collect::<Vec<_>>().join(", ");
    let but = match problems.is_empty() {
        true => "",
        false => ", but for what the warnings are about",
    };
    let missing = command(&settings, &runs, &flags(args, epochs));
    if runs.iter().all(|run| run.found.is_none()) {
        return Err(HarnessError::Unusable(format!(
            "{} is drawn from the runs of {}, and there are none in {searched}; this makes them{but}:\n  {}",
            settings.name,
            settings.table,
            missing.unwrap_or_default()
        )));
    }
    Ok(Curves {
        folder: place(&settings.name, &args.profile).join(&dataset),
        dataset,
        settings,
        runs,
        searched,
        missing,
    })
}

/// The name that runs on these data have. One's own are read for it, unless they are called by it.
fn name_of(wanted: &Wanted, request: &Request<'_>) -> Result<String, HarnessError> {
    match wanted {
        Wanted::Known(name) => Ok(name.to_string()),
        Wanted::Added(name) if is_own(name) => Ok(name.clone()),
        wanted => Ok(request.load(wanted)?.name),
    }
}

impl Experiment for Curves {
    fn heading(&self) -> Heading {
        let runs = format!("of {} in {}", self.settings.table, self.searched);
        Heading {
            title: self.settings.title.clone(),
            facts: vec![("runs", runs)],
            ..Heading::default()
        }
    }

    fn units(&self) -> &[Unit] {
        &[]
    }

    fn cost(&self, _: usize) -> Result<Cost, HarnessError> {
        unreachable!("there is nothing to run")
    }

    fn run(&self, _: usize, _: &dyn Observer, _: &AtomicBool) -> Result<Value, HarnessError> {
        unreachable!("there is nothing to run")
    }

    fn summary(&self, _: usize, _: &Value) -> Result<String, HarnessError> {
        unreachable!("there is nothing to run")
    }

    fn outcome(&self, _: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let runs: Vec<Value> = self.runs.iter().map(of_json).collect();
        Ok(Some(Outcome {
            document: self.document(),
            json: json!({"runs": runs, "command": self.missing}),
            write: Box::new(|| {
                let figure = figure(&self.settings, &self.runs, &self.dataset);
                Ok(figure.write(&self.folder, &self.settings.name)?.to_vec())
            }),
        }))
    }
}

impl Curves {
    fn document(&self) -> Document {
        let mut table = Table::new("runs", "", ["Net", "Method", "Seed", "Epochs", "Folder"]);
        for run in &self.runs {
            let particles = run.particles;
            let particles = particles.map_or(String::new(), |k| format!(", K = {k}"));
            let names = [format!("{}{particles}", run.net), run.method.clone()];
            let [net, method] = names.map(Cell::from);
            let Some(found) = &run.found else {
                table.push([net, method, "-".into(), "-".into(), "not there".into()]);
                continue;
            };
            let Found {
                seed,
                done,
                planned,
                folder,
                line,
            } = found;
            let drawn = line.curve.points.iter().any(|point| point.train.is_some());
            let train = match drawn || self.settings.quantity != Quantity::Nll {
                true => "",
                false => ", no training NLL (`train_images` of its settings)",
            };
            let epochs = format!("{done} of {planned} epochs{train}");
            let folder = folder.display().to_string();
            table.push([
                net,
                method,
                Cell::count(*seed),
                epochs.into(),
                folder.into(),
            ]);
        }
        let mut blocks = vec![Block::Table(table)];
        if let Some(command) = &self.missing {
            let note = "This makes the runs that are not there:".to_string();
            blocks.push(Block::Notes(vec![Note::remark(note)]));
            blocks.push(Block::Verbatim(format!("  {command}")));
        }
        Document::of_blocks(&self.settings.title, blocks)
    }
}

fn of_json(run: &Run) -> Value {
    let found = run.found.as_ref();
    json!({
        "net": run.net,
        "particles": run.particles,
        "method": run.method,
        "seed": found.map(|found| found.seed),
        "epochs_done": found.map(|found| found.done),
        "epochs_planned": found.map(|found| found.planned),
        "folder": found.map(|found| found.folder.display().to_string()),
    })
}

/// The flags of a request that the command for missing runs shares.
fn flags(args: &Reproduce, epochs: Option<u64>) -> String {
    let mut flags = format!(" --profile {}", args.profile);
    if let Some(epochs) = epochs {
        flags += &format!(" --epochs {epochs}");
    }
    if let Some(seeds) = &args.seeds {
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        flags += &format!(" --seeds {}", seeds.join(","));
    }
    if let Some(dataset) = &args.data.dataset {
        flags += &format!(" --dataset {dataset}");
    }
    if args.out != Path::new("runs") {
        flags += &format!(" --out {}", quoted(&args.out.to_string_lossy()));
    }
    flags
}
