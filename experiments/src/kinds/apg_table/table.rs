//! Columns side by side.

use super::Settings;
use crate::blocks::NONE;
use crate::population::Column;
use crate::published::LogJoint;
use crate::records::{Kept, Reader, read};
use helmholtz_report::{Block, Cell, Document, Kind, Note};
use helmholtz_runs::Provenance;
use serde::{Deserialize, Serialize};

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Heads it.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Published log joints.
    pub published: Vec<LogJoint>,
}

/// Reader of such tables: of a result, or, of an older program, of the file beside it.
pub const READER: Reader = Reader::of_documents(|kept| Some(Table::kept(kept)?.document()));

impl Table {
    /// The table that a run folder keeps.
    pub fn kept(kept: &Kept<'_>) -> Option<Self> {
        let table = match kept.result?.get("table") {
            Some(table) => table.clone(),
            None => {
                let bytes = std::fs::read(kept.folder.join("table.json")).ok()?;
                serde_json::from_slice(&bytes).ok()?
            }
        };
        read(&table)
    }

    /// Makes the table of these columns.
    pub fn new(settings: &Settings, columns: Vec<Column>) -> Self {
        Self {
            title: settings.title.clone(),
            columns,
            published: settings.published.clone(),
        }
    }

    /// The columns, with the rows that other runs give in place of their own.
    fn whole(&self) -> Vec<Column> {
        let mut whole: Vec<Column> = Vec::new();
        for column in &self.columns {
            let model = |own: &&mut Column| {
                own.experiment == column.experiment && own.reached.title == column.reached.title
            };
            match (&column.rows, whole.iter_mut().rev().find(model)) {
                (Some(sampler), Some(own)) => {
                    let entries = &mut own.reached.entries;
                    let first = entries.iter().position(|entry| entry.is_of(sampler));
                    entries.retain(|entry| !entry.is_of(sampler));
                    let at = first.unwrap_or(entries.len());
                    entries.splice(at..at, column.reached.entries.iter().cloned());
                }
                _ => whole.push(column.clone()),
            }
        }
        whole
    }

    /// The samplers, in the order of their first appearance.
    fn samplers(columns: &[Column]) -> Vec<&str> {
        let mut samplers: Vec<&str> = Vec::new();
        let entries = columns.iter().flat_map(|column| &column.reached.entries);
        for entry in entries {
            if !samplers.contains(&entry.sampler.as_str()) {
                samplers.push(&entry.sampler);
            }
        }
        samplers
    }

    fn published(&self, column: &Column, sampler: &str) -> Option<f64> {
        let own = self.published.iter().find(|own| {
            let of_column =
                own.experiment == column.experiment && own.setting == column.reached.setting;
            of_column && own.sampler == sampler
        });
        own.map(|own| own.log_joint)
    }

    /// The numbers as a document: for each model a column of ours, and one of published numbers where there are any.
    pub fn document(&self) -> Document {
        let trained = self.columns.iter().any(|column| column.rows.is_some());
        let [nets, proposal] = match trained {
            false => ["the same nets with", "the same proposal"],
            true => [
                "the same nets, or of those of a run that is named below with the rows that it gives, with",
                "such a proposal",
            ],
        };
        let text = format!(
            "Mean log joint, nats an instance ± standard error over instances. RWS is the one-shot proposal of {nets} as many \
             particles as the others use in all. K counts it as the first sweep. Where n is given, a number is over the first n \
             instances of its column. HMC-RWS moves particles from {proposal}; for bouncing digits by nearest pixels, where the \
             likelihood pulls at no position, and by bilinear ones."
        );
        let published = "The published numbers are the best of their rows, the only ones that can be read in the paper's text. They \
                         are printed without their scale, which is inferred; the settings behind them are the paper's own.";
        let run = |column: &Column| {
            let Provenance { commit, device, .. } = &column.provenance;
            let rows = column.rows.as_ref();
            let rows = rows.map_or(String::new(), |sampler| format!("{sampler} of "));
            Note::remark(format!(
                "{rows}{}: {} gradient steps, {}; commit {commit}, {device}.",
                column.reached.title, column.steps, column.folder,
            ))
        };
        let blocks = vec![
            Block::Text(text),
            Block::Table(self.samplers_table()),
            Block::Text(published.into()),
            Block::Notes(self.columns.iter().map(run).collect()),
        ];
        Document::of_blocks(&self.title, blocks)
    }

    /// A row for each sampler.
    pub fn samplers_table(&self) -> helmholtz_report::Table {
        let columns = self.whole();
        let has_published = |column: &Column| {
            let mut entries = column.reached.entries.iter();
            entries.any(|entry| self.published(column, &entry.sampler).is_some())
        };
        let heads = columns.iter().flat_map(|column| {
            let published =
                has_published(column).then(|| format!("{}, published", column.reached.title));
            [Some(column.reached.title.clone()), published]
                .into_iter()
                .flatten()
        });
        let heads = std::iter::once("Sampler".to_string()).chain(heads);
        let mut table = helmholtz_report::Table::new("samplers", "", heads);
        for sampler in Self::samplers(&columns) {
            let cells = columns.iter().flat_map(|column| {
                let theirs = || match self.published(column, sampler) {
                    Some(value) => Cell::number(Kind::Published, value.to_string(), value),
                    None => Cell::of(Kind::Published, ""),
                };
                let theirs = has_published(column).then(theirs);
                [Some(ours(column, sampler)), theirs].into_iter().flatten()
            });
            table.push(std::iter::once(sampler.into()).chain(cells));
        }
        table
    }
}

