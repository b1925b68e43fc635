//! Lines of the tables of likelihoods: by net and method.

use super::line::{Line, TENTH, Word};
use crate::cell::Cell;
use crate::cell_runner::CellResult;
use crate::folders::{CellStatus, profile_of};
use crate::published::{Published, Row};
use crate::records::{CellRun, Record, What};
use crate::registry::Registry;
use crate::spec::{Selection, Spec};
use crate::table::Ours;
use std::collections::BTreeMap;

/// A line for each published number, as far as these runs came.
pub fn lines(records: &[Record]) -> Vec<Line> {
    let mut lines = Vec::new();
    for spec in Spec::bundled(&Registry::default()) {
        let own = spec.published.iter().map(|table| (&spec.dataset, table));
        for (dataset, table) in own.chain(&spec.published_on) {
            let published = Published::load(table).expect("a test holds that they are there");
            lines.extend(of_table(&spec, dataset, &published, records));
        }
    }
    lines
}

fn of_table(spec: &Spec, dataset: &str, published: &Published, records: &[Record]) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in &published.row {
        let mut nets: Vec<&String> = row.nll.keys().chain(row.bound.keys()).collect();
        nets.sort_by_key(|net| spec.net.iter().position(|own| own.name == **net));
        nets.dedup();
        for net in nets {
            lines.push(of_net(spec, dataset, published, row, net, records));
        }
    }
    lines
}

fn of_net(
    spec: &Spec,
    dataset: &str,
    published: &Published,
    row: &Row,
    net: &str,
    records: &[Record],
) -> Line {
    let nll = row.nll.get(net);
    let (value, sd, quantity) = match (nll, row.bound.get(net)) {
        (Some(number), _) => (number.mean, number.sd, "NLL"),
        (None, bound) => (bound.copied().unwrap_or(f64::NAN), None, "-ELBO"),
    };
    let label = spec.net.iter().find(|own| own.name == net);
    let label = label.map_or(net, |net| net.label.as_str());
    let particles = row
        .particles
        .map_or(String::new(), |k| format!(", K = {k}"));
    let of_dataset = match dataset == spec.dataset {
        true => String::new(),
        false => format!(", {dataset}"),
    };
    let runs: Vec<(&CellRun, bool)> = match &row.ours {
        Some(method) => of_cell(spec, dataset, net, method, row.particles, records),
        None => Vec::new(),
    };
    let all = epochs(spec, dataset, net, row)
        .or(published.epochs)
        .unwrap_or(0);
    let ended = |run: &CellRun| {
        let result = run.status.result();
        all > 0 && result.is_some_and(|result| result.epochs_planned >= all)
    };
    let whole = runs
        .iter()
        .filter(|(run, published)| *published && ended(run));
    let whole: Vec<&CellRun> = whole.map(|(run, _)| *run).collect();
    let longest = runs.iter().map(|(run, _)| done(run)).max().unwrap_or(0);
    let counted: Vec<&CellRun> = match whole.is_empty() {
        true => runs
            .iter()
            .map(|(run, _)| *run)
            .filter(|run| done(run) == longest)
            .collect(),
        false => whole.clone(),
    };
    let values = by_seed(&counted, |result| match quantity {
        "NLL" => Some(result.reported_nll()),
        _ => result.bound,
    });
    let ours = Ours::of(&values);
    Line {
        source: published.source.clone(),
        experiment: spec.name.clone(),
        setting: format!("{label}{particles}{of_dataset}"),
        cell: format!("{label}{particles}"),
        method: row.label.clone(),
        quantity,
        published: value,
        published_sd: sd,
        rounding: TENTH,
        is_target: !row.is_quoted(net) && !row.is_doubtful(net),
        ours: ours.map(|ours| ours.mean),
        ours_sd: ours.and_then(|ours| ours.sd),
        seeds: [
            by_seed(&whole, |_| Some(0.0)).len() as u64,
            published.seeds.unwrap_or(1),
        ],
        steps: [longest, all.max(longest)],
        unit: "epochs",
        word: Word::NotRun,
    }
    .judged(!whole.is_empty())
}

/// The recorded runs of a cell of the table, whatever their length, each with whether its profile is the publication's protocol.
fn of_cell<'a>(
    spec: &Spec,
    dataset: &str,
    net: &str,
    method: &str,
    particles: Option<usize>,
    records: &'a [Record],
) -> Vec<(&'a CellRun, bool)> {
    let own = |record: &'a Record| match &record.what {
        What::Cell(run) => {
            let cell: &Cell = &run.cell;
            let same = (cell.experiment.as_str(), cell.dataset.as_str()) == (&spec.name, dataset)
                && (cell.net.as_str(), cell.method.as_str()) == (net, method)
                && cell.particles() == particles;
            let published = profile(spec, record).filter(|_| same)?;
            Some((&**run, published))
        }
        What::Other(_) => None,
    };
    records.iter().filter_map(own).collect()
}

