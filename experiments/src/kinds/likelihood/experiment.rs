//! A table as an experiment: its cells are the units.

use super::costs::Costs;
use super::heading;
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::cli::Reproduce;
use crate::data::{Data, Wanted, banner, resolve_dataset};
use crate::device::Device;
use crate::folders::{self, base_folder};
use crate::published::Published;
use crate::registry::Registry;
use crate::request::Request;
use crate::source::Source;
use crate::spec::{Selection, Spec};
use crate::table::{self, Table, damages, files, gather};
use crate::trial::{CellRunner, Trial};
use helmholtz_datasets::DatasetName;
use helmholtz_harness::driver::Observer;
use helmholtz_harness::engine::job::quoted;
use helmholtz_harness::error::HarnessError;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Hint, Outcome};
use helmholtz_harness::plan_text::count;
use helmholtz_harness::schedule::{format_duration, makespan};
use helmholtz_harness::unit::Unit;
use helmholtz_harness::work::Count;
use serde_json::{Map, Value, json, to_value};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The cells of a table that are asked for.
pub struct Likelihood<'a> {
    args: &'a Reproduce,
    registry: &'a Registry,
    spec: Spec,
    data: Data,
    published: Option<Published>,
    /// Epochs other than the profile's.
    epochs: Option<u64>,
    base: PathBuf,
    trials: Vec<Trial>,
    units: Vec<Unit>,
    runner: Arc<dyn CellRunner>,
    costs: Arc<Costs>,
    jobs: usize,
}

/// Opens a table.
///
/// # Errors
/// A flag that means nothing to it, a file that makes no sense, an unknown name, data or a device that are not there.
pub fn open<'a>(request: &Request<'a>) -> Result<Likelihood<'a>, HarnessError> {
    let mut tables = open_all(request, slice::from_ref(request.source))?;
    Ok(tables.remove(0))
}

/// Opens the tables that these files describe, one at least, as the request has it: on the same data, by one runner.
///
/// # Errors
/// As [`open`].
pub fn open_all<'a>(
    request: &Request<'a>,
    sources: &[Source],
) -> Result<Vec<Likelihood<'a>>, HarnessError> {
    // Everything that can be wrong with the request is found before anything is loaded.
    let args = request.args;
    let specs = sources.iter().map(|source| checked(request, source));
    let specs: Vec<Spec> = specs.collect::<Result<_, _>>()?;
    args.device.check_built()?;
    let data = find_data(request, &specs[0])?;
    let of_spec = |spec: &Spec| trials(request, spec, &data);
    let all: Vec<Vec<Trial>> = specs.iter().map(of_spec).collect::<Result<_, _>>()?;
    let threads = request.threads(all.iter().map(Vec::len).sum());
    let runner = (request.new_runner)(args.device, Arc::clone(&data.splits), threads)?;
    let runner: Arc<dyn CellRunner> = runner.into();
    let costs = Arc::new(Costs::new(request.machine(), data.sizes()));
    let dataset = &data.splits.name;
    let table = |(spec, trials): (Spec, Vec<Trial>)| {
        let own = spec.cells(&args.profile, &selection(request, &data, None), dataset)?;
        let is_own = |&epochs: &u64| own.iter().all(|cell| cell.settings.epochs == epochs);
        let epochs = args.epochs.filter(|epochs| !is_own(epochs));
        let base = base_folder(&args.out, &spec.name, &args.profile, epochs, dataset);
        Ok(Likelihood {
            args,
            units: units(&trials, &base),
            costs: Arc::clone(&costs),
            trials,
            registry: request.registry,
            published: spec.published_for(dataset)?,
            spec,
            data: data.clone(),
            epochs,
            base,
            runner: Arc::clone(&runner),
            jobs: request.jobs(),
        })
    };
    specs.into_iter().zip(all).map(table).collect()
}

/// The table that a file describes, if the request makes sense of it.
fn checked(request: &Request<'_>, source: &Source) -> Result<Spec, HarnessError> {
    let args = request.args;
    let spec = Spec::parse(source, request.registry)?;
    let remedy = "its runs are counted in epochs; give --epochs";
    args.reject(&spec.name, &[("--steps", args.steps.is_some())], remedy)?;
    let named = spec.dataset_of(&args.profile)?;
    for cell in spec.cells(&args.profile, &chosen(args), named)? {
        request.registry.trial(&cell)?;
    }
    for table in spec.published.iter().chain(spec.published_on.values()) {
        Published::load(table)?;
    }
    Ok(spec)
}

