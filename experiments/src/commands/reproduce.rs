//! `reproduce`: plans, runs and resumes the cells of an experiment, and shows the table.

use super::loading::{Loading, Planning};
use super::plan_text::{self, Heading, count};
use super::streams::Streams;
use super::{apg_kl, apg_table, arm_toy, curves, quoted, stepwise, variance_curve};
use crate::cell::Cell;
use crate::cell_runner::CellRunner;
use crate::cli::Reproduce;
use crate::data::{self, Data, Wanted, banner, resolve_dataset};
use crate::device::Device;
use crate::driver::{Outcome, drive, unless_stopped};
use crate::error::HarnessError;
use crate::existing;
use crate::machine::{Machine, Needs};
use crate::nets::Net;
use crate::plan::{CellStatus, Costs, Plan, PlannedCell, base_folder, step_bytes};
use crate::progress::bars::Bars;
use crate::progress::board::Board;
use crate::progress::json::Json;
use crate::progress::lines::Lines;
use crate::progress::{Progress, Sink};
use crate::published::Published;
use crate::registry::Registry;
use crate::schedule::{Sizes, say};
use crate::source::{Kind, Source};
use crate::spec::{Selection, Spec};
use crate::table::{self, Table, damages, files, gather};
use crate::{apg_bmnist, apg_dmm, apg_gmm};
use console::style;
use helmholtz_datasets::{DatasetName, Locator, Splits, load};
use helmholtz_report::text;
use helmholtz_runs::RunError;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes the runner for a device, data and threads of an evaluation; the program's is [`crate::runner::new`].
pub type NewRunner =
    dyn Fn(Device, Arc<Splits>, usize) -> Result<Box<dyn CellRunner>, HarnessError>;

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Everything asked for is done.
    Complete,
    /// Some cells failed; the errors have been shown.
    Failed,
    /// Stopped on request; the same command resumes.
    Interrupted,
}

