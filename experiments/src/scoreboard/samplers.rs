//! Lines of amortized population Gibbs: log joints and squared errors by sampler.

use super::line::{Line, Word};
use crate::kinds::{self, apg_bmnist};
use crate::population::{self, Column};
use crate::published::{LogJoints, SquaredErrors};
use crate::records::{Kept, Record};
use crate::table::Ours;
use helmholtz_runs::{RunFolder, Status, read_config};
use std::collections::BTreeMap;

/// A published number of a sampler.
struct Number<'a> {
    source: &'a str,
    experiment: &'a str,
    setting: String,
    sampler: &'a str,
    quantity: &'static str,
    value: f64,
    /// Gradient steps of the published runs.
    steps: u64,
}

/// A number of ours: gradient steps, seed, value.
type Found = (u64, u64, f64);

/// A line for each published number.
pub fn lines(records: &[Record]) -> Vec<Line> {
    let mut columns: Vec<Column> = Vec::new();
    let mut errors = Vec::new();
    for record in records {
        let (own, squared) = reached(record).unwrap_or_default();
        columns.extend(own);
        errors.extend(squared);
    }
    let mut lines = Vec::new();
    let published = LogJoints::load("apg-table1").expect("a test holds that they are there");
    for own in &published.entry {
        let found = columns.iter().filter_map(|column| {
            let same = [&own.experiment, &own.setting] == [&column.experiment, &column.title];
            let entry = column
                .entries
                .iter()
                .find(|entry| same && entry.sampler == own.sampler)?;
            Some((column.steps, column.provenance.seed, entry.log_joint.mean))
        });
        let number = Number {
            source: &published.source,
            experiment: &own.experiment,
            setting: own.setting.clone(),
            sampler: &own.sampler,
            quantity: "log joint",
            value: own.log_joint,
            steps: 200_000,
        };
        lines.push(line(number, found.collect()));
    }
    let published = crate::published::Entries::<SquaredErrors>::load("apg-bmnist");
    let published = published.expect("a test holds that they are there");
    for own in &published.entry {
        for (sampler, value) in &own.mse {
            let same =
                |(setting, name, _): &&(_, String, _)| *setting == own.setting() && name == sampler;
            let found = errors.iter().filter(same).map(|(_, _, found)| *found);
            let [canvas, frames, digits] = own.setting();
            let number = Number {
                source: &published.source,
                experiment: "apg-bmnist",
                setting: format!("{canvas} x {canvas}, T = {frames}, D = {digits}"),
                sampler,
                quantity: "squared error",
                value: *value,
                steps: 20_000,
            };
            lines.push(line(number, found.collect()));
        }
    }
    lines
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
        setting: number.setting,
        method: number.sampler.into(),
        quantity: number.quantity,
        published: number.value,
        published_sd: None,
        is_target: true,
        ours: ours.map(|ours| ours.mean),
        ours_sd: ours.and_then(|ours| ours.sd),
        seeds: [if whole { by_seed.len() as u64 } else { 0 }, 1],
        steps: [longest, number.steps],
        unit: "steps",
        word: Word::NotRun,
    }
    .judged(whole)
}

/// Columns of samplers, and squared errors by setting and sampler.
type Reached = (Vec<Column>, Vec<([usize; 3], String, Found)>);

/// What a recorded run by the published protocol, or a recorded table of samplers, reached.
fn reached(record: &Record) -> Option<Reached> {
    let mut place = record.place.split('/');
    let (kind, profile) = (place.next()?, place.next().unwrap_or_default());
    let published = profile == "paper" || profile.starts_with("paper-");
    if !published && kind != "apg-table1" {
        return None;
    }
    let config = read_config(&record.folder).ok()??;
    let Ok(Status::Finished(result)) = RunFolder::peek(&record.folder) else {
        return None;
    };
    let kept = Kept {
        folder: &record.folder,
        config: &config,
        result: Some(&result),
        metrics: &[],
    };
    let digits = population::finished::<apg_bmnist::Settings>(&kept);
    let errors = digits.map_or(Vec::new(), |(settings, outcome)| {
        let (steps, seed) = (outcome.steps, outcome.provenance.seed);
        let errors = apg_bmnist::squared_errors(&settings, &outcome).into_iter();
        errors
            .map(|(setting, sampler, value)| (setting, sampler, (steps, seed, value)))
            .collect()
    });
    Some((kinds::columns(&kept), errors))
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
}
