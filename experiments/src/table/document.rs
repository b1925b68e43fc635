//! The table as a document.

use super::cautions::distinct;
use super::numbers::published_text;
use super::{Row, Table};
use crate::cell_runner::{CellResult, Score};
use helmholtz_report as report;
use helmholtz_report::{Block, Cell, Document, Kind};

/// The table, its quoted rows and its notes.
pub fn document(table: &Table) -> Document {
    let head = format!(
        "Profile {}, data set {}.",
        table.profile_text(),
        table.dataset
    );
    let mut blocks = vec![Block::Text(head), Block::Table(results(table))];
    if !table.quoted.is_empty() {
        blocks.push(Block::Table(quoted(table)));
    }
    blocks.push(Block::Notes(table.notes.clone()));
    Document::of_blocks(&table.title, blocks)
}

/// Table of the results; beside those of generated images nothing published is shown.
fn results(table: &Table) -> report::Table {
    let published = ["Published", "Difference", "in sd"].iter();
    let published = published.filter(|_| !table.synthetic);
    let error = table.bounds.then_some("Error over images");
    let bounds = (table.shown == Score::Training).then_some("Test bound (S)");
    let seconds = bounds.map(|_| "Seconds");
    let variance = table.follows_gradients().then_some("ln V of φ");
    let details = ["Seeds", "S", "Test images"].into_iter();
    let details = details.chain(error).chain(bounds).chain(variance);
    let details = details.chain(seconds);
    let heads = ["Net", "Method", table.ours_header()].into_iter();
    let heads = heads.chain(published.copied()).chain(["Best epoch"]);
    let mut results = report::Table::new("results", "", heads.chain(details.clone()))
        .grouped()
        .with_details(details.count());
    for row in &table.rows {
        results.push(cells(row, table, row.errors_text(), row.images_text()));
        if let Some(released) = row.by_released() {
            // Always of all images; its error is not kept.
            results.push(cells(&released, table, "-".into(), "all".into()));
        }
    }
    results
}

fn cells(row: &Row, table: &Table, errors: String, images: String) -> Vec<Cell> {
    let number = |kind, text: String, value: Option<f64>| match value {
        Some(value) => Cell::number(kind, text, value),
        None => Cell::of(kind, "-"),
    };
    let mut cells = vec![
        row.group_label().into(),
        row.method_label.clone().into(),
        row.ours_in(table),
    ];
    if !table.synthetic {
        cells.push(row.published_cell());
        let difference = |text: Option<String>, value: Option<f64>| {
            number(Kind::Difference, text.unwrap_or_default(), value)
        };
        let own = row.difference;
        cells.push(difference(own.map(|d| d.nats_text()), own.map(|d| d.nats)));
        cells.push(difference(
            own.map(|d| d.sds_text()),
            own.and_then(|d| d.sds),
        ));
    }
    let texts = [row.epoch_text(), row.seeds_text(), row.samples_text()];
    cells.extend(texts.into_iter().chain([images]).map(Cell::from));
    cells.extend(table.bounds.then(|| Cell::of(Kind::Ours, errors)));
    if table.shown == Score::Training {
        cells.push(Cell::of(Kind::Ours, row.test_bounds_text()));
    }
    if table.follows_gradients() {
        let value = row.log_gradient_variance();
        let text = value.map_or(String::new(), |value| format!("{value:.2}"));
        cells.push(number(Kind::Ours, text, value));
    }
    if table.shown == Score::Training {
        cells.push(row.seconds_text().into());
    }
    cells
}

fn quoted(table: &Table) -> report::Table {
    let heads = std::iter::once("Method").chain(table.nets.iter().map(String::as_str));
    let caption = "Quoted by the publication, not targets";
    let mut quoted = report::Table::new("quoted", caption, heads);
    for row in &table.quoted {
        let numbers = row.numbers.iter().zip(&row.bounds).map(|(&nll, &bound)| {
            let text = published_text(nll, bound);
            match nll.or(bound) {
                Some(number) => {
                    Cell::number(Kind::Quoted, text, number.mean).with_spread(number.sd)
                }
                None => Cell::of(Kind::Quoted, text),
            }
        });
        quoted.push(std::iter::once(row.label.as_str().into()).chain(numbers));
    }
    quoted
}

impl Table {
    /// Whether a run has followed the variance of its gradient.
    fn follows_gradients(&self) -> bool {
        let of_row = |row: &Row| row.log_gradient_variance().is_some();
        self.rows.iter().any(of_row)
    }
}

impl Row {
    /// ln V of the gradient of φ at the end of training, averaged over the seeds that have it.
    fn log_gradient_variance(&self) -> Option<f64> {
        let results = self.results.values();
        let logs: Vec<f64> = results
            .filter_map(|result| Some(result.gradient_variance?.ln()))
            .collect();
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    }