/// Carries out a request, until it is done or `stop` is set.
///
/// # Errors
/// What keeps the request from starting: unknown names, missing data or device, a stop before anything ran
/// ([`HarnessError::Interrupted`]). Errors of single cells are shown at the end and give [`End::Failed`].
pub fn reproduce(
    args: &Reproduce,
    registry: &Registry,
    locator: Locator,
    new_runner: &NewRunner,
    stop: &Arc<AtomicBool>,
    streams: &Streams,
) -> Result<End, HarnessError> {
    // Everything that can be wrong with the request is found before anything is loaded.
    let source = Source::find(&args.experiment)?;
    let spec = match source.kind()? {
        Kind::Table => Spec::parse(&source, registry)?,
        Kind::ArmToy => return arm_toy::reproduce(args, &source, stop, streams),
        Kind::ApgGmm => {
            let run = stepwise::reproduce::<apg_gmm::Settings>;
            return run(args, &source, &locator, stop, streams);
        }
        Kind::ApgDmm => {
            let run = stepwise::reproduce::<apg_dmm::Settings>;
            return run(args, &source, &locator, stop, streams);
        }
        Kind::ApgBmnist => {
            let run = stepwise::reproduce::<apg_bmnist::Settings>;
            return run(args, &source, &locator, stop, streams);
        }
        Kind::ApgKl => return apg_kl::reproduce(args, &source, &locator, stop, streams),
        Kind::ApgTable => return apg_table::reproduce(args, &source, &locator, stop, streams),
        Kind::Curves => return curves::reproduce(args, &source, streams),
        Kind::VarianceCurve => {
            return variance_curve::reproduce(args, &source, &locator, stop, streams);
        }
    };
    let remedy = "its runs are counted in epochs; give --epochs";
    args.refuse(&spec.name, &[("--steps", args.steps.is_some())], remedy)?;
    let selection = Selection {
        nets: args.nets.clone(),
        methods: args.methods.clone(),
        particles: args.particles.clone(),
        seeds: args.seeds.clone().unwrap_or_default(),
        epochs: args.epochs,
    };
    for cell in spec.cells(&args.profile, &selection, "")? {
        Net::of(&cell)?;
    }
    for table in spec.published.iter().chain(spec.published_on.values()) {
        Published::load(table)?;
    }
    args.device.check_built()?;

    let data = find_data(args, &spec, &locator, streams)?;
    let dataset = &data.splits.name;
    let published = spec.published_for(dataset)?;
    let own = Selection {
        epochs: None,
        ..selection.clone()
    };
    let own = spec.cells(&args.profile, &own, dataset)?;
    let is_own = |&epochs: &u64| own.iter().all(|cell| cell.settings.epochs == epochs);
    let epochs = args.epochs.filter(|epochs| !is_own(epochs));
    let base = base_folder(&args.out, &spec.name, &args.profile, epochs, dataset);
    if let (Some(wanted), false) = (args.wanted()?, args.dry_run) {
        wanted.remember(&base)?;
    }
    let cells = spec.cells(&args.profile, &selection, dataset)?.into_iter();
    let cells: Vec<Cell> = cells.map(|cell| cell.on(&data.splits)).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = match args.jobs {
        Some(jobs) => jobs as usize,
        None => cores,
    };
    let threads = (cores / jobs.min(cells.len()).max(1)).max(1);
    let runner = new_runner(args.device, Arc::clone(&data.splits), threads)?;

    let machine = Machine::with_runs_in(&args.out).on(args.device);
    let (mut plan, paper) = {
        let (_planning, loading) = (Planning::begin(), Loading::new(streams));
        let measuring = |cell: &Cell| {
            loading.state(format!("measuring {} / {}", cell.column(), cell.method));
            unless_stopped(stop)?;
            check_step(&machine, cell, data.sizes())
        };
        let mut costs = Costs::new(&*runner, data.sizes(), &measuring);
        let plan = Plan::new(cells.clone(), &base, args.fresh, &mut costs)?;
        (plan, paper_time(args, &spec, &data, jobs, &mut costs)?)
    };
    if args.json {
        streams.out.line(plan_json(&plan, jobs, paper).to_string());
    } else {
        let heading = Heading {
            spec: &spec,
            profile: &args.profile,
            dataset,
            sizes: data.sizes(),
            device: args.device.as_str(),
            jobs,
            base: &base.display().to_string(),
        };
        let text = plan_text::render(&plan, &heading, streams.out_colours);
        streams.out.line(text);
    }
    let remedy = "give fewer `--jobs` or another `--out`, or choose some of the `--method`s, `--net`s and `--seeds`";
    machine.check(plan.needs(jobs), remedy)?;
    let (outcomes, shown) = if args.dry_run {
        (Vec::new(), Ok(()))
    } else {
        if args.fresh {
            start_over(&mut plan);
        }
        let sinks = sinks(args, &plan, jobs, streams);
        let progress = Progress::new(&plan, jobs, Arc::clone(stop), sinks);
        let outcomes = drive(&*runner, &plan.cells, &plan.queue(), jobs, &progress, stop);
        progress.finish();

        let source = table::Source {
            spec: &spec,
            profile: &args.profile,
            epochs,
            dataset,
            synthetic: data.splits.synthetic,
            published: published.as_ref(),
        };
        let shown = gather(source, &base, &cells)
            .and_then(|found| {
                let mut table = Table::build(source, &found)?;
                table.notes.splice(..0, damages(&base, &found));
                Ok(table)
            })
            .and_then(|table| show_table(args, &plan, &table, &data, &base, streams));
        (outcomes, shown)
    };

    let end = end(args, &plan, &outcomes, streams);
    shown?;
    if end == End::Complete {
        say_paper(paper, args, jobs, streams);
    }
    Ok(end)
}

/// That there is the memory for a training step of the cell.
pub(super) fn check_step(machine: &Machine, cell: &Cell, sizes: Sizes) -> Result<(), HarnessError> {
    let needs = Needs {
        memory: step_bytes(cell, sizes),
        disk: 0,
    };
    machine.check(needs, "choose fewer `particles` or a smaller `batch`")
}

/// Empties the run folders of a plan, keeping the old ones aside; one that cannot be is left, and not run.
fn start_over(plan: &mut Plan) {
    for planned in &mut plan.cells {
        if let Err(error) = existing::start_over(&planned.folder, &planned.cell) {
            planned.status = CellStatus::Unusable {
                reason: error.to_string(),
            };
        }
    }
}

