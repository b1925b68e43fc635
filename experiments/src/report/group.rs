//! Runs that make a table, and the published numbers that they are compared with.

use crate::cell::{Cell, Settings};
use crate::folders::profile_of;
use crate::published::Published;
use crate::records::{CellRun, Record, What};
use crate::registry::Registry;
use crate::source::Source;
use crate::spec::{Method, Net, Selection, Spec};
use crate::table::alone;
use std::collections::BTreeMap;
use std::path::Path;

/// The runs of an experiment on a data set that lie in one folder.
#[derive(Debug)]
pub struct Group<'a> {
    /// Path of that folder, below the one that was searched.
    pub place: String,
    /// The data set's name.
    pub dataset: String,
    /// Their experiment: the one of that name, or as much of one as the runs tell.
    pub spec: Spec,
    /// The published table that they are compared with.
    pub published: Option<Published>,
    /// The runs, in the experiment's order.
    pub runs: Vec<(&'a Record, &'a CellRun)>,
}

impl Group<'_> {
    /// Whether the images are generated.
    pub fn synthetic(&self) -> bool {
        let mut results = self.runs.iter().filter_map(|(_, run)| run.status.result());
        self.dataset == "glyphs" || results.any(|result| result.synthetic)
    }

    /// The profile that the folder names, and epochs other than the profile's; nothing where the experiment has it no more.
    pub fn profile(&self) -> (&str, Option<u64>) {
        let known = |name: &str| self.spec.profile.contains_key(name);
        let named = self.place.split('/').rev().map(|part| match known(part) {
            true => (part, None),
            false => profile_of(part),
        });
        let mut named = named.filter(|(profile, _)| known(profile));
        named.next().unwrap_or(("", None))
    }

    /// The runs whose settings, but for their epochs, are not those that the profile has today: older ones, say.
    pub fn unlike(&self, profile: &str) -> Vec<&CellRun> {
        let same = |cell: &Cell| {
            let selection = Selection {
                epochs: Some(cell.settings.epochs),
                ..alone(cell)
            };
            let cells = self.spec.cells(profile, &selection, &self.dataset);
            let compared = |settings: &Settings| Settings {
                checkpoint_seconds: 1,
                test_at_checks: None,
                gradient_beta: None,
                ..settings.clone()
            };
            let mut others = cells.unwrap_or_default().into_iter();
            others.any(|own| compared(&own.settings) == compared(&cell.settings))
        };
        let runs = self.runs.iter().map(|(_, run)| *run);
        runs.filter(|run| !same(&run.cell)).collect()
    }
}

/// The groups of these runs, headline first.
pub fn groups<'a>(records: &'a [Record], registry: &Registry) -> Vec<Group<'a>> {
    let mut found: BTreeMap<_, Vec<(&Record, &CellRun)>> = BTreeMap::new();
    for record in records {
        if let What::Cell(run) = &record.what {
            let Cell {
                experiment,
                dataset,
                ..
            } = &run.cell;
            let key = (
                base(&record.place, &run.cell),
                experiment.as_str(),
                dataset.as_str(),
            );
            found.entry(key).or_default().push((record, run));
        }
    }
    let mut groups = Vec::new();
    for ((place, experiment, dataset), mut runs) in found {
        let cells: Vec<&Cell> = runs.iter().map(|(_, run)| &run.cell).collect();
        let bundled = Spec::bundled(registry)
            .into_iter()
            .find(|spec| spec.name == experiment);
        let published = match &bundled {
            Some(spec) => Some(spec.clone()),
            None => same_training(&cells, registry, dataset),
        };
        let published = published.and_then(|spec| spec.published_for(dataset).ok()?);
        let spec = bundled.unwrap_or_else(|| unknown(experiment, &cells, registry));
        runs.sort_by_key(|(_, run)| order(&spec, &run.cell));
        groups.push(Group {
            place,
            dataset: dataset.to_string(),
            spec,
            published,
            runs,
        });
    }
    groups.sort_by(|a, b| {
        let [a, b] = [a, b].map(|group| Source::shown_at(&group.place));
        a.cmp(&b)
    });
    groups
}

