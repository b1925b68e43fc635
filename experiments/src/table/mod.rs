//! The table: ours, published, difference; built from run folders and `published.toml`, never typed.
//!
//! The difference is in units of √(sd² published + sd² ours), both over runs, and with one seed of the published sd. The test set's
//! standard error has no part in it, since both sides use the same test images. A published sd of 0.0 counts as
//! 0.05, the most that is rounded to it.

mod cautions;
mod choice;
pub mod csv;
mod document;
pub mod files;
mod gather;
mod notes;
mod numbers;
#[cfg(test)]
mod recorded;
mod row;

pub(crate) use choice::alone;
pub use document::document;
pub use gather::{damages, gather};
pub(crate) use notes::notes;
pub use numbers::{Ours, PublishedNumber};
pub use row::Row;

use crate::cell::Cell;
use crate::cell_runner::Score;
use crate::error::HarnessError;
use crate::folders::CellStatus;
use crate::published::Published;
use crate::spec::Spec;
use helmholtz_report::Note;
use serde::Serialize;
use std::collections::BTreeMap;

/// A table of an experiment, in one profile, on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// The experiment's title.
    pub title: String,
    /// The experiment's name.
    pub experiment: String,
    /// The profile.
    pub profile: String,
    /// Epochs other than the profile's.
    pub epochs: Option<u64>,
    /// The data set.
    pub dataset: String,
    /// Whether the images are generated: then nothing published stands beside the numbers, and each is marked.
    pub synthetic: bool,
    /// The rows, by net and method in the experiment's order.
    pub rows: Vec<Row>,
    /// Published rows that the authors copied from elsewhere.
    pub quoted: Vec<Quoted>,
    /// The labels of the nets, in the order of [`Quoted::numbers`].
    pub nets: Vec<String>,
    /// Whether the variational bound and the standard error over test images stand beside each NLL.
    pub bounds: bool,
    /// Quantity of each run that it shows.
    #[serde(skip_serializing_if = "Score::is_test")]
    pub shown: Score,
    /// Whether ± is the standard error over seeds.
    pub standard_error: bool,
    /// Notes that must be known to read the numbers.
    pub notes: Vec<Note>,
}

/// A published row that the authors copied from elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quoted {
    /// The method's published name.
    pub label: String,
    /// A number for each net.
    pub numbers: Vec<Option<PublishedNumber>>,
    /// A bound for each net.
    pub bounds: Vec<Option<PublishedNumber>>,
}

/// Source of a table, besides the cells.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The experiment.
    pub spec: &'a Spec,
    /// The profile's name.
    pub profile: &'a str,
    /// Epochs other than the profile's.
    pub epochs: Option<u64>,
    /// The data set's name.
    pub dataset: &'a str,
    /// Its training images; absent where the program knows them by the name.
    pub images: Option<usize>,
    /// Whether its images are generated.
    pub synthetic: bool,
    /// The published table.
    pub published: Option<&'a Published>,
}

impl Table {
    /// The table of these cells, which stand in the experiment's order.
    ///
    /// # Errors
    /// An unknown profile.
    pub fn build(source: Source, cells: &[(Cell, CellStatus)]) -> Result<Self, HarnessError> {
        let Source {
            spec,
            profile,
            dataset,
            synthetic,
            ..
        } = source;
        let published = source.published.filter(|_| !synthetic);
        let rows = rows(spec, published, cells);
        let nets = spec.net.iter().map(|net| net.label.clone()).collect();
        let of_nets = |of: &dyn Fn(&str) -> Option<PublishedNumber>| {
            spec.net.iter().map(|net| of(&net.name)).collect()
        };
        let quoted = published.iter().flat_map(|p| p.quoted()).map(|row| Quoted {
            label: row.label.clone(),
            numbers: of_nets(&|net| row.number(net)),
            bounds: of_nets(&|net| row.bound_number(net)),
        });
        let quoted = quoted.collect();
        let mut notes = notes(source, &spec.deviations(profile)?, &rows, cells);
        notes.extend(notes::choice(source, &rows, cells));
        Ok(Self {
            title: spec.title.clone(),
            experiment: spec.name.clone(),
            profile: profile.to_string(),
            epochs: source.epochs,
            dataset: dataset.to_string(),
            synthetic,
            rows,
            quoted,
            nets,
            bounds: spec.bounds,
            shown: spec.shown,
            standard_error: spec.standard_error,
            notes,
        })
    }
}