/// Shows the table, and writes it to its files unless a folder could not be used: they may hold what is in there.
fn show_table(
    args: &Reproduce,
    plan: &Plan,
    table: &Table,
    data: &Data,
    base: &Path,
    streams: &Streams,
) -> Result<(), HarnessError> {
    if args.json {
        let line = json!({"event": "table", "table": table}).to_string();
        streams.out.line(line);
    } else {
        streams.out.line("");
        let shown = text::render(&table::document(table), streams.out_colours);
        streams.out.line(shown);
        say_data(data, streams);
    }
    if plan.has_unusable() {
        streams.err.line(format!(
            "Not written, as not every run folder can be used: table.md, table.csv and table.json in {} are left as they were.",
            base.display()
        ));
        return Ok(());
    }
    let written = files::write(table, base)?;
    if !args.json {
        let line = format!("Written to {}", named_together(&written));
        streams.out.line(line);
    }
    Ok(())
}

/// Shows every error, says how to go on, and tells how it ended.
fn end(args: &Reproduce, plan: &Plan, outcomes: &[Outcome], streams: &Streams) -> End {
    let without = if args.fresh { " without --fresh" } else { "" };
    let (mut failures, mut again) = (Vec::new(), false);
    for (index, planned) in plan.cells.iter().enumerate() {
        let label = planned.cell.label();
        match (&planned.status, outcomes.get(index)) {
            (_, Some(Outcome::Failed(error))) => {
                again |= tries_again(planned, error);
                failures.push(format!("  {label}: {error}"));
            }
            (CellStatus::Unusable { reason }, None) => {
                failures.push(format!("  {label}: {reason}"))
            }
            _ => {}
        }
    }
    if !failures.is_empty() {
        let title = match args.dry_run {
            true => format!("{} cannot be run:", count(failures.len(), "run")),
            false => format!("{} failed:", count(failures.len(), "run")),
        };
        streams.err.line("");
        streams
            .err
            .line(style(title).for_stderr().red().bold().to_string());
        failures
            .iter()
            .for_each(|failure| streams.err.line(failure));
        if again {
            streams.err.line(format!(
                "The same command{without} tries again, from the last checkpoint of each."
            ));
        }
    }
    let is_stopped =
        |outcome: &Outcome| matches!(outcome, Outcome::Interrupted { .. } | Outcome::NotStarted);
    if outcomes.iter().any(is_stopped) {
        return stopped(args, streams);
    }
    if failures.is_empty() {
        End::Complete
    } else {
        End::Failed
    }
}

/// Whether the same command would come further with a cell: it was at work, and nothing is wrong with its folder.
fn tries_again(planned: &PlannedCell, error: &HarnessError) -> bool {
    let of_folder = match error {
        HarnessError::Result { .. } => true,
        HarnessError::Run(error) => matches!(
            error,
            RunError::OtherConfig { .. }
                | RunError::OtherData { .. }
                | RunError::OtherVersion { .. }
                | RunError::NotARunFolder { .. }
                | RunError::Damaged { .. }
                | RunError::NoUsableCheckpoint { .. }
        ),
        _ => false,
    };
    planned.is_to_run() && !of_folder
}

/// Says that the request was stopped, and how it goes on.
pub(super) fn stopped(args: &Reproduce, streams: &Streams) -> End {
    let without = if args.fresh { " without --fresh" } else { "" };
    let remedy = format!("Stopped. The same command{without} resumes.");
    streams.err.line(remedy);
    End::Interrupted
}

