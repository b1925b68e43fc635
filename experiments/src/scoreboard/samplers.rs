//! Lines of amortized population Gibbs: log joints and squared errors by sampler, inclusive KL by sweeps and particles.

use super::line::{Line, TENTH, Word};
use crate::kinds::apg_kl::Division;
use crate::kinds::{self, apg_bmnist, apg_kl};
use crate::population::{self, Column};
use crate::published::{Entries, KlRange, LogJoint, Quantity, SquaredErrors, setting_text};
use crate::records::{Kept, Record};
use crate::table::Ours;
use helmholtz_runs::{RunFolder, Status, read_config};
use serde_json::Value;
use std::collections::BTreeMap;

/// A published number of a sampler.
struct Number<'a> {
    source: &'a str,
    experiment: &'a str,
    setting: String,
    method: String,
    quantity: &'static str,
    value: f64,
    /// Its spread, where one is published.
    sd: Option<f64>,
    rounding: f64,
    /// Gradient steps of the published runs, and their seeds.
    steps: u64,
    seeds: u64,
}

/// Nats: the rounding of published KL(p‖q).
const KL_ROUNDING: f64 = 5e-6;

/// A number of ours: gradient steps, seed, value.
type Found = (u64, u64, f64);

/// A line for each published number.
pub fn lines(records: &[Record]) -> Vec<Line> {
    let mut all = Ends::default();
    for record in records {
        all.add(record);
    }
    let mut lines = log_joints(&all.columns);
    lines.extend(squared_errors(&all.errors));
    lines.extend(inclusive_kl(&all.kl));
    lines
}

/// What is published under this name.
fn load<T: Quantity>(name: &str) -> Entries<T> {
    Entries::load(name).expect("a test holds that they are there")
}

fn log_joints(columns: &[Column]) -> Vec<Line> {
    let published = load::<LogJoint>("apg-table1");
    let of = |own: &LogJoint| {
        let found = columns.iter().filter_map(|column| {
            let same = own.experiment == column.experiment && own.setting == column.reached.setting;
            let entry = column
                .reached
                .entries
                .iter()
                .find(|entry| same && entry.sampler == own.sampler)?;
            Some((column.steps, column.provenance.seed, entry.log_joint.mean))
        });
        let number = Number {
            source: &published.source,
            experiment: &own.experiment,
            setting: setting_text(&own.setting),
            method: own.sampler.clone(),
            quantity: "log joint",
            value: own.log_joint,
            sd: None,
            rounding: TENTH,
            steps: published.steps[own.experiment.as_str()],
            seeds: published.seeds,
        };
        line(number, found.collect())
    };
    published.entry.iter().map(of).collect()
}

fn squared_errors(errors: &[([usize; 3], String, Found)]) -> Vec<Line> {
    let published = load::<SquaredErrors>("apg-bmnist");
    let of = |own: &SquaredErrors, sampler: &str, value: f64| {
        let same =
            |(setting, name, _): &&(_, String, _)| *setting == own.setting() && name == sampler;
        let found = errors.iter().filter(same).map(|(_, _, found)| *found);
        let [canvas, frames, digits] = own.setting();
        let number = Number {
            source: &published.source,
            experiment: "apg-bmnist",
            setting: format!("{canvas} x {canvas}, T = {frames}, D = {digits}"),
            method: sampler.into(),
            quantity: "squared error",
            value,
            sd: None,
            rounding: TENTH,
            steps: published.steps["apg-bmnist"],
            seeds: published.seeds,
        };
        line(number, found.collect())
    };
    let all = published.entry.iter().flat_map(|own| {
        let of = &of;
        own.mse
            .iter()
            .map(move |(sampler, value)| of(own, sampler, *value))
    });
    all.collect()
}

fn inclusive_kl(ends: &[(Division, Found)]) -> Vec<Line> {
    let published = load::<KlRange>("apg-kl");
    let of = |own: &KlRange| {
        let division = Division {
            sweeps: own.sweeps,
            particles: own.particles,
        };
        let found = ends.iter().filter(|(of, _)| *of == division);
        let [low, high] = own.range;
        let number = Number {
            source: &published.source,
            experiment: "apg-kl",
            setting: format!("K = {}, L = {}", own.sweeps, own.particles),
            method: "APG".into(),
            quantity: "KL",
            value: low.midpoint(high),
            sd: Some((high - low) / 2.0),
            rounding: KL_ROUNDING,
            steps: published.steps["apg-kl"],
            seeds: published.seeds,
        };
        line(number, found.map(|(_, found)| *found).collect())
    };
    published.entry.iter().map(of).collect()
}

