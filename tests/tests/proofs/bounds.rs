//! OVIS on the importance-weighted bound, exactly, and what is known of its limits.

use helmholtz_estimators::{Ovis, OvisMonteCarlo, Weighting};
use helmholtz_tests::expectation::expected_gradient;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Categories, Enumerable, Reference};

use crate::{TOLERANCE, WRONG, batch_mean, data};

/// The relative error of the expected gradient against that of the K-sample bound.
fn error(model: &impl Enumerable, method: &impl Weighting, particles: usize) -> f64 {
    let x = data(1);
    let expected = batch_mean(model, &x, |exact| exact.bound_gradient(particles));
    relative_error(&expected_gradient(model, &x, method, particles), &expected)
}

#[test]
fn ovis_for_few_effective_samples_is_unbiased_for_the_bound() {
    for particles in 2..=3 {
        let error = error(&Reference::t1(), &Ovis { many: false }, particles);
        assert!(error < TOLERANCE, "{error}");
    }
    assert!(error(&Reference::t2(), &Ovis { many: false }, 2) < TOLERANCE);
    assert!(error(&Categories::t3(), &Ovis { many: false }, 2) < TOLERANCE);
}

/// The twin: its control variate has the particle's own weight in it.
#[test]
fn ovis_for_many_effective_samples_is_biased_and_less_so_with_more_particles() {
    let two = error(&Reference::t1(), &Ovis { many: true }, 2);
    let three = error(&Reference::t1(), &Ovis { many: true }, 3);
    assert!(two > WRONG && three > WRONG, "{two}, {three}");
}

#[test]
fn ovis_by_monte_carlo_is_unbiased_for_the_bound() {
    for particles in 1..=2 {
        let error = error(&Reference::t1(), &OvisMonteCarlo, particles);
        assert!(error < TOLERANCE, "{error}");
    }
    assert!(error(&Categories::t3(), &OvisMonteCarlo, 1) < TOLERANCE);
}
