//! The table of a group: a row for each net and method.

use super::build::{anchor, below};
use super::group::Group;
use crate::blocks::or_none;
use crate::cell_runner::CellResult;
use crate::records::Record;
use crate::table::Row;
use helmholtz_report::{Cell, Kind, Table};

/// The table of a group: ours, published, difference.
pub fn table(group: &Group, rows: &[Row], id: &str) -> Table {
    let published = |row: &Row| row.published.or(row.published_bound).is_some();
    let beside = rows.iter().any(published);
    let bounded = rows.iter().any(|row| row.bound.is_some());
    let mut columns = vec!["Net", "Method", "Ours"];
    columns.extend(bounded.then_some("Bound"));
    if beside {
        columns.extend(["Published", "Difference"]);
    }
    let last = [
        "Best epoch",
        "Epochs",
        "Seeds",
        "S",
        "Test images",
        "Run folder",
    ];
    columns.extend(last);
    // What released code reports is always of all images.
    let released = |row: &Row| row.by_released().map(|released| (released, "all".into()));
    let rows = rows.iter().flat_map(|row| {
        let own = (row.clone(), row.images_text());
        [Some(own), released(row)].into_iter().flatten()
    });
    let rows = rows.map(|(row, images)| {
        let row = &row;
        let of_row = group.runs.iter().filter(|(_, run)| {
            let same = (&run.cell.net, &run.cell.method) == (&row.net, &row.method);
            same && run.cell.particles() == row.particles
                && row.results.contains_key(&run.cell.seed)
        });
        let of_row: Vec<&Record> = of_row.map(|(record, _)| *record).collect();
        let folders: Vec<&str> = of_row
            .iter()
            .map(|record| below(&group.place, record))
            .collect();
        let mut ours = row.ours_of(&group.dataset, group.synthetic(), group.spec.standard_error);
        if row.results.len() > 1 {
            ours.text += &format!(", {} runs", row.results.len());
        }
        ours.link = of_row.first().map(|record| anchor(id, &record.place));
        let mut data: Vec<Cell> = vec![
            row.group_label().into(),
            row.method_label.as_str().into(),
            ours,
        ];
        data.extend(bounded.then(|| or_none(row.bound, |bound| Cell::fixed(bound.mean, 2))));
        if beside {
            data.push(row.published_cell());
            let text = row.difference_text();
            data.push(match row.difference {
                Some(difference) => Cell::number(Kind::Difference, text, difference.nats),
                None => Cell::of(Kind::Difference, text),
            });
        }
        let best = match row.results.is_empty() {
            true => "-".into(),
            false => row.epoch_text(),
        };
        let published = group.published.as_ref().filter(|_| beside);
        data.extend([
            best.into(),
            epochs(row, published.and_then(|p| p.epochs)).into(),
            row.seeds_text().into(),
            row.samples_text().into(),
            images.into(),
            match folders.is_empty() {
                true => "-".into(),
                false => folders.join(", ").into(),
            },
        ]);
        data
    });
    let caption = format!("{}: test NLL, nats, on {}", group.spec.title, group.dataset);
    let mut table = Table::new(format!("{id}-results"), caption, columns);
    rows.for_each(|row| table.push(row));
    table
}

/// `1000`, `100 (published: 1000)`, `ended at 120 of 1000`, `cut short: 17 of 20 epochs`.
fn epochs(row: &Row, published: Option<u64>) -> String {
    let short = |result: &&CellResult| result.epochs_done < result.epochs_planned;
    if let Some(result) = row.results.values().find(short) {
        return format!(
            "ended at {} of {}",
            result.epochs_done, result.epochs_planned
        );
    }
    if row.results.is_empty() {
        let first = row.unfinished.first();
        return first.map_or("-".into(), |(_, what)| format!("cut short: {what}"));
    }
    let text = row.each(|result| result.epochs_done, " or ");
    match published.filter(|published| text != published.to_string()) {
        Some(published) => format!("{text} (published: {published})"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::cell::Cell;
    use crate::report::testing::{changed, column, finished, paper, record, sections, table};
    use crate::spec::{Selection, Spec};

    #[test]
    fn a_mean_tells_its_runs_and_leads_to_the_first_and_every_number_names_its_folders() {
        let of = |method, seed, nll| {
            let cell = Cell {
                seed,
                ..paper(method)
            };
            let place = format!("table1/paper/binarized-mnist/linear/{method}/seed-{seed}");
            record(&place, finished(cell, nll))
        };
        let records = vec![
            of("jsa", 1, 105.0),
            of("jsa", 2, 106.0),
            of("rws", 1, 108.0),
        ];
        let section = sections(records).remove(0);
        let results = table(&section, "-results");
        let ours = column(&results, "Ours");
        assert_eq!(ours[0].text, "105.50 ± 0.71, 2 runs");
        assert_eq!(
            (ours[0].value, ours[1].text.as_str()),
            (Some(105.5), "108.00")
        );
        let folders = column(&results, "Run folder");
        assert_eq!(folders[0].text, "linear/jsa/seed-1, linear/jsa/seed-2");
        assert_eq!(folders[1].text, "linear/rws/seed-1");
        let runs = table(&section, "-runs");
        let runs = column(&runs, "Run folder");
        for (number, run) in [(ours[0], runs[0]), (ours[1], runs[2])] {
            assert!(number.link.is_some());
            assert_eq!(number.link, run.anchor);
        }
        assert_eq!(runs[0].text, "linear/jsa/seed-1");
    }

    #[test]
    fn the_released_formula_has_a_row_of_its_own() {
        let spec = Spec::load("table2").unwrap();
        let selection = Selection {
            methods: vec!["st-gumbel-softmax-learned".into()],
            seeds: vec![1],
            ..Selection::default()
        };
        let cell = spec.cells("paper", &selection, &spec.dataset).unwrap();
        let run = changed(finished(cell[0].clone(), 90.0), |_, result| {
            result.released_nll = Some(82.75);
        });
        let place = "table2/paper/threshold-mnist/categorical/st-gumbel-softmax-learned/seed-1";
        let records = vec![record(place, run)];
        let results = table(&sections(records)[0], "-results");
        let exact = |head: &str| -> Vec<_> {
            let data = column(&results, head).into_iter();
            data.map(|cell| cell.value.unwrap()).collect()
        };
        assert_eq!(exact("Ours"), [90.0, 82.75]);
        assert_eq!(exact("Published"), [82.8, 82.8]);
        assert!((exact("Difference")[1] + 0.05).abs() < 1e-9);
        let methods = column(&results, "Method");
        assert!(methods[1].text.ends_with(", by the released formula"));
        assert_eq!(column(&results, "Test images")[1].text, "all");
    }
}
