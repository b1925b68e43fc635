//! The files at hand, held against the protocols of the publications.

use super::tests::table1;
use super::{Selection, Spec};
use crate::cell::Cell;
use crate::nets::Net;
use crate::registry::Registry;
use crate::source::BUNDLED;
use crate::trial::Trial;
use helmholtz_categorical_vae::CategoricalVaeConfig;
use helmholtz_count_vae::CountVaeConfig;
use helmholtz_estimators::{LatentKind, Method as Estimator};
use helmholtz_sbn::SbnConfig;
use helmholtz_training::Optimizer;

#[test]
fn table1_holds_the_papers_protocol() {
    let cells = table1()
        .cells("paper", &Selection::default(), "binarized-mnist")
        .unwrap();
    assert_eq!(cells.len(), 3 * 8 * 5);
    for cell in cells {
        // The three rows of the paper's own runs, and the five that it quotes.
        let own = ["jsa", "rws", "rloo"].contains(&cell.method.as_str());
        let s = cell.settings;
        assert_eq!(
            (s.epochs, s.switch_epoch(), s.batch, s.particles),
            (1000, 600, 50, if own { 2 } else { 1 })
        );
        assert_eq!(
            (s.learning_rate, s.check_every, s.stage1_extra),
            (3e-4, 5, 0)
        );
        assert_eq!(
            (s.valid_samples, s.test_samples, s.reported_samples()),
            (1000, 1000, Some(1000))
        );
        assert_eq!((s.valid_images, s.test_images), (Some(1000), Some(1000)));
        assert!((1..=5).contains(&cell.seed));
    }
}

#[test]
fn the_quoted_rows_are_also_run_as_their_source_runs_them() {
    let cells = table1()
        .cells("yin-zhou", &Selection::default(), "binarized-mnist")
        .unwrap();
    assert_eq!(cells.len(), 3 * 5 * 5);
    for cell in cells {
        let s = &cell.settings;
        assert_eq!(
            (s.epochs, s.batch, s.learning_rate, s.particles),
            (1200, 50, 1e-4, 1)
        );
        let net = Registry::default().trial(&cell).unwrap().net;
        let net = net
            .config::<SbnConfig>()
            .unwrap_or_else(|| panic!("{}", cell.label()));
        let (learned, signed) = match cell.net.as_str() {
            "linear" => (true, true),
            "two-layers" => (true, false),
            _ => (false, false),
        };
        assert_eq!((net.learned_prior, net.signed), (learned, signed));
        assert_eq!(net.slope, 0.1);
    }
}

#[test]
fn the_helmholtz_machines_hold_the_protocol_of_the_rws_code() {
    let spec = Spec::load("helmholtz").unwrap();
    for (profile, optimizer, rate) in [
        ("paper", Optimizer::Momentum, 1e-3),
        ("paper-adam", Optimizer::Adam, 3e-4),
    ] {
        let cells = spec
            .cells(profile, &Selection::default(), &spec.dataset)
            .unwrap();
        assert_eq!(cells.len(), 6 * 6);
        for cell in cells {
            let method = Registry::default().trial(&cell).unwrap().entry.method;
            let s = &cell.settings;
            assert_eq!((s.optimizer, s.learning_rate), (optimizer, rate));
            assert_eq!((s.batch, s.sleep_every), (100, Some(2)));
            assert_eq!((s.patience, s.check_every), (Some(10), 1));
            assert_eq!((s.valid_samples, s.valid_images), (100, None));
            assert_eq!(s.final_samples, Some(100_000.into()));
            assert_eq!(s.switch_epoch(), 0);
            let many = ["rws-wake-sleep", "jsa-mtmis"].contains(&cell.method.as_str());
            assert_eq!(s.particles, if many { 10 } else { 1 });
            assert!(method.least_particles(true) <= s.particles);
        }
    }
}

#[test]
fn table2_holds_the_papers_protocol() {
    let spec = Spec::load("table2").unwrap();
    assert_eq!(spec.dataset, "threshold-mnist");
    let cells = spec
        .cells("paper", &Selection::default(), &spec.dataset)
        .unwrap();
    assert_eq!(cells.len(), 6 * 5);
    for cell in cells {
        let s = &cell.settings;
        assert_eq!((s.epochs, s.switch_epoch(), s.batch), (500, 300, 200));
        assert_eq!((s.learning_rate, s.stage1_extra), (3e-4, 1));
        let races = cell.method == "arsm";
        assert_eq!(s.particles, if races { 1 } else { 20 });
        let straight_through = cell.method == "st-gumbel-softmax-learned";
        assert_eq!(
            [s.free_logits, s.analytic_kl, s.released_nll],
            [straight_through; 3]
        );
    }
}

