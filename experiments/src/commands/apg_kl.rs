//! `reproduce apg-kl` and its like: runs of the mixtures' experiment that differ in sweeps and particles, in one figure.

use super::joint;
use super::reproduce::{End, named_together};
use super::stepwise;
use super::streams::Streams;
use crate::apg_gmm;
use crate::apg_kl::{Settings, Trained, figure, table};
use crate::cli::Reproduce;
use crate::error::HarnessError;
use crate::source::Source;
use crate::table::files::write_one;
use helmholtz_datasets::Locator;
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
        stepwise::plan::<apg_gmm::Settings>(&of_run, &source, locator)?;
        Ok((division, source))
    });
    let sources: Vec<_> = sources.collect::<Result<_, HarnessError>>()?;
    let mut runs = Vec::new();
    for (division, source) in sources {
        let done = stepwise::run::<apg_gmm::Settings>(&of_run, &source, locator, stop, streams)?;
        if done.end == End::Interrupted {
            return Ok(End::Interrupted);
        }
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
    let seed = runs[0].provenance.seed;
    let folder = joint::open(args, &settings.name, &settings.title, seed)?;
    let text = table(&settings.title, &runs);
    let mut files = vec![write_one(folder.path(), "table.md", &text)?];
    files.extend(figure(&settings.title, &runs).write(folder.path(), "kl")?);
    joint::finish(folder, args, seed)?;
    if args.json {
        let line = json!({"event": "figure", "files": files});
        streams.out.line(line.to_string());
    } else {
        streams.out.line(text);
        let line = format!("Written to {}", named_together(&files));
        streams.out.line(line);
    }
    Ok(End::Complete)
}
