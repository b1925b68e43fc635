//! Reweighted wake-sleep with particles that move: E[Ẑ ∇] over every branch is the gradient under the posterior times p(x).

use burn::backend::Autodiff;
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, activation};
use burn_flex::Flex;
use helmholtz_apg::{
    AllBranches, ApgError, Conditional, Model, OneShot, Proposal, Rescore, Sampler,
};
use helmholtz_invariance::expectation;
use helmholtz_random::Enumerator;
use helmholtz_samplers::resampling::{Policy, Ssp};

use crate::gradients::all_of;
use crate::toy::*;

type B = Autodiff<Flex>;

const PARTICLES: usize = 2;

fn x() -> Tensor<B, 2> {
    tensor(&[0.8], [1, 1])
}

fn numbers_of(gradients: &GradientsParams, model: &Toy<B>) -> Vec<f64> {
    let all = all_of(gradients, model).into_iter();
    all.map(|g| g.unwrap_or(0.0)).collect()
}

/// −Σ_z p(x, z) ∇ (log q(z | x) + log p(x, z)).
fn exact(model: &Toy<B>) -> Vec<f64> {
    let z = all_states::<B>(1);
    let log_p = model.log_joint(&x(), &z);
    let joint = log_p.clone().detach().exp();
    let loss = -(joint * (model.log_one_shot(&x(), &z) + log_p)).sum();
    numbers_of(&GradientsParams::from_grads(loss.backward(), model), model)
}

/// a from its exact conditional, then c: it leaves p(z | x) invariant.
fn gibbs(model: &Toy<B>, z: Bits<B>, chance: &mut Enumerator) -> Bits<B> {
    let a = A(Law::Exact);
    let law = Conditional::<B, Toy<B>, Enumerator>::law(&a, model, &x(), &z);
    let z = a.sample(&law, &z, chance);
    let c = Cs(Law::Exact);
    let law = Conditional::<B, Toy<B>, Enumerator>::law(&c, model, &x(), &z);
    c.sample(&law, &z, chance)
}

/// The largest difference of E[Ẑ ∇] from what it should be.
fn error(gradient: impl Fn(&Toy<B>, &mut Enumerator) -> Vec<f64>) -> f64 {
    let model = Toy::<B>::new(PARAMETERS);
    let mean = expectation(|chance| gradient(&model, chance));
    let pairs = mean.iter().zip(exact(&model));
    pairs.map(|(m, e)| (m - e).abs()).fold(0.0, f64::max)
}

#[test]
fn it_is_the_gradient_under_the_posterior() {
    let sampler = Sampler::new(PARTICLES, 1, Policy::Never, Ssp).expect("a sampler");
    let error = error(|model, chance| {
        let mut randomness = AllBranches(chance);
        let moves = |z, chance: &mut Enumerator| Ok::<_, ApgError>(gibbs(model, z, chance));
        let found = sampler.moved_gradients(model, &x(), &mut randomness, moves);
        let (gradients, population) = found.expect("positive weights");
        let z = population.log_evidence()[0].exp();
        let gradients = numbers_of(&gradients, model).into_iter();
        gradients.map(|g| g * z).collect()
    });
    assert!(error < 1e-12, "{error:e}");
}

/// The twin: weights p(x, z') / q(z' | x) of the moved particles, which are no draws of q.
#[test]
fn weights_of_the_moved_particles_are_noticed() {
    let error = error(|model, chance| {
        let Proposal { state, .. } = model.propose(&x(), PARTICLES, chance);
        let moved = gibbs(model, state, chance);
        let (log_q, log_p) = (
            model.log_one_shot(&x(), &moved),
            model.log_joint(&x(), &moved),
        );
        let log_w = (log_p.clone() - log_q.clone()).detach();
        let z = log_w.clone().exp().mean();
        let weights = activation::softmax(log_w, 0);
        let loss = -(weights * (log_q + log_p)).sum() * z;
        numbers_of(&GradientsParams::from_grads(loss.backward(), model), model)
    });
    assert!(error > 1e-3, "{error:e}");
}

#[test]
fn the_density_of_the_one_shot_proposal_is_that_of_its_draws() {
    let model = Toy::<B>::new(PARAMETERS);
    let mut stream = helmholtz_random::Stream::new(3, helmholtz_apg::PROPOSE, [0, 0]);
    let Proposal { state, log_q } = model.propose(&x(), 20, &mut stream);
    let again = numbers(model.log_one_shot(&x(), &state));
    assert_eq!(numbers(log_q), again);
}
