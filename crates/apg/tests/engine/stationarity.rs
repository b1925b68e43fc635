//! Test 11: where the learned law of a block is the exact conditional its expected gradient is zero, at any number of
//! particles. Away from it descending the loss leads back. Every branch of two particles is enumerated.

use burn::backend::Autodiff;
use burn::optim::GradientsParams;
use burn_flex::Flex;
use helmholtz_apg::{AllBranches, Block, Sampler, Update};
use helmholtz_invariance::expectation;
use helmholtz_random::Enumerator;
use helmholtz_samplers::resampling::{Policy, Ssp};

use crate::toy::*;

type B = Autodiff<Flex>;

/// The expected gradient of the block c_1 in φ_c1(0) and φ_c1(1), which are those of the exact conditional and an offset.
fn expected_gradient(offset: [f64; 2]) -> Vec<f64> {
    let x = 0.8;
    let mut parameters = PARAMETERS;
    parameters[5] = ALPHA[0] + x + offset[0];
    parameters[6] = ALPHA[0] + BETA[0] + x + offset[1];
    let model = Toy::<B>::new(parameters);
    let sampler = Sampler::new(2, 2, Policy::Always, Ssp).expect("a sampler");
    let block = Update(Cs(Law::Learned));
    let blocks: [&dyn Block<B, Toy<B>, Enumerator>; 1] = [&block];
    expectation(|chance| {
        let mut gradient = Vec::new();
        let learn = |place: helmholtz_apg::Position, _: &_, loss: helmholtz_apg::Loss<B>| {
            if place.sweep == 1 {
                let gradients = GradientsParams::from_grads(loss.phi().backward(), &model);
                let phi_c = gradients
                    .get::<Flex, 1>(model.phi_c.id)
                    .expect("a gradient");
                gradient = numbers(phi_c.narrow(0, 0, 2));
            }
        };
        let mut branches = AllBranches(chance);
        let run = sampler.run(&model, &tensor(&[x], [1, 1]), &blocks, &mut branches, learn);
        run.expect("positive weights");
        gradient
    })
}

#[test]
fn the_exact_conditional_is_stationary() {
    let gradient = expected_gradient([0.0; 2]);
    assert_eq!(gradient.len(), 2);
    assert!(gradient.iter().all(|g| g.abs() < 1e-14), "{gradient:?}");
}

#[test]
fn away_from_it_the_gradient_leads_back() {
    let gradient = expected_gradient([0.6, -0.6]);
    assert!(gradient[0] > 1e-3 && gradient[1] < -1e-3, "{gradient:?}");
}
