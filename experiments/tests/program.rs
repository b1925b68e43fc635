//! The program of another crate: estimators of every family, a net and data that it adds, from the command line to the results.

use helmholtz_datasets::{Images, Splits};
use helmholtz_distributions::Noise;
use helmholtz_estimators::{
    Batch, Coefficient, Declaration, Description, Disarm, DoubleCv, Estimate, EstimateError,
    Estimator, FiniteOrder, Learned, Nvil, Outcome, Rloo, StraightThrough, Target, Weighting,
};
use helmholtz_experiments::Program;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::ChainStore;
use helmholtz_sbn::SbnConfig;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// An estimator by another name: of another crate as far as the program knows.
#[derive(Clone)]
struct Own<E>(E, &'static str);

impl<E: Declaration> Declaration for Own<E> {
    fn description(&self) -> Description {
        let name = self.1;
        Description {
            name,
            ..self.0.description()
        }
    }

    fn least_particles(&self, retained: bool) -> usize {
        self.0.least_particles(retained)
    }

    fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize {
        self.0.evaluations(particles, layers, retained)
    }

    fn controls(&self) -> helmholtz_estimators::ControlsConfig {
        self.0.controls()
    }
}

impl<B: AutodiffBackend, M, E: Estimator<B, M>> Estimator<B, M> for Own<E> {
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        model: &M,
        learned: &mut Learned<B>,
        batch: Batch<'_, B, S>,
        noise: &mut impl Noise,
        chance: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        self.0.estimate(model, learned, batch, noise, chance)
    }
}

/// One that never gives an estimate, and is DisARM otherwise.
#[derive(Clone)]
struct Refusing;

impl Declaration for Refusing {
    fn description(&self) -> Description {
        Own(Disarm, "refusing").description()
    }

    fn least_particles(&self, retained: bool) -> usize {
        Disarm.least_particles(retained)
    }

    fn evaluations(&self, particles: usize, layers: usize, retained: bool) -> usize {
        Disarm.evaluations(particles, layers, retained)
    }
}

impl<B: AutodiffBackend, M> Estimator<B, M> for Refusing {
    fn estimate<S: ChainStore + ?Sized>(
        &self,
        _: &M,
        _: &mut Learned<B>,
        _: Batch<'_, B, S>,
        _: &mut impl Noise,
        _: &mut impl Chance,
    ) -> Result<Estimate<B>, EstimateError> {
        Err(EstimateError::NoData)
    }
}

/// RLOO, or with every signal doubled: a twin that is biased.
#[derive(Clone)]
struct Scaled(f64, &'static str);

impl Weighting for Scaled {
    fn description(&self) -> Description {
        Description {
            name: self.1,
            label: self.1,
            idea: "leave-one-out baselines, scaled",
            target: Target::Elbo,
        }
    }

    fn least_particles(&self, _: bool) -> usize {
        2
    }

    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let outcome = Rloo.weigh(log_w, retained, chance, coefficients);
        coefficients.iter_mut().for_each(|c| c.phi *= self.0);
        outcome
    }
}

/// 260 rows of nine bits.
fn dots() -> Splits {
    let mut stream = Stream::new(9, Purpose::new("dots"), [0, 0]);
    let mut part = |rows| Images::from_fn(rows, 9, |_, j| stream.uniform_f64() < 0.1 * j as f64);
    let (train, valid, test) = (part(200), part(30), part(30));
    Splits::in_memory("dots", train, valid, test)
}