/// The data asked for, or the profile's substitute with its banner.
fn find_data(
    args: &Reproduce,
    spec: &Spec,
    locator: &Locator,
    streams: &Streams,
) -> Result<Data, HarnessError> {
    let profile = spec.profile(&args.profile)?;
    let requested = args.wanted()?;
    let (_planning, mut loading) = (Planning::begin(), Loading::new(streams));
    let wanted: DatasetName = match &requested {
        None => spec.dataset_of(&args.profile)?.parse()?,
        Some(Wanted::Known(name)) => *name,
        Some(own) => {
            let mut progress = |event| loading.event(event);
            return Ok(Data {
                splits: Arc::new(data::load(own, &spec.registry, locator, &mut progress)?),
                instead_of: None,
            });
        }
    };
    let loaded = load(wanted, locator, &mut |event| loading.event(event));
    let data = resolve_dataset(
        &args.profile,
        profile,
        requested.as_ref(),
        wanted,
        loaded,
        |name| load(name, locator, &mut |event| loading.event(event)),
    )?;
    drop(loading);
    if let Some((_, why)) = &data.instead_of {
        streams.err.line(why);
    }
    say_data(&data, streams);
    Ok(data)
}

/// The banner of substituted data, before the run and again below the table.
fn say_data(data: &Data, streams: &Streams) {
    if let Some((wanted, _)) = &data.instead_of {
        let name = data.splits.name.parse().expect("loaded by its name");
        streams.err.line("");
        for line in banner(name, *wanted) {
            streams
                .err
                .line(style(line).for_stderr().yellow().bold().to_string());
        }
        streams.err.line("");
    }
}

/// How many runs the `paper` profile has for the selected nets and methods, and how many seconds they take here; said after `quick`,
/// where the data are the paper's and the profile has what is selected.
///
/// # Errors
/// A stop.
fn paper_time(
    args: &Reproduce,
    spec: &Spec,
    data: &Data,
    jobs: usize,
    costs: &mut Costs,
) -> Result<Option<(usize, f64)>, HarnessError> {
    match time_of_paper(args, spec, data, jobs, costs) {
        Err(HarnessError::Interrupted { epoch }) => Err(HarnessError::Interrupted { epoch }),
        time => Ok(time.unwrap_or(None)),
    }
}

fn time_of_paper(
    args: &Reproduce,
    spec: &Spec,
    data: &Data,
    jobs: usize,
    costs: &mut Costs,
) -> Result<Option<(usize, f64)>, HarnessError> {
    if args.profile != "quick" || !spec.profile.contains_key("paper") || data.splits.synthetic {
        return Ok(None);
    }
    let selection = Selection {
        nets: args.nets.clone(),
        methods: args.methods.clone(),
        particles: args.particles.clone(),
        ..Selection::default()
    };
    let dataset = &data.splits.name;
    // Other images would take another time.
    if spec.dataset_of("paper")? != dataset {
        return Ok(None);
    }
    let cells = spec.cells("paper", &selection, dataset)?;
    let base = base_folder(&args.out, &spec.name, "paper", None, dataset);
    let plan = Plan::new(cells, &base, true, costs)?;
    Ok(Some((plan.cells.len(), plan.seconds(jobs))))
}

fn say_paper(paper: Option<(usize, f64)>, args: &Reproduce, jobs: usize, streams: &Streams) {
    let (Some((runs, seconds)), false) = (paper, args.json) else {
        return;
    };
    let experiment = quoted(&args.experiment);
    let mut command = format!("cargo xtask reproduce {experiment} --profile paper");
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
    streams.out.line(format!(
        "\nThe paper profile ({}) would take about {} on this machine, {jobs} at once:\n  {command}",
        count(runs, "run"),
        say(seconds),
    ));
}

fn sinks(args: &Reproduce, plan: &Plan, jobs: usize, streams: &Streams) -> Vec<Box<dyn Sink>> {
    let cells = plan.cells.len();
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    if streams.err_is_live {
        sinks.push(Box::new(Bars::new(&Board::new(plan, jobs))));
    } else {
        sinks.push(Box::new(Lines::new(streams.err.clone(), cells)));
    }
    if args.json {
        sinks.push(Box::new(Json::new(streams.out.clone(), cells)));
    }
    sinks
}

