//! `reproduce apg-kl` and its like: runs of the mixtures' experiment that differ in sweeps and particles, in one figure.

use super::joint;
use super::reproduce::{End, named_together, shown, stopped};
use super::stepwise;
use super::streams::Streams;
use crate::apg_gmm;
use crate::apg_kl::{Settings, Trained, document, figure};
use crate::cli::Reproduce;
use crate::error::HarnessError;
use crate::source::Source;
use helmholtz_datasets::Locator;
use helmholtz_report::files::write_text;
use helmholtz_report::{markdown, text};
use helmholtz_runs::read_metrics;
use serde_json::json;
use std::sync::atomic::AtomicBool;

/// Carries out a request for the figure in `source`: each run in its own folder, as its own experiment would, and figure and table at
/// the end.
///
/// # Errors
/// As [`stepwise::reproduce`] for any of the runs.
pub fn reproduce(
    args: &Reproduce,
    source: &Source,
    locator: &Locator,
    stop: &AtomicBool,
    streams: &Streams,
) -> Result<End, HarnessError> {
    let settings = Settings::parse(source, &args.profile)?;
    let remedy = "it takes --profile, --steps, --seed, --device, --out, --dry-run, --json and --fresh; the runs are chosen in its file, \
                  and an edited copy is run by its path";
    stepwise::refuse(args, &settings.name, false, remedy)?;
    let of_run = Reproduce {
        profile: settings.profile.clone(),
        steps: args.steps.or(settings.steps),
        ..args.clone()
    };
    let sources = settings.divisions.iter().map(|division| {
        let source = settings.source(division)?;
        let planned = stepwise::plan::<apg_gmm::Settings>(&of_run, &source, locator)?;
        Ok(((division, source), planned))
    });
    let sources: Vec<_> = sources.collect::<Result<_, HarnessError>>()?;
    let (sources, planned): (Vec<_>, Vec<_>) = sources.into_iter().unzip();
    let first = &planned[0];
    let (seed, steps) = (first.seed, first.steps);
    let of_profile = settings.steps.unwrap_or(first.of_profile);
    let divisions = settings.divisions.iter();
    let divisions = divisions.map(|d| json!({"sweeps": d.sweeps, "particles": d.particles}));
    let config = json!({
        "title": settings.title,
        "experiment": settings.experiment,
        "profile": settings.profile,
        "divisions": divisions.collect::<Vec<_>>(),
        "steps": steps,
    });
    let place = stepwise::place(args, &settings.name, seed, [of_profile, steps]);
    let mut folders = vec![joint::folder(args, place, config)?];
    folders.extend(planned.into_iter().map(|planned| planned.folder));
    let of_run = stepwise::started_over(&of_run, &folders)?;
    let mut runs = Vec::new();
    for (division, source) in sources {
        let done = stepwise::run::<apg_gmm::Settings>(&of_run, &source, locator, stop, streams);
        let done = match done {
            Err(HarnessError::Interrupted { .. }) if !args.dry_run => {
                return Ok(stopped(args, streams));
            }
            done => done?,
        };
        if let Some(outcome) = done.outcome {
            runs.push(Trained {
                division: division.clone(),
                clusters: done.experiment.model.clusters,
                steps: outcome.steps,
                folder: done.place.clone(),
                metrics: read_metrics(&done.place)?,
                provenance: outcome.provenance,
            });
        }
    }
    if args.dry_run || runs.is_empty() {
        return Ok(End::Complete);
    }
    let folder = folders[0].open()?;
    let document = document(&settings.title, &runs);
    if !args.json {
        let shown = text::render(&document, streams.out_colours);
        streams.out.line(shown);
    }
    let mut files = vec![write_text(
        folder.path(),
        "table.md",
        &markdown::render(&document),
    )?];
    files.extend(figure(&settings.title, &runs).write(folder.path(), "kl")?);
    joint::finish(folder, args, seed, None)?;
    if args.json {
        let line = json!({"event": "figure", "files": shown(&files)});
        streams.out.line(line.to_string());
    } else {
        let line = format!("Written to {}", named_together(&files));
        streams.out.line(line);
    }
    Ok(End::Complete)
}
