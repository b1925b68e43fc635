//! The runs that a figure draws, and the command that makes those that are not there.

use super::curves::{Line, panel};
use super::label::{label, titled};
use super::settings::Settings;
use crate::error::HarnessError;
use crate::folders::CellStatus;
use crate::records::{Record, What, find};
use crate::spec::Spec;
use helmholtz_report::figure::Figure;
use std::path::PathBuf;

/// A run that is drawn, or would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The net's name.
    pub net: String,
    /// K, where the experiment compares numbers of particles.
    pub particles: Option<usize>,
    /// The method's name.
    pub method: String,
    /// Run that is drawn; none if there is no such run with a check.
    pub found: Option<Found>,
}

/// A run that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// Its finished epochs.
    pub done: u64,
    /// Its planned epochs.
    pub planned: u64,
    /// Path of its run folder.
    pub folder: PathBuf,
    /// Line that draws it.
    pub line: Line,
}

/// The runs of a figure on a data set, of these seeds or of every seed, below `folders`; those that are missing too. For each panel's net in order: the methods in order, the seeds, each
/// from the first folder that has it. Then the folders below that cannot be read.
///
/// # Errors
/// A folder that cannot be read.
pub fn runs(
    settings: &Settings,
    spec: &Spec,
    dataset: &str,
    seeds: &[u64],
    folders: &[PathBuf],
) -> Result<(Vec<Run>, Vec<PathBuf>), HarnessError> {
    let (mut records, mut problems) = (Vec::new(), Vec::new());
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let (own, unreadable) = find(folder, &[])?;
        records.extend(own);
        problems.extend(unreadable.iter().map(|place| folder.join(place)));
    }
    let mut columns: Vec<(&str, Option<usize>)> = Vec::new();
    for panel in &settings.panel {
        if !columns.contains(&(&panel.net, panel.particles)) {
            columns.push((&panel.net, panel.particles));
        }
    }
    let mut runs = Vec::new();
    for (net, particles) in columns {
        for (style, method) in settings.methods.iter().enumerate() {
            let run = |found| Run {
                net: net.to_string(),
                particles,
                method: method.clone(),
                found,
            };
            let found = |record: &Record| {
                let What::Cell(of) = &record.what else {
                    return None;
                };
                let cell = &of.cell;
                let same = cell.net == net
                    && cell.method == *method
                    && cell.particles() == particles
                    && cell.dataset == dataset
                    && (seeds.is_empty() || seeds.contains(&cell.seed));
                let (done, planned) = (of.curve.epochs, cell.settings.epochs);
                let unfinished = match of.status {
                    CellStatus::Done(_) => String::new(),
                    _ => format!(" ({done} of {planned} epochs)"),
                };
                let drawn = same && !of.curve.points.is_empty();
                drawn.then(|| Found {
                    seed: cell.seed,
                    done,
                    planned,
                    folder: record.folder.clone(),
                    line: Line::of(of, unfinished, style),
                })
            };
            let mut of_seeds: Vec<Found> = Vec::new();
            for one in records.iter().filter_map(found) {
                if of_seeds.iter().all(|other| other.seed != one.seed) {
                    of_seeds.push(one);
                }
            }
            let several = of_seeds.len() > 1;
            for one in &mut of_seeds {
                let name = label(spec.method_label(method), one.seed, several);
                one.line.label.insert_str(0, &name);
            }
            let mut found: Vec<Run> = of_seeds.into_iter().map(|one| run(Some(one))).collect();
            if found.is_empty() {
                found.push(run(None));
            }
            runs.extend(found);
        }
    }
    Ok((runs, problems))
}

/// The figure of these runs on a data set.
pub fn figure(settings: &Settings, runs: &[Run], dataset: &str) -> Figure {
    let panels = settings.panel.iter().map(|of| {
        let own = runs
            .iter()
            .filter(|run| run.net == of.net && run.particles == of.particles);
        let lines = own.filter_map(|run| Some(run.found.as_ref()?.line.clone()));
        let lines: Vec<_> = lines.collect();
        let title = match lines.is_empty() {
            true => format!("{}: no runs", of.title),
            false => of.title.clone(),
        };
        let quantity = of.quantity.unwrap_or(settings.quantity);
        panel(&title, &lines, quantity, of.against, settings.from)
    });
    Figure {
        title: titled(&settings.title, dataset),
        columns: settings.columns,
        panels: panels.collect(),
    }
}

