//! Runs that train a net and measure gradients on the way: those of an experiment on a data set as one figure and one table.

use super::build::titled;
use super::group::base;
use super::part::{Part, behind, blocks_of};
use crate::kinds::figures::label;
use crate::kinds::variance_curve::Settings;
use crate::kinds::variance_curve::document::{self as view, Run};
use crate::records::{OfCell, OtherRun, Record, What};
use crate::registry::Registry;
use crate::source::Source;
use crate::spec::Spec;
use crate::works::outcome::Outcome;
use helmholtz_report::{Block, Note, Section};
use std::collections::BTreeMap;

/// The runs of an experiment on a data set that lie in one folder.
#[derive(Debug)]
pub struct Curves<'a> {
    /// Path of that folder, below the one that was searched.
    pub place: String,
    /// The experiment's title.
    title: String,
    /// The table whose methods these are, if the experiment comes with the program.
    spec: Option<Spec>,
    /// Registry of the names of methods.
    registry: &'a Registry,
    /// The data set's name.
    dataset: String,
    /// The runs, in the experiment's order.
    pub runs: Vec<(&'a Record, &'a OtherRun, &'a OfCell<Outcome>)>,
}

/// The groups of these runs, by place.
fn groups<'a>(records: &'a [Record], registry: &'a Registry) -> Vec<Curves<'a>> {
    let mut found: BTreeMap<_, Vec<(&Record, &OtherRun, &OfCell<Outcome>)>> = BTreeMap::new();
    for record in records {
        if let What::Other(run) = &record.what
            && let Some(measured) = &run.measured
        {
            let cell = &measured.cell;
            let place = base(&record.place, cell);
            let key = (place, cell.experiment.as_str(), cell.dataset.as_str());
            found.entry(key).or_default().push((record, run, measured));
        }
    }
    let mut groups = Vec::new();
    for ((place, experiment, dataset), mut runs) in found {
        let (title, spec) = match bundled(experiment, registry) {
            Some((settings, spec)) => (settings.title, Some(spec)),
            None => (format!("Experiment {experiment}"), None),
        };
        let position = |method: &str| {
            let methods = spec.as_ref().map_or(&[][..], |spec| &spec.method);
            methods.iter().position(|known| known.name == method)
        };
        runs.sort_by_key(|(_, _, of)| (position(&of.cell.method), of.cell.seed));
        groups.push(Curves {
            place,
            title,
            spec,
            registry,
            dataset: dataset.to_string(),
            runs,
        });
    }
    groups
}

/// The experiment of this name that comes with the program, and the table that it stands on.
fn bundled(experiment: &str, registry: &Registry) -> Option<(Settings, Spec)> {
    let name = Source::bundled().find(|name| *name == experiment)?;
    Settings::parse(&Source::find(name).ok()?, registry).ok()
}

/// The parts that these groups make.
pub fn parts<'a>(records: &'a [Record], registry: &'a Registry) -> Vec<Part<'a>> {
    let groups = groups(records, registry).into_iter();
    let part = |group: Curves<'a>| {
        let done = group
            .runs
            .iter()
            .filter(|(_, run, _)| run.unfinished.is_none());
        Part {
            place: group.place.clone(),
            runs: [group.runs.len(), done.count()],
            section: Box::new(move |place, id, _| group.section(place, id)),
        }
    };
    groups.map(part).collect()
}