fn plan_json(plan: &Plan, jobs: usize, paper: Option<(usize, f64)>) -> serde_json::Value {
    let cells: Vec<_> = plan
        .cells
        .iter()
        .map(|planned| {
            json!({
                "cell": planned.cell,
                "folder": planned.folder.display().to_string(),
                "done": planned.is_done(),
                "epochs_done": planned.epochs_done(),
                "seconds_left": planned.remaining(),
            })
        })
        .collect();
    json!({
        "event": "plan",
        "cells": cells,
        "jobs": jobs,
        "seconds": plan.seconds(jobs),
        "paper_runs": paper.map(|(runs, _)| runs),
        "paper_seconds": paper.map(|(_, seconds)| seconds),
    })
}

/// Paths as text: JSON has no others.
pub(super) fn shown(paths: &[PathBuf]) -> Vec<String> {
    let shown = paths.iter().map(|path| path.display().to_string());
    shown.collect()
}

/// `runs/x/table.md, table.csv, table.json`.
pub(super) fn named_together(paths: &[PathBuf]) -> String {
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let rest = paths
        .iter()
        .skip(1)
        .map(|path| format!(", {}", name(path)))
        .collect::<String>();
    paths
        .first()
        .map_or(String::new(), |first| format!("{}{rest}", first.display()))
}

#[cfg(test)]
mod tests {
    use super::super::streams::Shared;
    use super::*;
    use crate::cli::{Cli, Command};
    use crate::fake::FakeRunner;
    use clap::Parser;
    use helmholtz_runs::{OpenMode, RunFolder};
    use std::sync::Mutex;
    use std::sync::atomic::Ordering;

    /// A user at a pipe, with a folder of his own.
    struct Session {
        dir: tempfile::TempDir,
        out: Sponge,
        err: Sponge,
    }

