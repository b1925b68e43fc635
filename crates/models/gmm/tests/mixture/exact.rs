//! Test 5: exact conditionals weigh one. Test 20: a block from its prior weighs the likelihood ratio.

use helmholtz_apg::{Block, Joint, Model, Update};
use helmholtz_gmm::{Assignments, Eta, GmmConfig, Law, Rate, Values};

use crate::*;

/// The largest |log v| of any part.
fn log_v(block: &dyn Block<B, Gmm<B>, Stream>, model: &Gmm<B>) -> f64 {
    let (x, old) = some_particles(20, 12);
    largest(block.advance(model, model, &x, &old, &mut stream(1)).log_v)
}

#[test]
fn test_5_exact_laws_weigh_one_alone_and_together() {
    let (eta, c) = (Update(Eta(Law::Exact)), Update(Assignments(Law::Exact)));
    for block in [
        &eta as &dyn Block<_, _, _>,
        &c,
        &Joint(eta, c),
        &Joint(c, eta),
    ] {
        let log_v = log_v(block, &published());
        assert!(log_v < 1e-10, "{}: {log_v:e}", block.name());
    }
}

fn released(config: GmmConfig) -> Gmm<B> {
    let config = GmmConfig {
        rate: Rate::Released,
        ..config
    };
    config.init(1, F64, &Default::default()).expect("a mixture")
}

#[test]
fn test_5_laws_that_are_not_exact_do_not() {
    let exact = Update(Eta(Law::Exact));
    assert!(log_v(&exact, &released(GmmConfig::default())) > 1e-3);
    let (eta, c) = (Update(Eta(Law::Exact)), Update(Assignments(Law::Learned)));
    for block in [
        &c as &dyn Block<_, _, _>,
        &Joint(eta, c),
        &Update(Eta(Law::Learned)),
    ] {
        let log_v = log_v(block, &published());
        assert!(log_v > 1e-3, "{}: {log_v:e}", block.name());
    }
}

#[test]
fn test_5_holds_for_any_prior() {
    let config = GmmConfig {
        mean: 1.5,
        nu: 0.7,
        alpha: 3.0,
        beta: 0.5,
        ..GmmConfig::default()
    };
    let model = config.init(1, F64, &Default::default()).expect("a mixture");
    assert!(log_v(&Update(Eta(Law::Exact)), &model) < 1e-10);
    assert!(log_v(&Update(Eta(Law::Exact)), &released(config)) > 1e-3);
}

/// Defect 8.1, by its formula: β + ½ Σ (x − x̄)² + ½ S₁ν/(S₁ + ν) (x̄ − ν)², and nothing else is another; an empty cluster has β.
#[test]
fn the_released_rate_is_the_one_that_its_code_has() {
    let config = GmmConfig {
        mean: 1.5,
        nu: 0.7,
        ..GmmConfig::default()
    };
    let (x, _) = some_particles(1, 4);
    // Data 0 and 1 are in the first cluster, 2 and 3 in the second, none in the third.
    let places = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let c = Tensor::<B, 1>::from_data(places.as_slice(), (&Default::default(), F64));
    let law = released(config.clone()).exact_law(&x, &c.clone().reshape([1, 1, 4, 3]));
    let right = config
        .init::<B>(1, F64, &Default::default())
        .expect("a mixture");
    let right = right.exact_law(&x, &c.reshape([1, 1, 4, 3]));
    let data = numbers(x);
    for (cluster, at) in [(0, Some(0)), (1, Some(2)), (2, None)] {
        for d in 0..2 {
            let beta = numbers(law.beta.clone())[cluster * 2 + d];
            let expected = at.map_or(config.beta, |n| {
                let (a, b) = (data[2 * n + d], data[2 * n + 2 + d]);
                let mean = 0.5 * (a + b);
                let spread = (a - mean).powi(2) + (b - mean).powi(2);
                let pull = 2.0 * config.nu / (2.0 + config.nu) * (mean - config.nu).powi(2);
                config.beta + 0.5 * (spread + pull)
            });
            assert!(
                (beta - expected).abs() < 1e-12 * expected,
                "{beta}, {expected}"
            );
        }
    }
    assert_eq!(numbers(law.mean), numbers(right.mean));
    for (of, right) in [(law.alpha, right.alpha), (law.nu, right.nu)] {
        assert_eq!(numbers(of.expand(right.dims())), numbers(right));
    }
}

/// With values of their own for means and for precisions, the rate is of the latter, and the mean of the former as ever.
#[test]
fn the_released_rate_leaves_the_mean_to_its_own_values() {
    let config = GmmConfig {
        values: Values::Separate,
        ..GmmConfig::default()
    };
    let right: Gmm<B> = config.init(1, F64, &Default::default()).expect("a mixture");
    let (x, z) = some_particles(2, 6);
    let [law, right] = [released(config), right].map(|m| m.conditional_law(&x, &z.assignment));
    assert_eq!(numbers(law.mean), numbers(right.mean));
    assert_ne!(numbers(law.beta), numbers(right.beta));
}

#[test]
fn test_20_a_block_from_its_prior_weighs_the_likelihood_ratio() {
    let (model, (x, old)) = (published(), some_particles(5, 12));
    let moved = Update(Eta(Law::Prior)).advance(&model, &model, &x, &old, &mut stream(2));
    let c = Assignments(Law::Exact);
    // With c as it is, log p(x, c | η) is the target of c.
    let log_likelihood = |z| {
        helmholtz_apg::Conditional::<B, Gmm<B>, Stream>::log_target(&c, &model, &x, z).sum_dim(2)
    };
    let ratio = log_likelihood(&moved.state) - log_likelihood(&old);
    let scale = largest(ratio.clone()).max(1.0);
    assert!(largest(ratio - moved.log_v) < 1e-12 * scale);
}

#[test]
fn test_16_parts_multiply_to_the_ratio_of_joint_densities() {
    let (model, (x, old)) = (published(), some_particles(5, 12));
    let c = Assignments(Law::Learned);
    let moved = Update(c).advance(&model, &model, &x, &old, &mut stream(3));
    let law = model.choices(&x, &old.mean, &old.precision);
    let joint =
        (model.log_joint(&x, &moved.state) - model.log_joint(&x, &old)).unsqueeze_dim::<3>(2);
    let kernel = (law.log_prob(&old.assignment) - law.log_prob(&moved.state.assignment)).sum_dim(2);
    assert_eq!(moved.log_v.dims(), [4, 5, 12]);
    let scale = largest(joint.clone()).max(1.0);
    assert!(largest(moved.log_v.sum_dim(2) - joint - kernel) < 1e-12 * scale);
}
