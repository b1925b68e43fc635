//! Settings that the papers state.

use helmholtz_estimators::{Concrete, ControlsConfig, Method, Temperature};

#[test]
fn the_relaxed_bounds_temperatures_are_those_of_binary_concrete() {
    // Maddison, Mnih & Teh (2017), appendix: 2/3 in the posterior, 1/2 in the prior.
    let Concrete { posterior, prior } = Concrete::DEFAULT;
    assert_eq!((posterior, prior), (2.0 / 3.0, 0.5));
}

#[test]
fn control_variates_are_trained_at_ten_times_the_models_rate() {
    // Tucker et al. (2017): β₂ = 0.99999, and a rate ten times the model's.
    for name in ["rebar", "relax", "muprop", "nvil"] {
        let controls = name.parse::<Method>().unwrap().controls();
        assert_eq!(
            (controls.learning_rate, controls.beta_2),
            (10.0, 0.99999),
            "{name}"
        );
    }
    let nothing = "rws".parse::<Method>().unwrap().controls();
    assert_eq!((nothing.learning_rate, nothing.beta_2), (1.0, 0.999));
}

#[test]
fn rebars_control_variates_have_a_temperature_and_those_of_relax_a_net_too() {
    for (name, critics) in [("rebar", false), ("relax", true), ("relax-all", true)] {
        let controls = name.parse::<Method>().unwrap().controls();
        assert_eq!((controls.scales, controls.critics), (1, critics), "{name}");
        assert_eq!(
            controls.temperature,
            Some(Temperature::Logarithm(0.5)),
            "{name}"
        );
    }
    let muprop = "muprop".parse::<Method>().unwrap().controls();
    assert_eq!((muprop.baselines, muprop.scales), (true, 2));
}

#[test]
fn whatever_is_learned_makes_something_to_learn() {
    let nothing = ControlsConfig::AS_THE_MODEL;
    assert!(nothing.is_empty() && ControlsConfig::AS_REBAR.is_empty());
    let mut each = [nothing; 6];
    each[0].baselines = true;
    each[1].critics = true;
    each[2].surrogates = true;
    each[3].scales = 1;
    each[4].coefficients = 1;
    each[5].temperature = Some(Temperature::Itself(1.0));
    assert!(each.iter().all(|config| !config.is_empty()));
}
