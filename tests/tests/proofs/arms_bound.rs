//! ARMS on the importance-weighted bound: what it reduces to, and that it is unbiased for the bound of K samples and of no other.

use helmholtz_estimators::{Arms, ArmsBound, DisarmBound, Logits, Method};
use helmholtz_invariance::gradients::{BATCHES, estimated, largest_t, mean_of};
use helmholtz_tests::Reference;
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;

fn method(copies: usize) -> Method {
    Method::Logits(Logits::ArmsBound(ArmsBound { copies }))
}

#[test]
fn arms_on_the_bound_is_unbiased_for_it_with_any_number_of_copies() {
    for reference in [Reference::t1(), Reference::t2()] {
        let subject = subject_of(&reference).fewer();
        for copies in [2, 3, 5] {
            let method = method(copies);
            let (found, _) = estimated(&method, &subject.learned(&method), &subject);
            let all = 0..subject.bound_of_two.len();
            let t = largest_t(&found, &subject.bound_of_two, all.clone());
            assert!(t < STUDENT_LIMIT_OF_MANY, "{copies} copies: {t}");
            // The twin: the bound of one sample.
            let t = largest_t(&found, &subject.elbo, all);
            assert!(t > STUDENT_LIMIT_OF_MANY, "{copies} copies: {t}");
        }
    }
}

/// Σ Var over φ of one estimate.
fn variance(method: Method, particles: usize) -> f64 {
    let subject = subject_of(&Reference::t1()).fewer();
    let learned = subject.learned(&method);
    let found = mean_of(|stream| subject.estimate(&method, &learned, particles, stream));
    let squares = subject.phi.clone().map(|i| found.1[i].powi(2));
    squares.sum::<f64>() * (BATCHES * subject.copies()) as f64
}

/// Of the same law, whose variances 100 batches tell to within a factor of 1.8 (at a level below 1e-4).
#[test]
fn with_two_copies_its_variance_is_that_of_disarm_and_with_one_particle_that_of_arms() {
    let pairs = [
        (
            variance(method(2), 2),
            variance(Method::Logits(Logits::DisarmBound(DisarmBound)), 2),
        ),
        (
            variance(method(3), 1),
            variance(Method::Logits(Logits::Arms(Arms)), 3),
        ),
    ];
    for (own, other) in pairs {
        assert!(own < 1.8 * other && other < 1.8 * own, "{own}, {other}");
    }
}
