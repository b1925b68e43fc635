//! The nets of table 1, and networks that cannot be.

use burn::module::{Module, list_param_ids};
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_estimators::{Parts, Propose};
use helmholtz_sbn::{ConfigError, Initialisation, Sbn, SbnConfig};

use crate::parameters;

fn named(name: &str, seed: u64, dtype: DType) -> Sbn<Flex> {
    let config = SbnConfig::named(name).unwrap();
    config.init(seed, dtype, &Default::default()).unwrap()
}

#[test]
fn shapes_and_parameter_counts_are_those_of_the_paper_s_nets() {
    // q from the data up, then p from the data up.
    let check = |name: &str, layers: &[[usize; 2]], count: usize, latent: &[usize]| {
        let model = named(name, 1, DType::F32);
        let shapes: Vec<_> = parameters(&model).into_iter().map(|p| p.shape).collect();
        let expected = layers.iter().flat_map(|&[i, o]| [vec![i, o], vec![o]]);
        assert_eq!(shapes, expected.collect::<Vec<_>>(), "{name}");
        assert_eq!(model.num_params(), count, "{name}");
        assert_eq!(model.latents().layers(), latent, "{name}");
    };
    let (up, square, down) = ([784, 200], [200, 200], [200, 784]);
    check("linear", &[up, down], 314_584, &[200]);
    let nonlinear = [up, square, square, square, square, down];
    check("nonlinear", &nonlinear, 475_384, &[200]);
    check(
        "two-layers",
        &[up, square, down, square],
        394_984,
        &[200, 200],
    );
    assert_eq!(SbnConfig::NAMES[..3], ["linear", "nonlinear", "two-layers"]);
    assert_eq!(SbnConfig::named("nonlinear").unwrap().slope, 0.01);
}

/// Asserts that values fill [−limit, limit] evenly: none outside, none of 10 bins off by more than 6.5 deviations.
fn assert_uniform(values: &[f64], limit: f64) {
    let mut bins = [0.0f64; 10];
    for value in values {
        let place = (value / limit + 1.0) * 5.0;
        assert!(
            (-1e-6..=10.000_001).contains(&place),
            "{value} exceeds {limit}"
        );
        bins[place.clamp(0.0, 9.0) as usize] += 1.0;
    }
    let (n, p) = (values.len() as f64, 0.1);
    let most = 6.5 * (n * p * (1.0 - p)).sqrt();
    assert!(
        bins.iter().all(|bin| (bin - n * p).abs() < most),
        "{bins:?}"
    );
}

#[test]
fn linear_and_two_layers_start_with_xavier_weights_and_biases_of_minus_one() {
    for name in ["linear", "two-layers"] {
        for pair in parameters(&named(name, 1, DType::F32)).chunks(2) {
            let [inputs, outputs] = pair[0].shape[..] else {
                panic!("a weight is a matrix")
            };
            assert_uniform(&pair[0].values, (6.0 / (inputs + outputs) as f64).sqrt());
            assert!(pair[1].values.iter().all(|&bias| bias == -1.0), "{name}");
        }
    }
}

#[test]
fn nonlinear_starts_with_weights_and_biases_within_one_over_root_fan_in() {
    for pair in parameters(&named("nonlinear", 1, DType::F32)).chunks(2) {
        let limit = 1.0 / (pair[0].shape[0] as f64).sqrt();
        assert_uniform(&pair[0].values, limit);
        assert_uniform(&pair[1].values, limit);
    }
}

#[test]
fn a_seed_names_the_parameters_in_either_precision() {
    let values = |seed, dtype| -> Vec<f64> {
        let parameters = parameters(&named("nonlinear", seed, dtype));
        parameters.into_iter().flat_map(|p| p.values).collect()
    };
    let once = values(3, DType::F32);
    assert_eq!(once, values(3, DType::F32));
    let rounded = values(3, DType::F64)
        .into_iter()
        .map(|v| f64::from(v as f32));
    assert_eq!(once, rounded.collect::<Vec<_>>());
    let other = values(4, DType::F32);
    assert!(once.iter().zip(&other).filter(|(a, b)| a == b).count() < 10);
    // No two parameters share their draws.
    let parts = parameters(&named("nonlinear", 3, DType::F64));
    let firsts: std::collections::BTreeSet<u64> = parts
        .iter()
        .map(|p| (p.values[0] * (p.shape[0] as f64).sqrt()).to_bits())
        .collect();
    assert_eq!(firsts.len(), parts.len());
}