#[test]
fn table3_holds_the_papers_protocol_for_every_number_of_particles() {
    let spec = Spec::load("table3").unwrap();
    let cells = spec
        .cells("paper", &Selection::default(), "binarized-mnist")
        .unwrap();
    assert_eq!(cells.len(), 5 * 4 * 5);
    let order: Vec<_> = cells.iter().step_by(20).map(Cell::particles).collect();
    assert_eq!(order, [5, 10, 20, 40, 80].map(Some));
    for cell in cells {
        let s = &cell.settings;
        assert_eq!((s.epochs, s.switch_epoch(), s.batch), (200, 60, 100));
        assert_eq!((s.learning_rate, s.stage1_extra), (3e-4, 0));
        assert_eq!((s.check_every, s.reported_samples()), (5, Some(1000)));
    }
}

fn of_profile(spec: &Spec, profile: &str) -> Vec<Cell> {
    let dataset = spec.dataset_of(profile).unwrap();
    spec.cells(profile, &Selection::default(), dataset).unwrap()
}

/// β₁ and β₂ of Adam, of p and of q.
const BOTH: [[f64; 2]; 2] = [[0.9, 0.999]; 2];
const SLOW: [[f64; 2]; 2] = [[0.9, 0.99999]; 2];
const OF_Q: [[f64; 2]; 2] = [[0.9, 0.999], [0.5, 0.99999]];

/// Names, numbers and switches of a cell of `arm-table2`.
type Row<'a> = (
    &'a str,
    &'a str,
    &'a str,
    &'a str,
    (u64, usize, f64),
    [[f64; 2]; 2],
    bool,
    bool,
    f64,
);

/// Profile, net, method: data set; epochs, batch, rate; β; inputs as 2x - 1, learned prior, slope.
#[rustfmt::skip]
const REVISIONS: [Row<'_>; 17] = [
    ("paper",          "linear",     "arm",               "threshold-mnist", (400, 25, 1e-4),  BOTH, true,  false, 0.01),
    ("paper",          "nonlinear",  "disarm",            "threshold-mnist", (400, 25, 1e-4),  BOTH, false, false, 0.2),
    ("paper",          "two-layers", "arm",               "threshold-mnist", (1500, 25, 1e-4), BOTH, true,  false, 0.01),
    ("paper",          "linear",     "rebar",             "threshold-mnist", (363, 25, 1e-4),  SLOW, true,  true,  0.01),
    ("paper",          "two-layers", "relax",             "threshold-mnist", (2272, 25, 1e-4), SLOW, true,  true,  0.01),
    ("paper",          "linear",     "st-gumbel-softmax", "threshold-mnist", (1000, 100, 1e-4), BOTH, true,  false, 0.01),
    ("grey",           "nonlinear",  "rebar",             "grey-mnist",      (363, 25, 1e-4),  SLOW, true,  true,  0.2),
    ("paper-omniglot", "nonlinear",  "relax",             "omniglot",        (869, 25, 1e-4),  SLOW, true,  true,  0.0),
    ("paper-omniglot", "linear",     "arm",               "omniglot",        (1500, 25, 1e-4), OF_Q, false, true,  0.01),
    ("paper-omniglot", "nonlinear",  "arm",               "omniglot",        (5000, 25, 1e-4), OF_Q, false, false, 0.2),
    ("paper-omniglot", "two-layers", "arm",               "omniglot",        (3000, 25, 1e-4), BOTH, false, true,  0.01),
    ("head",           "linear",     "arm",               "binarized-mnist", (1200, 50, 1e-4), BOTH, true,  true,  0.01),
    ("head",           "nonlinear",  "arm",               "binarized-mnist", (1200, 50, 1e-4), BOTH, false, false, 0.1),
    ("head",           "two-layers", "arm",               "binarized-mnist", (1200, 50, 1e-4), BOTH, false, true,  0.01),
    ("head-omniglot",  "linear",     "arm",               "omniglot",        (1500, 25, 1e-4), OF_Q, false, true,  0.01),
    ("head-omniglot",  "nonlinear",  "arm",               "omniglot",        (800, 20, 5e-5),  OF_Q, false, false, 0.3),
    ("head-omniglot",  "two-layers", "arm",               "omniglot",        (1200, 25, 1e-4), BOTH, false, true,  0.01),
];