/// Everything added, and these arguments.
fn run(args: &[&str]) -> ExitCode {
    let small = SbnConfig {
        latent: vec![5],
        ..SbnConfig::named("linear").unwrap()
    };
    Program::new()
        .estimator(Scaled(1.0, "own-rloo"))
        .estimator(Scaled(2.0, "doubled"))
        .estimator(Own(Nvil { normalise: true }, "own-nvil"))
        .estimator_of_all(Own(StraightThrough, "own-straight-through"))
        .estimator_of_counts(Own(FiniteOrder::Second, "own-finite-2"))
        .estimator_of_bits(Own(Disarm, "own-disarm"))
        .estimator_of_bits(Refusing)
        .estimator_of_bits(Own(DoubleCv, "own-double-cv"))
        .net("small", small)
        .data("dots", || Ok(dots()))
        .run_with([&["program"], args].concat())
}

fn succeeded(code: ExitCode) -> bool {
    format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS)
}

/// The test NLL of every run below a folder, by its method.
fn results(folder: &Path) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![folder.into()];
    while let Some(folder) = folders.pop() {
        let read = |name: &str| -> Option<Value> {
            let text = fs::read_to_string(folder.join(name)).ok()?;
            let mut sealed: Value = serde_json::from_str(&text).unwrap();
            Some(sealed["content"].take())
        };
        if let (Some(config), Some(mut result)) = (read("config.json"), read("result.json")) {
            let method = config["method"].as_str().unwrap().to_owned();
            assert!(config["dataset"].as_str().unwrap().starts_with("own-dots-"));
            found.insert(method, result["test_nll"].take());
        }
        let inside = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        folders.extend(inside.filter(|path| path.is_dir()));
    }
    found
}

#[test]
fn what_is_added_trains_on_added_data_as_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("runs").display().to_string();
    let pairs = ["rloo", "nvil", "straight-through", "disarm", "double-cv"];
    let methods: Vec<String> = pairs
        .iter()
        .flat_map(|name| [name.to_string(), format!("own-{name}")])
        .collect();
    let (methods, small) = (
        methods.join(","),
        ["--net", "linear", "--epochs", "2", "--jobs", "1"],
    );
    let asked = [
        "reproduce",
        "estimators", // whose methods all have the same settings
        "--dataset",
        "dots",
        "--method",
        &methods,
        "--out",
        &out,
    ];
    assert!(succeeded(run(&[&asked[..], &small].concat())));
    let results = results(Path::new(&out));
    assert_eq!(results.len(), 2 * pairs.len(), "{results:?}");
    for name in pairs {
        assert!(results[name].is_number(), "{name}: {}", results[name]);
        assert_eq!(results[name], results[&format!("own-{name}")], "{name}");
    }
    assert_ne!(results["rloo"], results["disarm"]);
}

#[test]
fn what_is_added_for_counts_trains_on_counts_as_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("runs").display().to_string();
    let methods = "straight-through,own-straight-through,finite-2,own-finite-2";
    let counts = [
        "reproduce",
        "counts",
        "--net",
        "binomial-16",
        "--dataset",
        "dots",
    ];
    let few = [
        "--method", methods, "--epochs", "2", "--jobs", "1", "--out", &out,
    ];
    assert!(succeeded(run(&[&counts[..], &few].concat())));
    let results = results(Path::new(&out));
    for name in ["straight-through", "finite-2"] {
        assert!(results[name].is_number(), "{name}: {}", results[name]);
        assert_eq!(results[name], results[&format!("own-{name}")], "{name}");
    }
    assert_ne!(results["straight-through"], results["finite-2"]);
    // Of bits alone, or of bits and classes.
    let refused = |method| [&counts[..], &["--method", method, "--dry-run"]].concat();
    assert!(!succeeded(run(&refused("own-disarm"))) && !succeeded(run(&refused("own-nvil"))));
}