#[test]
fn a_learned_prior_starts_uniform() {
    let config = SbnConfig {
        learned_prior: true,
        ..SbnConfig::named("two-layers").unwrap()
    };
    let model = config
        .init::<Flex>(1, DType::F32, &Default::default())
        .unwrap();
    let parameters = parameters(&model);
    let prior = parameters.last().unwrap();
    assert_eq!(prior.shape, [1, 200]);
    assert!(prior.values.iter().all(|&logit| logit == 0.0));
    assert_eq!(model.num_params(), 394_984 + 200);
}

#[test]
fn every_parameter_is_of_q_or_of_p_and_a_learned_prior_is_of_p() {
    for learned_prior in [false, true] {
        let config = SbnConfig {
            learned_prior,
            ..SbnConfig::named("two-layers").unwrap()
        };
        let model: Sbn<Flex> = config.init(1, DType::F32, &Default::default()).unwrap();
        let (p, q) = (model.generative(), model.inference());
        assert_eq!(list_param_ids::<_, Flex>(&model), [&q[..], &p].concat());
        assert_eq!((q.len(), p.len()), (4, 4 + usize::from(learned_prior)));
        assert_eq!(Parts::<Flex>::learned_prior(&model), p[4..]);
    }
}

#[test]
fn what_describes_no_network_is_an_error_that_says_why() {
    let linear = || SbnConfig::named("linear").unwrap();
    let init = |config: SbnConfig| {
        let result = config.init::<Flex>(1, DType::F32, &Default::default());
        result.map(|_| ()).unwrap_err()
    };
    let none = init(SbnConfig {
        latent: vec![],
        ..linear()
    });
    assert_eq!(none, ConfigError::NoLatents);
    for (config, layer) in [
        (
            SbnConfig {
                visible: 0,
                ..linear()
            },
            "visible",
        ),
        (
            SbnConfig {
                latent: vec![3, 0],
                ..linear()
            },
            "latent",
        ),
        (
            SbnConfig {
                hidden: vec![0],
                ..linear()
            },
            "hidden",
        ),
    ] {
        let error = init(config);
        assert_eq!(error, ConfigError::EmptyLayer { layer });
        assert!(error.to_string().contains(layer));
    }
    for slope in [-0.1, f64::INFINITY, f64::NAN] {
        let error = init(SbnConfig { slope, ..linear() });
        assert!(matches!(error, ConfigError::Slope { .. }), "{slope}");
        assert!(error.to_string().contains("not negative"));
    }
    let error = SbnConfig::named("liner").unwrap_err().to_string();
    assert!(error.contains("`liner`") && error.contains("linear, nonlinear, two-layers"));
}

#[test]
fn a_configuration_survives_being_written_and_a_misspelt_key_does_not_pass() {
    for name in SbnConfig::NAMES {
        let config = SbnConfig::named(name).unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<SbnConfig>(&text).unwrap(), config);
        let misspelt = text.replace("hidden", "hiden");
        let error = serde_json::from_str::<SbnConfig>(&misspelt).unwrap_err();
        assert!(error.to_string().contains("hiden"), "{error}");
    }
    let fan_in = serde_json::to_string(&Initialisation::FanIn).unwrap();
    assert_eq!(fan_in, "\"fan-in\"");
}

#[test]
fn parameters_have_distinct_ids_which_a_seed_names() {
    let ids = |seed| burn::module::list_param_ids(&named("nonlinear", seed, DType::F32));
    let once = ids(1);
    assert_eq!(once, ids(1));
    let distinct: std::collections::HashSet<_> = once.iter().chain(&ids(2)).copied().collect();
    assert_eq!(distinct.len(), 2 * once.len());
}
