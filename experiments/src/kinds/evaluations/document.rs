//! The evaluations of several runs, side by side.

use crate::cell::Cell;
use helmholtz_datasets::caution;
use helmholtz_evaluation::Nll;
use helmholtz_report::{Block, Cell as TableCell, Document, Kind, Note, Table};
use std::collections::BTreeSet;

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

/// The table of these runs, with a column for each S that one of them has.
pub fn document(title: &str, dataset: &str, runs: &[Evaluated]) -> Document {
    let rows = runs.iter().flat_map(|run| &run.rows);
    let samples: BTreeSet<usize> = rows.map(|row| row.samples).collect();
    let none = || TableCell::of(Kind::Ours, "-");
    let heads = ["Net", "Method", "Seed"].map(String::from).into_iter();
    let heads = heads.chain(samples.iter().map(|s| format!("NLL, S = {s}")));
    let mut table = Table::new("samples", "", heads.chain(["Last fall".to_string()]));
    for run in runs {
        let names = run.names.iter().map(|name| TableCell::from(name.as_str()));
        let mut row: Vec<TableCell> = names.chain([TableCell::count(run.seed)]).collect();
        row.extend(samples.iter().map(|&samples| {
            let nll = run.rows.iter().find(|nll| nll.samples == samples);
            nll.map_or(none(), |nll| {
                TableCell::measured(nll.mean, nll.standard_error, 2)
            })
        }));
        row.push(match run.rows.as_slice() {
            [.., before, last] => TableCell::fixed(before.mean - last.mean, 2),
            _ => none(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_with_other_numbers_of_samples_stand_in_one_table() {
        let nll = |samples, mean| Nll {
            samples,
            mean,
            standard_error: 0.25,
            elbo: -mean,
            images: 1,
        };
        let run = |method: &str, rows| Evaluated {
            label: String::new(),
            names: ["linear".into(), method.into()],
            seed: 1,
            rows,
        };
        let runs = [
            run("jsa", vec![nll(10, 9.0), nll(100, 8.5)]),
            run("rws", vec![nll(100, 8.75)]),
        ];
        let document = document("Two", "glyphs", &runs);
        let (_, table) = helmholtz_report::document::tables(&document).remove(0);
        let texts = |row: &Vec<TableCell>| row[3..].iter().map(|cell| cell.text.clone()).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(texts).collect();
        assert_eq!(rows[0], ["9.00 ± 0.25", "8.50 ± 0.25", "0.50"]);
        assert_eq!(rows[1], ["-", "8.75 ± 0.25", "-"]);
    }
}