    #[derive(Clone, Default)]
    struct Sponge(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Sponge {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Sponge {
        fn squeeze(&self) -> String {
            String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
        }
    }

    fn reproduce_of(cli: Cli) -> Reproduce {
        match cli.command {
            Command::Reproduce(args) => args,
            other => unreachable!("{other:?}"),
        }
    }

    /// No folder with data, no download.
    fn nowhere() -> Locator {
        Locator {
            environment_dir: None,
            cache_dir: None,
            ..Locator::new(None).offline()
        }
    }

    impl Session {
        fn new() -> Self {
            Self {
                dir: tempfile::tempdir().unwrap(),
                out: Sponge::default(),
                err: Sponge::default(),
            }
        }

        fn streams(&self) -> Streams {
            Streams {
                out: Shared::new(self.out.clone()),
                err: Shared::new(self.err.clone()),
                out_colours: false,
                err_is_live: false,
            }
        }

        fn out(&self) -> String {
            self.out.squeeze()
        }

        /// The end, standard output and standard error of `reproduce table1 <args>`.
        fn type_in(
            &self,
            runner: FakeRunner,
            args: &[&str],
        ) -> (Result<End, HarnessError>, String, String) {
            let folder = self.dir.path().to_str().unwrap();
            let line = [
                "helmholtz",
                "reproduce",
                "table1",
                "--out",
                folder,
                "--jobs",
                "1",
            ];
            let cli = Cli::try_parse_from(line.iter().chain(args)).unwrap();
            let Command::Reproduce(args) = cli.command else {
                unreachable!("the line says reproduce")
            };
            let stop = Arc::clone(&runner.stop);
            let runner = Mutex::new(Some(runner));
            let new_runner = move |_, _, _| -> Result<Box<dyn CellRunner>, HarnessError> {
                Ok(Box::new(runner.lock().unwrap().take().unwrap()))
            };
            let end = reproduce(
                &args,
                &Registry::default(),
                nowhere(),
                &new_runner,
                &stop,
                &self.streams(),
            );
            (end, self.out.squeeze(), self.err.squeeze())
        }
    }

    #[test]
    fn quick_without_data_runs_on_glyphs_and_nobody_can_miss_it() {
        let session = Session::new();
        let (end, out, err) = session.type_in(FakeRunner::default(), &[]);
        assert_eq!(end.unwrap(), End::Complete);
        assert_eq!(
            err.matches("BINARIZED-MNIST IS NOT HERE").count(),
            2,
            "before and after: {err}"
        );
        assert!(err.contains("binarized_mnist_train.amat"), "{err}");
        assert!(
            out.contains("[glyphs]") && !out.contains("Published"),
            "{out}"
        );
        assert!(
            session
                .dir
                .path()
                .join("table1/quick/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
        assert!(
            session
                .dir
                .path()
                .join("table1/quick/glyphs/table.csv")
                .is_file()
        );
    }

    #[test]
    fn paper_without_data_refuses_and_runs_nothing() {
        let session = Session::new();
        let (end, out, _) = session.type_in(FakeRunner::default(), &["--profile", "paper"]);
        assert!(matches!(end, Err(HarnessError::NoSubstitute { .. })));
        assert_eq!(
            (out.as_str(), session.dir.path().read_dir().unwrap().count()),
            ("", 0)
        );
    }

    #[test]
    fn a_dry_run_plans_and_trains_nothing() {
        let session = Session::new();
        let (end, out, _) =
            session.type_in(FakeRunner::default(), &["--dataset", "glyphs", "--dry-run"]);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("9 runs (9 to do)"), "{out}");
        assert_eq!(session.dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn an_interrupted_request_resumes_with_the_same_command_and_is_then_done() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--method", "jsa"];
        let stopping = FakeRunner {
            stop_in: Some(("nonlinear", 2)),
            ..FakeRunner::default()
        };
        let (end, out, err) = session.type_in(stopping, &args);
        assert_eq!(end.unwrap(), End::Interrupted);
        assert!(err.contains("The same command resumes."), "{err}");
        assert!(
            out.contains("2 of 10 epochs") && out.contains("not run"),
            "{out}"
        );

        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(
            out.contains("3 runs (1 done, 1 resume after epoch 2, 1 to do)"),
            "{out}"
        );
        assert!(
            err.contains("nonlinear / jsa / seed 1: resumes after epoch 2/10"),
            "{err}"
        );

        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(
            out.contains("3 runs, all done.") && !err.contains("started"),
            "{out}{err}"
        );
    }

    #[test]
    fn a_plan_that_needs_more_memory_than_there_is_is_refused_before_anything_starts() {
        let session = Session::new();
        let large = FakeRunner {
            parameters: 1 << 50,
            ..FakeRunner::default()
        };
        let args = ["--dataset", "glyphs", "--profile", "paper"];
        let (end, out, err) = session.type_in(large, &args);
        let text = end.unwrap_err().to_string();
        assert!(
            text.contains("not enough memory: at least ") && text.contains("give fewer `--jobs`"),
            "{text}"
        );
        assert!(out.contains("120 runs (120 to do)"), "{out}");
        assert!(!err.contains("started"), "{err}");
        assert_eq!(session.dir.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_stop_while_measuring_runs_and_writes_nothing() {
        let session = Session::new();
        let runner = FakeRunner::default();
        runner.stop.store(true, Ordering::Relaxed);
        let (end, out, _) = session.type_in(runner, &["--dataset", "glyphs"]);
        assert!(matches!(end, Err(HarnessError::Interrupted { epoch: 0 })));
        assert_eq!(
            (out.as_str(), session.dir.path().read_dir().unwrap().count()),
            ("", 0)
        );
    }

    #[test]
    fn a_failed_cell_is_shown_at_the_end_and_the_others_are_in_the_table() {
        let session = Session::new();
        let failing = FakeRunner {
            fail: "nonlinear",
            ..FakeRunner::default()
        };
        let (end, out, err) = session.type_in(failing, &["--dataset", "glyphs", "--method", "jsa"]);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(
            err.contains("1 run failed:\n  nonlinear / jsa / seed 1: NaN loss at epoch 2, step 7"),
            "{err}"
        );
        assert!(err.contains("The same command tries again"), "{err}");
        assert_eq!(out.matches("104.00 [glyphs]").count(), 2, "{out}");
        let failing = FakeRunner {
            fail: "nonlinear",
            ..FakeRunner::default()
        };
        let args = ["--dataset", "glyphs", "--net", "nonlinear", "--fresh"];
        let (_, _, err) = session.type_in(failing, &args);
        assert!(
            err.contains("The same command without --fresh tries again"),
            "{err}"
        );
    }

    #[test]
    fn where_the_table_cannot_be_written_it_is_shown_and_so_are_failures() {
        let session = Session::new();
        let in_its_place = session.dir.path().join("table1/quick/glyphs/table.md/x");
        std::fs::create_dir_all(in_its_place).unwrap();
        let failing = FakeRunner {
            fail: "nonlinear",
            ..FakeRunner::default()
        };
        let (end, out, err) = session.type_in(failing, &["--dataset", "glyphs", "--method", "jsa"]);
        let text = end.unwrap_err().to_string();
        assert!(text.contains("cannot write") && text.contains("table.md"));
        assert_eq!(out.matches("104.00 [glyphs]").count(), 2, "{out}");
        assert!(err.contains("1 run failed:"), "{err}");
    }

    #[test]
    fn fresh_starts_over_and_keeps_the_old_folder() {
        let session = Session::new();
        let args = [
            "--dataset",
            "glyphs",
            "--method",
            "jsa",
            "--net",
            "linear",
            "--fresh",
        ];
        session.type_in(FakeRunner::default(), &args).0.unwrap();
        let (end, out, _) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("1 run (to do)"), "{out}");
        assert!(
            session
                .dir
                .path()
                .join("table1/quick/glyphs/linear/jsa/seed-1.old-1")
                .is_dir()
        );
    }

    #[test]
    fn json_lines_hold_the_plan_the_events_and_the_table_and_nothing_else() {
        let session = Session::new();
        let (end, out, _) = session.type_in(
            FakeRunner::default(),
            &["--dataset", "glyphs", "--net", "linear", "--json"],
        );
        assert_eq!(end.unwrap(), End::Complete);
        let events: Vec<String> = out
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["event"]
                    .as_str()
                    .unwrap()
                    .to_string()
            })
            .collect();
        assert_eq!(
            (events[0].as_str(), events.last().unwrap().as_str()),
            ("plan", "table")
        );
        assert_eq!(events.iter().filter(|e| *e == "done").count(), 3);
    }

    #[test]
    fn a_folder_of_another_configuration_fails_alone_and_names_the_difference() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--net", "linear"];
        let folder = session
            .dir
            .path()
            .join("table1/quick/glyphs/linear/rws/seed-1");
        let other = serde_json::json!({"net": "linear"});
        drop(RunFolder::open(&folder, &other, OpenMode::Resume).unwrap());
        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(err.contains("linear / rws / seed 1: run folder"), "{err}");
        assert!(
            err.contains("another configuration") && err.contains("--fresh"),
            "{err}"
        );
        assert!(
            out.contains("folder unusable") && out.contains("104.00 [glyphs]"),
            "{out}"
        );
        assert!(!err.contains("tries again"), "{err}");
        let dry = [&args[..], &["--dry-run"]].concat();
        let (end, _, err) = session.type_in(FakeRunner::default(), &dry);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(
            err.contains("1 run cannot be run:") && !err.contains("tries again"),
            "{err}"
        );
        let fresh = [&args[..], &["--fresh"]].concat();
        assert_eq!(
            session.type_in(FakeRunner::default(), &fresh).0.unwrap(),
            End::Complete
        );
    }

    #[test]
    fn finished_numbers_in_a_tables_files_are_not_lost_to_a_folder_that_cannot_be_used() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--net", "linear"];
        session.type_in(FakeRunner::default(), &args).0.unwrap();
        let base = session.dir.path().join("table1/quick/glyphs");
        let files =
            || ["md", "csv", "json"].map(|e| std::fs::read(base.join(format!("table.{e}"))));
        let before = files().map(Result::unwrap);
        let config = base.join("linear/rws/seed-1/config.json");
        std::fs::write(config, "damaged").unwrap();
        let (end, out, err) = session.type_in(FakeRunner::default(), &args);
        assert_eq!(end.unwrap(), End::Failed);
        assert!(
            out.contains("folder unusable") && !out.contains("Written to"),
            "{out}"
        );
        assert!(err.contains("left as they were"), "{err}");
        assert_eq!(files().map(Result::unwrap), before);
    }

    #[test]
    fn a_bare_request_on_real_data_says_what_paper_would_take() {
        // The fake never looks at the images, so glyphs may play the real ones.
        let args = Cli::try_parse_from(["helmholtz", "reproduce", "table1", "--method", "jsa"]);
        let args = reproduce_of(args.unwrap());
        let mut splits = load(DatasetName::Glyphs, &nowhere(), &mut |_| {}).unwrap();
        (splits.name, splits.synthetic) = ("binarized-mnist".into(), false);
        let data = Data {
            splits: Arc::new(splits),
            instead_of: None,
        };
        let runner = FakeRunner::default();
        let mut costs = Costs::new(&runner, data.sizes(), &|_| Ok(()));
        let spec = Spec::load("table1").unwrap();
        let paper = paper_time(&args, &spec, &data, 3, &mut costs).unwrap();
        // 1000 epochs of 100 steps of 1 ms, 200 checks of 1000 images, 1000 images tested twice at last, for 15 runs on 3 threads.
        let one = 100.0 + 200.0 * 1000.0 * 1000.0 * 1e-6 + 2.0 * 1000.0 * 1000.0 * 1e-6;
        let (runs, seconds) = paper.unwrap();
        assert!(
            runs == 15 && (seconds - 5.0 * one).abs() < 1e-6,
            "{seconds}"
        );

        let session = Session::new();
        say_paper(paper, &args, 3, &session.streams());
        assert_eq!(
            session.out(),
            "\nThe paper profile (15 runs) would take about 25 min 10 s on this machine, 3 at once:\n  \
             cargo xtask reproduce table1 --profile paper --method jsa\n"
        );
        let shared = ["--data-dir", "data", "--out", "my runs", "--jobs", "2"];
        let line = ["helmholtz", "reproduce", "table1"].iter().chain(&shared);
        say_paper(
            paper,
            &reproduce_of(Cli::try_parse_from(line).unwrap()),
            2,
            &session.streams(),
        );
        let said = session.out();
        assert!(
            said.ends_with(" --profile paper --data-dir data --out 'my runs' --jobs 2\n"),
            "{said}"
        );

        // After other profiles, and where the paper's cannot do what is asked for, nothing is said of it.
        let mut other = args.clone();
        other.profile = "yin-zhou".into();
        let time = |args, costs: &mut Costs| paper_time(args, &spec, &data, 3, costs);
        assert_eq!(time(&other, &mut costs).unwrap(), None);
        let refused = |_: &Cell| Err(HarnessError::Unusable("too few particles".into()));
        let mut costs = Costs::new(&runner, data.sizes(), &refused);
        assert_eq!(time(&args, &mut costs).unwrap(), None);
        let stopped = |_: &Cell| Err(HarnessError::Interrupted { epoch: 0 });
        let mut costs = Costs::new(&runner, data.sizes(), &stopped);
        assert!(time(&args, &mut costs).is_err());
    }

    #[test]
    fn other_epochs_do_not_touch_the_profiles_runs() {
        let session = Session::new();
        let args = ["--dataset", "glyphs", "--method", "jsa", "--net", "linear"];
        session.type_in(FakeRunner::default(), &args).0.unwrap();
        let (end, out, _) = session.type_in(
            FakeRunner::default(),
            &[&args[..], &["--epochs", "7"]].concat(),
        );
        assert_eq!(end.unwrap(), End::Complete);
        assert!(out.contains("7 of 7"), "{out}");
        assert!(
            session
                .dir
                .path()
                .join("table1/quick-7-epochs/glyphs/linear/jsa/seed-1")
                .is_dir()
        );
    }

    #[test]
    fn a_wrong_request_is_refused_before_anything_is_loaded() {
        let session = Session::new();
        let (end, _, err) = session.type_in(FakeRunner::default(), &["--method", "jsb"]);
        assert!(matches!(end, Err(HarnessError::Unknown { .. })));
        assert_eq!(err, "");
        if cfg!(not(feature = "wgpu")) {
            let (end, ..) = session.type_in(FakeRunner::default(), &["--device", "wgpu"]);
            assert!(end.unwrap_err().to_string().contains("cargo xtask"));
        }
    }
}