/// What the command line chooses, whatever the data.
fn chosen(args: &Reproduce) -> Selection {
    Selection {
        nets: args.nets.clone(),
        methods: args.methods.clone(),
        particles: args.particles.clone(),
        seeds: args.seeds.clone().unwrap_or_default(),
        epochs: args.epochs,
        images: None,
    }
}

/// The same on these data, with so many epochs.
fn selection(request: &Request<'_>, data: &Data, epochs: Option<u64>) -> Selection {
    Selection {
        images: Some(data.splits.train.len()),
        epochs,
        ..chosen(request.args)
    }
}

/// The cells that are asked for, on these data.
fn trials(request: &Request<'_>, spec: &Spec, data: &Data) -> Result<Vec<Trial>, HarnessError> {
    let args = request.args;
    let selection = selection(request, data, args.epochs);
    let cells = spec.cells(&args.profile, &selection, &data.splits.name)?;
    let trial = |cell: Cell| request.registry.trial(&cell.on(&data.splits));
    cells.into_iter().map(trial).collect()
}

/// The data asked for, or the profile's substitute.
fn find_data(request: &Request, spec: &Spec) -> Result<Data, HarnessError> {
    let args = request.args;
    let profile = spec.profile(&args.profile)?;
    let requested = args.data.wanted()?;
    let wanted: DatasetName = match &requested {
        None => spec.dataset_of(&args.profile)?.parse()?,
        Some(Wanted::Known(name)) => *name,
        Some(own) => {
            return Ok(Data {
                splits: Arc::new(request.load(own)?),
                instead_of: None,
            });
        }
    };
    let loaded = request.load(&Wanted::Known(wanted));
    let data = resolve_dataset(
        &args.profile,
        profile,
        requested.as_ref(),
        wanted,
        loaded,
        |name| request.load(&Wanted::Known(name)),
    )?;
    if let Some((_, why)) = &data.instead_of {
        request.streams.err.line(why);
    }
    Ok(data)
}

fn units(trials: &[Trial], base: &Path) -> Vec<Unit> {
    let each_its_own = heading::one_particles(trials).is_none();
    let unit = |Trial { cell, .. }: &Trial| {
        let mut fields = Map::new();
        fields.insert("net".into(), cell.net.as_str().into());
        fields.insert("method".into(), cell.method.as_str().into());
        if let Some(particles) = cell.particles() {
            fields.insert("particles".into(), particles.into());
        }
        // Where each method has its own K, and no column names it.
        let method = match each_its_own && cell.particles().is_none() {
            true => format!("{}, K = {}", cell.method, cell.settings.particles),
            false => cell.method.clone(),
        };
        Unit {
            label: cell.label(),
            names: vec![cell.column(), method],
            seed: cell.seed,
            folder: cell.folder(base),
            config: folders::config(cell),
            count: Count {
                name: "epoch",
                all: cell.settings.epochs,
            },
            score: "NLL",
            fields,
        }
    };
    trials.iter().map(unit).collect()
}

