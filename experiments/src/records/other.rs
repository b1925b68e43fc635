//! The numbers of a run of another kind, from its configuration and its result.

use crate::apg_table::Table;
use crate::{apg_bmnist, apg_dmm, apg_gmm, arm_toy};
use helmholtz_report::{Block, Document};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// The blocks of the document of the run in `folder`; nothing of a run whose kind or format this program does not know.
pub fn blocks(folder: &Path, config: &Value, result: &Value) -> Option<Vec<Block>> {
    let mut settings = config["settings"].clone();
    if let Some(all) = settings.as_object_mut() {
        // Older configurations of population Gibbs list the steps of all profiles, which say nothing of this run.
        all.remove("profiles");
    }
    // An evaluation's settings do not name the run, and stand with what was measured by them.
    if let (Some(all), Some(evaluation)) =
        (settings.as_object_mut(), result.get("evaluation_settings"))
    {
        all.entry("evaluation").or_insert(evaluation.clone());
    }
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
