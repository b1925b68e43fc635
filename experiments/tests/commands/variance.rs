//! `variance`, the program itself: a table at fresh parameters and at those of a run, and refusals with their remedy.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::helmholtz;
use clap::Parser;
use helmholtz_datasets::Locator;
use helmholtz_experiments::cli::{self, Cli};
use helmholtz_experiments::commands::variance::variance;
use helmholtz_experiments::registry::Registry;
use helmholtz_harness::reproduce::End;
use helmholtz_harness::streams::Captured;
use serde_json::Value;

/// A measurement small enough for a test.
const SMALL: [&str; 5] = ["variance", "--replicates", "4", "--batch", "5"];

/// The table that `variance <args>` prints as JSON.
fn table(folder: &Path, args: &[&str]) -> Value {
    let output = helmholtz(folder, &[&SMALL, args, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    let mut line: Value = serde_json::from_str(last).unwrap();
    assert_eq!(line["event"], "table");
    line["table"].take()
}

fn row<'a>(table: &'a Value, method: &str, chains: &str) -> &'a Value {
    let rows = table["rows"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["method"] == method && row["chains"] == chains);
    row.unwrap_or_else(|| panic!("no {method}, {chains} in {table:#}"))
}

/// A run of JSA on the linear net, an epoch of its second stage.
fn run(folder: &Path) -> PathBuf {
    let text = include_str!("../../table1.toml")
        .replace("switch = 0.6", "switch = 0.0")
        .replace("valid_images = 1000 ", "valid_images = 5 ")
        .replace("test_images = 1000\n", "test_images = 5\n")
        .replace("batch = 50", "batch = 500")
        .replace("valid_samples = 100\n", "valid_samples = 2\n")
        .replace("test_samples = 100\n", "test_samples = 2\n");
    std::fs::write(folder.join("mine.toml"), text).unwrap();
    let args = "reproduce mine.toml --dataset glyphs --net linear --method jsa --epochs 1";
    let output = helmholtz(folder, &args.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    folder.join("runs/table1/quick-1-epochs/glyphs/linear/jsa/seed-1")
}

#[test]
fn fresh_parameters_give_a_sorted_table_in_three_forms() {
    let dir = tempfile::tempdir().unwrap();
    let args = "--dataset glyphs --method jsa,rloo,nvil --stage 2 --out here";
    let table = table(dir.path(), &args.split(' ').collect::<Vec<_>>());
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{table:#}");
    // K = 2, and the chain state beside them.
    let evaluations = [
        ("jsa", "held", 3),
        ("jsa", "moving", 3),
        ("rloo", "none", 2),
    ];
    for (method, chains, expected) in evaluations {
        assert_eq!(row(&table, method, chains)["evaluations"], expected);
    }
    let number = |row: &Value, group: &str| row[group]["variance"].as_f64().unwrap();
    let merit = |row: &Value| {
        (number(row, "theta") + number(row, "phi")) * row["seconds"].as_f64().unwrap()
    };
    assert!(rows.is_sorted_by(|a, b| merit(a) <= merit(b)), "{table:#}");
    let linear = row(&table, "rloo", "none");
    assert_eq!(linear["theta"]["parameters"], 200 * 784 + 784);
    assert_eq!(linear["phi"]["parameters"], 784 * 200 + 200);

    let csv = std::fs::read_to_string(dir.path().join("here/variance.csv")).unwrap();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [21; 5], "{csv}");
    let markdown = std::fs::read_to_string(dir.path().join("here/variance.md")).unwrap();
    assert_eq!(markdown.matches("\n| jsa, ").count(), 2, "{markdown}");
    for note in ["GENERATED IMAGES", "nvil: what is learned", "draws from q"] {
        assert!(markdown.contains(note), "{markdown}");
    }
}

#[test]
fn a_run_is_measured_at_its_parameters_and_with_its_chains_and_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let folder = run(dir.path());
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push((path.clone(), std::fs::read(path).unwrap())),
                }
            }
        }
        files.sort();
        files
    };
    let before = files();
    let at = folder.to_str().unwrap();
    let trained = table(dir.path(), &["--run", at]);
    assert_eq!(trained["rows"].as_array().unwrap().len(), 2, "{trained:#}");
    assert_eq!(
        trained["parameters"],
        "parameters of linear / jsa / seed 1 after 1 epochs"
    );
    let notes = trained["notes"].to_string();
    assert!(notes.contains("The chains are the run's."), "{notes}");

    // After one epoch the selected parameters are the last ones; fresh ones, or fresh chains, are others.
    let selected = table(
        dir.path(),
        &["--run", at, "--selected", "--method", "jsa,rws"],
    );
    let fresh = table(
        dir.path(),
        &["--dataset", "glyphs", "--method", "jsa,rws", "--stage", "2"],
    );
    let variance = |table, method, chains| row(table, method, chains)["phi"]["variance"].clone();
    let held = |table| variance(table, "jsa", "held");
    assert_eq!(held(&trained), held(&selected));
    assert_ne!(held(&trained), held(&fresh));
    assert_ne!(
        variance(&selected, "rws", "none"),
        variance(&fresh, "rws", "none")
    );
    assert_eq!(files(), before);
}