/// The folder of the experiment, profile and data set that a run's folder is in.
pub(super) fn base(place: &str, cell: &Cell) -> String {
    let own = cell.folder(Path::new(""));
    let base = match place.strip_suffix(own.to_string_lossy().as_ref()) {
        Some(base) => base,
        None => place.rsplit_once('/').map_or("", |(base, _)| base),
    };
    base.trim_end_matches('/').to_string()
}

/// Net, K, method, seed, as the experiment has them.
fn order(spec: &Spec, cell: &Cell) -> (usize, Option<usize>, usize, u64) {
    let nets = spec.net.iter().position(|net| net.name == cell.net);
    let methods = spec.method.iter().position(|m| m.name == cell.method);
    let last = usize::MAX;
    (
        nets.unwrap_or(last),
        cell.particles(),
        methods.unwrap_or(last),
        cell.seed,
    )
}

/// The table whose `paper` profile trains just as every one of these cells, of an experiment that doesn't come with the
/// program: then its published numbers belong beside them.
fn same_training(cells: &[&Cell], registry: &Registry, dataset: &str) -> Option<Spec> {
    let same = |spec: &Spec, cell: &Cell| {
        let cells = spec.cells("paper", &alone(cell), dataset);
        cells.unwrap_or_default().iter().any(|own| {
            own.by_particles == cell.by_particles && trains_as(&own.settings, &cell.settings)
        })
    };
    let fits = |spec: &Spec| {
        spec.dataset == dataset
            && spec.published.is_some()
            && cells.iter().all(|cell| same(spec, cell))
    };
    Spec::bundled(registry).into_iter().find(fits)
}

/// Whether the settings differ in nothing but checks and checkpoints.
fn trains_as(a: &Settings, b: &Settings) -> bool {
    let training = |settings: &Settings| Settings {
        check_every: 1,
        valid_samples: 1,
        valid_images: None,
        test_samples: 1,
        test_images: None,
        test_at_checks: None,
        final_samples: None,
        reported_samples: None,
        train_images: None,
        checkpoint_seconds: 1,
        gradient_beta: None,
        released_nll: false,
        ..settings.clone()
    };
    training(a) == training(b)
}

