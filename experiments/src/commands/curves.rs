//! `reproduce fig1` and its like: draws the runs of an experiment, as far as they are there.

use super::quoted;
use super::reproduce::{End, named_together};
use super::streams::Streams;
use crate::cli::Reproduce;
use crate::device::Device;
use crate::error::HarnessError;
use crate::figures::curves::Quantity;
use crate::figures::runs::{Choice, Found, Run, command, figure, runs};
use crate::figures::settings::Settings;
use crate::names::lookup;
use crate::plan::base_folder;
use crate::source::Source;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Carries out a request for the figure in `source`: finds its runs, draws those that are there, and says how to make the
/// others. It trains nothing.
///
/// # Errors
/// A flag that means nothing here, an unknown name, no runs at all, a file that cannot be written.
pub fn reproduce(
    args: &Reproduce,
    source: &Source,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let (mut settings, spec) = Settings::parse(source)?;
    args.refuse(
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
    let choice = Choice {
        dataset: match &args.dataset {
            Some(name) => name.to_string(),
            None => spec.dataset_of(&args.profile)?.to_string(),
        },
        seeds: args.seeds.clone().unwrap_or_default(),
    };
    let place = |name: &str, profile: &str| -> PathBuf {
        let folder = base_folder(&args.out, name, profile, epochs, "");
        // Without the data set, and the separator before it.
        folder.components().collect()
    };
    let profiles = spec.training_as(&args.profile)?.into_iter();
    let searched: Vec<PathBuf> = profiles.map(|name| place(&spec.name, name)).collect();
    let (runs, problems) = runs(&settings, &spec, &choice, &searched)?;
    for problem in &problems {
        streams.err.line(format!("warning: {}", problem.display()));
    }
    let searched: Vec<_> = searched
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let searched = searched.join(", ");
    let but = match problems.is_empty() {
        true => "",
        false => ", but for what the warnings are about",
    };
    let missing = command(&settings, &runs, &flags(args, epochs));
    if runs.iter().all(|run| run.found.is_none()) {
        return Err(HarnessError::Unusable(format!(
            "{} is drawn from the runs of {}, and there are none in {}; this makes them{but}:\n  {}",
            settings.name,
            settings.table,
            searched,
            missing.unwrap_or_default()
        )));
    }
    let folder = place(&settings.name, &args.profile).join(&choice.dataset);
    let files = match args.dry_run {
        true => Vec::new(),
        false => figure(&settings, &runs, &choice.dataset)
            .write(&folder, &settings.name)?
            .to_vec(),
    };
    if args.json {
        let runs: Vec<_> = runs.iter().map(of_json).collect();
        let line = json!({"event": "figure", "runs": runs, "command": missing, "files": files});
        streams.out.line(line.to_string());
        return Ok(End::Complete);
    }
    say(&settings, &runs, &searched, streams);
    if let Some(command) = missing {
        streams.out.line(format!(
            "\nThis makes the runs that are not there{but}:\n  {command}"
        ));
    }
    if !files.is_empty() {
        streams
            .out
            .line(format!("\nWritten to {}", named_together(&files)));
    }
    Ok(End::Complete)
}

fn say(settings: &Settings, runs: &[Run], searched: &str, streams: &Streams) {
    let title = &settings.title;
    streams.out.line(format!(
        "{title}\n  runs of {} in {searched}\n",
        settings.table
    ));
    for run in runs {
        let particles = run
            .particles
            .map_or(String::new(), |k| format!(", K = {k}"));
        let name = format!("{}{particles} / {}", run.net, run.method);
        let what = match &run.found {
            Some(found) => {
                let Found {
                    seed,
                    done,
                    planned,
                    folder,
                    line,
                } = found;
                let drawn = line.curve.points.iter().any(|point| point.train.is_some());
                let train = match drawn || settings.quantity != Quantity::Nll {
                    true => "",
                    false => ", no training NLL (`train_images` of its settings)",
                };
                format!(
                    "seed {seed}: {done} of {planned} epochs{train}, {}",
                    folder.display()
                )
            }
            None => "not there".into(),
        };
        streams.out.line(format!("  {name:34} {what}"));
    }
}

fn of_json(run: &Run) -> serde_json::Value {
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
    if let Some(dataset) = &args.dataset {
        flags += &format!(" --dataset {dataset}");
    }
    if args.out != Path::new("runs") {
        flags += &format!(" --out {}", quoted(&args.out.to_string_lossy()));
    }
    flags
}
