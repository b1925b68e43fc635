//! The published numbers, parsed from `published.toml` and never typed elsewhere.

use crate::error::HarnessError;
use crate::profiles::named;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

const FILE: &str = "experiments/published.toml";
const TEXT: &str = include_str!("../published.toml");

/// A published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Authors, year, title, table.
    pub source: String,
    /// Quantity of the numbers, with their unit.
    pub quantity: String,
    /// The epochs of each published run, where they are stated.
    pub epochs: Option<u64>,
    /// The runs behind each mean and sd of the authors' own rows, where they are stated.
    pub seeds: Option<u64>,
    /// Description of mean and spread, such as `mean ± sd over 5 runs`, where there is one.
    #[serde(default)]
    pub spread: String,
    /// Problem of doubtful numbers, where there are some.
    #[serde(default)]
    pub doubtful_note: String,
    /// Note on the quoted rows, where there are some.
    #[serde(default)]
    pub quoted_note: String,
    /// The rows, in the publication's order.
    pub row: Vec<Row>,
}

/// A row of a published table: one method, on each net, with one number of particles where it compares some.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the method in the publication.
    pub label: String,
    /// Whose run it is.
    pub origin: Origin,
    /// The method of ours that it is compared with.
    pub ours: Option<String>,
    /// A method of ours that may be what the authors ran in its place, and is compared with it too.
    pub ablation: Option<String>,
    /// K, where the publication compares numbers of particles.
    pub particles: Option<usize>,
    /// The test NLL in nats, by net.
    #[serde(default)]
    pub nll: BTreeMap<String, Number>,
    /// The variational bound on the test NLL in nats, by net.
    #[serde(default)]
    pub bound: BTreeMap<String, f64>,
    /// Nets whose numbers the authors quote, in a row that is otherwise their own.
    #[serde(default)]
    pub quoted: Vec<String>,
    /// Nets whose numbers are probably slips.
    #[serde(default)]
    pub doubtful: Vec<String>,
}

/// Published numbers of amortized population Gibbs, which are of its own quantities.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entries<T> {
    /// Authors, year, title, table.
    pub source: String,
    /// Gradient steps of the published runs, by experiment.
    pub steps: BTreeMap<String, u64>,
    /// Published seeds.
    pub seeds: u64,
    /// The entries, in the publication's order.
    pub entry: Vec<T>,
}

/// Sizes of a model's instances by name: N, the likelihood's scale; the canvas' side, T, D.
pub type Setting = BTreeMap<String, f64>;

/// Returns a setting as text.
pub fn setting_text(setting: &Setting) -> String {
    let sizes = setting
        .iter()
        .map(|(name, size)| format!("{name} = {size}"));
    sizes.collect::<Vec<_>>().join(", ")
}

/// Published log joints by sampler.
pub type LogJoints = Entries<LogJoint>;

/// A published log joint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogJoint {
    /// Whose column.
    pub experiment: String,
    /// Its setting: beside runs of another the number has no place.
    pub setting: Setting,
    /// Whose row.
    pub sampler: String,
    /// Nats an instance.
    pub log_joint: f64,
}

/// Published squared errors of a setting.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SquaredErrors {
    /// The canvas' side.
    pub canvas: usize,
    /// T.
    pub frames: usize,
    /// D.
    pub digits: usize,
    /// By sampler.
    pub mse: BTreeMap<String, f64>,
}

impl SquaredErrors {
    /// The canvas' side, T and D.
    pub fn setting(&self) -> [usize; 3] {
        [self.canvas, self.frames, self.digits]
    }
}

/// Range of KL(p‖q), summed over clusters and dimensions, in which published runs end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KlRange {
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// From where to where.
    pub range: [f64; 2],
}

/// Quantity of published entries: where it stands in the file.
pub trait Quantity: Clone + Sized {
    #[doc(hidden)]
    fn of(file: File) -> BTreeMap<String, Entries<Self>>;
}

impl Quantity for LogJoint {
    fn of(file: File) -> BTreeMap<String, Entries<Self>> {
        file.log_joints
    }
}

impl Quantity for SquaredErrors {
    fn of(file: File) -> BTreeMap<String, Entries<Self>> {
        file.squared_errors
    }
}

impl Quantity for KlRange {
    fn of(file: File) -> BTreeMap<String, Entries<Self>> {
        file.inclusive_kl
    }
}

