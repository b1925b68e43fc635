//! The tables of all values as one experiment.

use super::document::{Cell, document, table};
use super::settings::Settings;
use crate::cell_runner::CellResult;
use crate::error::HarnessError;
use crate::kinds::likelihood::{self, Likelihood};
use crate::request::Request;
use crate::source::Source;
use helmholtz_harness::driver::Observer;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::unit::Unit;
use helmholtz_report::files::write_text;
use helmholtz_report::{csv, markdown};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// A table for each value, with the same cells.
pub struct Grid<'a> {
    settings: Settings,
    tables: Vec<Likelihood<'a>>,
    /// Those of all tables.
    units: Vec<Unit>,
    /// For each unit its table, and its place there.
    places: Vec<(usize, usize)>,
    folder: PathBuf,
}

/// Opens it.
///
/// # Errors
/// What a table refuses; a setting that tables have not.
pub fn open<'a>(request: &Request<'a>) -> Result<Grid<'a>, HarnessError> {
    let settings = Settings::parse(request.source)?;
    let sources = settings.values.iter().map(|value| settings.with(value));
    let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
    let tables = likelihood::open_all(request, &sources)?;
    let (mut units, mut places) = (Vec::new(), Vec::new());
    for (t, (table, value)) in tables.iter().zip(&settings.values).enumerate() {
        for (u, unit) in table.units().iter().enumerate() {
            let mut unit = unit.clone();
            let value = value.to_string();
            unit.label = format!("{} = {value} / {}", settings.setting, unit.label);
            unit.fields
                .insert(settings.setting.clone(), value.as_str().into());
            unit.names.insert(0, value);
            units.push(unit);
            places.push((t, u));
        }
    }
    Ok(Grid {
        folder: tables[0].folder_of(&settings.name),
        settings,
        tables,
        units,
        places,
    })
}

impl Experiment for Grid<'_> {
    fn heading(&self) -> Heading {
        let of_table = self.tables[0].heading();
        let values: Vec<String> = self
            .settings
            .values
            .iter()
            .map(ToString::to_string)
            .collect();
        let grid = format!(
            "{} = {} in place of one; each cell at its best by validation",
            self.settings.setting,
            values.join(", ")
        );
        let facts = of_table
            .facts
            .into_iter()
            .filter(|(name, _)| *name != "runs in");
        Heading {
            title: self.settings.title.clone(),
            facts: facts
                .chain([
                    ("grid", grid),
                    ("runs in", self.folder.display().to_string()),
                ])
                .collect(),
            columns: vec!["Value", "Net", "Method"],
            ..of_table
        }
    }

    fn units(&self) -> &[Unit] {
        &self.units
    }

    fn cost(&self, index: usize) -> Result<Cost, HarnessError> {
        let (table, unit) = self.places[index];
        self.tables[table].cost(unit)
    }

    fn run(
        &self,
        index: usize,
        observer: &dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Value, HarnessError> {
        let (table, unit) = self.places[index];
        self.tables[table].run(unit, observer, stop)
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let (table, unit) = self.places[index];
        self.tables[table].summary(unit, result)
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut epochs = [u64::MAX, 0];
        for (index, result) in results.iter().enumerate() {
            let (unit, (table, _)) = (&self.units[index], self.places[index]);
            let Some(result) = result else { continue };
            let result: CellResult = unit.result(result)?;
            let names = &unit.names[1..];
            let at = cells.iter().position(|cell| cell.names == names);
            let at = at.unwrap_or_else(|| {
                cells.push(Cell::new(names, self.tables.len()));
                cells.len() - 1
            });
            cells[at].runs[table].push([result.valid_nll, result.reported_nll()]);
            epochs = [
                epochs[0].min(result.epochs_done),
                epochs[1].max(result.epochs_done),
            ];
        }
        if cells.is_empty() {
            return Ok(None);
        }
        let document = document(&self.settings, self.tables[0].dataset(), epochs, &cells);
        let text = markdown::render(&document);
        let table = csv::render(&table(&self.settings, &cells));
        let folder = &self.folder;
        Ok(Some(Outcome {
            document,
            json: json!(cells),
            write: Box::new(move || {
                Ok(vec![
                    write_text(folder, "table.md", &text)?,
                    write_text(folder, "table.csv", &table)?,
                ])
            }),
        }))
    }

    fn banner(&self) -> Vec<String> {
        self.tables[0].banner()
    }
}