/// A cell of `arm-table2`, and its net.
fn of_arm_table2(profile: &str, net: &str, method: &str) -> (Cell, Net) {
    let spec = Spec::load("arm-table2").unwrap();
    let mut cells = of_profile(&spec, profile).into_iter();
    let cell = cells.find(|cell| (cell.net.as_str(), cell.method.as_str()) == (net, method));
    let cell = cell.unwrap();
    let net = Registry::default().trial(&cell).unwrap().net;
    (cell, net)
}

#[test]
fn arm_table2_holds_the_settings_of_both_revisions() {
    for (profile, net, method, data, numbers, betas, signed, learned, slope) in REVISIONS {
        let (cell, config) = of_arm_table2(profile, net, method);
        let s = &cell.settings;
        let label = format!("{profile}: {}", cell.label());
        assert_eq!(cell.dataset, data, "{label}");
        assert_eq!((s.epochs, s.batch, s.learning_rate), numbers, "{label}");
        assert_eq!(
            [s.betas().generative, s.betas().inference],
            betas,
            "{label}"
        );
        assert_eq!(
            (s.valid_samples, s.reported_samples(), s.particles),
            (1, Some(1000), 1),
            "{label}"
        );
        let config = config.config::<SbnConfig>().expect(&label);
        assert_eq!(
            (config.signed, config.learned_prior, config.slope),
            (signed, learned, slope),
            "{label}"
        );
        // REBAR's and RELAX's own nets.
        let own = matches!(method, "rebar" | "relax");
        let tanh = (net, method) == ("nonlinear", "rebar");
        assert_eq!((config.centred, config.tanh), (own, tanh), "{label}");
        let start = helmholtz_sbn::Initialisation::Xavier { bias: 0.0 };
        assert_eq!(config.initialisation, start, "{label}");
    }
}

#[test]
fn arm_table2_has_the_closed_kl_and_the_priors_of_its_sources() {
    let (cell, _) = of_arm_table2("paper", "categorical", "ars");
    assert_eq!((cell.settings.epochs, cell.settings.batch), (1000, 100));
    // KL in closed form, the prior learned, the slope of rectifiers.
    for (net, method, kl, learned, slope) in [
        ("linear", "arm", false, false, 0.01),
        ("linear", "st-gumbel-softmax", true, false, 0.01),
        ("nonlinear", "st-gumbel-softmax", true, false, 0.0),
        ("two-layers", "st-gumbel-softmax", false, false, 0.01),
        ("categorical", "st-gumbel-softmax", true, false, 0.0),
        ("categorical", "ars", true, true, 0.2),
    ] {
        for profile in ["paper", "paper-omniglot"] {
            let (cell, config) = of_arm_table2(profile, net, method);
            let sbn = config.config::<SbnConfig>();
            let sbn = sbn.map(|config| (config.learned_prior, config.slope));
            let categorical = config.config::<CategoricalVaeConfig>();
            let categorical = categorical.map(|config| (config.learned_prior, config.slope));
            let (prior, rectifiers) = sbn
                .or(categorical)
                .unwrap_or_else(|| panic!("{}", cell.label()));
            let found = (cell.settings.analytic_kl, rectifiers);
            assert_eq!(found, (kl, slope), "{profile}: {}", cell.label());
            // ARM's own prior is learned on OMNIGLOT.
            if (profile, method) != ("paper-omniglot", "arm") {
                assert_eq!(prior, learned, "{profile}: {}", cell.label());
            }
        }
    }
    let (cell, _) = of_arm_table2("head-categorical", "categorical", "arsm");
    assert_eq!(
        (cell.settings.batch, cell.settings.learning_rate),
        (200, 3e-4)
    );
    let (cell, _) = of_arm_table2(
        "head-categorical",
        "categorical",
        "st-gumbel-softmax-learned",
    );
    assert!(cell.settings.free_logits && cell.settings.analytic_kl);
}