/// An experiment that doesn't come with the program, as far as its cells tell.
fn unknown(name: &str, cells: &[&Cell], registry: &Registry) -> Spec {
    let label = |net: &str| {
        let known = Spec::bundled(registry)
            .into_iter()
            .flat_map(|spec| spec.net);
        let mut known = known.filter(|known| known.name == net);
        known.next().map_or(net.to_string(), |known| known.label)
    };
    let mut names: Vec<&str> = registry.net_names().collect();
    names.extend(cells.iter().map(|cell| cell.net.as_str()));
    let mut nets: Vec<Net> = Vec::new();
    for name in names {
        let used = cells.iter().any(|cell| cell.net == name);
        if used && nets.iter().all(|net| net.name != name) {
            nets.push(Net {
                name: name.into(),
                label: label(name),
                own: None,
            });
        }
    }
    let mut methods: Vec<Method> = Vec::new();
    for cell in cells {
        if methods.iter().all(|method| method.name != cell.method) {
            let known = registry.method(&cell.method);
            methods.push(Method {
                name: cell.method.clone(),
                label: known.map_or(cell.method.clone(), |entry| entry.label.into()),
                nets: Vec::new(),
                settings: Default::default(),
            });
        }
    }
    Spec {
        name: name.into(),
        title: format!("Experiment {name}"),
        dataset: cells[0].dataset.clone(),
        published: None,
        published_on: BTreeMap::new(),
        settings: cells[0].settings.clone(),
        profile: BTreeMap::new(),
        net: nets,
        method: methods,
        ..Spec::bundled(registry).swap_remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing::{finished, paper, record};

    #[test]
    fn runs_of_one_folder_are_a_group_in_the_experiments_order() {
        let cell = |net: &str, seed| Cell {
            net: net.into(),
            seed,
            ..paper("jsa")
        };
        let records = [
            record(
                "table1/quick/binarized-mnist/two-layers/jsa/seed-1",
                finished(cell("two-layers", 1), 95.0),
            ),
            record(
                "table1/quick/binarized-mnist/linear/jsa/seed-2",
                finished(cell("linear", 2), 105.0),
            ),
            record(
                "table1/quick/binarized-mnist/linear/jsa/seed-1",
                finished(cell("linear", 1), 105.0),
            ),
            record("elsewhere/renamed", finished(cell("linear", 1), 105.0)),
        ];
        let groups = groups(&records, &Registry::default());
        let places: Vec<_> = groups.iter().map(|group| group.place.as_str()).collect();
        assert_eq!(places, ["table1/quick/binarized-mnist", "elsewhere"]);
        let runs = groups[0].runs.iter();
        let order: Vec<_> = runs
            .map(|(_, run)| (run.cell.net.as_str(), run.cell.seed))
            .collect();
        assert_eq!(order, [("linear", 1), ("linear", 2), ("two-layers", 1)]);
        assert!(groups[0].published.is_some());
    }

    #[test]
    fn headlines_come_first_and_the_published_protocol_before_shorter_profiles() {
        let of = |experiment: &str, place: &str| {
            let cell = Cell {
                experiment: experiment.into(),
                ..paper("jsa")
            };
            record(&format!("{place}/linear/jsa/seed-1"), finished(cell, 105.0))
        };
        let records = [
            of("estimators", "estimators"),
            of("table1", "table1/a-copy"),
            of("table1", "table1/paper"),
            of("table2", "table2/quick"),
        ];
        let groups = groups(&records, &Registry::default());
        let places: Vec<_> = groups.iter().map(|group| group.place.as_str()).collect();
        let expected = [
            "table1/paper",
            "table1/a-copy",
            "table2/quick",
            "estimators",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn another_experiment_has_published_numbers_only_where_it_trains_as_the_paper() {
        let of = |change: fn(&mut Cell)| {
            let mut cell = paper("jsa");
            cell.experiment = "mine".into();
            change(&mut cell);
            let records = [record("mine/linear/jsa/seed-1", finished(cell, 105.0))];
            groups(&records, &Registry::default())
                .remove(0)
                .published
                .is_some()
        };
        assert!(of(|_| ()));
        assert!(of(|cell| cell.settings.valid_samples = 7));
        assert!(!of(|cell| cell.settings.switch = 1.0));
        assert!(!of(|cell| cell.settings.epochs = 100));
        assert!(!of(|cell| cell.dataset = "threshold-mnist".into()));
        assert!(!of(|cell| cell.method = "no-such-method".into()));
    }

    #[test]
    fn runs_of_other_settings_than_the_profiles_are_found() {
        let of = |seed, change: fn(&mut Cell)| {
            let mut cell = Cell {
                seed,
                ..paper("jsa")
            };
            change(&mut cell);
            let place = format!("table1/paper/binarized-mnist/linear/jsa/seed-{seed}");
            record(&place, finished(cell, 105.0))
        };
        let records = [
            of(1, |_| ()),
            of(2, |cell| cell.settings.learning_rate = 1e-3),
            of(3, |cell| cell.settings.epochs = 7),
        ];
        let group = groups(&records, &Registry::default()).remove(0);
        let seeds = |profile: &str| -> Vec<u64> {
            let unlike = group.unlike(profile).into_iter();
            unlike.map(|run| run.cell.seed).collect()
        };
        assert_eq!(seeds("paper"), [2]);
        assert_eq!(seeds("quick"), [1, 2, 3]);
    }

    #[test]
    fn a_folder_names_the_profile_and_epochs_other_than_its_own() {
        let of = |folder: &str| {
            let place = format!("{folder}/binarized-mnist/linear/jsa/seed-1");
            let records = [record(&place, finished(paper("jsa"), 105.0))];
            let group = groups(&records, &Registry::default()).remove(0);
            let (profile, epochs) = group.profile();
            (profile.to_string(), epochs)
        };
        assert_eq!(of("table1/paper"), ("paper".into(), None));
        assert_eq!(of("table1/quick-3-epochs"), ("quick".into(), Some(3)));
        assert_eq!(of("table1/paper-s100"), (String::new(), None));
        assert_eq!(of("table1/paper-100-epochs-twice"), (String::new(), None));
    }

    #[test]
    fn generated_images_are_told() {
        let mut cell = paper("jsa");
        cell.dataset = "glyphs".into();
        let records = [record("x/linear/jsa/seed-1", finished(cell, 50.0))];
        let group = groups(&records, &Registry::default()).remove(0);
        assert!(group.synthetic() && group.published.is_none());
    }
}
