//! The tables of Table 1 that documents show, made of the recorded runs. `HELMHOLTZ_GOLDEN=write` writes them anew.

use super::{Row, Source, Table, csv, document, gather};
use crate::cell_runner::CellResult;
use crate::folders::profile_of;
use crate::spec::Spec;
use helmholtz_report::markdown;
use std::fs;
use std::path::{Path, PathBuf};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// The table of the runs below a folder of `results`: `table1/paper`, or `table1/paper-100-epochs`.
fn table(place: &str) -> Table {
    let (experiment, part) = place.split_once('/').unwrap_or((place, "quick"));
    let spec = Spec::load(experiment).unwrap();
    let (profile, epochs) = match spec.profile.contains_key(part) {
        true => (part, None),
        false => profile_of(part),
    };
    let dataset = spec.dataset_of(profile).unwrap();
    let published = spec.published_for(dataset).unwrap();
    let source = Source {
        spec: &spec,
        profile,
        epochs,
        dataset,
        images: None,
        synthetic: false,
        published: published.as_ref(),
    };
    let cells = gather(source, &home().join("results").join(place), &[]).unwrap();
    Table::build(source, &cells).unwrap()
}

/// Holds a file to this text, or writes it.
fn hold(path: &Path, expected: &str) {
    if std::env::var_os("HELMHOLTZ_GOLDEN").is_some() {
        fs::write(path, expected).unwrap();
    }
    let found = fs::read_to_string(path).unwrap();
    assert_eq!(found, expected, "{}", path.display());
}

/// A file with these rows between `<!-- table 1 -->` and `<!-- end of table 1 -->`.
fn with_rows(path: &Path, head: &str, rows: &[String]) -> String {
    let (start, end) = ("<!-- table 1 -->\n", "<!-- end of table 1 -->");
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(start).expect("a place for the rows");
    let (_, after) = rest.split_once(end).expect("their end");
    format!(
        "{before}{start}\n{head}\n{}\n\n{end}{after}",
        rows.join("\n")
    )
}

fn count(seeds: usize) -> &'static str {
    [
        "no seed",
        "one seed",
        "two seeds",
        "three seeds",
        "four seeds",
        "five seeds",
    ][seeds]
}

/// Epochs, the selected one, ours, published, difference.
fn numbers(row: &Row, ours: &str) -> String {
    let (selected, planned) = row
        .epoch_text()
        .split_once(" of ")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let difference = row.difference_text().replace('-', "−");
    format!(
        "{planned} of {planned} | {selected} | {ours} | {} | {difference} |",
        row.published_text()
    )
}

/// The row of one seed: ± is the standard error over test images.
fn of_seed(row: &Row, seed: u64, result: &CellResult) -> String {
    let alone = Row {
        results: [(seed, result.clone())].into(),
        ..row.clone()
    };
    let ours = super::Ours::of(&[result.reported_nll()]).unwrap();
    let alone = Row {
        ours: Some(ours),
        difference: alone.published.and_then(|published| ours.minus(published)),
        ..alone
    };
    let text = format!("{:.2} ± {:.2}", ours.mean, result.reported_se());
    format!(
        "| {}, {}, seed {seed} | {}",
        row.net_label,
        row.method_label,
        numbers(&alone, &text)
    )
}

/// Recorded tables whose profiles are still those of their runs.
const PLACES: &[&str] = &[
    "arm-table2/paper-3-epochs",
    "arm-table2/quick-grey",
    "arm-table2/quick",
    "arm-table3/quick",
    "categorical/quick",
    "counts/quick",
    "disarm/quick-60-epochs",
    "disarm/quick-once-60-epochs",
    "disarm/quick-once",
    "disarm/quick",
    "estimators",
    "helmholtz/quick-50-epochs",
    "helmholtz/quick",
    "rodeo-3/quick-60-epochs",
    "rodeo-3/quick-grey",
    "rodeo-3/quick",
    "rodeo/quick-60-epochs",
    "rodeo/quick",
    "showdown/quick",
    "table1/paper-coarse",
    "table1/paper",
    "table1/quick",
    "table2/paper-20-epochs",
    "table2/paper-30-epochs",
    "table2/quick",
    "table2/sampled-kl-20-epochs",
    "table3/paper",
    "table3/quick",
];

#[test]
fn recorded_tables_are_made_of_their_runs() {
    for place in PLACES {
        let table = table(place);
        let unfinished = table.rows.iter().find(|row| !row.unfinished.is_empty());
        assert_eq!(unfinished, None, "{place}");
        let folder = home().join("results").join(place);
        let text = markdown::render(&document(&table));
        hold(&folder.join("table.md"), &text);
        let numbers = folder.join("table.csv");
        if numbers.exists() {
            hold(&numbers, &csv::render(&table));
        }
    }
}

#[test]
fn tables_of_table_1_are_made_of_its_records() {
    let (mut runs, mut found) = (Vec::new(), Vec::new());
    for place in ["table1/paper", "table1/paper-coarse"] {
        for row in &table(place).rows {
            runs.extend(
                row.results
                    .iter()
                    .map(|(seed, result)| of_seed(row, *seed, result)),
            );
            let ours = row.ours.expect("a finished run").text();
            let (name, numbers) = (
                format!("{}, {}", row.net_label, row.method_label),
                numbers(row, &ours),
            );
            let seeds = count(row.results.len());
            let place = format!("results/{place}/{}/{}", row.net, row.method);
            if row.results.len() > 1 {
                runs.push(format!(
                    "| **{name}, {seeds}** (± sd over seeds) | {numbers}"
                ));
                found.push(format!("| [{name}, {seeds}]({place}) | {numbers}"));
            } else {
                found.push(format!(
                    "| [{name}, {seeds}]({place}/seed-1/result.json) | {numbers}"
                ));
            }
        }
    }
    let head = "| run | epochs | selected | test NLL, S = 1000 | published | difference |\n|---|---|---|---|---|---|";
    let path = home().join("results/table1/README.md");
    hold(&path, &with_rows(&path, head, &runs));
    let head = head.replace("| run |", "| recorded run |");
    let path = home().join("FINDINGS.md");
    hold(&path, &with_rows(&path, &head, &found));
}