/// The rows of these cells, which stand in the experiment's order, beside the numbers of a published table.
pub(crate) fn rows(
    spec: &Spec,
    published: Option<&Published>,
    cells: &[(Cell, CellStatus)],
) -> Vec<Row> {
    let of_row = |cell: &Cell| published?.row_of(&cell.method, cell.particles());
    let mut rows: Vec<Row> = Vec::new();
    for (cell, status) in cells {
        if !rows.last().is_some_and(|row| row.holds(cell)) {
            rows.push(Row {
                net: cell.net.clone(),
                net_label: spec.net_label(&cell.net).to_string(),
                particles: cell.particles(),
                method: cell.method.clone(),
                method_label: match spec.evaluations {
                    Some(_) => format!(
                        "{} (K = {})",
                        spec.method_label(&cell.method),
                        cell.settings.particles
                    ),
                    None => spec.method_label(&cell.method).to_string(),
                },
                ours: None,
                bound: None,
                published: of_row(cell).and_then(|row| row.number(&cell.net)),
                published_bound: of_row(cell).and_then(|row| row.bound_number(&cell.net)),
                difference: None,
                released: None,
                unfinished: Vec::new(),
                results: BTreeMap::new(),
            });
        }
        let row = rows.last_mut().expect("pushed above");
        let epochs = cell.settings.epochs;
        let unfinished = match status {
            CellStatus::Done(result) => {
                row.results.insert(cell.seed, (**result).clone());
                continue;
            }
            CellStatus::New | CellStatus::Trained => "not run".to_string(),
            CellStatus::Partial { done: epoch } => format!("{epoch} of {epochs} epochs"),
            CellStatus::Running { .. } => "running".to_string(),
            CellStatus::Failed { .. } => "failed".to_string(),
            CellStatus::Unusable { .. } => "folder unusable".to_string(),
        };
        row.unfinished.push((cell.seed, unfinished));
    }
    for row in &mut rows {
        let numbers = row.results.values().map(|result| result.number(spec.shown));
        let numbers: Option<Vec<f64>> = numbers.collect();
        row.ours = numbers.and_then(|numbers| Ours::of(&numbers));
        if spec.bounds {
            let bounds = row.results.values().map(|result| result.bound);
            let bounds: Option<Vec<f64>> = bounds.collect();
            row.bound = bounds.and_then(|numbers| Ours::of(&numbers));
        }
        let released = row.results.values().map(|result| result.released_nll);
        row.released = released
            .collect::<Option<Vec<f64>>>()
            .and_then(|numbers| Ours::of(&numbers));
        let compared = row.ours.zip(row.published);
        let compared = compared.or(row.bound.zip(row.published_bound));
        row.difference = compared.and_then(|(ours, published)| ours.minus(published));
    }
    rows
}

