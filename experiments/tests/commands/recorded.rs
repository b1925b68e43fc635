//! Every run folder under `results`, held to what the program made of it when `golden/recorded.txt` was written. Its
//! configuration parses, keeps its hash, and is recognised by the profile that its folder names. A change of the
//! configuration's JSON that disowns a recorded run fails here. `HELMHOLTZ_GOLDEN=write` writes the file anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::{helmholtz, text};
use helmholtz_experiments::cell::Cell;
use helmholtz_experiments::folders;
use helmholtz_experiments::folders::{CellStatus, profile_of};
use helmholtz_experiments::kinds::{READERS, apg_bmnist, apg_dmm, apg_gmm, arm_toy};
use helmholtz_experiments::records::{Record, What, find};
use helmholtz_experiments::spec::{Selection, Spec};
use helmholtz_report::{Block, Document, latex, markdown};
use helmholtz_runs::{RunFolder, Status, config_hash, read_config};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, to_value};

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn recorded() -> Vec<Record> {
    let (records, problems) = find(&results(), READERS).unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
    records
}

/// Whether the configuration is the one that a cell of today writes, or parses as an experiment of another kind. Of amortized population
/// Gibbs it is that of training; by what settings a run was measured its result says.
fn parses(config: &Value, folder: &Path) -> bool {
    fn round<T: Serialize + DeserializeOwned>(value: &Value) -> bool {
        let parsed: Result<T, _> = from_value(value.clone());
        parsed.is_ok_and(|parsed| to_value(parsed).unwrap() == *value)
    }
    let mut settings = config["settings"].clone();
    if settings["evaluation"].is_null() {
        settings["evaluation"] = match RunFolder::peek(folder) {
            Ok(Status::Finished(result)) => result["evaluation_settings"].clone(),
            // A run that was not finished says of none: that of the program's own file.
            _ => bundled_evaluation(&settings["kind"]),
        };
    }
    match settings["kind"].as_str().or(config["kind"].as_str()) {
        Some("apg-gmm") => from_value::<apg_gmm::Settings>(settings).is_ok(),
        Some("apg-dmm") => from_value::<apg_dmm::Settings>(settings).is_ok(),
        Some("apg-bmnist") => from_value::<apg_bmnist::Settings>(settings).is_ok(),
        Some("arm-toy") => from_value::<arm_toy::Settings>(config.clone()).is_ok(),
        _ if config["cell"].is_object() => round::<Cell>(&config["cell"]),
        // The configuration of what several runs show together: its title, and its runs.
        _ if config.as_object().is_some_and(|all| {
            let figure = ["divisions", "experiment", "profile", "steps", "title"];
            let of = |keys: &[&str]| all.keys().eq(keys.iter().copied());
            of(&["title"]) || of(&["members", "title"]) || of(&figure)
        }) =>
        {
            true
        }
        _ => round::<Cell>(config),
    }
}

/// The settings of the evaluation in the file that is called as a kind is.
fn bundled_evaluation(kind: &Value) -> Value {
    let Some(kind) = kind.as_str() else {
        return Value::Null;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{kind}.toml"));
    let file: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    to_value(&file["evaluation"]).unwrap()
}

/// What the profile that a cell's folder names makes of the folder today.
fn by_profile(record: &Record, cell: &Cell) -> &'static str {
    let Ok(spec) = Spec::load(&cell.experiment) else {
        return "of no experiment";
    };
    let known = |&(profile, _): &(&str, Option<u64>)| spec.profile.contains_key(profile);
    let named = record.place.split('/').nth(1).map(|part| (part, None));
    let cut = record.place.split('/').nth(1).map(profile_of);
    // A file with one profile leaves it out of its records' place.
    let only = spec.profile.keys().next().map(|name| (name.as_str(), None));
    let only = only.filter(|_| spec.profile.len() == 1);
    let Some((profile, epochs)) = named.filter(known).or(cut.filter(known)).or(only) else {
        return "of no profile";
    };
    let selection = Selection {
        nets: vec![cell.net.clone()],
        methods: vec![cell.method.clone()],
        particles: cell.particles().into_iter().collect(),
        seeds: vec![cell.seed],
        epochs,
        images: None,
    };
    let cells = spec.cells(profile, &selection, &cell.dataset).unwrap();
    match folders::status(&record.folder, &cells[0]) {
        CellStatus::Done(_) => "done",
        CellStatus::Unusable { .. } => "unlike",
        CellStatus::New | CellStatus::Partial { .. } => "begun",
        status => panic!("{}: {status:?}", record.place),
    }
}

