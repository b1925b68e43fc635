//! Test 5: exact conditionals weigh one. Test 20: a block from its prior weighs the likelihood ratio.

use helmholtz_apg::{Block, Joint, Model, Update};
use helmholtz_gmm::{Assignments, Eta, GmmConfig, Law};

use crate::broken::ReleasedEta;
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

#[test]
fn test_5_laws_that_are_not_exact_do_not() {
    let released = Update(ReleasedEta { mean: 0.0, nu: 0.1 });
    let (eta, c) = (Update(Eta(Law::Exact)), Update(Assignments(Law::Learned)));
    for block in [
        &released as &dyn Block<_, _, _>,
        &c,
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
    assert!(log_v(&Update(ReleasedEta { mean: 1.5, nu: 0.7 }), &model) > 1e-3);
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