impl Curves<'_> {
    fn label(&self, method: &str) -> String {
        let known = || self.registry.method(method);
        match &self.spec {
            Some(spec) => spec.method_label(method).into(),
            None => known().map_or(method, |entry| entry.label).into(),
        }
    }

    /// The section of these runs, whose folder the report calls `place`.
    fn section(&self, place: &str, id: String) -> Section {
        let left = self.runs.iter().filter_map(|(_, run, of)| {
            let seed = of.cell.seed;
            let what = run.unfinished.as_ref()?;
            let label = self.label(&of.cell.method);
            let text = format!("CUT SHORT: {label}: seed {seed}: {what}.");
            Some(Note::caution(text))
        });
        let left: Vec<Note> = left.collect();
        let done = self.runs.iter().filter_map(|(_, _, of)| {
            Some(Run {
                method: of.cell.method.clone(),
                label: self.label(&of.cell.method),
                seed: of.cell.seed,
                outcome: of.outcome.clone()?,
            })
        });
        let done: Vec<Run> = done.collect();
        let mut blocks = Vec::new();
        if !left.is_empty() {
            blocks.push(Block::Notes(left));
        }
        if !done.is_empty() {
            blocks.extend(self.measured(&done, &id));
            let runs = self.runs.iter();
            let from =
                runs.filter_map(|(record, run, _)| Some((*record, run.provenance.as_ref()?)));
            blocks.push(behind(from, (&self.place, place), &id));
        }
        Section {
            id,
            title: titled(&self.title, &self.place),
            blocks,
        }
    }

    /// The table with its notes, and the figure.
    fn measured(&self, done: &[Run], id: &str) -> Vec<Block> {
        let document = view::document(&self.title, &self.dataset, done);
        let caption = format!("{}, on {}", self.title, self.dataset);
        let mut blocks = blocks_of(document, id, &caption);
        blocks.push(Block::Text(
            "Solid: given the chain states, on the right scale; dashed: over the chain states too, or on the released code's \
             scale. A vertical line: the chains of stage II begin."
                .into(),
        ));
        let title = label::titled(&self.title, &self.dataset);
        blocks.push(Block::Figure {
            name: format!("{id}-variance"),
            figure: view::figure(&title, done),
        });
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::variance_curve::document::tests::outcome;
    use crate::records::find;
    use crate::registry::Registry;
    use crate::report::build::{Found, document};
    use crate::report::testing::{column, notes, sections, table};
    use helmholtz_report::{html, latex};
    use helmholtz_runs::{OpenMode, RunFolder};
    use serde_json::json;
    use std::path::Path;

    /// A run of Figure 3 in its folder; with a result or without.
    fn make(out: &Path, dataset: &str, method: &str, seed: u64, finished: bool) {
        let source = Source::find("fig3").unwrap();
        let (settings, spec) = Settings::parse(&source, &Registry::default()).unwrap();
        let profile = settings.profile("quick").unwrap();
        let cells = settings.cells(&spec, profile, &[method.into()], &[seed], dataset);
        let cell = cells.unwrap().remove(0);
        let folder = cell.folder(&out.join("fig3/quick").join(dataset));
        let config =
            json!({"title": "t", "cell": cell, "every": 1, "images": 200, "replicates": 20});
        let mut folder = RunFolder::open(folder, &config, OpenMode::Resume).unwrap();
        if !finished {
            return;
        }
        let outcome = outcome(None, dataset == "glyphs");
        folder.finish(&json!(outcome)).unwrap();
    }

    #[test]
    fn the_runs_of_an_experiment_and_data_set_are_one_section_with_one_figure() {
        let dir = tempfile::tempdir().unwrap();
        for (dataset, method, seed, finished) in [
            ("glyphs", "arsm", 1, true),
            ("glyphs", "jsa", 1, true),
            ("glyphs", "jsa", 2, true),
            ("glyphs", "rloo", 1, false),
            ("threshold-mnist", "jsa", 1, true),
        ] {
            make(dir.path(), dataset, method, seed, finished);
        }
        let (records, problems) = find(dir.path(), &[]).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let found = Found {
            root: "runs".into(),
            records: records.clone(),
            problems,
        };
        let document = document(&[found], &Registry::default(), &mut |_, _| vec![]);
        let overview = table(&document.sections[1], "overview");
        let of = |head: &str| -> Vec<_> {
            let data = column(&overview, head).into_iter();
            data.map(|datum| datum.text.as_str()).collect()
        };
        let places = ["runs/fig3/quick/glyphs", "runs/fig3/quick/threshold-mnist"];
        assert_eq!(of("Folder"), places);
        assert_eq!(
            (of("Runs"), of("Finished")),
            (vec!["4", "1"], vec!["3", "1"])
        );

        let [glyphs, mnist] = &sections(records)[..] else {
            panic!("a section for each data set")
        };
        let title = "JSA Figure 3: gradient variance during training";
        assert_eq!(glyphs.title, format!("{title} (fig3/quick/glyphs)"));
        let figure = |section: &Section| {
            let mut figures = section.blocks.iter().filter_map(|block| match block {
                Block::Figure { figure, .. } => Some(figure.clone()),
                _ => None,
            });
            let figure = figures.next().expect("a figure");
            assert!(figures.next().is_none());
            figure
        };
        let drawn = figure(glyphs);
        assert!(drawn.title.starts_with(title) && drawn.title.contains("GENERATED"));
        let labels: Vec<_> = drawn.panels[1].series.iter().map(|s| &s.label).collect();
        assert_eq!(labels, ["JSA, seed 1", "JSA, seed 2", "ARSM"]);
        assert!(figure(mnist).title.ends_with("(threshold-mnist)"));
        assert!(notes(glyphs).contains("CUT SHORT: RLOO: seed 1: no result."));
        assert!(notes(glyphs).contains("GENERATED IMAGES"));
        assert!(!notes(mnist).contains("CUT SHORT") && !notes(mnist).contains("GENERATED"));

        let measured = table(glyphs, "-variance");
        assert_eq!(measured.rows.len(), 3 * 2);
        assert_eq!(column(&measured, "ln V φ")[0].text, "0.69 ± 0.10");
        let runs = table(glyphs, "-run");
        let folders = column(&runs, "Run folder");
        assert_eq!(
            folders[1].text,
            "runs/fig3/quick/glyphs/categorical/jsa/seed-2"
        );
        let page = html::render(&document, None);
        assert!(page.contains("<svg") && page.contains("-variance.csv"));
        assert!(latex::render(&document).is_ascii());
    }
}