impl Table {
    /// Heading of our numbers.
    fn ours_header(&self) -> &'static str {
        match self.shown {
            Score::Training => "Ours: training",
            Score::Test if self.bounds => "Ours (bound)",
            Score::Test => "Ours",
        }
    }

    /// `quick`, `paper with 100 epochs`.
    fn profile_text(&self) -> String {
        match self.epochs {
            Some(epochs) => format!("{} with {epochs} epochs", self.profile),
            None => self.profile.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Settings;
    use crate::cell::tests::{cell, settings};
    use crate::folders;
    use crate::report::testing::{changed, finished};
    use crate::spec::Selection;
    use crate::spec::tests::table1;
    use helmholtz_harness::streams::assert_contains;
    use helmholtz_report::{markdown, text};
    use helmholtz_runs::{OpenMode, RunFolder};

    /// The notes of a table, a line each.
    pub(super) fn notes_text(table: &Table) -> String {
        let lines: Vec<&str> = table.notes.iter().map(|note| note.text.as_str()).collect();
        lines.join("\n")
    }

    /// A finished cell with this test NLL.
    pub(super) fn done(
        net: &str,
        method: &str,
        seed: u64,
        nll: f64,
        epochs: u64,
    ) -> (Cell, CellStatus) {
        let mut cell = cell(net, method, seed);
        cell.settings = Settings {
            epochs,
            test_images: Some(1000),
            ..settings()
        };
        changed(finished(cell, nll), |_, result| {
            result.selected_epoch = epochs - seed;
            (result.valid_nll, result.test_se) = (nll, 9.0);
        })
    }

    /// The profile `paper` on real images.
    fn paper<'a>(spec: &'a Spec, published: Option<&'a Published>) -> Source<'a> {
        Source {
            spec,
            profile: "paper",
            epochs: None,
            dataset: &spec.dataset,
            images: None,
            synthetic: false,
            published,
        }
    }

    /// The table of these cells in `profile`, on real or generated images.
    pub(super) fn table(profile: &str, synthetic: bool, cells: &[(Cell, CellStatus)]) -> Table {
        let spec = table1();
        let published = Published::load("jsa-table1").unwrap();
        let source = Source {
            profile,
            dataset: if synthetic { "glyphs" } else { &spec.dataset },
            synthetic,
            ..paper(&spec, Some(&published))
        };
        Table::build(source, cells).unwrap()
    }

    #[test]
    fn with_one_seed_the_difference_is_in_published_sds() {
        let table = table("quick", false, &[done("linear", "jsa", 1, 105.75, 1000)]);
        let row = &table.rows[0];
        assert_eq!(
            row.ours,
            Some(Ours {
                mean: 105.75,
                sd: None
            })
        );
        assert_eq!(
            row.published,
            Some(PublishedNumber {
                mean: 105.5,
                sd: Some(0.1),
                quoted: false,
                doubtful: false,
            })
        );
        let d = row.difference.unwrap();
        assert!(
            (d.nats - 0.25).abs() < 1e-9 && (d.sds.unwrap() - 2.5).abs() < 1e-9,
            "{d:?}"
        );
        assert_eq!(row.difference_text(), "+0.25 (+2.5 sd)");
    }

    #[test]
    fn with_several_seeds_both_sds_count_and_the_standard_error_never() {
        // Means 98.0, 98.6: sample sd 0.3·√2; published 98.2 ± 0.4. The results' standard errors are 9 nats.
        let cells = [
            done("nonlinear", "jsa", 1, 98.0, 1000),
            done("nonlinear", "jsa", 2, 98.6, 1000),
        ];
        let row = &table("paper", false, &cells).rows[0];
        let (ours, d) = (row.ours.unwrap(), row.difference.unwrap());
        assert!((ours.sd.unwrap() - 0.3 * 2.0_f64.sqrt()).abs() < 1e-9);
        assert!(
            (d.sds.unwrap() - 0.1 / (0.16_f64 + 0.18).sqrt()).abs() < 1e-9,
            "{d:?}"
        );
        assert_eq!(row.epoch_text(), "998-999 of 1000");
    }

    /// A finished cell of table 3.
    fn structured(method: &str, particles: usize, nll: f64) -> (Cell, CellStatus) {
        changed(done("structured", method, 1, nll, 200), |cell, _| {
            (cell.experiment, cell.by_particles) = ("table3".into(), true);
            cell.settings.particles = particles;
        })
    }

    #[test]
    fn numbers_of_particles_have_rows_of_their_own_each_beside_its_published_number() {
        let spec = Spec::load("table3").unwrap();
        let published = Published::load("jsa-table3").unwrap();
        let source = paper(&spec, Some(&published));
        let cells = [
            structured("jsa", 5, 45.6),
            structured("rws", 5, 46.2),
            structured("rws", 80, 42.9),
            structured("vimco", 80, 43.0),
        ];
        let table = Table::build(source, &cells).unwrap();
        let published = |row: &Row| row.published.map(|number| number.mean);
        let rows: Vec<_> = table.rows.iter().map(published).collect();
        assert_eq!(rows, [Some(45.2), Some(46.2), Some(42.8), None]);
        let sds: Vec<_> = table
            .rows
            .iter()
            .map(|row| row.difference.and_then(|d| d.sds))
            .collect();
        assert!((sds[0].unwrap() - 1.0).abs() < 1e-9, "{sds:?}");
        // Published as 42.8 ± 0.0.
        assert!((sds[2].unwrap() - 2.0).abs() < 1e-9, "{sds:?}");
        let text = text::render(&document(&table), false);
        for part in [
            "Lower half given the upper, K = 5\n",
            "Lower half given the upper, K = 80\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let notes = notes_text(&table);
        assert_contains(&notes, &["a published sd of 0.0 counts as 0.05"]);
        assert!(!text.contains("Quoted") && !text.contains("* ."), "{text}");
        let lines = csv::render(&table);
        assert!(
            lines.starts_with("net,particles,method,dataset,")
                && lines.contains("\nstructured,80,rws,binarized-mnist,"),
            "{lines}"
        );
        let columns: Vec<usize> = lines.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [19; 5]);
    }

    #[test]
    fn the_released_formula_is_told_beside_the_likelihood_and_is_not_in_it() {
        let of_table2 = |method: &str, nll, released_nll| {
            changed(done("categorical", method, 1, nll, 500), |cell, result| {
                cell.experiment = "table2".into();
                result.released_nll = released_nll;
            })
        };
        let spec = Spec::load("table2").unwrap();
        let published = Published::load("jsa-table2").unwrap();
        let source = paper(&spec, Some(&published));
        let cells = [
            of_table2("st-gumbel-softmax-learned", 90.0, Some(82.75)),
            of_table2("jsa", 95.0, None),
        ];
        let table = Table::build(source, &cells).unwrap();
        let row = &table.rows[0];
        assert_eq!(
            (row.ours.unwrap().mean, row.released.unwrap().mean),
            (90.0, 82.75)
        );
        assert_eq!(row.published.unwrap().mean, 82.8);
        let notes = notes_text(&table);
        assert_contains(
            &notes,
            &[
                "the released code's formula gives 82.75",
                "the epoch that the right NLL selects",
            ],
        );
        // A row of its own, where there is such a number, beside what is published.
        let markdown = markdown::render(&document(&table));
        for line in [
            "ST Gumbel-softmax (learned) | 90.00 | 82.8 ± 0.2 | +7.20 | +36.0 | 499 of 500 | seed 1 | 100 | 1000 |",
            "ST Gumbel-softmax (learned), by the released formula | 82.75 | 82.8 ± 0.2 | -0.05 | -0.2 | 499 of 500 | \
             seed 1 | 100 | all |",
        ] {
            assert!(markdown.contains(line), "{line} in {markdown}");
        }
        assert_eq!(markdown.matches(", by the released formula").count(), 1);
        let lines = csv::render(&table);
        let column = |name: &str| {
            let mut lines = lines.lines().map(|line| line.split(','));
            let at = lines.next().unwrap().position(|head| head == name).unwrap();
            let cells = lines.map(|mut line| line.nth(at).unwrap().to_string());
            cells.collect::<Vec<_>>()
        };
        assert_eq!(column("test_nll_mean"), ["90", "95"]);
        assert_eq!(column("released_nll_mean"), ["82.75", ""]);
        assert_eq!(column("published_mean"), ["82.8", "75.3"]);
        let difference: f64 = column("released_difference_nats")[0].parse().unwrap();
        assert!((difference + 0.05).abs() < 1e-9, "{difference}");
        let columns: Vec<usize> = lines.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [21; 3], "{lines}");
        // Of generated images nothing published stands beside it, and it is marked as the others are.
        let generated = Source {
            dataset: "glyphs",
            synthetic: true,
            ..source
        };
        let table = Table::build(generated, &cells).unwrap();
        let markdown = markdown::render(&document(&table));
        let line = "by the released formula | 82.75 \\[glyphs\\] | 499 of 500 |";
        assert!(markdown.contains(line), "{markdown}");
        assert!(!csv::render(&table).contains("released_difference_nats"));
    }

    #[test]
    fn bounds_stand_in_brackets_and_slips_and_quotes_are_no_targets() {
        let spec = Spec::load("helmholtz").unwrap();
        let published = Published::load("jsa-poster").unwrap();
        let source = paper(&spec, Some(&published));
        let machine = |net: &str, method: &str, nll: f64| {
            changed(done(net, method, 1, nll, 60), |cell, result| {
                cell.experiment = "helmholtz".into();
                (result.bound, result.final_se) = (Some(nll + 9.5), Some(0.25));
                cell.settings.patience = Some(10);
                result.selected_epoch = if net == "sbn-200" { 50 } else { 51 };
            })
        };
        let cells = [
            machine("sbn-200", "jsa", 104.0),
            machine("sbn-200", "nvil", 110.0),
            machine("sbn-200-200-200-10c", "jsa", 90.0),
        ];
        let table = Table::build(source, &cells).unwrap();
        let texts: Vec<_> = table
            .rows
            .iter()
            .map(|row| {
                (
                    row.ours_in(&table).text,
                    row.published_text(),
                    row.difference_text(),
                )
            })
            .collect();
        let expected = [
            ("104.00 (113.50)", "103.5 (112.7)", "+0.50"),
            ("110.00 (119.50)", "(113.1)*", "-"),
            ("90.00 (99.50)", "88.43 (96.09)†", "-"),
        ];
        let expected = expected.map(|(ours, published, difference)| {
            (
                ours.to_string(),
                published.to_string(),
                difference.to_string(),
            )
        });
        assert_eq!(texts, expected);
        let markdown = markdown::render(&document(&table));
        for part in [
            "| Ours (bound) | Published |",
            "| 104.00 (113.50) | 103.5 (112.7) | +0.50 |",
            "| WS | 116.3 (120.7)\\* | 106.9 (109.4)\\* |",
            "- † RWS and JSA-MIS share both numbers",
            "no spread over runs is published",
        ] {
            assert!(markdown.contains(part), "{part} in {markdown}");
        }
        // Of 60 epochs, ten after the best, and nine.
        let cut_short = "60 epochs, while validation still got better";
        assert!(markdown.contains(cut_short), "{markdown}");
        let patient = Table::build(source, &cells[..2]).unwrap();
        assert!(!markdown::render(&document(&patient)).contains(cut_short));
        let text = text::render(&document(&table), false);
        assert!(text.contains("103.5 (112.7)"), "{text}");
        let lines = csv::render(&table);
        let columns: Vec<usize> = lines.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [22; 4], "{lines}");
        assert!(lines.contains(",0.25,113.5,103.5,"), "{lines}");
    }

    #[test]
    fn at_equal_work_each_row_names_its_particles_and_its_error_over_seeds() {
        let spec = Spec::load("showdown").unwrap();
        let source = paper(&spec, None);
        let cells: Vec<_> = [(1, 98.0), (2, 98.6), (3, 98.3), (4, 98.3)]
            .into_iter()
            .map(|(seed, nll)| {
                changed(done("nonlinear", "jsa", seed, nll, 200), |cell, _| {
                    cell.settings.particles = 11;
                })
            })
            .collect();
        let table = Table::build(source, &cells).unwrap();
        let row = &table.rows[0];
        assert_eq!(row.method_label, "JSA (K = 11)");
        // sd √(0.18/3) = 0.245, over four seeds.
        assert_eq!(row.ours_in(&table).text, "98.30 ± 0.12");
        let notes = notes_text(&table);
        assert_contains(
            &notes,
            &[
                "mean ± standard error over seeds 1-4",
                "12 evaluations of f an image",
                "no K gives as many: WS.",
            ],
        );
    }

    #[test]
    fn rloo_is_compared_with_the_papers_vimco_and_vimco_with_nothing() {
        let cells = [
            done("linear", "rloo", 1, 107.5, 1000),
            done("linear", "vimco", 1, 107.5, 1000),
        ];
        let rows = table("quick", false, &cells).rows;
        assert_eq!(rows[0].published.unwrap().mean, 107.5);
        assert_eq!((rows[1].published, rows[1].difference), (None, None));
    }

    #[test]
    fn a_quoted_number_is_starred_and_no_target() {
        let row = &table(
            "quick",
            false,
            &[done("linear", "reinforce", 1, 150.0, 1000)],
        )
        .rows[0];
        assert_eq!(row.published_text(), "170.1*");
        assert_eq!(row.difference, None);
    }

    #[test]
    fn the_final_number_of_samples_is_reported_where_there_is_one() {
        let finished = changed(done("linear", "jsa", 1, 106.5, 1000), |_, result| {
            (result.final_nll, result.final_samples) = (Some(105.5), Some(1000));
        });
        let row = &table("paper", false, &[finished]).rows[0];
        assert_eq!(
            (row.ours.unwrap().mean, row.results[&1].reported_samples()),
            (105.5, 1000)
        );
    }

    #[test]
    fn generated_images_have_every_number_marked_and_nothing_published_beside_them() {
        let table = table(
            "quick",
            true,
            &[
                done("linear", "jsa", 1, 50.0, 5),
                done("linear", "rws", 1, 51.0, 5),
            ],
        );
        for row in &table.rows {
            assert!(row.ours_in(&table).text.ends_with("[glyphs]"));
            assert_eq!((row.published, row.difference), (None, None));
        }
        assert!(table.quoted.is_empty());
        let everything = [
            text::render(&document(&table), false),
            markdown::render(&document(&table)),
            csv::render(&table),
        ]
        .concat();
        assert!(
            !everything.contains("105.5") && !everything.contains("170.1"),
            "{everything}"
        );
        let head = "| Net | Method | Ours | Best epoch | Seeds | S | Test images |";
        assert_contains(&everything, &["50.00 [glyphs]", head]);
    }

    #[test]
    fn unfinished_seeds_are_named_and_not_in_the_mean() {
        let cells = [
            done("linear", "jsa", 1, 105.5, 1000),
            (cell("linear", "jsa", 2), CellStatus::Partial { done: 2 }),
            (cell("linear", "rws", 1), CellStatus::New),
        ];
        let table = table("quick", false, &cells);
        assert_eq!(table.rows[0].ours.unwrap().mean, 105.5);
        assert_eq!(table.rows[0].unfinished, [(2, "2 of 5 epochs".to_string())]);
        assert_eq!(
            (table.rows[1].ours, table.rows[1].epoch_text()),
            (None, "not run".to_string())
        );
    }

    /// The profile `quick` on generated images.
    fn of_glyphs(spec: &Spec) -> Source<'_> {
        Source {
            profile: "quick",
            dataset: "glyphs",
            synthetic: true,
            ..paper(spec, None)
        }
    }

    #[test]
    fn a_table_holds_what_earlier_requests_made() {
        use crate::trial::CellRunner;
        use helmholtz_harness::driver::NoopObserver;
        let dir = tempfile::tempdir().unwrap();
        let spec = table1();
        let source = of_glyphs(&spec);
        let make = |net: &str, seed| {
            let selection = Selection {
                nets: vec![net.into()],
                methods: vec!["jsa".into()],
                seeds: vec![seed],
                ..Selection::default()
            };
            spec.cells("quick", &selection, "glyphs").unwrap().remove(0)
        };
        let earlier = make("linear", 7);
        let runner = crate::kinds::likelihood::fake::FakeRunner::default();
        let trial = spec.registry.trial(&earlier).unwrap();
        runner
            .run(
                &trial,
                &earlier.folder(dir.path()),
                &NoopObserver,
                &Default::default(),
            )
            .unwrap();
        let cells = gather(source, dir.path(), &[make("nonlinear", 1)]).unwrap();
        let named: Vec<_> = cells
            .iter()
            .map(|(c, s)| (c.net.as_str(), c.seed, *s == CellStatus::New))
            .collect();
        assert_eq!(named, [("linear", 7, false), ("nonlinear", 1, true)]);
    }

    #[test]
    fn of_several_profiles_runs_those_with_the_best_validation_stand_in_the_table() {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = table1();
        for (name, rate) in [("slow", 1e-5), ("fast", 1e-2)] {
            let mut other = spec.profile["quick"].clone();
            other.settings.learning_rate = Some(rate);
            spec.profile.insert(name.into(), other);
        }
        let quick = spec.profile.get_mut("quick").unwrap();
        quick.chosen_from = vec!["slow".into(), "fast".into()];
        let base =
            |name: &str| crate::folders::base_folder(dir.path(), "table1", name, None, "glyphs");
        let make = |name: &str, seed| {
            let selection = Selection {
                nets: vec!["linear".into()],
                methods: vec!["jsa".into()],
                seeds: vec![seed],
                ..Selection::default()
            };
            let cell = spec.cells(name, &selection, "glyphs").unwrap().remove(0);
            (cell.folder(&base(name)), cell)
        };
        let finish = |name: &str, seed, valid_nll| {
            let (folder, cell) = make(name, seed);
            let (_, CellStatus::Done(result)) = done("linear", "jsa", seed, valid_nll, 5) else {
                unreachable!("a finished cell")
            };
            let config = folders::config(&cell);
            let mut run = RunFolder::open(folder, &config, OpenMode::Resume).unwrap();
            run.finish(&serde_json::to_value(result).unwrap()).unwrap();
        };
        let source = of_glyphs(&spec);
        let wanted = [make("quick", 1).1, make("quick", 2).1, make("quick", 3).1];
        let table = || {
            let cells = gather(source, &base("quick"), &wanted).unwrap();
            let rates: Vec<f64> = cells
                .iter()
                .map(|(c, _)| c.settings.learning_rate)
                .collect();
            let seeds: Vec<u64> = cells.iter().map(|(c, _)| c.seed).collect();
            assert_eq!(seeds, [1, 2, 3]);
            (rates, notes_text(&Table::build(source, &cells).unwrap()))
        };
        let own = wanted[0].settings.learning_rate;
        finish("slow", 1, 90.0);
        assert_eq!(table().0, [own; 3], "nothing of its own is finished");
        finish("quick", 1, 95.0);
        finish("quick", 2, 95.0);
        finish("fast", 1, 99.0);
        finish("fast", 2, 93.0);
        assert_eq!(table().0, [own; 3], "one lacks a seed, the other is worse");
        finish("slow", 2, 99.0);
        let (rates, notes) = table();
        assert_eq!(rates, [1e-5, 1e-5, own], "the third seed is not finished");
        assert!(notes.contains("Linear / JSA with 1e-5"), "{notes}");
    }
}
