//! The net of table 3, its start, and models that cannot be.

use burn::module::{Module, list_param_ids};
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_conditional_sbn::{ConditionalSbnConfig, ConfigError};
use helmholtz_estimators::{Parts, Propose};

use crate::{built, parameters, small};

#[test]
fn shapes_and_parameter_counts_are_those_of_the_released_code() {
    let model = built(&ConditionalSbnConfig::table_3(), DType::F32);
    let nets = [
        [[784, 200], [200, 200], [200, 50]],
        [[392, 200], [200, 200], [200, 50]],
        [[50 + 392, 200], [200, 200], [200, 392]],
    ];
    let layers = nets.iter().flatten();
    let expected: Vec<Vec<usize>> = layers.flat_map(|&[i, o]| [vec![i, o], vec![o]]).collect();
    let parameters = parameters(&model);
    let shapes: Vec<_> = parameters.iter().map(|p| p.shape.clone()).collect();
    assert_eq!(shapes, expected);
    let count = |range: std::ops::Range<usize>| -> usize {
        parameters[range].iter().map(|p| p.values.len()).sum()
    };
    assert_eq!(
        (count(0..6), count(6..12), count(12..18)),
        (207_250, 128_850, 207_592)
    );
    assert_eq!(model.num_params(), 207_250 + 336_442);
    assert_eq!(model.latents().to_string(), "50 bits");
}

#[test]
fn q_is_phi_and_both_nets_of_p_are_theta() {
    let model = built(&ConditionalSbnConfig::table_3(), DType::F32);
    let ids = list_param_ids(&model);
    let (phi, theta) = (model.inference(), model.generative());
    assert_eq!([phi.clone(), theta].concat(), ids);
    assert_eq!(phi.len(), 6);
}

/// None of 10 bins is off by more than 6.5 standard deviations, none of the parameters outside.
#[test]
fn weights_and_biases_start_uniform_by_the_number_of_inputs() {
    for pair in parameters(&built(&ConditionalSbnConfig::table_3(), DType::F32)).chunks(2) {
        let limit = 1.0 / (pair[0].shape[0] as f64).sqrt();
        let mut bins = [0.0f64; 10];
        for value in pair[0].values.iter().chain(&pair[1].values) {
            let place = (value / limit + 1.0) * 5.0;
            assert!((-1e-6..=10.000_001).contains(&place));
            bins[place.clamp(0.0, 9.0) as usize] += 1.0;
        }
        let n: f64 = bins.iter().sum();
        let most = 6.5 * (n * 0.1 * 0.9).sqrt();
        assert!(
            bins.iter().all(|bin| (bin - 0.1 * n).abs() < most),
            "{bins:?}"
        );
        assert!(pair[1].values.iter().any(|&bias| bias != 0.0));
    }
}

#[test]
fn a_seed_names_the_parameters_and_their_ids_in_either_precision() {
    let values = |seed, dtype| -> Vec<f64> {
        let model = small().init::<Flex>(seed, dtype, &Default::default());
        let parameters = parameters(&model.unwrap());
        parameters.into_iter().flat_map(|p| p.values).collect()
    };
    let once = values(3, DType::F32);
    assert_eq!(once, values(3, DType::F32));
    let rounded = values(3, DType::F64)
        .into_iter()
        .map(|v| f64::from(v as f32));
    assert_eq!(once, rounded.collect::<Vec<_>>());
    assert_ne!(once, values(4, DType::F32));
    let ids = |seed| {
        let model = small().init::<Flex>(seed, DType::F32, &Default::default());
        list_param_ids(&model.unwrap())
    };
    assert_eq!(ids(1), ids(1));
    let distinct: std::collections::HashSet<_> = ids(1).into_iter().chain(ids(2)).collect();
    assert_eq!(distinct.len(), 36);
}

#[test]
fn what_describes_no_model_is_an_error_that_says_why() {
    let init = |change: &dyn Fn(&mut ConditionalSbnConfig)| {
        let mut config = small();
        change(&mut config);
        let result = config.init::<Flex>(1, DType::F32, &Default::default());
        result.map(|_| ()).unwrap_err()
    };
    type Spoil<'a> = (&'static str, &'a dyn Fn(&mut ConditionalSbnConfig));
    let empty: [Spoil<'_>; 4] = [
        ("context", &|c| c.context = 0),
        ("target", &|c| c.target = 0),
        ("latent", &|c| c.latent = 0),
        ("hidden", &|c| c.hidden = vec![3, 0]),
    ];
    for (layer, change) in empty {
        let error = init(change);
        assert_eq!(error, ConfigError::EmptyLayer { layer });
        assert!(error.to_string().contains(layer));
    }
    assert_eq!(init(&|c| c.hidden = vec![]), ConfigError::NoHidden);
}

#[test]
fn a_configuration_survives_being_written_and_a_misspelt_key_does_not_pass() {
    let config = ConditionalSbnConfig::table_3();
    let text = serde_json::to_string(&config).unwrap();
    let read = serde_json::from_str::<ConditionalSbnConfig>(&text).unwrap();
    assert_eq!(read, config);
    let misspelt = text.replace("context", "contexts");
    let error = serde_json::from_str::<ConditionalSbnConfig>(&misspelt).unwrap_err();
    assert!(error.to_string().contains("contexts"), "{error}");
}
