//! The evaluations of several runs, side by side.

use crate::cell::Cell;
use helmholtz_datasets::caution;
use helmholtz_evaluation::Nll;
use helmholtz_report::{Block, Cell as TableCell, Document, Kind, Note, Table};

/// An evaluated run.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The run's cell in words.
    pub label: String,
    /// Net and method.
    names: [String; 2],
    /// Its seed.
    seed: u64,
    /// For each S.
    pub rows: Vec<Nll>,
}

impl Evaluated {
    /// The run of a cell, with these numbers.
    pub fn new(cell: &Cell, rows: Vec<Nll>) -> Self {
        Self {
            label: cell.label(),
            names: [cell.column(), cell.method.clone()],
            seed: cell.seed,
            rows,
        }
    }
}

/// The table of these runs, one at least, all with the same S.
pub fn document(title: &str, dataset: &str, runs: &[Evaluated]) -> Document {
    let samples = runs[0].rows.iter().map(|row| row.samples);
    let heads = ["Net", "Method", "Seed"].map(String::from).into_iter();
    let heads = heads.chain(samples.map(|s| format!("NLL, S = {s}")));
    let mut table = Table::new("samples", "", heads.chain(["Last fall".to_string()]));
    for run in runs {
        let names = run.names.iter().map(|name| TableCell::from(name.as_str()));
        let mut row: Vec<TableCell> = names.chain([TableCell::count(run.seed)]).collect();
        let rows = run.rows.iter();
        row.extend(rows.map(|nll| TableCell::measured(nll.mean, nll.standard_error, 2)));
        row.push(match run.rows.as_slice() {
            [.., before, last] => TableCell::fixed(before.mean - last.mean, 2),
            _ => TableCell::of(Kind::Ours, "-"),
        });
        table.push(row);
    }
    let remark = "Test NLL in nats, ± its standard error over images, by the same samples: those of a smaller S are the first of a \
                  larger. The estimate is too high by more, the fewer the samples and the broader q. Methods can be compared at an S \
                  from which on none of them falls.";
    let cautions = caution(dataset).map(Note::caution).into_iter();
    let notes = cautions.chain([Note::remark(remark)]).collect();
    let blocks = vec![Block::Table(table), Block::Notes(notes)];
    Document::of_blocks(title, blocks)
}