/// The line of a number, from the longest of our runs.
fn line(number: Number<'_>, found: Vec<Found>) -> Line {
    let longest = found.iter().map(|(steps, ..)| *steps).max().unwrap_or(0);
    let at_the_end = found.iter().filter(|(steps, ..)| *steps == longest);
    let by_seed: BTreeMap<u64, f64> = at_the_end.map(|(_, seed, value)| (*seed, *value)).collect();
    let whole = longest >= number.steps;
    let ours = Ours::of(&by_seed.values().copied().collect::<Vec<_>>());
    Line {
        source: number.source.into(),
        experiment: number.experiment.into(),
        cell: number.setting.clone(),
        setting: number.setting,
        method: number.method,
        quantity: number.quantity,
        published: number.value,
        published_sd: number.sd,
        rounding: number.rounding,
        is_target: true,
        ours: ours.map(|ours| ours.mean),
        ours_sd: ours.and_then(|ours| ours.sd),
        seeds: [if whole { by_seed.len() as u64 } else { 0 }, number.seeds],
        steps: [longest, number.steps],
        unit: "steps",
        word: Word::NotRun,
    }
    .judged(whole)
}

/// What runs by the published protocol reached.
#[derive(Default)]
struct Ends {
    columns: Vec<Column>,
    /// By setting and sampler.
    errors: Vec<([usize; 3], String, Found)>,
    /// KL(p‖q) of (μ, τ) given c, summed over clusters.
    kl: Vec<(Division, Found)>,
}

impl Ends {
    fn add(&mut self, record: &Record) {
        let Some((config, result)) = published_run(record) else {
            return;
        };
        let kept = Kept {
            folder: &record.folder,
            config: &config,
            result: Some(&result),
            metrics: &[],
        };
        self.columns.extend(kinds::columns(&kept));
        self.kl.extend(apg_kl::end(&kept));
        if let Some((settings, outcome)) = population::finished::<apg_bmnist::Settings>(&kept) {
            let (steps, seed) = (outcome.steps, outcome.provenance.seed);
            let errors = apg_bmnist::squared_errors(&settings, &outcome).into_iter();
            let found = |(setting, sampler, value)| (setting, sampler, (steps, seed, value));
            self.errors.extend(errors.map(found));
        }
    }
}

/// The configuration and the result of a finished run by the published protocol, or of a recorded table of samplers.
fn published_run(record: &Record) -> Option<(Value, Value)> {
    let mut place = record.place.split('/');
    let (name, profile) = (place.next()?, place.next().unwrap_or_default());
    let published = profile == "paper" || profile.starts_with("paper-");
    if !published && !["apg-table1", "apg-kl"].contains(&name) {
        return None;
    }
    let config = read_config(&record.folder).ok()??;
    match RunFolder::peek(&record.folder) {
        Ok(Status::Finished(result)) => Some((config, result)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_joints_are_those_of_the_longest_recorded_runs() {
        let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let (records, _) = crate::records::find(&results, kinds::READERS).unwrap();
        let found: Vec<_> = lines(&records)
            .into_iter()
            .filter(|line| line.quantity == "log joint")
            .map(|line| (line.experiment, line.steps[0], line.word))
            .collect();
        let expected = [
            ("apg-gmm", 200_000, Word::Reproduced),
            // Those on record are of another scale of the likelihood.
            ("apg-dmm", 0, Word::NotRun),
            ("apg-bmnist", 0, Word::NotRun),
        ];
        assert_eq!(
            found,
            expected.map(|(name, steps, word)| (name.into(), steps, word))
        );
    }

    #[test]
    fn each_squared_error_of_the_paper_has_a_line() {
        let lines = lines(&[]);
        let errors = lines.iter().filter(|line| line.quantity == "squared error");
        let errors: Vec<_> = errors
            .map(|line| (line.setting.as_str(), line.published))
            .collect();
        assert_eq!(errors.len(), 16);
        assert!(errors.contains(&("96 x 96, T = 100, D = 3", 55.7)));
    }

    #[test]
    fn the_inclusive_kl_of_recorded_runs_stands_beside_its_range() {
        let results = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let (records, _) = crate::records::find(&results, kinds::READERS).unwrap();
        let lines = lines(&records).into_iter();
        let lines: Vec<_> = lines.filter(|line| line.quantity == "KL").collect();
        let settings: Vec<_> = lines.iter().map(|line| line.setting.as_str()).collect();
        assert_eq!(
            settings,
            ["K = 10, L = 10", "K = 5, L = 20", "K = 2, L = 50"]
        );
        for line in &lines {
            assert_eq!((line.steps, line.seeds), ([200_000; 2], [1, 1]), "{line:?}");
        }
        // The middle of 5.7e-4 to 6.9e-4, and ours by cluster, 2.5e-4, for three of them.
        let five = &lines[1];
        assert!((five.published - 6.3e-4).abs() < 1e-12, "{five:?}");
        let ours = five.ours.unwrap();
        assert!((ours / 3.0 - 2.5e-4).abs() < 5e-6, "{five:?}");
        assert_eq!(
            five.sds(),
            Some((ours - five.published) / five.published_sd.unwrap())
        );
    }
}