impl<T: Quantity> Entries<T> {
    /// The published table called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn load(name: &str) -> Result<Self, HarnessError> {
        named("published table", name, &T::of(parse(TEXT, FILE)?)).cloned()
    }
}

/// Entries of the table that a file names.
pub fn entries<'de, D: Deserializer<'de>, T: Quantity>(name: D) -> Result<Vec<T>, D::Error> {
    let name = String::deserialize(name)?;
    let table = Entries::load(&name).map_err(D::Error::custom)?;
    Ok(table.entry)
}

/// All that is published.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct File {
    log_joints: BTreeMap<String, LogJoints>,
    squared_errors: BTreeMap<String, Entries<SquaredErrors>>,
    inclusive_kl: BTreeMap<String, Entries<KlRange>>,
    #[serde(flatten)]
    tables: BTreeMap<String, Published>,
}

/// Whose run a published number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The authors' own runs: what a reproduction aims at.
    Authors,
    /// Copied by the authors from another publication: shown, never a target.
    Quoted,
}

/// A published mean, with its standard deviation over runs where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The mean (or the only run), in nats.
    pub mean: f64,
    /// The standard deviation over runs, in nats.
    pub sd: Option<f64>,
}

impl Published {
    /// The published table called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn load(name: &str) -> Result<Self, HarnessError> {
        let tables = parse(TEXT, FILE)?.tables;
        named("published table", name, &tables).cloned()
    }

    /// The row that our `method` is compared with, with so many particles where numbers of them are compared, if any.
    pub fn row_of(&self, method: &str, particles: Option<usize>) -> Option<&Row> {
        let compared = |row: &&Row| row.ours().any(|ours| ours == method);
        let mut rows = self.row.iter().filter(compared);
        rows.find(|row| row.particles == particles)
    }

    /// The rows that are quoted from end to end.
    pub fn quoted(&self) -> impl Iterator<Item = &Row> {
        self.row.iter().filter(|row| row.origin == Origin::Quoted)
    }
}

fn parse(text: &str, file: &str) -> Result<File, HarnessError> {
    let published: File = toml::from_str(text).map_err(|source| HarnessError::Toml {
        file: file.to_string(),
        source: Box::new(source),
    })?;
    for (name, table) in &published.tables {
        if let Some(problem) = table.problem() {
            return Err(HarnessError::Spec {
                file: file.to_string(),
                problem: format!("table `{name}`: {problem}"),
            });
        }
    }
    Ok(published)
}

impl Row {
    /// Whether the numbers on this net are copied from elsewhere.
    pub fn is_quoted(&self, net: &str) -> bool {
        self.origin == Origin::Quoted || self.quoted.iter().any(|quoted| quoted == net)
    }

    /// Whether the numbers on this net are probably slips.
    pub fn is_doubtful(&self, net: &str) -> bool {
        self.doubtful.iter().any(|doubtful| doubtful == net)
    }

    /// The methods of ours that are compared with it.
    fn ours(&self) -> impl Iterator<Item = &str> {
        self.ours.iter().chain(&self.ablation).map(String::as_str)
    }
}

