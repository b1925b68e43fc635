//! The tables of all values as one experiment.

use super::document::{Cells, KEPT, Shown, document};
use super::settings::Settings;
use crate::error::HarnessError;
use crate::kinds::likelihood::{self, Likelihood};
use crate::request::Request;
use crate::source::Source;
use helmholtz_harness::driver::Observer;
use helmholtz_harness::experiment::{Cost, Experiment, Heading, Outcome};
use helmholtz_harness::unit::Unit;
use helmholtz_report::files::write_tables;
use helmholtz_runs::{OpenMode, RunFolder};
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
    /// Where their comparison is kept.
    folder: PathBuf,
    device: &'static str,
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
    let grid = Grid {
        folder: tables[0].folder_of(&settings.name),
        device: request.args.device.as_str(),
        settings,
        tables,
        units,
        places,
    };
    if !request.args.fresh {
        RunFolder::peek_as(&grid.folder, &grid.config())?;
    }
    Ok(grid)
}

impl Grid<'_> {
    /// What a comparison is of; values may be added to it.
    fn config(&self) -> Value {
        let Settings {
            title,
            table,
            setting,
            ..
        } = &self.settings;
        json!({"title": title, "table": table, "setting": setting})
    }
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

    fn archive_folders(&self) -> Result<(), HarnessError> {
        if self.folder.exists() {
            RunFolder::open(&self.folder, &self.config(), OpenMode::Fresh)?;
        }
        Ok(())
    }

    fn summary(&self, index: usize, result: &Value) -> Result<String, HarnessError> {
        let (table, unit) = self.places[index];
        self.tables[table].summary(unit, result)
    }

    fn outcome(&self, results: &[Option<Value>]) -> Result<Option<Outcome<'_>>, HarnessError> {
        let mut cells = Cells::default();
        for (index, result) in results.iter().enumerate() {
            let (unit, (table, _)) = (&self.units[index], self.places[index]);
            let Some(result) = result else { continue };
            cells.add(
                &unit.names[1..],
                [table, self.tables.len()],
                &unit.result(result)?,
            );
        }
        if cells.is_empty() {
            return Ok(None);
        }
        let shown = Shown {
            settings: self.settings.clone(),
            dataset: self.tables[0].dataset().into(),
            cells,
        };
        let document = document(&shown);
        let (written, seed) = (document.clone(), self.units[0].seed);
        Ok(Some(Outcome {
            document,
            json: json!(shown.cells.all),
            write: Box::new(move || {
                let mut folder = RunFolder::open(&self.folder, &self.config(), OpenMode::Resume)?;
                let files = write_tables(&written, folder.path())?;
                let provenance = folder.provenance(seed, self.device);
                folder.finish(&json!({KEPT: shown, "provenance": provenance}))?;
                Ok(files)
            }),
        }))
    }

    fn banner(&self) -> Vec<String> {
        self.tables[0].banner()
    }
}
