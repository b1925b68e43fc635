//! Tables as comma-separated values.

use crate::document::Table;
use crate::records::lines;

/// A table: each column as text, and after a column of numbers the same with every digit.
pub fn render(table: &Table) -> String {
    let exact = |column: usize| table.rows.iter().any(|row| row[column].value.is_some());
    let exact: Vec<bool> = (0..table.columns.len()).map(exact).collect();
    let heads = table.columns.iter().zip(&exact).flat_map(|(head, &exact)| {
        let digits = exact.then(|| format!("{head}, every digit"));
        [Some(head.clone()), digits].into_iter().flatten()
    });
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().zip(&exact).flat_map(|(cell, &exact)| {
            let digits = cell.value.map_or(String::new(), |value| value.to_string());
            [Some(cell.text.clone()), exact.then_some(digits)]
                .into_iter()
                .flatten()
        });
        cells.collect()
    });
    lines(std::iter::once(heads.collect()).chain(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Cell, Kind};

    #[test]
    fn numbers_keep_their_digits_beside_the_text() {
        let mut table = Table::new("t", "t", ["Net, or so", "Ours"]);
        table.push([
            "a \"b\"".into(),
            Cell::number(Kind::Ours, "0.33 ± 0.10", 1.0 / 3.0),
        ]);
        table.push(["c".into(), Cell::of(Kind::Ours, "-")]);
        assert_eq!(
            render(&table),
            "\"Net, or so\",Ours,\"Ours, every digit\"\n\"a \"\"b\"\"\",0.33 ± 0.10,0.3333333333333333\nc,-,\n"
        );
    }
}
