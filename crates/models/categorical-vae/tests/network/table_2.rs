//! The net of table 2, its start, and models that cannot be.

use burn::module::Module;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_categorical_vae::{CategoricalVaeConfig, ConfigError};
use helmholtz_estimators::Propose;

use crate::{built, parameters, small};

fn table_2(free_logits: bool) -> CategoricalVaeConfig {
    CategoricalVaeConfig {
        free_logits,
        ..CategoricalVaeConfig::table_2()
    }
}

#[test]
fn shapes_and_parameter_counts_are_those_of_the_released_code() {
    for (free_logits, outputs, encoder) in [(false, 180, 579_508), (true, 200, 584_648)] {
        let model = built(&table_2(free_logits), DType::F32);
        let up = [[784, 512], [512, 256], [256, outputs]];
        let down = [[200, 256], [256, 512], [512, 784]];
        let expected = up
            .iter()
            .chain(&down)
            .flat_map(|&[i, o]| [vec![i, o], vec![o]]);
        let parameters = parameters(&model);
        let shapes: Vec<_> = parameters.iter().map(|p| p.shape.clone()).collect();
        assert_eq!(shapes, expected.collect::<Vec<_>>());
        let count = |range: std::ops::Range<usize>| -> usize {
            parameters[range].iter().map(|p| p.values.len()).sum()
        };
        assert_eq!((count(0..6), count(6..12)), (encoder, 585_232));
        assert_eq!(model.num_params(), encoder + 585_232);
        assert_eq!(model.latents().to_string(), "20 of 10 classes");
    }
}

/// None of 10 bins is off by more than 6.5 standard deviations, none of the weights outside.
#[test]
fn weights_start_as_glorot_and_bengio_s_and_biases_from_zero() {
    for pair in parameters(&built(&table_2(false), DType::F32)).chunks(2) {
        let [inputs, outputs] = pair[0].shape[..] else {
            panic!("a weight is a matrix")
        };
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        let mut bins = [0.0f64; 10];
        for weight in &pair[0].values {
            let place = (weight / limit + 1.0) * 5.0;
            assert!((-1e-6..=10.000_001).contains(&place));
            bins[place.clamp(0.0, 9.0) as usize] += 1.0;
        }
        let n = (inputs * outputs) as f64;
        let most = 6.5 * (n * 0.1 * 0.9).sqrt();
        assert!(
            bins.iter().all(|bin| (bin - 0.1 * n).abs() < most),
            "{bins:?}"
        );
        assert!(pair[1].values.iter().all(|&bias| bias == 0.0));
    }
}

#[test]
fn a_seed_names_the_parameters_and_their_ids_in_either_precision() {
    let values = |seed, dtype| -> Vec<f64> {
        let model = table_2(false).init::<Flex>(seed, dtype, &Default::default());
        let parameters = parameters(&model.unwrap());
        parameters.into_iter().flat_map(|p| p.values).collect()
    };
    let once = values(3, DType::F32);
    assert_eq!(once, values(3, DType::F32));
    let rounded = values(3, DType::F64)
        .into_iter()
        .map(|v| f64::from(v as f32));
    assert_eq!(once, rounded.collect::<Vec<_>>());
    let other = values(4, DType::F32);
    let weights = once.iter().zip(&other).filter(|(a, _)| **a != 0.0);
    assert!(weights.filter(|(a, b)| a == b).count() < 10);
    let ids = |seed| {
        let model = table_2(false).init::<Flex>(seed, DType::F32, &Default::default());
        burn::module::list_param_ids(&model.unwrap())
    };
    assert_eq!(ids(1), ids(1));
    let distinct: std::collections::HashSet<_> = ids(1).into_iter().chain(ids(2)).collect();
    assert_eq!(distinct.len(), 24);
}

#[test]
fn what_describes_no_model_is_an_error_that_says_why() {
    let init = |config: CategoricalVaeConfig| {
        let result = config.init::<Flex>(1, DType::F32, &Default::default());
        result.map(|_| ()).unwrap_err()
    };
    let mut empty = [small(false), small(false), small(false)];
    empty[0].visible = 0;
    empty[1].variables = 0;
    empty[2].hidden = vec![3, 0];
    for (config, layer) in empty.into_iter().zip(["visible", "variables", "hidden"]) {
        let error = init(config);
        assert_eq!(error, ConfigError::EmptyLayer { layer });
        assert!(error.to_string().contains(layer));
    }
    for classes in [0, 1] {
        let error = init(CategoricalVaeConfig {
            classes,
            ..small(false)
        });
        assert_eq!(error, ConfigError::Classes { classes });
        assert!(error.to_string().contains("at least 2"));
    }
    for slope in [-0.1, f64::INFINITY, f64::NAN] {
        let error = init(CategoricalVaeConfig {
            slope,
            ..small(false)
        });
        assert!(matches!(error, ConfigError::Slope { .. }), "{slope}");
    }
}

#[test]
fn a_configuration_survives_being_written_and_a_misspelt_key_does_not_pass() {
    let config = table_2(true);
    let text = serde_json::to_string(&config).unwrap();
    let read = serde_json::from_str::<CategoricalVaeConfig>(&text).unwrap();
    assert_eq!(read, config);
    let misspelt = text.replace("free-logits", "free_logits");
    let error = serde_json::from_str::<CategoricalVaeConfig>(&misspelt).unwrap_err();
    assert!(error.to_string().contains("free_logits"), "{error}");
}
