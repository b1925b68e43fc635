//! Runs for the report's tests, with made-up numbers.

use super::record::{CellRun, Record, What};
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::figures::curves::tests::line;
use crate::plan::CellStatus;
use helmholtz_runs::Provenance;
use serde_json::json;
use std::path::PathBuf;

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
