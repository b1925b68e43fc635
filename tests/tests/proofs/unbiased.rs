//! Estimators of the exclusive kind: their expectation over all proposals is the gradient of their bound.

use helmholtz_estimators::{Coefficient, Outcome, Reinforce, Rloo, VarGrad, Vimco, Weighting};
use helmholtz_random::Chance;
use helmholtz_tests::expectation::expected_gradient;
use helmholtz_tests::vectors::relative_error;
use helmholtz_tests::{Categories, Conditional, Enumerable, Reference, Topped};

use crate::{TOLERANCE, WRONG, batch_mean, data};

/// The relative error of the expected gradient against that of the bound with `bound` samples.
fn error(
    model: &impl Enumerable,
    batch: usize,
    method: &impl Weighting,
    particles: usize,
    bound: usize,
) -> f64 {
    let x = data(batch);
    let expected = batch_mean(model, &x, |exact| exact.bound_gradient(bound));
    relative_error(&expected_gradient(model, &x, method, particles), &expected)
}

#[test]
fn reinforce_is_unbiased_for_the_elbo() {
    for (model, batch, particles) in [
        (Reference::t1(), 1, 1),
        (Reference::t1(), 1, 3),
        (Reference::t1(), 3, 1),
        (Reference::t2(), 1, 2),
        (Reference::t2(), 2, 1),
    ] {
        assert!(error(&model, batch, &Reinforce::default(), particles, 1) < TOLERANCE);
    }
    for (batch, particles) in [(1, 2), (2, 1)] {
        let t3 = Categories::t3();
        assert!(error(&t3, batch, &Reinforce::default(), particles, 1) < TOLERANCE);
        let t4 = Conditional::t4();
        assert!(error(&t4, batch, &Reinforce::default(), particles, 1) < TOLERANCE);
        let t5 = Topped::t5();
        assert!(error(&t5, batch, &Reinforce::default(), particles, 1) < TOLERANCE);
    }
}

#[test]
fn rloo_is_unbiased_for_the_elbo() {
    for (model, batch, particles) in [
        (Reference::t1(), 1, 2),
        (Reference::t1(), 1, 3),
        (Reference::t1(), 2, 2),
        (Reference::t2(), 1, 2),
    ] {
        assert!(error(&model, batch, &Rloo, particles, 1) < TOLERANCE);
    }
    assert!(error(&Categories::t3(), 1, &Rloo, 2, 1) < TOLERANCE);
    assert!(error(&Conditional::t4(), 1, &Rloo, 2, 1) < TOLERANCE);
    assert!(error(&Topped::t5(), 1, &Rloo, 2, 1) < TOLERANCE);
}

#[test]
fn vargrad_is_unbiased_for_the_elbo() {
    for particles in 2..=3 {
        assert!(error(&Reference::t1(), 1, &VarGrad, particles, 1) < TOLERANCE);
    }
    assert!(error(&Reference::t2(), 1, &VarGrad, 2, 1) < TOLERANCE);
    assert!(error(&Categories::t3(), 1, &VarGrad, 2, 1) < TOLERANCE);
}

#[test]
fn vimco_is_unbiased_for_the_importance_weighted_bound() {
    for (model, batch, particles) in [
        (Reference::t1(), 1, 2),
        (Reference::t1(), 1, 3),
        (Reference::t1(), 2, 2),
        (Reference::t2(), 1, 2),
    ] {
        assert!(error(&model, batch, &Vimco::default(), particles, particles) < TOLERANCE);
        assert!(
            error(&model, batch, &Vimco::default(), particles, 1) > WRONG,
            "its bound is not the ELBO"
        );
    }
    assert!(error(&Categories::t3(), 1, &Vimco::default(), 2, 2) < TOLERANCE);
    assert!(error(&Conditional::t4(), 2, &Vimco::default(), 2, 2) < TOLERANCE);
    assert!(error(&Topped::t5(), 1, &Vimco::default(), 2, 2) < TOLERANCE);
}

/// An estimator with its coefficients on log q changed after the fact.
pub(crate) struct Changed<W>(W, fn(&[f64], &mut [Coefficient]));

impl<W: Weighting> Weighting for Changed<W> {
    fn weigh(
        &self,
        log_w: &[f64],
        retained: bool,
        chance: &mut dyn Chance,
        coefficients: &mut [Coefficient],
    ) -> Outcome {
        let outcome = self.0.weigh(log_w, retained, chance, coefficients);
        (self.1)(log_w, coefficients);
        outcome
    }
}

#[test]
fn vimco_without_direct_term_is_biased() {
    let without = Changed(Vimco::default(), |_, coefficients| {
        coefficients.iter_mut().for_each(|c| c.phi += c.theta);
    });
    for particles in 2..=3 {
        let error = error(&Reference::t1(), 1, &without, particles, particles);
        assert!(error > WRONG, "{error}");
    }
    assert!(error(&Categories::t3(), 1, &without, 2, 2) > WRONG);
    assert!(error(&Conditional::t4(), 1, &without, 2, 2) > WRONG);
    assert!(error(&Topped::t5(), 1, &without, 2, 2) > WRONG);
}

/// [`Rloo`] with the mean of all ℓ for a baseline.
pub(crate) fn with_own_sample_in_the_baseline() -> Changed<Rloo> {
    Changed(Rloo, |log_w, coefficients| {
        let count = log_w.len() as f64;
        let mean = log_w.iter().sum::<f64>() / count;
        for (c, l) in coefficients.iter_mut().zip(log_w) {
            c.phi = (l - mean) / count;
        }
    })
}

#[test]
fn rloo_with_its_own_sample_in_the_baseline_is_biased() {
    for particles in 2..=3 {
        let with_own = with_own_sample_in_the_baseline();
        let error = error(&Reference::t1(), 1, &with_own, particles, 1);
        assert!(error > WRONG, "{error}");
    }
}
