//! The tables of a report as comma-separated values.

use super::document::Table;
use crate::plot::field;

/// A table: each column as it is read, and after a column of numbers the same with every digit.
pub fn render(table: &Table) -> String {
    let exact = |column: usize| table.rows.iter().any(|row| row[column].exact.is_some());
    let exact: Vec<bool> = (0..table.columns.len()).map(exact).collect();
    let mut out = String::new();
    let mut line = |fields: Vec<String>| {
        let fields: Vec<String> = fields.iter().map(|text| field(text)).collect();
        out += &(fields.join(",") + "\n");
    };
    let heads = table.columns.iter().zip(&exact);
    line(
        heads
            .flat_map(|(column, &exact)| {
                let head = column.head.clone();
                let digits = exact.then(|| format!("{head}, every digit"));
                [Some(head), digits].into_iter().flatten()
            })
            .collect(),
    );
    for row in &table.rows {
        line(
            row.iter()
                .zip(&exact)
                .flat_map(|(datum, &exact)| {
                    let digits = datum
                        .exact
                        .map_or(String::new(), |number| number.to_string());
                    [Some(datum.text.clone()), exact.then_some(digits)]
                        .into_iter()
                        .flatten()
                })
                .collect(),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Column, Datum, Kind};

    #[test]
    fn numbers_keep_their_digits_beside_what_is_read() {
        let table = Table {
            name: "t".into(),
            caption: "t".into(),
            columns: vec![Column::plain("Net, or so"), Column::new("Ours", Kind::Own)],
            rows: vec![
                vec![
                    "a \"b\"".into(),
                    Datum::number("0.33 ± 0.10".into(), 1.0 / 3.0),
                ],
                vec!["c".into(), "-".into()],
            ],
        };
        assert_eq!(
            render(&table),
            "\"Net, or so\",Ours,\"Ours, every digit\"\n\"a \"\"b\"\"\",0.33 ± 0.10,0.3333333333333333\nc,-,\n"
        );
    }
}
