//! The tables of Table 1 that documents show, made of the recorded runs. `HELMHOLTZ_GOLDEN=write` writes them anew.

use super::{Row, Source, Table, document, gather};
use crate::cell_runner::CellResult;
use crate::spec::Spec;
use helmholtz_report::markdown;
use std::fs;
use std::path::{Path, PathBuf};

/// The profiles whose runs are those of the published protocol.
const PROFILES: [&str; 2] = ["paper", "paper-coarse"];

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

/// Folder of a profile's runs, from the package on.
fn folder(profile: &str) -> String {
    format!("results/table1/{profile}")
}

fn table(profile: &str) -> Table {
    let spec = Spec::load("table1").unwrap();
    let published = spec.published_for(&spec.dataset).unwrap();
    let source = Source {
        spec: &spec,
        profile,
        epochs: None,
        dataset: &spec.dataset,
        images: None,
        synthetic: false,
        published: published.as_ref(),
    };
    let cells = gather(source, &home().join(folder(profile)), &[]).unwrap();
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

#[test]
fn tables_of_table_1_are_made_of_its_records() {
    let (mut runs, mut found) = (Vec::new(), Vec::new());
    for profile in PROFILES {
        let table = table(profile);
        let text = markdown::render(&document(&table));
        hold(&home().join(folder(profile)).join("table.md"), &text);
        for row in &table.rows {
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
            let place = format!("{}/{}/{}", folder(profile), row.net, row.method);
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
