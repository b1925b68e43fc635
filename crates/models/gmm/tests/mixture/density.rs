//! The density written out, and the nets' sizes.

use std::f64::consts::PI;

use burn::module::Module;
use helmholtz_apg::{Model, Rescore};
use helmholtz_gmm::GmmConfig;

use crate::*;

#[test]
fn the_nets_have_302_parameters() {
    assert_eq!(published().num_params(), 302);
}

#[test]
fn the_joint_density_is_that_written_out() {
    let (x, z) = some_particles(3, 7);
    let (points, precision, mean, classes) = (
        numbers(x.clone()),
        numbers(z.precision.clone()),
        numbers(z.mean.clone()),
        numbers(z.assignment.clone()),
    );
    for (i, found) in numbers(published().log_joint(&x, &z))
        .into_iter()
        .enumerate()
    {
        let instance = i % 3;
        let mut expected = 0.0;
        for j in 6 * i..6 * (i + 1) {
            let (tau, mu) = (precision[j], mean[j]);
            // Gamma(2, rate 2) has density 4 τ e^−2τ.
            expected += 4f64.ln() + tau.ln() - 2.0 * tau;
            expected += 0.5 * (0.1 * tau / (2.0 * PI)).ln() - 0.05 * tau * mu * mu;
        }
        for n in 0..7 {
            let row = &classes[(i * 7 + n) * 3..][..3];
            let m = row.iter().position(|&c| c == 1.0).expect("a class");
            expected -= 3f64.ln();
            for d in 0..2 {
                let (tau, mu) = (precision[6 * i + 2 * m + d], mean[6 * i + 2 * m + d]);
                let x = points[(instance * 7 + n) * 2 + d];
                expected += 0.5 * (tau / (2.0 * PI)).ln() - 0.5 * tau * (x - mu) * (x - mu);
            }
        }
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn a_configuration_that_describes_nothing_is_refused() {
    let init = |config: GmmConfig| config.init::<B>(1, F64, &Default::default()).map(drop);
    let default = GmmConfig::default;
    let one = init(GmmConfig {
        clusters: 1,
        ..default()
    })
    .expect_err("one cluster");
    assert_eq!(one.to_string(), "`clusters` is 1; give at least 2");
    let nu = init(GmmConfig {
        nu: 0.0,
        ..default()
    })
    .expect_err("no ν");
    assert_eq!(nu.to_string(), "`nu` is 0; give a finite number above 0");
    assert!(
        init(GmmConfig {
            mean: f64::NAN,
            ..default()
        })
        .is_err()
    );
    assert!(
        init(GmmConfig {
            hidden: 0,
            ..default()
        })
        .is_err()
    );
}

#[test]
fn the_density_of_the_one_shot_proposal_is_that_of_its_draws() {
    let (x, _) = some_particles(3, 7);
    let proposal = published().propose(&x, 4, &mut stream(6));
    let again = published().log_one_shot(&x, &proposal.state);
    assert!(largest(proposal.log_q - again) < 1e-12);
}

/// One softmax gives what three computations give.
#[test]
fn a_draw_of_c_and_both_its_densities_are_those_of_the_law() {
    use helmholtz_apg::{Conditional, Draw};
    use helmholtz_gmm::{Assignments, Law};
    let (model, (x, old)) = (published(), some_particles(3, 7));
    let c = Assignments(Law::Learned);
    let law = Conditional::<B, Gmm<B>, Stream>::law(&c, &model, &x, &old);
    let of = |z: &GmmState<B>| Conditional::<B, Gmm<B>, Stream>::log_prob(&c, &law, z);
    let Draw {
        state,
        log_prob,
        log_reverse,
    } = c.propose(&law, &old, &mut stream(7));
    let alone = c.sample(&law, &old, &mut stream(7));
    assert!(largest(state.assignment.clone() - alone.assignment) == 0.0);
    assert!(largest(log_prob - of(&state)) < 1e-13);
    assert!(largest(log_reverse.clone() - of(&old)) < 1e-13);
    assert!(largest(log_reverse - of(&state)) > 0.1, "they differ");
}