#[test]
fn the_profiles_of_arm_table2_run_what_is_defined_and_are_compared_on_their_data() {
    let spec = Spec::load("arm-table2").unwrap();
    for (profile, runs, published) in [
        ("quick", 3 * 5 + 3, Some("MNIST")),
        ("quick-omniglot", 2 * 5, Some("OMNIGLOT")),
        ("paper", 3 * 5 + 3, Some("MNIST")),
        ("paper-omniglot", 3 * 5 + 3, Some("OMNIGLOT")),
        ("head", 3 * 5, Some("as Ou & Song 2020")),
        ("head-omniglot", 3 * 5, Some("OMNIGLOT")),
        ("head-categorical", 3, Some("MNIST")),
        ("grey", 3 * 3, Some("MNIST")),
        ("quick-grey", 2 * 3, Some("MNIST")),
    ] {
        let cells = of_profile(&spec, profile);
        assert_eq!(cells.len(), runs, "{profile}");
        let dataset = spec.dataset_of(profile).unwrap();
        let table = spec.published_for(dataset).unwrap();
        let source = table.map(|table| table.source);
        assert!(source.unwrap().contains(published.unwrap()), "{profile}");
    }
    assert!(spec.published_for("omniglot-105-to-28").unwrap().is_none());
    assert!(spec.published_for("glyphs").unwrap().is_none());
    assert_eq!(spec.profile.len(), 9);
    assert_eq!(spec.epochs("quick").unwrap(), 2);
    let quick = of_profile(&spec, "quick");
    assert!(quick.iter().all(|cell| cell.settings.epochs == 2));
}

#[test]
fn arm_table3_holds_the_slides_protocol_for_both_nets() {
    let spec = Spec::load("arm-table3").unwrap();
    let cells = of_profile(&spec, "paper");
    assert_eq!(cells.len(), 2 * 7);
    for cell in cells {
        let s = &cell.settings;
        assert_eq!((s.epochs, s.batch, s.learning_rate), (2000, 100, 1e-4));
        assert_eq!((s.particles, s.valid_samples, s.check_every), (1, 1, 20));
        assert_eq!((s.valid_images, s.reported_samples()), (None, Some(1000)));
    }
    for (profile, rate) in [("rate-3e-4", 3e-4), ("rate-1e-3", 1e-3)] {
        let cells = of_profile(&spec, profile);
        assert_eq!(cells.len(), 2 * 6);
        assert!(cells.iter().all(|cell| cell.settings.learning_rate == rate));
        assert!(cells.iter().all(|cell| cell.settings.epochs == 2000));
    }
}

#[test]
fn quick_is_nine_cells_of_one_seed_with_the_switch_at_60_percent() {
    let cells = table1()
        .cells("quick", &Selection::default(), "binarized-mnist")
        .unwrap();
    assert_eq!(cells.len(), 9);
    assert!(
        cells
            .iter()
            .all(|c| c.seed == 1 && c.settings.switch == 0.6 && c.settings.final_samples.is_none())
    );
    assert!(cells.iter().all(|c| c.settings.test_images == Some(1000)));
}

#[test]
fn the_experiment_of_all_estimators_has_the_whole_catalogue() {
    let spec = Spec::load("estimators").unwrap();
    let named = &spec.profile("quick").unwrap().methods;
    let all: Vec<_> = Estimator::CATALOGUE
        .of(LatentKind::Bits)
        .map(|entry| entry.name)
        .collect();
    assert_eq!(*named, all);
}

#[test]
fn counts_hold_their_protocol() {
    let spec = Spec::load("counts").unwrap();
    let cells = of_profile(&spec, "paper");
    assert_eq!(cells.len(), 3 * 4 * 5);
    for cell in cells {
        let s = &cell.settings;
        assert_eq!((s.epochs, s.batch, s.learning_rate), (2000, 100, 1e-3));
        let pairs = cell.method == "rloo";
        assert_eq!(s.particles, if pairs { 2 } else { 1 });
        let net = Registry::default().trial(&cell).unwrap().net;
        let net = net.config::<CountVaeConfig>().expect("a net of counts");
        assert!(!net.learned_prior && net.slope == 0.3 && net.hidden == [200, 200]);
        let trials = cell.net.starts_with("binomial").then_some(8);
        assert_eq!(net.trials, trials);
    }
    let published = spec.published_for("dynamic-mnist").unwrap().unwrap();
    assert!(published.row_of("finite-3", None).is_some());
}