impl Published {
    /// Returns what is wrong with the table, if anything.
    fn problem(&self) -> Option<String> {
        let several = self.seeds.is_some_and(|seeds| seeds > 1);
        for (i, row) in self.row.iter().enumerate() {
            let label = &row.label;
            let same_k = || {
                let before = self.row[..i].iter();
                before.filter(|other| other.particles == row.particles)
            };
            if same_k().any(|other| other.label == *label) {
                return Some(format!("the row `{label}` is there twice"));
            }
            if same_k().any(|other| row.ours().any(|ours| other.ours().any(|o| o == ours))) {
                return Some(format!(
                    "the row `{label}` is compared with a method that another row has already"
                ));
            }
            let has = |net: &String| row.nll.contains_key(net) || row.bound.contains_key(net);
            if let Some(net) = row.quoted.iter().chain(&row.doubtful).find(|net| !has(net)) {
                return Some(format!(
                    "the row `{label}` says something of the net `{net}`, but has no number of it"
                ));
            }
            if row.bound.values().any(|bound| !bound.is_finite()) {
                return Some(format!("the row `{label}`: a bound must be finite"));
            }
            for (net, number) in &row.nll {
                if !number.mean.is_finite()
                    || number.sd.is_some_and(|sd| !(sd >= 0.0 && sd.is_finite()))
                {
                    return Some(format!(
                        "the row `{label}`, net `{net}`: mean must be finite and sd no less than 0"
                    ));
                }
                let target = !row.is_quoted(net) && !row.is_doubtful(net);
                if several && target && number.sd.is_none() {
                    return Some(format!(
                        "the row `{label}`, net `{net}`: a reproduction target needs its sd"
                    ));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    #[test]
    fn the_targets_are_the_three_rows_of_the_authors_own_runs() {
        let published = Published::load("jsa-table1").unwrap();
        let targets: Vec<_> = published
            .row
            .iter()
            .filter(|row| row.origin == Origin::Authors)
            .map(|row| (row.label.as_str(), row.ours.as_deref().unwrap()))
            .collect();
        assert_eq!(targets, [("RWS", "rws"), ("VIMCO", "rloo"), ("JSA", "jsa")]);
        assert_eq!(published.quoted().count(), 5);
        assert_eq!(
            published.row_of("jsa", None).unwrap().nll["linear"],
            Number {
                mean: 105.5,
                sd: Some(0.1)
            }
        );
        assert!(
            published.row_of("vimco", None).is_none(),
            "the paper's VIMCO is RLOO"
        );
    }

    #[test]
    fn the_rows_name_nets_methods_and_particles_of_their_experiment() {
        let of = |experiment| {
            let spec = Spec::load(experiment).unwrap();
            let tables = spec
                .published
                .iter()
                .chain(spec.published_on.values())
                .cloned();
            tables
                .map(|table| (spec.clone(), table))
                .collect::<Vec<_>>()
        };
        let names = [
            "table1",
            "table2",
            "table3",
            "helmholtz",
            "arm-table2",
            "arm-table3",
        ];
        for (spec, table) in names.into_iter().flat_map(of) {
            let published = Published::load(&table).unwrap();
            let nets: Vec<&str> = spec.net.iter().map(|net| net.name.as_str()).collect();
            let methods: Vec<&str> = spec.method.iter().map(|m| m.name.as_str()).collect();
            let particles = &spec.profile("paper").unwrap().particles;
            for row in &published.row {
                let label = &row.label;
                assert!(
                    row.nll
                        .keys()
                        .chain(row.bound.keys())
                        .all(|net| nets.contains(&net.as_str())),
                    "{label}"
                );
                assert!(row.ours().all(|ours| methods.contains(&ours)), "{label}");
                assert_eq!(row.particles.is_some(), !particles.is_empty(), "{label}");
                assert!(
                    row.particles.iter().all(|k| particles.contains(k)),
                    "{label}"
                );
            }
        }
    }

    #[test]
    fn table_2_is_compared_with_both_accept_tests_and_table_3_by_particles() {
        let table2 = Published::load("jsa-table2").unwrap();
        let mean = |method| {
            let row = table2.row_of(method, None)?;
            Some(row.nll["categorical"].mean)
        };
        assert_eq!(
            (mean("jsa"), mean("jsa-frozen-reference")),
            (Some(75.3), Some(75.3))
        );
        assert_eq!((mean("rloo"), mean("vimco")), (Some(79.3), None));
        let table3 = Published::load("jsa-table3").unwrap();
        assert_eq!(table3.row.len(), 15);
        let mean = |method, k| {
            let row = table3.row_of(method, Some(k))?;
            Some(row.nll["structured"].mean)
        };
        assert_eq!((mean("jsa", 5), mean("jsa", 80)), (Some(45.2), Some(42.6)));
        assert_eq!(
            (mean("rws", 20), mean("rloo", 40)),
            (Some(43.8), Some(46.1))
        );
        assert_eq!((mean("jsa", 6), mean("vimco", 5)), (None, None));
        assert!(table3.row_of("jsa", None).is_none());
    }

    #[test]
    fn the_slides_numbers_are_bounds_on_two_data_sets() {
        let bounds = |table: &str, method: &str| {
            let table = Published::load(table).unwrap();
            let row = table.row_of(method, None).unwrap();
            assert!(row.nll.is_empty());
            let nets = ["nonlinear", "linear", "two-layers", "categorical"];
            nets.map(|net| row.bound.get(net).copied())
        };
        let of = |numbers: [f64; 3]| [Some(numbers[0]), Some(numbers[1]), Some(numbers[2]), None];
        let (mnist, omniglot) = ("arm-table2", "arm-table2-omniglot");
        assert_eq!(bounds(mnist, "arm"), of([101.3, 110.3, 98.2]));
        assert_eq!(bounds(omniglot, "arm"), of([129.5, 124.2, 118.3]));
        assert_eq!(bounds(mnist, "relax"), of([110.9, 122.1, 114.0]));
        assert_eq!(bounds(omniglot, "relax"), of([128.2, 124.4, 119.1]));
        assert_eq!(bounds(mnist, "rebar"), of([111.6, 123.2, 113.7]));
        assert_eq!(bounds(omniglot, "rebar"), of([128.3, 124.9, 118.8]));
        let through = "st-gumbel-softmax";
        assert_eq!(
            bounds(mnist, through),
            [Some(112.5), Some(129.2), None, Some(107.9)]
        );
        assert_eq!(
            bounds(omniglot, through),
            [Some(140.7), Some(129.8), None, Some(127.6)]
        );
        assert_eq!(bounds(mnist, "ars")[3], Some(105.8));
        assert_eq!(bounds(omniglot, "ars")[3], Some(121.9));
    }

    #[test]
    fn the_slides_predictions_are_quoted_but_for_arms() {
        let table = Published::load("arm-table3").unwrap();
        let linear = "feedforward-linear";
        let mean = |method| table.row_of(method, None).unwrap().nll[linear].mean;
        let methods = [
            "arm",
            "straight-through",
            "half",
            "slope-annealed",
            "st-gumbel-softmax",
            "nvil",
            "muprop",
        ];
        assert_eq!(
            methods.map(mean),
            [54.8, 56.1, 57.2, 58.7, 59.3, 72.0, 56.7]
        );
        assert_eq!(table.quoted().count(), 6);
        assert!(table.row_of("arm", None).unwrap().is_doubtful(linear));
    }

    #[test]
    fn the_posters_numbers_are_those_of_the_poster_with_what_is_quoted_or_doubtful_marked() {
        let poster = Published::load("jsa-poster").unwrap();
        let nets = [
            "sbn-200",
            "sbn-200-200",
            "sbn-200-200-200",
            "sbn-200-10c",
            "sbn-200-200-10c",
            "sbn-200-200-200-10c",
        ];
        let row = |method| poster.row_of(method, None).unwrap();
        let nll = |method| nets.map(|net| row(method).nll.get(net).map(|n| n.mean));
        let bound = |method| nets.map(|net| row(method).bound.get(net).copied());
        assert_eq!(
            nll("jsa-mtmis"),
            [102.3, 92.11, 88.92, 97.05, 89.84, 87.82].map(Some)
        );
        assert_eq!(
            bound("jsa"),
            [112.7, 101.0, 97.04, 106.83, 98.04, 96.09].map(Some)
        );
        assert_eq!(nll("nvil"), [None; 6]);
        assert_eq!(bound("nvil")[..3], [113.1, 99.8, 96.7].map(Some));
        assert_eq!(bound("muprop")[3], Some(107.8));
        let marked = |of: &dyn Fn(&str) -> bool| nets.map(of);
        let rws = row("rws-wake-sleep");
        assert_eq!(
            marked(&|net| rws.is_quoted(net)),
            [true, true, true, false, false, false]
        );
        for method in ["rws-wake-sleep", "jsa"] {
            let row = row(method);
            let doubtful = marked(&|net| row.is_doubtful(net));
            assert_eq!(doubtful, [false, false, false, false, false, true]);
        }
        assert!(
            marked(&|net| row("jsa-mtmis").is_doubtful(net))
                .iter()
                .all(|d| !d)
        );
        assert!(marked(&|net| row("ws").is_quoted(net)).iter().all(|q| *q));
    }

    #[test]
    fn a_senseless_number_is_refused() {
        let rejection = |from: &str, to: &str| {
            assert!(TEXT.contains(from));
            parse(&TEXT.replace(from, to), "p.toml")
                .unwrap_err()
                .to_string()
        };
        assert!(
            rejection("mean = 105.5, sd = 0.1", "mean = 105.5, sd = -0.1")
                .contains("no less than 0")
        );
        assert!(rejection("mean = 105.5, sd = 0.1", "mean = 105.5").contains("needs its sd"));
        assert!(rejection("label = \"ARM\"", "label = \"JSA\"").contains("there twice"));
        assert!(rejection("mean = 105.5,", "meen = 105.5,").contains("unknown field `meen`"));
        assert!(rejection("ours = \"rloo\"", "ours = \"jsa\"").contains("another row"));
        assert!(rejection("doubtful = [\"sbn-", "doubtful = [\"sbm-").contains("no number of it"));
    }
}
