//! Finished runs that were evaluated again: those of an experiment on a data set as one table.

use super::build::{Pictures, titled};
use super::group::base;
use super::part::{Part, behind, blocks_of};
use crate::kinds::evaluations::{Evaluated, Settings, document};
use crate::records::{Record, What};
use crate::source::Source;
use helmholtz_report::{Block, Note, Section};
use std::collections::BTreeMap;

/// The evaluations among these runs, by place.
pub fn parts(records: &[Record]) -> Vec<Part<'_>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for record in records {
        if let What::Other(run) = &record.what
            && let Some(evaluation) = &run.evaluated
        {
            let cell = &evaluation.cell;
            let key = (base(&record.place, cell), cell.dataset.as_str());
            found
                .entry(key)
                .or_default()
                .push((record, run, evaluation));
        }
    }
    let parts = found.into_iter().map(|((own, dataset), runs)| {
        let done = runs.iter().filter(|(_, run, _)| run.unfinished.is_none());
        let counts = [runs.len(), done.count()];
        let place = own.clone();
        let section = move |shown: &str, id: String, _: &mut Pictures<'_>| {
            let left = runs.iter().filter_map(|(_, run, of)| {
                let what = run.unfinished.as_ref()?;
                Some(Note::caution(format!(
                    "CUT SHORT: {}: {what}.",
                    of.cell.label()
                )))
            });
            let left: Vec<Note> = left.collect();
            let done = runs.iter().filter_map(|(_, _, of)| {
                let evaluation = of.outcome.as_ref()?;
                Some(Evaluated::new(&of.cell, evaluation.rows.clone()))
            });
            let done: Vec<Evaluated> = done.collect();
            let title = title(&own);
            let mut blocks = Vec::new();
            blocks.extend((!left.is_empty()).then_some(Block::Notes(left)));
            if !done.is_empty() {
                let document = document(&title, dataset, &done);
                blocks.extend(blocks_of(document, &id, &format!("{title}, on {dataset}")));
                let runs = runs.iter().map(|(record, run, _)| (*record, run));
                let from =
                    runs.filter_map(|(record, run)| Some((record, run.provenance.as_ref()?)));
                blocks.push(behind(from, (&own, shown), &id));
            }
            Section {
                id,
                title: titled(&title, &own),
                blocks,
            }
        };
        Part {
            place,
            runs: counts,
            section: Box::new(section),
        }
    });
    parts.collect()
}

/// The title of the experiment that a place begins with, or what there is to say of one that does not come with the program.
fn title(place: &str) -> String {
    let name = place.split('/').next().unwrap_or_default();
    let known = Source::bundled().find(|known| *known == name);
    let settings = known.and_then(|name| Source::find(name).ok()?.parse::<Settings>().ok());
    settings.map_or(format!("Evaluations {name}"), |settings| settings.title)
}
