//! Coupled chains: unbiased for ∇ log p(x) at every K, and what one step from q is without the correction.

use helmholtz_estimators::{CoupledChains, Method, Model, Weighted, estimate};
use helmholtz_invariance::gradients::{Subject, largest_t, mean_of};
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::certify::twins::OneStep;
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;
use helmholtz_tests::{Categories, Reference, Tape};

fn t<M: Model<Tape>>(subject: &Subject<M>, particles: usize) -> f64 {
    let method = Method::Weighted(Weighted::CoupledChains(CoupledChains));
    let learned = subject.learned(&method);
    let found = mean_of(|stream| subject.estimate(&method, &learned, particles, stream));
    largest_t(&found, &subject.inclusive, 0..subject.inclusive.len())
}

#[test]
fn coupled_chains_are_unbiased_for_the_gradient_of_log_p_at_every_k() {
    for particles in [1, 2, 5] {
        let t = t(&subject_of(&Reference::t1()).fewer(), particles);
        assert!(t < STUDENT_LIMIT_OF_MANY, "K = {particles}: {t}");
    }
    let t2 = t(&subject_of(&Reference::t2()).fewer(), 2);
    let t3 = t(&subject_of(&Categories::t3()).fewer(), 2);
    assert!(
        t2 < STUDENT_LIMIT_OF_MANY && t3 < STUDENT_LIMIT_OF_MANY,
        "{t2}, {t3}"
    );
}

/// The twin, whose bias the corrections take away.
#[test]
fn a_step_from_q_alone_is_biased() {
    let subject = subject_of(&Reference::t1()).fewer();
    let found = mean_of(|stream| {
        subject.with_chains(false, stream, |chains, noise, chance| {
            subject.gradient(|model, x| estimate(&OneStep, model, x, chains, 2, noise, chance))
        })
    });
    let t = largest_t(&found, &subject.inclusive, 0..subject.inclusive.len());
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
}
