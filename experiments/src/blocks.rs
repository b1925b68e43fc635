//! Cells, tables and notes that the documents of several experiments share.

use helmholtz_report::{Block, Cell, Kind, Note, Table};
use helmholtz_runs::Provenance;
use serde_json::{Map, Value};

/// Text in place of a number that there is none of.
pub const NONE: &str = "—";

/// A number of ours with three digits, small ones with an exponent.
pub fn small_or_fixed(value: f64) -> Cell {
    match value.abs() < 0.1 {
        true => Cell::scientific(value, 2),
        false => Cell::fixed(value, 3),
    }
}

/// A cell of ours, where there is a number.
pub fn or_none<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or(Cell::of(Kind::Ours, NONE), cell)
}

/// The first check of a training beside the last, a row for each of these keys.
pub fn checks(
    name: &str,
    keys: &[(&str, &str)],
    checks: &[Map<String, Value>; 2],
    cell: fn(f64) -> Cell,
) -> Table {
    let mut table = Table::new(name, "", ["Quantity", "At the start", "At the end"]);
    // What an older run's checks do not have has no row.
    let known = |key: &str| checks.iter().any(|check| check.contains_key(key));
    for (label, key) in keys.iter().filter(|(_, key)| known(key)) {
        let of =
            |check: &Map<String, Value>| or_none(check.get(*key).and_then(Value::as_f64), cell);
        table.push([(*label).into(), of(&checks[0]), of(&checks[1])]);
    }
    table
}

/// Notes on where the numbers come from.
pub fn provenance(of: &Provenance) -> Block {
    Block::Notes(of.lines().into_iter().map(Note::remark).collect())
}