/// The command that makes the runs that are not there; `flags` are those of the request that it shares. None if all are.
pub fn command(settings: &Settings, runs: &[Run], flags: &str) -> Option<String> {
    let missing = || runs.iter().filter(|run| run.found.is_none());
    missing().next()?;
    let distinct = |of: &dyn Fn(&Run) -> Option<String>| {
        let mut names: Vec<String> = Vec::new();
        for name in missing().filter_map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(",")
    };
    let nets = distinct(&|run| Some(run.net.clone()));
    let methods = distinct(&|run| Some(run.method.clone()));
    let particles = match distinct(&|run| Some(run.particles?.to_string())) {
        particles if particles.is_empty() => particles,
        particles => format!(" --particles {particles}"),
    };
    let table = &settings.table;
    Some(format!(
        "cargo xtask reproduce {table} --net {nets} --method {methods}{particles}{flags}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use crate::source::Source;
    use std::path::Path;

    fn fig1() -> (Settings, Spec) {
        Settings::parse(&Source::find("fig1").unwrap(), &Registry::default()).unwrap()
    }

    fn recorded(folder: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("results")
            .join(folder)
    }

    #[test]
    fn recorded_runs_are_drawn_with_the_switch_and_the_others_have_a_command() {
        let (settings, spec) = fig1();
        let folder = recorded("table1/paper-100-epochs");
        let found = runs(&settings, &spec, "binarized-mnist", &[], &[folder]);
        let (runs, problems) = found.unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let there: Vec<_> = runs
            .iter()
            .filter_map(|run| Some((run.method.as_str(), run.found.as_ref()?.done)))
            .collect();
        assert_eq!(there, [("jsa", 100), ("rws", 100), ("rloo", 100)]);
        let figure = figure(&settings, &runs, "binarized-mnist");
        assert!(figure.title.ends_with("(binarized-mnist)"));
        let labels: Vec<_> = figure.panels[0]
            .series
            .iter()
            .map(|s| s.label.as_str())
            .collect();
        assert_eq!(
            labels,
            ["JSA, test", "RWS, test", "RLOO, test", "JSA: chains begin"]
        );
        assert_eq!(figure.panels[0].series[3].points[0][0], 60.0);
        assert!(figure.panels[1].series.is_empty());
        assert_eq!(figure.panels[1].title, "(b) Nonlinear: no runs");
        assert_eq!(
            command(&settings, &runs, " --profile paper").unwrap(),
            "cargo xtask reproduce table1 --net nonlinear,two-layers --method jsa,rws,rloo --profile paper"
        );
    }

    #[test]
    fn a_run_is_taken_from_the_first_folder_that_has_it() {
        let (settings, spec) = fig1();
        let folders = ["paper", "paper-100-epochs", "paper-coarse"];
        let folders = folders.map(|name| recorded(&format!("table1/{name}")));
        let found = runs(&settings, &spec, "binarized-mnist", &[], &folders);
        let (runs, _) = found.unwrap();
        let there: Vec<_> = runs
            .iter()
            .filter(|run| run.method == "jsa")
            .filter_map(|run| Some((run.net.as_str(), run.found.as_ref()?)))
            .map(|(net, found)| (net, found.done, found.line.label.as_str()))
            .collect();
        // Linear is in the second, too, with 100 epochs; the others are in the last alone.
        assert!(there.iter().all(|(_, done, _)| *done == 1000), "{there:?}");
        let with = |net| there.iter().filter(move |run| run.0 == net);
        let linear: Vec<_> = with("linear").map(|run| run.2).collect();
        let expected = [1, 2, 3, 4, 5].map(|seed| format!("JSA, seed {seed}"));
        assert_eq!(linear, expected);
        assert!(with("nonlinear").count() >= 1);
        assert!(with("two-layers").count() >= 1);
    }

    #[test]
    fn another_data_set_or_seed_is_another_run() {
        let (settings, spec) = fig1();
        let folder = recorded("table1/paper-100-epochs");
        let none = |dataset: &str, seeds: &[u64]| {
            let folders = std::slice::from_ref(&folder);
            let (runs, _) = runs(&settings, &spec, dataset, seeds, folders).unwrap();
            runs.iter().all(|run| run.found.is_none())
        };
        assert!(none("glyphs", &[]));
        assert!(none("binarized-mnist", &[2]));
        assert!(!none("binarized-mnist", &[]));
    }
}
