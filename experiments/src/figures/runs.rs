//! The runs that a figure draws, and the command that makes those that are not there.

use super::curves::{Line, panel};
use super::settings::Settings;
use crate::cell::Cell;
use crate::error::HarnessError;
use crate::plot::Figure;
use crate::report::record::{Record, What, find};
use crate::spec::Spec;
use helmholtz_datasets::DatasetName;
use std::path::Path;

/// A run that is drawn, or would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The net's name.
    pub net: String,
    /// K, where the experiment compares numbers of particles.
    pub particles: Option<usize>,
    /// The method's name.
    pub method: String,
    /// Its seed, finished epochs and planned ones, and how it is drawn; none if there is no such run with a check.
    pub found: Option<(u64, u64, u64, Line)>,
}

/// What a request changes of a figure's settings.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The data set.
    pub dataset: String,
    /// Seeds; every one that there is if empty.
    pub seeds: Vec<u64>,
}

/// The runs of a figure below `folder`, those that are missing too: for each panel's net in order, the methods in order, the
/// seeds; and what is wrong with folders there that cannot be read.
///
/// # Errors
/// A folder that cannot be read.
pub fn runs(
    settings: &Settings,
    spec: &Spec,
    choice: &Choice,
    folder: &Path,
) -> Result<(Vec<Run>, Vec<String>), HarnessError> {
    let (records, problems) = match folder.is_dir() {
        true => find(folder)?,
        false => Default::default(),
    };
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
                    && cell.dataset == choice.dataset
                    && (choice.seeds.is_empty() || choice.seeds.contains(&cell.seed));
                let line = Line {
                    label: spec.method_label(method).to_string(),
                    style,
                    steps: steps_an_epoch(cell),
                    curve: of.curve.clone(),
                };
                let (done, planned) = (of.curve.epochs, cell.settings.epochs);
                let drawn = same && !of.curve.points.is_empty();
                drawn.then(|| run(Some((cell.seed, done, planned, line))))
            };
            let mut found: Vec<Run> = records.iter().filter_map(found).collect();
            if found.is_empty() {
                found.push(run(None));
            }
            runs.extend(found);
        }
    }
    Ok((runs, problems))
}

/// Training steps an epoch, of a cell on a data set with a name.
pub fn steps_an_epoch(cell: &Cell) -> u64 {
    let dataset = cell.dataset.parse::<DatasetName>();
    let images = dataset.map_or(0, DatasetName::train_images);
    (images / cell.settings.batch.max(1)) as u64
}

/// The figure of these runs.
pub fn figure(settings: &Settings, runs: &[Run]) -> Figure {
    let panels = settings.panel.iter().map(|of| {
        let own = runs
            .iter()
            .filter(|run| run.net == of.net && run.particles == of.particles);
        let lines = own.filter_map(|run| Some(run.found.as_ref()?.3.clone()));
        panel(
            &of.title,
            &lines.collect::<Vec<_>>(),
            settings.quantity,
            of.against,
        )
    });
    Figure {
        title: settings.title.clone(),
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
    use crate::source::Source;
    use std::path::PathBuf;

    fn fig1() -> (Settings, Spec) {
        Settings::parse(&Source::find("fig1").unwrap()).unwrap()
    }

    fn recorded(folder: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("results")
            .join(folder)
    }

    fn choice(dataset: &str) -> Choice {
        Choice {
            dataset: dataset.into(),
            seeds: Vec::new(),
        }
    }

    #[test]
    fn recorded_runs_are_drawn_with_the_switch_and_the_others_have_a_command() {
        let (settings, spec) = fig1();
        let folder = recorded("table1/paper-100-epochs");
        let (runs, problems) = runs(&settings, &spec, &choice("binarized-mnist"), &folder).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let there: Vec<_> = runs
            .iter()
            .filter_map(|run| Some((run.method.as_str(), run.found.as_ref()?.1)))
            .collect();
        assert_eq!(there, [("jsa", 100), ("rws", 100), ("rloo", 100)]);
        let figure = figure(&settings, &runs);
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
        assert_eq!(
            command(&settings, &runs, " --profile paper").unwrap(),
            "cargo xtask reproduce table1 --net nonlinear,two-layers --method jsa,rws,rloo --profile paper"
        );
    }

    #[test]
    fn another_data_set_or_seed_is_another_run() {
        let (settings, spec) = fig1();
        let folder = recorded("table1/paper-100-epochs");
        let none = |choice: &Choice| {
            let (runs, _) = runs(&settings, &spec, choice, &folder).unwrap();
            runs.iter().all(|run| run.found.is_none())
        };
        assert!(none(&choice("glyphs")));
        let seeds = vec![2];
        assert!(none(&Choice {
            seeds,
            ..choice("binarized-mnist")
        }));
        assert!(!none(&choice("binarized-mnist")));
    }
}