#[test]
fn disarm_holds_its_protocol() {
    let spec = Spec::load("disarm").unwrap();
    let cells = of_profile(&spec, "paper");
    assert_eq!(cells.len(), 2 * 3 * 5);
    for cell in cells {
        let s = &cell.settings;
        assert_eq!(cell.dataset, "dynamic-mnist");
        assert_eq!((s.epochs, s.batch, s.learning_rate), (1000, 50, 1e-4));
        assert_eq!((s.prior_rate, s.inference_rate), (Some(1e-2), None));
        let pairs = cell.method == "disarm";
        assert_eq!(s.particles, if pairs { 1 } else { 2 });
        let net = Registry::default().trial(&cell).unwrap().net;
        let net = net.config::<SbnConfig>().expect("a network");
        assert!(net.learned_prior && net.centred && net.slope == 0.3);
        let start = helmholtz_sbn::Initialisation::Xavier { bias: 0.0 };
        assert_eq!(net.initialisation, start);
    }
    let quick = of_profile(&spec, "quick");
    assert!(quick.iter().all(|cell| cell.settings.epochs == 2));
    let once = of_profile(&spec, "quick-once");
    assert!(once.iter().all(|cell| cell.dataset == "dynamic-mnist-once"));
}

#[test]
fn rodeo_holds_its_protocol_on_each_data_set() {
    for (file, evaluations) in [("rodeo", 2), ("rodeo-3", 3)] {
        let spec = Spec::load(file).unwrap();
        for (profile, epochs, rate) in [
            ("paper", 2000, 1e-3),
            ("paper-fashion", 2000, 3e-4),
            ("paper-omniglot", 4348, 1e-3),
            ("paper-grey", 2000, 1e-4),
        ] {
            for cell in of_profile(&spec, profile) {
                let (s, label) = (&cell.settings, cell.label());
                assert_eq!((s.epochs, s.batch), (epochs, 100), "{profile}: {label}");
                assert_eq!((s.learning_rate, s.prior_rate), (rate, None), "{profile}");
                let Trial { net, entry, .. } = Registry::default().trial(&cell).unwrap();
                let made = entry.method.evaluations(s.particles, 1, false);
                assert_eq!(made, evaluations, "{profile}: {label}");
                if let Some(net) = net.config::<SbnConfig>() {
                    assert!(!net.learned_prior && !net.centred && net.slope == 0.3);
                    let start = helmholtz_sbn::Initialisation::Xavier { bias: 0.0 };
                    assert_eq!(net.initialisation, start, "{profile}: {label}");
                }
            }
            let dataset = spec.dataset_of(profile).unwrap();
            let published = spec.published_for(dataset).unwrap();
            assert_eq!(published.is_some(), profile != "paper-grey");
        }
    }
}

#[test]
fn categorical_has_the_coupled_net_and_the_six_shapes() {
    let spec = Spec::load("categorical").unwrap();
    let shape = |cell: &Cell| {
        let net = Registry::default().trial(cell).unwrap().net;
        let net = net.config::<CategoricalVaeConfig>().expect("a net");
        assert_eq!((net.visible, &net.hidden[..]), (784, &[512, 256][..]));
        (net.variables, net.classes)
    };
    for cell in of_profile(&spec, "paper") {
        let s = &cell.settings;
        assert_eq!((s.epochs, s.batch, s.prior_rate), (4000, 200, Some(1e-2)));
        assert_eq!(shape(&cell), (32, 16));
    }
    let mut shapes: Vec<_> = of_profile(&spec, "reinmax").iter().map(shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    // Variables, classes: C x L of the paper is 8x4, 4x24, 8x16, 16x12, 64x8, 10x30.
    let expected = [(4, 8), (8, 64), (12, 16), (16, 8), (24, 4), (30, 10)];
    assert_eq!(shapes, expected);
}

#[test]
fn every_cell_of_every_profile_can_be_run() {
    let tables = BUNDLED
        .iter()
        .filter_map(|(name, ..)| Spec::load(name).ok());
    let mut problems = Vec::new();
    for spec in tables {
        for profile in spec.profile.keys() {
            let cells = of_profile(&spec, profile);
            let refused = cells.iter().map(|cell| Registry::default().trial(cell));
            let refused = refused.filter_map(Result::err);
            problems.extend(refused.map(|error| format!("{}, {profile}: {error}", spec.name)));
        }
    }
    assert_eq!(problems, [""; 0]);
}