/// A sampler's number in a column, with the instances that it is over if they are fewer than others'.
fn ours(column: &Column, sampler: &str) -> Cell {
    let Some(entry) = column
        .reached
        .entries
        .iter()
        .find(|entry| entry.sampler == sampler)
    else {
        return Cell::of(Kind::Ours, NONE);
    };
    let mut cell = entry.log_joint.cell(1);
    let all = column
        .reached
        .entries
        .iter()
        .map(|entry| entry.instances)
        .max();
    if all.is_some_and(|all| entry.instances < all) {
        cell.text += &format!(" (n = {})", entry.instances);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::{Entry, Measured, Reached};
    use crate::published::LogJoints;

    #[test]
    fn a_published_number_stands_beside_ours_of_its_setting_alone() {
        let entry = |sampler: &str| Entry {
            sampler: sampler.into(),
            log_joint: Measured {
                mean: -450.0,
                standard_error: 4.0,
            },
            instances: 20,
        };
        let column = |points: f64| Column {
            experiment: "apg-gmm".into(),
            reached: Reached {
                title: format!("Gaussian mixtures, N = {points}"),
                setting: [("N".into(), points)].into(),
                entries: vec![entry("RWS"), entry("APG, K = 20")],
            },
            rows: None,
            steps: 3,
            folder: "runs/apg-gmm".into(),
            provenance: Provenance::of(&serde_json::json!({}), 1, "cpu"),
        };
        let table = Table {
            title: "Two settings".into(),
            columns: vec![column(9.0), column(100.0)],
            published: LogJoints::load("apg-table1").unwrap().entry,
        };
        let document = Document::of_blocks("", vec![Block::Table(table.samplers_table())]);
        let text = helmholtz_report::markdown::render(&document);
        assert!(
            text.contains("| Gaussian mixtures, N = 100 | Gaussian mixtures, N = 100, published |"),
            "{text}"
        );
        assert!(!text.contains("N = 9, published"), "{text}");
        assert_eq!(text.matches("-446.9").count(), 1, "{text}");
    }

    #[test]
    fn rows_of_a_run_of_their_own_take_the_place_of_those_of_the_column() {
        let entry = |(sampler, mean): &(&str, f64)| Entry {
            sampler: sampler.to_string(),
            log_joint: Measured {
                mean: *mean,
                standard_error: 1.0,
            },
            instances: 20,
        };
        let column = |rows: Option<&str>, title: &str, entries: &[(&str, f64)]| Column {
            experiment: "apg-dmm".into(),
            reached: Reached {
                title: title.into(),
                setting: Default::default(),
                entries: entries.iter().map(entry).collect(),
            },
            rows: rows.map(String::from),
            steps: 3,
            folder: "runs/apg-dmm".into(),
            provenance: Provenance::of(&serde_json::json!({}), 1, "cpu"),
        };
        let swept = [
            ("RWS", -1.0),
            ("HMC-RWS, LF = 1", -2.0),
            ("HMC-RWS, LF = 5", -3.0),
            ("APG, K = 5", -4.0),
        ];
        let moved = [("HMC-RWS, LF = 1", -12.0), ("HMC-RWS, LF = 10", -13.0)];
        let table = |columns| Table {
            title: String::new(),
            columns,
            published: Vec::new(),
        };
        let whole = table(vec![
            column(None, "Rings", &swept),
            column(Some("RWS"), "Rings", &[("RWS", -11.0)]),
            column(Some("HMC-RWS"), "Rings", &moved),
            column(Some("RWS"), "Others", &[("RWS", -21.0)]),
        ])
        .whole();
        let entries = |column: &Column| {
            let of = |entry: &Entry| (entry.sampler.clone(), entry.log_joint.mean);
            column.reached.entries.iter().map(of).collect::<Vec<_>>()
        };
        let expected = [
            ("RWS", -11.0),
            ("HMC-RWS, LF = 1", -12.0),
            ("HMC-RWS, LF = 10", -13.0),
            ("APG, K = 5", -4.0),
        ];
        assert_eq!(
            entries(&whole[0]),
            expected.map(|(name, mean)| (name.to_string(), mean))
        );
        // Of a run without its column, the rows stand by themselves.
        assert_eq!(whole.len(), 2);
        assert_eq!(entries(&whole[1]), [("RWS".to_string(), -21.0)]);
        let text = helmholtz_report::markdown::render(
            &table(vec![
                column(None, "Rings", &swept),
                column(Some("RWS"), "Rings", &swept[..1]),
            ])
            .document(),
        );
        assert!(
            text.contains("\n- RWS of Rings: 3 gradient steps"),
            "{text}"
        );
        assert!(text.contains("named below"), "{text}");
    }
}