/// Whether a run is of a profile that the experiment has, and of one that trains and measures as the publication does.
fn profile(spec: &Spec, record: &Record) -> Option<bool> {
    let parts = record.place.split('/').map(|part| profile_of(part).0);
    let mut known = parts.filter(|name| spec.profile.contains_key(*name));
    let name = known.next()?;
    let as_published = spec.training_as("paper").unwrap_or_default();
    Some(
        as_published.contains(&name)
            || name.starts_with("paper-")
                && spec.dataset_of(name).ok() != spec.dataset_of("paper").ok(),
    )
}

/// The epochs that the published protocol has, where a profile of the experiment holds it.
fn epochs(spec: &Spec, dataset: &str, net: &str, row: &Row) -> Option<u64> {
    let selection = Selection {
        nets: vec![net.to_string()],
        methods: vec![row.ours.clone()?],
        particles: row.particles.into_iter().collect(),
        seeds: vec![1],
        ..Selection::default()
    };
    let cells = spec.cells("paper", &selection, dataset).ok()?;
    Some(cells.first()?.settings.epochs)
}

fn done(run: &CellRun) -> u64 {
    match &run.status {
        CellStatus::Done(result) => result.epochs_done,
        status => status.done(run.cell.settings.epochs),
    }
}

/// A number of each seed that is finished.
fn by_seed(runs: &[&CellRun], of: impl Fn(&CellResult) -> Option<f64>) -> Vec<f64> {
    let mut seeds = BTreeMap::new();
    for run in runs {
        if let Some(value) = run.status.result().and_then(&of) {
            seeds.entry(run.cell.seed).or_insert(value);
        }
    }
    seeds.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::tests::cell;
    use crate::report::testing::{finished, record};

    fn recorded(method: &str, seed: u64, nll: f64, epochs: u64) -> Record {
        let mut cell = cell("linear", method, seed);
        cell.dataset = "binarized-mnist".into();
        cell.settings.epochs = epochs;
        let place = format!("table1/paper/linear/{method}/seed-{seed}");
        record(&place, finished(cell, nll))
    }

    fn of<'a>(lines: &'a [Line], setting: &str, method: &str) -> &'a Line {
        let own = |line: &&Line| {
            line.experiment == "table1" && line.setting == setting && line.method == method
        };
        lines.iter().find(own).unwrap()
    }

    #[test]
    fn a_number_is_reproduced_differs_is_cut_or_was_not_run() {
        let records = [
            recorded("jsa", 1, 105.6, 1000),
            recorded("jsa", 2, 105.4, 1000),
            recorded("rws", 1, 111.0, 1000),
            recorded("rloo", 1, 120.0, 10),
        ];
        let lines = lines(&records);
        let jsa = of(&lines, "Linear", "JSA");
        assert_eq!((jsa.word, jsa.seeds), (Word::Reproduced, [2, 5]));
        assert!((jsa.ours.unwrap() - 105.5).abs() < 1e-9);
        assert_eq!(of(&lines, "Linear", "RWS").word, Word::Differs);
        let cut = of(&lines, "Linear", "VIMCO");
        assert_eq!(
            (cut.word, cut.steps, cut.seeds),
            (Word::Cut, [10, 1000], [0, 5])
        );
        let none = of(&lines, "Nonlinear", "JSA");
        assert_eq!((none.word, none.ours), (Word::NotRun, None));
    }

    #[test]
    fn a_run_that_was_stopped_is_cut_and_has_no_number() {
        let Record { what, .. } = recorded("jsa", 1, 0.0, 1000);
        let What::Cell(run) = what else {
            unreachable!("a cell's record")
        };
        let stopped = (run.cell.clone(), CellStatus::Partial { done: 300 });
        let lines = lines(&[record("table1/paper/linear/jsa/seed-1", stopped)]);
        let jsa = of(&lines, "Linear", "JSA");
        let expected = (Word::Cut, None, [300, 1000], [0, 5]);
        assert_eq!((jsa.word, jsa.ours, jsa.steps, jsa.seeds), expected);
    }

    #[test]
    fn every_published_number_has_a_line() {
        let lines = lines(&[]);
        let tables = ["jsa-table1", "jsa-table2", "jsa-table3", "jsa-poster"];
        for table in tables {
            let published = Published::load(table).unwrap();
            let numbers = |row: &Row| {
                let bound = |net: &&String| !row.nll.contains_key(*net);
                row.nll.len() + row.bound.keys().filter(bound).count()
            };
            let all: usize = published.row.iter().map(numbers).sum();
            let own = lines.iter().filter(|line| line.source == published.source);
            assert_eq!(own.count(), all, "{table}");
        }
        assert!(lines.iter().all(|line| line.word == Word::NotRun));
    }
}