/// A measurement into `out`, stopped once a row is kept or never; its rows, and what is said.
fn measured(out: &Path, stops: bool) -> (End, Vec<Value>, String) {
    let line = "helmholtz variance --replicates 40 --batch 5 --dataset glyphs --method rloo,arm,nvil --json --out";
    let line = line.split(' ').chain([out.to_str().unwrap()]);
    let cli::Command::Variance(args) = Cli::try_parse_from(line).unwrap().command else {
        unreachable!("`variance` was asked for")
    };
    let (shown, said) = (Captured::default(), Captured::default());
    let streams = Captured::streams(&shown, &said);
    let (registry, locator) = (Registry::default(), Locator::new(None));
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let end = std::thread::scope(|threads| {
        threads.spawn(|| {
            while stops && !over.load(Ordering::SeqCst) {
                let kept = std::fs::read_dir(out.join("pieces"));
                let kept = kept.is_ok_and(|mut kept| kept.next().is_some());
                stop.fetch_or(kept, Ordering::SeqCst);
                std::thread::yield_now();
            }
        });
        let end = variance(&args, &registry, &locator, &stop, &streams);
        over.store(true, Ordering::SeqCst);
        end
    });
    let text = shown.take();
    let lines = text.lines().map(serde_json::from_str::<Value>);
    let rows = lines
        .map(Result::unwrap)
        .filter(|line| line["event"] == "row");
    let rows = rows.map(|mut line| line["row"].take()).collect();
    (end.unwrap(), rows, said.take())
}

#[test]
fn rows_that_were_measured_before_a_stop_are_kept_for_the_same_command() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("here");
    let (end, first, said) = measured(&out, true);
    assert_eq!(end, End::Interrupted, "{said}");
    assert!(
        said.contains("The same command measures what is left"),
        "{said}"
    );
    assert!(first[0]["replicates"] == 40 && first.len() < 3);
    let (end, all, said) = measured(&out, false);
    assert_eq!((end, all.len()), (End::Complete, 3), "{said}");
    // With the seconds that it took then.
    assert_eq!(all[0], first[0]);
    assert!(
        said.contains("rloo: 40 replicates kept from an earlier attempt"),
        "{said}"
    );
    assert!(!said.contains("nvil: 40 replicates kept"), "{said}");
    assert!(!out.join("pieces").exists());
}

/// What `variance <args>` says when it refuses.
fn rejection(args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let output = helmholtz(dir.path(), &[&["variance"], args].concat());
    assert!(!output.status.success(), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_remedy() {
    let text = rejection(&["--method", "rlo"]);
    assert!(text.contains("Did you mean `rloo`?"), "{text}");
    let text = rejection(&["--net", "linea"]);
    assert!(text.contains("Did you mean `linear`?"), "{text}");
    let text = rejection(&["--method", "rloo", "--particles", "1"]);
    assert!(text.contains("`rloo` needs at least 2 particles"), "{text}");
    let text = rejection(&["--run", "nowhere"]);
    assert!(text.contains("there is no run"), "{text}");
    let text = rejection(&["--dataset", "glyphs", "--batch", "1000000"]);
    assert!(
        text.contains("1000000 images, but glyphs has") && text.contains("`--batch`"),
        "{text}"
    );
}