impl Experiment for Likelihood<'_> {
    fn heading(&self) -> Heading {
        heading::of(
            self.args,
            &self.spec,
            &self.data,
            &self.trials,
            self.jobs,
            &self.base,
        )
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        self.costs.of(&*self.runner, &self.trials[index])
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let folder = &self.units[index].folder;
        if let Some(asked) = self.args.data.wanted()? {
            asked.remember(&self.base)?;
        }
        let result = self
            .runner
            .run(&self.trials[index], folder, observer, stop)?;
        Ok(to_value(result).expect("a result is plain data"))
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let result: CellResult = serde_json::from_value(result.clone()).map_err(|source| {
            let folder = self.units[index].folder.clone();
            HarnessError::Result { folder, source }
        })?;
        Ok(format!(
            "test NLL {:.2} at epoch {} of {}, {}",
            result.reported_nll(),
            result.selected_epoch,
            result.epochs_done,
            format_duration(result.seconds)
        ))
    }

    /// The table of all runs in its folder, of earlier requests too.
    fn outcome(&self, _: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let source = table::Source {
            spec: &self.spec,
            profile: &self.args.profile,
            epochs: self.epochs,
            dataset: &self.data.splits.name,
            images: Some(self.data.splits.train.len()),
            synthetic: self.data.splits.synthetic,
            published: self.published.as_ref(),
        };
        let cells: Vec<Cell> = self.trials.iter().map(|trial| trial.cell.clone()).collect();
        let found = gather(source, &self.base, &cells)?;
        let mut table = Table::build(source, &found)?;
        table.notes.splice(..0, damages(&self.base, &found));
        Ok(Some(Outcome {
            document: table::document(&table),
            json: json!(table),
            write: Box::new(move || files::write(&table, &self.base)),
        }))
    }

    fn banner(&self) -> Vec<String> {
        self.data
            .instead_of
            .as_ref()
            .map_or_else(Vec::new, |(wanted, _)| {
                let name = self.data.splits.name.parse().expect("loaded by its name");
                banner(name, *wanted)
            })
    }

    /// Returns the number of runs that the `paper` profile has for the selected nets and methods, and the seconds that they take
    /// here. It is given after `quick`, where the data are the paper's and the profile has what is selected.
    fn hint(&self, jobs: usize) -> Result<Option<Hint>, HarnessError> {
        match self.time_of_paper(jobs) {
            Err(HarnessError::Interrupted { epoch }) => Err(HarnessError::Interrupted { epoch }),
            time => {
                let time = time.unwrap_or(None);
                Ok(time.map(|(runs, seconds)| self.hint_of(runs, seconds, jobs)))
            }
        }
    }
}

impl Likelihood<'_> {
    /// The name of the data.
    pub fn dataset(&self) -> &str {
        &self.data.splits.name
    }

    /// The folder that the same request has of an experiment of another name.
    pub fn folder_of(&self, name: &str) -> PathBuf {
        let args = self.args;
        base_folder(&args.out, name, &args.profile, self.epochs, self.dataset())
    }

    fn time_of_paper(&self, jobs: usize) -> Result<Option<(usize, f64)>, HarnessError> {
        let (args, spec) = (self.args, &self.spec);
        let dataset = self.dataset();
        let has_one = args.profile == "quick" && spec.profile.contains_key("paper");
        // Other images would take another time.
        if !has_one || self.data.splits.synthetic || spec.dataset_of("paper")? != dataset {
            return Ok(None);
        }
        let selection = Selection {
            nets: args.nets.clone(),
            methods: args.methods.clone(),
            particles: args.particles.clone(),
            ..Selection::default()
        };
        let cells = spec.cells("paper", &selection, dataset)?;
        let runs = cells.len();
        let seconds = cells.into_iter().map(|cell| {
            let trial = self.registry.trial(&cell.on(&self.data.splits))?;
            let cost = self.costs.of(&*self.runner, &trial)?;
            Ok(cost.work.total(trial.cell.settings.epochs))
        });
        let mut seconds: Vec<f64> = seconds.collect::<Result<_, HarnessError>>()?;
        seconds.sort_by(|a, b| b.total_cmp(a));
        Ok(Some((runs, makespan(seconds, jobs))))
    }

    fn hint_of(&self, runs: usize, seconds: f64, jobs: usize) -> Hint {
        let args = self.args;
        let experiment = quoted(&args.experiment);
        let command = format!("cargo xtask reproduce {experiment} --profile paper");
        let mut command = crate::started::as_started(&command).into_owned();
        let particles = args.particles.iter().map(usize::to_string).collect();
        for (flag, values) in [
            ("--net", &args.nets),
            ("--method", &args.methods),
            ("--particles", &particles),
        ] {
            if !values.is_empty() {
                command += &format!(" {flag} {}", quoted(&values.join(",")));
            }
        }
        if args.device != Device::Cpu {
            command += &format!(" --device {}", args.device.as_str());
        }
        if let Some(folder) = &args.data_dir {
            command += &format!(" --data-dir {}", quoted(&folder.display().to_string()));
        }
        if args.out != Path::new("runs") {
            command += &format!(" --out {}", quoted(&args.out.display().to_string()));
        }
        if let Some(jobs) = args.jobs {
            command += &format!(" --jobs {jobs}");
        }
        Hint {
            text: format!(
                "\nThe paper profile ({}) would take about {} on this machine, {jobs} at once:\n  {command}",
                count(runs, "run"),
                format_duration(seconds),
            ),
            fields: json!({"paper_runs": runs, "paper_seconds": seconds}),
        }
    }
}
