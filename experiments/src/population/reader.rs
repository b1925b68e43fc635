//! What reports show of a run of amortized population Gibbs.

use super::Column;
use super::outcome::Outcome;
use super::stepwise::Stepwise;
use crate::records::{Figures, Kept, Reader, read};
use crate::source::{Kind, Source};
use helmholtz_report::Document;
use serde_json::Value;
use std::path::Path;

/// Reader of the runs of such an experiment.
pub const fn reader<E: Stepwise>() -> Reader {
    Reader {
        document: document::<E>,
        figures: figures::<E>,
    }
}

/// A finished run as its folder keeps it, if it is of this kind.
pub fn finished<E: Stepwise>(kept: &Kept<'_>) -> Option<(E, Outcome<E::Evaluation>)> {
    Some((read(&settings::<E>(kept)?)?, read(kept.result?)?))
}

fn document<E: Stepwise>(kept: &Kept<'_>) -> Option<Document> {
    let (settings, outcome) = finished::<E>(kept)?;
    Some(settings.document(&outcome))
}

/// What the samplers of a finished run reached, as its folder keeps it.
pub fn column<E: Stepwise>(kept: &Kept<'_>) -> Option<Column> {
    let (settings, outcome) = finished::<E>(kept)?;
    Some(column_of(&settings, outcome, kept.folder))
}

/// The same of an outcome.
pub(super) fn column_of<E: Stepwise>(
    experiment: &E,
    outcome: Outcome<E::Evaluation>,
    folder: &Path,
) -> Column {
    Column {
        experiment: experiment.name().into(),
        reached: experiment.reached(&outcome),
        rows: None,
        steps: outcome.steps,
        folder: folder.display().to_string(),
        provenance: outcome.provenance,
    }
}

fn figures<E: Stepwise>(kept: &Kept<'_>) -> Figures {
    let Some(settings) = settings::<E>(kept) else {
        return Vec::new();
    };
    let mut figures = vec![("training", E::training(kept.metrics))];
    let settings: Option<E> = read(&settings);
    if let (Some(settings), Some(outcome)) = (settings, kept.result.and_then(read)) {
        figures.extend(settings.figures(&outcome));
    }
    figures
}

/// The settings of a run of this kind: its configuration's, and those of the evaluation that its result has.
fn settings<E: Stepwise>(kept: &Kept<'_>) -> Option<Value> {
    let mut settings = kept.config["settings"].clone();
    let all = settings.as_object_mut()?;
    if read::<Kind>(all.get("kind")?)? != E::KIND {
        return None;
    }
    // Older configurations list the steps of all profiles, which say nothing of this run.
    all.remove("profiles");
    // An evaluation's settings do not name the run, and stand with what was measured by them.
    let evaluation = kept
        .result
        .and_then(|result| result.get("evaluation_settings"));
    if let Some(evaluation) = evaluation {
        all.entry("evaluation").or_insert(evaluation.clone());
    }
    // Published numbers are of the experiment's file, and no settings.
    let name = all.get("name").and_then(Value::as_str);
    if let Some(published) = name.and_then(published) {
        all.insert("published".into(), published);
    }
    Some(settings)
}

/// What the bundled experiment of this name has as published.
fn published(experiment: &str) -> Option<Value> {
    let file: toml::Table = Source::find(experiment).ok()?.parse().ok()?;
    serde_json::to_value(file.get("published")?).ok()
}
