//! Double control variates and RODEO: over all latents, their mean is the gradient of the ELBO, whatever they have learned.

use burn::module::Module;
use helmholtz_estimators::{
    Controls, DoubleCv, LeaveOneOut, Method, OfBits, Rloo, Rodeo, Siblings, Variate, Weighted,
    estimate_leave_one_out,
};
use helmholtz_ops::AutodiffBackend;
use helmholtz_tests::expectation::{each_proposal, exact};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Chosen, Reference, Tape, flat_gradient};

use crate::{TOLERANCE, WRONG, batch_mean, data};

const DOUBLE_CV: Method = Method::OfBits(OfBits::DoubleCv(DoubleCv));
const RODEO: Method = Method::OfBits(OfBits::Rodeo(Rodeo));
const RLOO: Method = Method::Weighted(Weighted::Rloo(Rloo));

/// Networks, with numbers of data and of particles that can be enumerated.
fn models() -> [(Reference, usize, usize); 5] {
    [
        (Reference::t1(), 1, 2),
        (Reference::random(4, &[2], 3), 1, 3),
        (Reference::random(4, &[2], 4), 2, 2),
        (Reference::t2(), 1, 2),
        (Reference::random(4, &[1, 2, 1], 5), 1, 2),
    ]
}

/// The relative error of the expected gradient against that of the ELBO, the largest over the networks.
fn error(
    method: &Method,
    coefficient: f64,
    gradient: impl Fn(&Batch, &Controls<Tape>, usize, Chosen) -> Vec<f64>,
) -> f64 {
    let errors = models().map(|(model, count, particles)| {
        let x = data(count);
        let batch = Batch::new(&model, &x);
        let controls = batch.learned(method, 3).controls.expect("some are learned");
        let controls = controls.with_coefficients(coefficient).no_grad();
        let mut mean = vec![0.0; model.parameters.len()];
        each_proposal(&exact(&model, &x), particles, |probability, tuples| {
            let estimate = gradient(&batch, &controls, particles, batch.proposing(tuples));
            add_scaled(&mut mean, probability, &estimate);
        });
        let elbo = batch_mean(&model, &x, |exact| exact.bound_gradient(1));
        relative_error(&mean, &elbo)
    });
    errors.into_iter().fold(0.0, f64::max)
}

/// One estimate with this control variate.
fn with(
    estimator: impl LeaveOneOut,
) -> impl Fn(&Batch, &Controls<Tape>, usize, Chosen) -> Vec<f64> {
    move |batch, controls, particles, mut noise| {
        let (model, x) = (batch.model(), batch.x());
        let estimated =
            estimate_leave_one_out(&estimator, model, controls, x, particles, &mut noise);
        let gradient = flat_gradient(&estimated.expect("enough particles").loss, model);
        gradient.into_iter().map(|g| -g).collect()
    }
}

#[test]
fn double_control_variates_are_unbiased_at_every_coefficient() {
    for alpha in [0.0, 0.8, -1.5] {
        let error = error(&DOUBLE_CV, alpha, with(DoubleCv));
        assert!(error < TOLERANCE, "{alpha}: {error}");
    }
}

#[test]
fn rodeo_is_unbiased_at_every_coefficient() {
    for coefficient in [0.8, -1.5] {
        let error = error(&RODEO, coefficient, with(Rodeo));
        assert!(error < TOLERANCE, "{coefficient}: {error}");
    }
}

/// A control variate changed after the fact.
struct Changed<L>(L, Change);

enum Change {
    /// Without what makes up for its own signal.
    WithoutCorrection,
    /// Its baselines' part added to its own signal too, and nothing that makes up for it.
    OwnSignal,
}

impl<L: LeaveOneOut> LeaveOneOut for Changed<L> {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let variate = self.0.variate(controls, level, siblings);
        match self.1 {
            Change::WithoutCorrection => Variate {
                gradient: variate.gradient.zeros_like(),
                ..variate
            },
            Change::OwnSignal => Variate {
                signal: variate.baseline.clone(),
                ..variate
            },
        }
    }
}

#[test]
fn double_control_variates_without_the_correction_are_biased() {
    let changed = Changed(DoubleCv, Change::WithoutCorrection);
    let error = error(&DOUBLE_CV, 0.8, with(changed));
    assert!(error > WRONG, "{error}");
}

#[test]
fn rodeo_with_its_baseline_in_its_own_signal_is_biased() {
    let error = error(&RODEO, 0.8, with(Changed(Rodeo, Change::OwnSignal)));
    assert!(error > WRONG, "{error}");
}

/// RODEO at another particle's bits: the operator redraws bits that were not drawn.
struct Elsewhere;

impl LeaveOneOut for Elsewhere {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let means = siblings.means.clone();
        // The probabilities of the other values, of bits less probable than they are.
        let moved = Siblings {
            means: means * 0.5,
            bits: siblings.bits.clone(),
            values: siblings.values.clone(),
            slopes: siblings.slopes.clone(),
            particles: siblings.particles,
        };
        Rodeo.variate(controls, level, &moved)
    }
}

#[test]
fn rodeo_with_another_law_in_its_operator_is_biased() {
    let error = error(&RODEO, 0.8, with(Elsewhere));
    assert!(error > WRONG, "{error}");
}

#[test]
fn without_their_coefficients_both_are_leave_one_out_at_every_draw() {
    for (model, count, particles) in models() {
        let x = data(count);
        let batch = Batch::new(&model, &x);
        let of = |method: &Method, tuples: &[Vec<&_>]| {
            let learned = batch.learned(method, 3);
            batch.gradient(method, &learned, particles, &mut batch.proposing(tuples))
        };
        let mut draws = 0;
        each_proposal(&exact(&model, &x), particles, |_, tuples| {
            draws += 1;
            if draws % 7 == 0 {
                let rloo = of(&RLOO, tuples);
                for method in [DOUBLE_CV, RODEO] {
                    let error = relative_error(&of(&method, tuples), &rloo);
                    assert!(error < 1e-9, "{method:?}: {error}");
                }
            }
        });
    }
}
