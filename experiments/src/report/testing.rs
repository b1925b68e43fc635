//! Runs for the report's tests, with made-up numbers.

use super::build::{Found, document};
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::folders::CellStatus;
use crate::kinds::figures::curves::tests::line;
use crate::records::{CellRun, Record, What};
use crate::registry::Registry;
use crate::spec::Selection;
use crate::spec::tests::table1;
use helmholtz_report::{Block, Cell as TableCell, Section, Table};
use helmholtz_runs::Provenance;
use serde_json::json;
use std::path::PathBuf;

/// A cell of Table 1 as the paper has it.
pub fn paper(method: &str) -> Cell {
    let selection = Selection {
        nets: vec!["linear".into()],
        methods: vec![method.into()],
        seeds: vec![1],
        ..Selection::default()
    };
    let cells = table1().cells("paper", &selection, "binarized-mnist");
    cells.expect("the paper's cells").remove(0)
}

/// A run at this place.
pub fn record(place: &str, (cell, status): (Cell, CellStatus)) -> Record {
    let curve = line("", 0, false, true).curve;
    Record {
        place: place.into(),
        folder: PathBuf::from("nowhere"),
        what: What::Cell(Box::new(CellRun {
            cell,
            status,
            curve,
        })),
        damage: None,
    }
}

/// A result with this test NLL, of as many epochs as are asked for.
pub fn result(cell: &Cell, nll: f64) -> CellResult {
    let epochs = cell.settings.epochs;
    let result = json!({
        "selected_epoch": 3,
        "valid_nll": nll + 1.0,
        "valid_se": 0.25,
        "test_nll": nll,
        "test_se": 0.25,
        "samples": 100,
        "images": 1000,
        "epochs_done": epochs,
        "epochs_planned": epochs,
        "seconds": 7200.0,
        "provenance": Provenance::of(&json!(cell), cell.seed, "fake"),
        "synthetic": cell.dataset == "glyphs",
    });
    serde_json::from_value(result).expect("a result")
}

/// The cell, finished with this test NLL.
pub fn finished(cell: Cell, nll: f64) -> (Cell, CellStatus) {
    let result = result(&cell, nll);
    (cell, CellStatus::Done(Box::new(result)))
}

/// A finished cell and its result, changed.
pub fn changed(
    (mut cell, status): (Cell, CellStatus),
    change: impl FnOnce(&mut Cell, &mut CellResult),
) -> (Cell, CellStatus) {
    let CellStatus::Done(mut result) = status else {
        unreachable!("a finished cell")
    };
    change(&mut cell, &mut result);
    (cell, CellStatus::Done(result))
}

/// The sections of the report of these runs, after the scoreboard and the overview.
pub fn sections(records: Vec<Record>) -> Vec<Section> {
    let found = Found {
        root: "runs".into(),
        records,
        problems: vec![],
    };
    let mut document = document(&[found], &Registry::default(), &mut |_, _| vec![]);
    document.sections.split_off(2)
}

/// The section's remarks.
pub fn notes(section: &Section) -> String {
    let notes = section.blocks.iter().filter_map(|block| match block {
        Block::Notes(notes) => Some(notes),
        _ => None,
    });
    let texts: Vec<&str> = notes.flatten().map(|note| note.text.as_str()).collect();
    texts.join("\n")
}

/// The section's table whose name ends so.
pub fn table(section: &Section, end: &str) -> Table {
    fn find(blocks: &[Block], end: &str) -> Option<Table> {
        blocks.iter().find_map(|block| match block {
            Block::Table(table) => table.name.ends_with(end).then(|| table.clone()),
            Block::Folded { blocks, .. } => find(blocks, end),
            _ => None,
        })
    }
    find(&section.blocks, end).expect("the table")
}

/// Returns the cells of a column of a table.
pub fn column<'a>(table: &'a Table, head: &str) -> Vec<&'a TableCell> {
    let at = table.columns.iter().position(|column| column == head);
    let at = at.expect("the column");
    table.rows.iter().map(|row| &row[at]).collect()
}
