//! The table on a terminal.

use super::numbers::published_text;
use super::{Row, Table, is_grave};
use console::Style;

/// The width to which notes are wrapped.
const WIDTH: usize = 78;

/// The table as lines of text, with colours or plain.
pub fn render(table: &Table, colours: bool) -> String {
    let style = |style: Style| style.force_styling(colours);
    let (bold, dim, loud) = (
        style(Style::new().bold()),
        style(Style::new().dim()),
        style(Style::new().yellow().bold()),
    );
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };

    line(bold.apply_to(&table.title).to_string());
    line(
        dim.apply_to(format!(
            "profile {}, data set {}",
            table.profile_text(),
            table.dataset
        ))
        .to_string(),
    );
    line(String::new());

    let columns = Columns::of(table);
    line(bold.apply_to(columns.header()).to_string());
    let rule = "─".repeat(columns.width());
    let mut group = String::new();
    for row in &table.rows {
        if row.group_label() != group {
            group = row.group_label();
            line(dim.apply_to(&rule).to_string());
            line(group.clone());
        }
        line(columns.row(row, table));
    }
    line(dim.apply_to(&rule).to_string());

    if !table.quoted.is_empty() {
        let first = table
            .quoted
            .iter()
            .map(|q| q.label.chars().count() + 1)
            .max()
            .unwrap_or(0)
            .max(columns.method);
        let cells = |first_cell: String, cells: Vec<String>| {
            let cells: String = cells.iter().map(|cell| format!("  {cell:>13}")).collect();
            format!("  {first_cell:<first$}{cells}")
        };
        line(String::new());
        line(cells("Quoted*".into(), table.nets.clone()));
        for row in &table.quoted {
            let numbers = row.numbers.iter().zip(&row.bounds);
            let numbers = numbers.map(|(&nll, &bound)| published_text(nll, bound));
            line(
                dim.apply_to(cells(row.label.clone(), numbers.collect()))
                    .to_string(),
            );
        }
    }
    line(String::new());
    for note in &table.notes {
        let grave = is_grave(note);
        for wrapped in wrap(note, WIDTH) {
            line(
                if grave {
                    loud.apply_to(wrapped)
                } else {
                    dim.apply_to(wrapped)
                }
                .to_string(),
            );
        }
    }
    out
}

/// A column right of the method: its header, and the text of a row.
struct Column {
    header: &'static str,
    cell: fn(&Row, &Table) -> String,
}

/// Of generated images nothing published is shown.
const OURS: Column = Column {
    header: "Ours",
    cell: |row, table| row.ours_text(table),
};
const PUBLISHED: [Column; 3] = [
    Column {
        header: "Published",
        cell: |row, _| row.published_text(),
    },
    Column {
        header: "Difference",
        cell: |row, _| row.difference.map_or("-".into(), |d| d.nats_text()),
    },
    Column {
        header: "in sd",
        cell: |row, _| row.difference.map_or("-".into(), |d| d.sds_text()),
    },
];
const EPOCH: Column = Column {
    header: "Best epoch",
    cell: |row, _| row.epoch_text(),
};

/// The columns of a table with their widths.
struct Columns {
    method: usize,
    others: Vec<(Column, usize)>,
}

impl Columns {
    fn of(table: &Table) -> Self {
        let mut columns = vec![OURS];
        if !table.synthetic {
            columns.extend(PUBLISHED);
        }
        columns.push(EPOCH);
        let widest = |header: &str, cell: &dyn Fn(&Row) -> String| {
            let cells = table.rows.iter().map(|row| cell(row).chars().count());
            cells.max().unwrap_or(0).max(header.len())
        };
        Self {
            method: widest("Method", &|row| row.method_label.clone()),
            others: columns
                .into_iter()
                .map(|column| {
                    let width = widest(column.header, &|row| (column.cell)(row, table));
                    (column, width)
                })
                .collect(),
        }
    }

    fn header(&self) -> String {
        self.line("Method", |column| column.header.to_string())
    }

    fn row(&self, row: &Row, table: &Table) -> String {
        self.line(&row.method_label, |column| (column.cell)(row, table))
    }

    fn line(&self, first: &str, text: impl Fn(&Column) -> String) -> String {
        let mut line = format!("  {first:<w$}", w = self.method);
        for (column, width) in &self.others {
            line += &format!("  {:>width$}", text(column));
        }
        line
    }

    fn width(&self) -> usize {
        self.header().chars().count()
    }
}

/// `text` in lines of at most `width` characters, broken between words; later lines are indented.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        let blank = line.trim().is_empty();
        if !blank && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("  {word}"));
        } else {
            if !blank {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::plan::CellStatus;
    use crate::table::tests::{done, table};

    #[test]
    fn the_table_reads_as_it_should() {
        let cells = [
            done("linear", "jsa", 1, 105.75, 1000),
            done("linear", "rws", 1, 123.456, 1000),
            (
                cell("two-layers", "jsa", 1),
                CellStatus::Partial { epoch: 2 },
            ),
        ];
        let text = render(&table("quick", false, &cells), false);
        let head: String = text.lines().take(11).map(|l| format!("{l}\n")).collect();
        assert_eq!(
            head,
            "\
JSA Table 1: Bernoulli VAEs, test NLL
profile quick, data set binarized-mnist

  Method    Ours    Published  Difference  in sd     Best epoch
───────────────────────────────────────────────────────────────
Linear
  JSA     105.75  105.5 ± 0.1       +0.25   +2.5    999 of 1000
  RWS     123.46  108.0 ± 0.3      +15.46  +51.5    999 of 1000
───────────────────────────────────────────────────────────────
Two layers
  JSA          -   95.3 ± 0.1           -      -  2 of 5 epochs
"
        );
        assert!(
            text.contains("ARM          107.2 ± 0.1*    98.4 ± 0.3*    96.7 ± 0.3*"),
            "{text}"
        );
    }

    #[test]
    fn a_full_table_fits_eighty_columns_and_colours_change_no_text() {
        let mut cells = Vec::new();
        for net in ["linear", "nonlinear", "two-layers"] {
            for method in ["jsa", "rws", "rloo"] {
                cells.extend(
                    (1..=5).map(|seed| done(net, method, seed, 104.0 + 3.3 * seed as f64, 1000)),
                );
            }
        }
        let full = table("paper", false, &cells);
        let plain = render(&full, false);
        assert!(
            plain.lines().all(|line| line.chars().count() <= 80),
            "{plain}"
        );
        let coloured = render(&full, true);
        assert_ne!(coloured, plain);
        let stripped: String = console::strip_ansi_codes(&coloured)
            .lines()
            .map(|line| line.trim_end().to_string() + "\n")
            .collect();
        assert_eq!(stripped, plain);
    }

    #[test]
    fn notes_are_wrapped_between_words() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "  cc"]);
        assert_eq!(wrap("aaaaaaa b", 5), ["aaaaaaa", "  b"]);
    }
}