    /// The importance samples behind the reported numbers, as far as the results say.
    pub(crate) fn samples_text(&self) -> String {
        self.each(CellResult::reported_samples, "/")
    }

    /// `98.72 (2), 95.01 (100)`: the mean over seeds of the test NLL's estimate with each S of the last evaluation.
    fn test_bounds_text(&self) -> String {
        let results: Vec<_> = self.results.values().collect();
        let Some(first) = results.first() else {
            return "-".to_string();
        };
        let share = 1.0 / results.len() as f64;
        let of_samples = |samples: u64| -> Option<String> {
            let of = |result: &&CellResult| {
                let own = result.finals.iter().find(|own| own.samples == samples)?;
                Some(own.nll * share)
            };
            let mean: f64 = results.iter().map(of).sum::<Option<f64>>()?;
            Some(format!("{mean:.2} ({samples})"))
        };
        let all = first.finals.iter().map(|own| own.samples);
        let all: Vec<String> = all.filter_map(of_samples).collect();
        match all.is_empty() {
            true => "-".to_string(),
            false => all.join(", "),
        }
    }

    /// Mean seconds of a run.
    fn seconds_text(&self) -> String {
        let count = self.results.len();
        let sum: f64 = self.results.values().map(|result| result.seconds).sum();
        match count {
            0 => "-".to_string(),
            _ => format!("{:.0}", sum / count as f64),
        }
    }

    pub(crate) fn images_text(&self) -> String {
        self.each(|result| result.images, "/")
    }

    /// The distinct numbers of the runs, ascending.
    pub(crate) fn each(&self, of: impl Fn(&CellResult) -> u64, separator: &str) -> String {
        let numbers = distinct(self.results.values().map(of));
        let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
        match texts.is_empty() {
            true => "-".to_string(),
            false => texts.join(separator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::folders::CellStatus;
    use crate::table::tests::{done, table};
    use helmholtz_report::{markdown, text};

    #[test]
    fn the_table_on_a_terminal_reads_as_it_should() {
        let cells = [
            done("linear", "jsa", 1, 105.75, 1000),
            done("linear", "rws", 1, 123.456, 1000),
            (
                cell("two-layers", "jsa", 1),
                CellStatus::Partial { done: 2 },
            ),
        ];
        let text = text::render(&document(&table("quick", false, &cells)), false);
        let head: String = text.lines().take(12).map(|l| format!("{l}\n")).collect();
        assert_eq!(
            head,
            "\
JSA Table 1: Bernoulli VAEs, test NLL

Profile quick, data set binarized-mnist.

  Method    Ours    Published  Difference  in sd  Best epoch
───────────────────────────────────────────────────────────────
Linear
  JSA     105.75  105.5 ± 0.1       +0.25   +2.5  999 of 1000
  RWS     123.46  108.0 ± 0.3      +15.46  +51.5  999 of 1000
───────────────────────────────────────────────────────────────
Two layers
  JSA          -   95.3 ± 0.1           -      -  2 of 5 epochs
"
        );
        assert!(text.contains("ARM        107.2 ± 0.1*"), "{text}");
    }

    #[test]
    fn a_full_table_fits_eighty_columns() {
        let mut cells = Vec::new();
        for net in ["linear", "nonlinear", "two-layers"] {
            for method in ["jsa", "rws", "rloo"] {
                cells.extend(
                    (1..=5).map(|seed| done(net, method, seed, 104.0 + 3.3 * seed as f64, 1000)),
                );
            }
        }
        let plain = text::render(&document(&table("paper", false, &cells)), false);
        assert!(
            plain.lines().all(|line| line.chars().count() <= 80),
            "{plain}"
        );
    }

    #[test]
    fn the_markdown_reads_as_it_should() {
        let cells = [done("linear", "jsa", 1, 105.75, 5)];
        let text = markdown::render(&document(&table("quick", false, &cells)));
        assert!(
            text.starts_with(
                "\
# JSA Table 1: Bernoulli VAEs, test NLL

Profile quick, data set binarized-mnist.

| Net | Method | Ours | Published | Difference | in sd | Best epoch | Seeds | S | Test images |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Linear | JSA | 105.75 | 105.5 ± 0.1 | +0.25 | +2.5 | 4 of 5 | seed 1 | 100 | 1000 |

Quoted by the publication, not targets:

| Method | Linear | Nonlinear | Two layers |
| --- | --- | --- | --- |
| REINFORCE | 170.1\\* | 114.1\\* | 159.2\\* |
"
            ),
            "{text}"
        );
        let caution = "- **NOT CONVERGED NUMBERS: 5 of the paper's 1000 epochs.**\n";
        assert!(text.contains(caution), "{text}");
    }
}