#[test]
fn the_gradients_variance_is_measured_on_an_added_net_and_added_data() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display().to_string();
    let asked = [
        "variance",
        "--dataset",
        "dots",
        "--net",
        "small",
        "--out",
        &out,
    ];
    let few = [
        "--replicates",
        "5",
        "--batch",
        "7",
        "--method",
        "own-disarm,disarm",
    ];
    assert!(succeeded(run(&[&asked[..], &few].concat())));
    let table = || fs::read_to_string(dir.path().join("variance.md")).unwrap();
    assert!(!table().contains("NOT MEASURED"));
    // One that refuses takes no row from the others, and is said to be missing.
    let method = ["--method", "refusing,own-disarm,disarm"];
    assert!(!succeeded(run(&[&asked[..], &few[..4], &method].concat())));
    assert!(table().contains("NOT MEASURED: refusing"), "{}", table());
    let csv = fs::read_to_string(dir.path().join("variance.csv")).unwrap();
    let column = |name: &str| {
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let place = lines[0].iter().position(|head| *head == name).unwrap();
        lines[1..]
            .iter()
            .map(|line| line[place].to_owned())
            .collect::<Vec<_>>()
    };
    let variances = column("phi_variance");
    assert_eq!(variances.len(), 2);
    assert_eq!(variances[0], variances[1]);
}

#[test]
fn what_is_added_has_figures_and_its_variance_in_training() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("runs").display().to_string();
    let written = |name: &str, text: String| {
        let path = dir.path().join(format!("{name}.toml"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let small = |args: &[&str]| {
        let place = ["--dataset", "dots", "--out", &out, "--epochs", "2"];
        let args = [&["reproduce"], args, &place].concat();
        assert!(succeeded(run(&args)), "{args:?}");
    };
    let variance = include_str!("../fig3.toml")
        .replace("\"fig3\"", "\"noise\"")
        .replace("\"table2\"", "\"table1\"")
        .replace("\"categorical\"", "\"linear\"")
        .replace(
            "\"jsa\", \"rloo\", \"st-gumbel-softmax-learned\", \"arsm\"",
            "\"rloo\", \"own-rloo\"",
        )
        .replace("images = 200", "images = 7");
    small(&[&written("noise", variance), "--jobs", "1"]);
    let of = |folder: &str| {
        let folder = dir.path().join("runs").join(folder);
        let inside = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        let of_data = inside.map(|entry| entry.path()).find(|path| path.is_dir());
        of_data.expect("a folder of the data")
    };
    let curve = fs::read_to_string(of("noise/quick-2-epochs").join("noise.csv")).unwrap();
    assert!(curve.contains("own-rloo"), "{curve}");

    let method = ["--method", "rloo,own-rloo", "--net", "linear"];
    small(&[&["estimators", "--jobs", "1"], &method[..]].concat());
    let figure = "kind = \"curves\"\nname = \"course\"\ntitle = \"Course\"\ntable = \"estimators\"\nmethods = [\"rloo\", \"own-rloo\"]\n\
                  from = 0.05\ncolumns = 1\n[[panel]]\ntitle = \"Linear\"\nnet = \"linear\"\nagainst = \"epochs\"\n";
    small(&[&written("course", figure.into())]);
    let drawn = fs::read_to_string(of("course/quick-2-epochs").join("course.csv")).unwrap();
    assert!(drawn.contains("own-rloo"), "{drawn}");
}

#[test]
fn an_added_estimator_is_certified_and_its_twin_fails() {
    assert!(succeeded(run(&[
        "certify",
        "--method",
        "own-rloo,own-disarm"
    ])));
    assert!(!succeeded(run(&[
        "certify", "--method", "doubled", "--json"
    ])));
    assert!(!succeeded(run(&["certify", "--method", "none-such"])));
}

#[test]
fn names_that_are_taken_or_name_no_folder_are_refused() {
    let help = ["program", "--help"];
    let named = |name| Program::new().data(name, || Ok(dots())).run_with(help);
    assert!(succeeded(named("mine")));
    assert!(!succeeded(named("omniglot")) && !succeeded(named("A b")));
    let (once, again) = (Scaled(1.0, "x"), Scaled(1.0, "x"));
    let twice = Program::new().estimator(once).estimator(again);
    assert!(!succeeded(twice.run_with(help)));
}
