//! Tables as comma-separated values.

use crate::document::{Cell, Table};
pub use crate::records::lines;

type Exact = fn(&Cell) -> Option<f64>;

/// What a number's text rounds, and the end of its column's head.
const EXACT: [(Exact, &str); 2] = [
    (|cell| cell.value, "every digit"),
    (|cell| cell.spread, "±, every digit"),
];

/// A table: each column as text, after a column of numbers the same with every digit, and after that what stands behind its ±.
pub fn render(table: &Table) -> String {
    let columns = 0..table.columns.len();
    let exact: Vec<Vec<_>> = columns
        .map(|column| {
            let there = |of: Exact| table.rows.iter().any(|row| of(&row[column]).is_some());
            EXACT.into_iter().filter(|(of, _)| there(*of)).collect()
        })
        .collect();
    let heads = table.columns.iter().zip(&exact).flat_map(|(head, exact)| {
        let digits = exact.iter().map(move |(_, end)| format!("{head}, {end}"));
        std::iter::once(head.clone()).chain(digits)
    });
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().zip(&exact).flat_map(|(cell, exact)| {
            let digits =
                |(of, _): &(Exact, _)| of(cell).map_or(String::new(), |value| value.to_string());
            std::iter::once(cell.text.clone()).chain(exact.iter().map(digits))
        });
        cells.collect()
    });
    lines(std::iter::once(heads.collect()).chain(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;

    #[test]
    fn numbers_keep_their_digits_beside_the_text() {
        let mut table = Table::new("t", "t", ["Net, or so", "Ours"]);
        table.push(["a \"b\"".into(), Cell::measured(1.0 / 3.0, 0.125, 2)]);
        table.push(["c".into(), Cell::of(Kind::Ours, "-")]);
        assert_eq!(
            render(&table),
            "\"Net, or so\",Ours,\"Ours, every digit\",\"Ours, ±, every digit\"\n\
             \"a \"\"b\"\"\",0.33 ± 0.12,0.3333333333333333,0.125\nc,-,,\n"
        );
    }
}
