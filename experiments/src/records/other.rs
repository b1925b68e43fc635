//! The numbers of a run of another kind, from its configuration and its result.

use crate::apg_table::Table;
use crate::{apg_bmnist, apg_dmm, apg_gmm, arm_toy};
use helmholtz_report::figure::{Figure, Panel};
use helmholtz_report::{Block, Document};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// The settings of a run of population Gibbs: its configuration's, and those of the evaluation that its result has.
fn settings(config: &Value, result: &Value) -> Value {
    let mut settings = config["settings"].clone();
    if let Some(all) = settings.as_object_mut() {
        // Older configurations list the steps of all profiles, which say nothing of this run.
        all.remove("profiles");
        // An evaluation's settings do not name the run, and stand with what was measured by them.
        if let Some(evaluation) = result.get("evaluation_settings") {
            all.entry("evaluation").or_insert(evaluation.clone());
        }
    }
    settings
}

/// The figures of a run of population Gibbs, by the names of their files: what was watched during training, and, of a finished run, what
/// was measured.
pub fn figures(
    config: &Value,
    result: Option<&Value>,
    metrics: &[Value],
) -> Vec<(&'static str, Figure)> {
    let result = result.unwrap_or(&Value::Null);
    let settings = settings(config, result);
    let mut figures: Vec<(&'static str, Figure)> = match settings["kind"].as_str() {
        Some("apg-gmm") => match read::<apg_gmm::Outcome>(result) {
            Some(outcome) => apg_gmm::figures::all(metrics, &outcome.evaluation).into(),
            None => vec![("training", apg_gmm::figures::training(metrics))],
        },
        Some("apg-dmm") => match (read::<apg_dmm::Outcome>(result), read(&settings)) {
            (Some(outcome), Some(settings)) => {
                apg_dmm::figures::all(&settings, metrics, &outcome.evaluation).into()
            }
            _ => vec![("training", apg_dmm::figures::training(metrics))],
        },
        Some("apg-bmnist") => {
            let training = ("training", apg_bmnist::figures::training(metrics));
            match (read::<apg_bmnist::Outcome>(result), read(&settings)) {
                (Some(outcome), Some(settings)) => {
                    let sweeps = apg_bmnist::figures::sweeps(&settings, &outcome.evaluation);
                    vec![training, ("sweeps", sweeps)]
                }
                _ => vec![training],
            }
        }
        _ => Vec::new(),
    };
    figures.retain(|(_, figure)| figure.panels.iter().any(has_points));
    figures
}

/// Whether there is anything to see.
fn has_points(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.points.len() > 1)
}

/// The blocks of the document of the run in `folder`; nothing of a run whose kind or format this program does not know.
pub fn blocks(folder: &Path, config: &Value, result: &Value) -> Option<Vec<Block>> {
    let settings = settings(config, result);
    let settings = &settings;
    let document = of(settings, result, apg_gmm::Outcome::document)
        .or_else(|| of(settings, result, apg_dmm::Outcome::document))
        .or_else(|| of(settings, result, apg_bmnist::Outcome::document))
        .or_else(|| of(config, result, arm_toy::Outcome::document))
        .or_else(|| Some(read::<Table>(&table(folder, result)?)?.document()))?;
    let sections = document.sections.into_iter();
    Some(sections.flat_map(|section| section.blocks).collect())
}

/// The table of a result, or, of an older program, in the file beside it.
fn table(folder: &Path, result: &Value) -> Option<Value> {
    match result.get("table") {
        Some(table) => Some(table.clone()),
        None => serde_json::from_slice(&std::fs::read(folder.join("table.json")).ok()?).ok(),
    }
}

/// The document of an outcome with its settings, if these are of that kind.
fn of<S: DeserializeOwned, O: DeserializeOwned>(
    settings: &Value,
    result: &Value,
    document: fn(&O, &S) -> Document,
) -> Option<Document> {
    Some(document(&read(result)?, &read(settings)?))
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}
