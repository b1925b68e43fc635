//! `reproduce arm-toy`: runs the toy experiment, and shows its table.

use super::loading::Loading;
use super::reproduce::{End, named_together, shown};
use super::streams::Streams;
use crate::arm_toy::{Estimator, Outcome, Run, Settings};
use crate::backend::on_device;
use crate::cli::Reproduce;
use crate::device::Device;
use crate::error::HarnessError;
use crate::source::Source;
use helmholtz_report::files::write_text;
use helmholtz_report::{markdown, text};
use helmholtz_runs::{OpenMode, RunFolder, Status};
use serde_json::{json, to_value};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Carries out a request for the experiment in `source`: plans, runs it where it is not done, writes figures and table.
///
/// # Errors
/// A flag that means nothing here, a file that makes no sense, a folder that cannot be used.
pub fn reproduce(
    args: &Reproduce,
    source: &Source,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let settings = settings(args, source)?;
    let config = to_value(&settings).expect("settings are plain data");
    let place = args.out.join(&settings.name);
    let place = place.join(format!("seed-{}", settings.seed));
    let done = match (args.fresh, RunFolder::peek_as(&place, &config)) {
        (true, _) => false,
        (false, status) => matches!(status?, Status::Finished(_)),
    };
    say_plan(args, &settings, &place, done, streams);
    if args.dry_run {
        return Ok(End::Complete);
    }

    let mode = match args.fresh {
        true => OpenMode::Fresh,
        false => OpenMode::Resume,
    };
    let mut folder = RunFolder::open(&place, &config, mode)?;
    let outcome = match folder.result()? {
        Some(result) => serde_json::from_value(result).map_err(|source| HarnessError::Result {
            folder: place.clone(),
            source,
        })?,
        None => match compute(&settings, &mut folder, stop, streams) {
            Err(HarnessError::Interrupted { .. }) => {
                let remedy = "Stopped; nothing of it is kept. The same command starts it again.";
                streams.err.line(remedy);
                return Ok(End::Interrupted);
            }
            outcome => outcome?,
        },
    };
    show(args, &settings, &outcome, &place, streams);
    Ok(End::Complete)
}

/// The experiment's settings, with the seed that is asked for.
fn settings(args: &Reproduce, source: &Source) -> Result<Settings, HarnessError> {
    let mut settings = Settings::parse(source)?;
    args.refuse(
        &settings.name,
        &[
            ("--profile", args.profile != "quick"),
            ("--method", !args.methods.is_empty()),
            ("--net", !args.nets.is_empty()),
            ("--epochs", args.epochs.is_some()),
            ("--steps", args.steps.is_some()),
            ("--device", args.device != Device::Cpu),
            ("--data-dir", args.data_dir.is_some()),
            ("--dataset", args.dataset.is_some()),
            ("--jobs", args.jobs.is_some()),
            ("--particles", !args.particles.is_empty()),
        ],
        "it takes --seed, --out, --dry-run, --json and --fresh; the rest is set in its file, and an edited copy of \
         experiments/arm-toy.toml is run by its path",
    )?;
    args.refuse_several_seeds(&settings.name)?;
    if let Some([seed]) = args.seeds.as_deref() {
        settings.seed = *seed;
    }
    Ok(settings)
}

fn say_plan(args: &Reproduce, settings: &Settings, place: &Path, done: bool, streams: &Streams) {
    if args.json {
        let folder = place.display().to_string();
        let line = json!({"event": "plan", "settings": settings, "folder": folder, "done": done});
        streams.out.line(line.to_string());
        return;
    }
    let a = &settings.ascent;
    let labels = |estimators: &[Estimator]| -> String {
        estimators
            .iter()
            .map(|e| e.label())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let k: Vec<String> = a.samples.iter().map(usize::to_string).collect();
    streams.out.line(format!(
        "{}\n  ascent    {} problems × {} runs, {} iterations; {}; K = {}\n  variance  {}\n  classes   {} iterations, {} classes; {}\n  T1        {}\n  run in    {} ({})\n",
        settings.title,
        a.targets.len(),
        a.replicates,
        a.iterations,
        labels(&a.estimators),
        k.join(", "),
        labels(&settings.variance.estimators),
        settings.classes.iterations,
        settings.classes.classes,
        labels(&settings.classes.estimators),
        labels(&settings.t1.estimators),
        place.display(),
        if done { "done" } else { "to do, in seconds" },
    ));
}

/// Runs the experiment, writes its files, and last its result.
fn compute(
    settings: &Settings,
    folder: &mut RunFolder,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<Outcome, HarnessError> {
    let report = {
        let loading = Loading::new(streams);
        let going_on = |what: &str| {
            loading.state(what.to_string());
            match stop.load(Ordering::Relaxed) {
                true => Err(HarnessError::Interrupted { epoch: 0 }),
                false => Ok(()),
            }
        };
        let pieces = folder.pieces(&json!("toy"))?;
        let run = Run {
            pieces: &pieces,
            settings,
            going_on: &going_on,
        };
        on_device(Device::Cpu, run)?
    };
    for (name, figure) in &report.figures {
        figure.write(folder.path(), name)?;
    }
    let outcome = Outcome {
        numbers: report.numbers,
        provenance: folder.provenance(settings.seed, Device::Cpu.as_str()),
    };
    let table = markdown::render(&outcome.document(settings));
    write_text(folder.path(), "table.md", &table)?;
    folder.finish(&to_value(&outcome).expect("an outcome is plain data"))?;
    Ok(outcome)
}

fn show(args: &Reproduce, settings: &Settings, outcome: &Outcome, place: &Path, streams: &Streams) {
    let names = [
        "table.md",
        "trajectories.svg",
        "gradients.svg",
        "variance.svg",
        "classes.svg",
    ];
    let files: Vec<PathBuf> = names.iter().map(|name| place.join(name)).collect();
    if args.json {
        let line = json!({"event": "table", "table": outcome, "files": shown(&files)});
        streams.out.line(line.to_string());
    } else {
        let document = outcome.document(settings);
        let shown = text::render(&document, streams.out_colours);
        streams.out.line(shown);
        let line = format!(
            "Written to {}; each figure's data beside it, as CSV",
            named_together(&files)
        );
        streams.out.line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::streams::Shared;
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_stop_leaves_no_result_and_the_same_command_would_start_again() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().to_str().unwrap();
        let cli = Cli::try_parse_from(["helmholtz", "reproduce", "arm-toy", "--out", out]);
        let Command::Reproduce(args) = cli.unwrap().command else {
            unreachable!("`reproduce` was asked for")
        };
        let streams = Streams {
            out: Shared::new(std::io::sink()),
            err: Shared::new(std::io::sink()),
            out_colours: false,
            err_is_live: false,
        };
        let source = Source::find("arm-toy").unwrap();
        let end = reproduce(&args, &source, &AtomicBool::new(true), &streams);
        assert_eq!(end.unwrap(), End::Interrupted);
        let status = RunFolder::peek(dir.path().join("arm-toy/seed-1")).unwrap();
        assert_eq!(status, Status::Started { state: None });
    }
}
