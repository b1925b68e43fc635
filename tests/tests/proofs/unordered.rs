//! The unordered-set estimator in production: distinct latents from the beam, and the mean of its gradient.

use helmholtz_estimators::{EstimateError, Logits, Method, Model, Unordered};
use helmholtz_invariance::gradients::{Subject, certify, largest_t, mean_of};
use helmholtz_random::{Purpose, Stream};
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Categories, Enumerable, Exact, Reference, Tape, Topped};

use crate::data;

const METHOD: Method = Method::Logits(Logits::Unordered(Unordered));

/// K as large as the number of states: every draw is the gradient of the ELBO.
fn exact_at_every_draw<R>(reference: &R)
where
    R: Enumerable<Production<Tape>: Model<Tape>>,
{
    let x = data(2);
    let batch = Batch::new(reference, &x);
    let mut exact = vec![0.0; reference.parameters().len()];
    for x in &x {
        add_scaled(&mut exact, 0.5, &Exact::new(reference, x).bound_gradient(1));
    }
    let states = reference.states().len();
    for (seed, particles) in [(1, states), (2, (states + 1).min(16))] {
        let mut stream = Stream::new(seed, Purpose::new("set"), [0, 0]);
        let found = batch.gradient(&METHOD, &batch.learned(&METHOD, 1), particles, &mut stream);
        let error = relative_error(&found, &exact);
        assert!(error < 1e-10, "K = {particles}: {error:e}");
    }
}

#[test]
fn a_beam_of_all_latents_gives_the_gradient_itself() {
    exact_at_every_draw(&Reference::t1());
    exact_at_every_draw(&Reference::t2());
    exact_at_every_draw(&Categories::t3());
    exact_at_every_draw(&Topped::t5());
}

fn unbiased<M: Model<Tape>>(subject: &Subject<M>) {
    let found = certify(&METHOD, subject);
    assert!(found.holds(), "{found:?}");
    let learned = subject.learned(&METHOD);
    for particles in [3, 5] {
        let found = mean_of(|stream| subject.estimate(&METHOD, &learned, particles, stream));
        let t = largest_t(&found, &subject.elbo, 0..subject.elbo.len());
        assert!(t < STUDENT_LIMIT_OF_MANY, "K = {particles}: {t}");
    }
}

#[test]
fn the_mean_is_the_gradient_with_any_number_of_particles() {
    unbiased(&subject_of(&Reference::t1()).fewer());
    unbiased(&subject_of(&Reference::t2()).fewer());
    unbiased(&subject_of(&Categories::t3()).fewer());
}

#[test]
fn more_particles_than_can_be_summed_over_are_refused() {
    let batch = Batch::new(&Reference::t1(), &data(1));
    let given = helmholtz_estimators::Batch::<Tape, dyn helmholtz_samplers::ChainStore> {
        x: helmholtz_ops::Values::binary(batch.x()),
        chains: None,
        particles: 17,
        epoch: 0,
        analytic_kl: false,
    };
    let stream = || Stream::new(1, Purpose::new("set"), [0, 0]);
    let mut learned = batch.learned(&METHOD, 1);
    let found = METHOD.estimate(
        batch.model(),
        &mut learned,
        given,
        &mut stream(),
        &mut stream(),
    );
    assert!(matches!(
        found,
        Err(EstimateError::TooManyParticles {
            most: 16,
            given: 17
        })
    ));
}