/// Runs of amortized population Gibbs from before their settings had all of today's keys. They are shown by their own files.
const OLDER: [&str; 2] = [
    "apg-bmnist/paper-cut-at-274-steps",
    "apg-gmm/paper-30000-steps",
];

#[test]
fn every_recorded_configuration_parses_keeps_its_hash_and_is_recognised() {
    let mut found = String::new();
    for record in recorded() {
        let config = read_config(&record.folder).unwrap().unwrap();
        let profile = match &record.what {
            What::Cell(run) => by_profile(&record, &run.cell),
            What::Other(_) => "-",
        };
        let (hash, parses) = (config_hash(&config), parses(&config, &record.folder));
        assert_eq!(
            parses,
            !OLDER.contains(&record.place.as_str()),
            "{}",
            record.place
        );
        writeln!(found, "{} {hash} {parses} {profile}", record.place).unwrap();
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/recorded.txt");
    if std::env::var_os("HELMHOLTZ_GOLDEN").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    assert!(expected.lines().count() >= 267, "no record is lost");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// The numbers with a decimal point in the rows of tables in Markdown.
fn numbers(markdown: &str) -> Vec<String> {
    let rows = markdown.lines().filter(|line| line.starts_with('|'));
    let words = rows.flat_map(|row| row.split(|c: char| !(c.is_ascii_digit() || c == '.')));
    words
        .filter(|word| word.contains('.') && word.parse::<f64>().is_ok())
        .map(String::from)
        .collect()
}

#[test]
fn tables_of_other_kinds_are_rebuilt_from_results_with_the_recorded_numbers() {
    let mut rebuilt = 0;
    for record in recorded() {
        let What::Other(run) = &record.what else {
            continue;
        };
        let verbatim = |block: &Block| matches!(block, Block::Verbatim(_));
        let Ok(kept) = std::fs::read_to_string(record.folder.join("table.md")) else {
            continue;
        };
        if run.blocks.iter().any(verbatim) {
            continue;
        }
        let again = markdown::render(&Document::of_blocks("", run.blocks.clone()));
        let again = numbers(&again);
        let missing: Vec<String> = numbers(&kept)
            .into_iter()
            .filter(|number| !again.contains(number))
            .collect();
        assert!(missing.is_empty(), "{}: {missing:?}", record.place);
        assert!(!latex::render(&Document::of_blocks("", run.blocks.clone())).contains('—'));
        rebuilt += 1;
    }
    assert!(rebuilt >= 2, "{rebuilt}");
}

/// Tables of recorded runs whose profiles have other settings today, and of those that measure gradients: a report of the records
/// has their numbers. All others are made again whole, beside the code that makes them.
#[test]
fn a_report_has_the_numbers_of_every_other_recorded_table() {
    let dir = tempfile::tempdir().unwrap();
    let all = results();
    let args = ["report", "--results", all.to_str().unwrap()];
    let output = helmholtz(dir.path(), &args);
    assert!(output.status.success(), "{}", text(&output));
    for place in [
        "arm-table2/quick-omniglot",
        "fig3/quick",
        "fig3/quick-12-epochs",
        "table1/paper-100-epochs",
        "table1/paper-s100",
        "table2/paper",
    ] {
        let kept = std::fs::read_to_string(all.join(place).join("table.md")).unwrap();
        let (own, _quoted) = kept.split_once("\nQuoted").unwrap_or((&kept, ""));
        let folder = format!("{}/{place}", all.display());
        let own = numbers(own);
        let shown = shown(&dir.path().join("report/tables"), &folder);
        let missing: Vec<&String> = own.iter().filter(|own| !shown.contains(own)).collect();
        assert!(
            !own.is_empty() && missing.is_empty(),
            "{place}: {missing:?}"
        );
    }
}

/// The numbers in the tables of a report's section on `folder`.
fn shown(tables: &Path, folder: &str) -> Vec<String> {
    let stem = format!("{}-", helmholtz_report::document::slug(folder));
    let files = std::fs::read_dir(tables).unwrap();
    let own = files.map(|file| file.unwrap()).filter(|file| {
        let name = file.file_name().into_string().unwrap();
        ["results.csv", "runs.csv", "variance.csv"]
            .contains(&name.strip_prefix(&stem).unwrap_or_default())
    });
    let rows = own.map(|file| std::fs::read_to_string(file.path()).unwrap());
    rows.flat_map(|text| numbers(&text.replace('\n', "\n|")))
        .collect()
}
