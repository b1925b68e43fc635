//! Double control variates and RODEO: over all latents, their mean is the gradient of the ELBO, whatever they have learned.

use burn::module::Module;
use helmholtz_estimators::{
    Controls, DoubleCv, LeaveOneOut, Method, Rloo, Rodeo, Siblings, Variate, Variates, Weighted,
    estimate_leave_one_out,
};
use helmholtz_ops::AutodiffBackend;
use helmholtz_tests::expectation::{each_proposal, exact};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{
    Batch, Chosen, Enumerable, Reference, State, Tape, flat_gradient, flat_parameters,
};

use crate::{TOLERANCE, WRONG, batch_mean, data};

const DOUBLE_CV: Method = Method::Variates(Variates::DoubleCv(DoubleCv));
const RODEO: Method = Method::Variates(Variates::Rodeo(Rodeo));
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

/// RODEO, where nothing that it is given has a gradient: else all that is made of it would be differentiated for nothing.
struct OfConstants;

impl LeaveOneOut for OfConstants {
    fn variate<B: AutodiffBackend>(
        &self,
        controls: &Controls<B>,
        level: usize,
        siblings: &Siblings<B>,
    ) -> Variate<B> {
        let Siblings {
            bits,
            means,
            values,
            slopes,
            ..
        } = siblings;
        for given in [bits, means, values, slopes] {
            assert!(!given.is_require_grad(), "given with a gradient");
        }
        Rodeo.variate(controls, level, siblings)
    }
}

#[test]
fn what_control_variates_are_made_of_is_constant() {
    let error = error(&RODEO, 0.8, with(OfConstants));
    assert!(error < TOLERANCE, "{error}");
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

#[test]
fn double_control_variates_are_their_formula_for_one_bit() {
    let model = Reference::random(4, &[1], 6);
    let x = data(1);
    let batch = Batch::new(&model, &x);
    let f = |h: f64| {
        let h = vec![vec![h]];
        model.log_p(&x[0], &h).0 - model.log_q(&x[0], &h).0
    };
    let slope = |h: f64| (f(h + 1e-4) - f(h - 1e-4)) / 2e-4;
    let alpha = 0.8;
    let controls = batch.learned(&DOUBLE_CV, 3).controls.expect("α");
    let controls = controls.with_coefficients(alpha).no_grad();
    for one in model.states() {
        for other in model.states() {
            let noise = batch.proposing(&[vec![&one, &other]]);
            let found = with(DoubleCv)(&batch, &controls, 2, noise)[4];
            let mu = model.recognition_thresholds(&x[0], &one)[0][0];
            // (f_k + c_k − f_j − c_j) (h_k − μ) − α ∂f_j μ (1 − μ), c_k = α ∂f_j (h_k − μ).
            let of = |k: f64, j: f64| {
                let (c_k, c_j) = (alpha * slope(j) * (k - mu), alpha * slope(k) * (j - mu));
                (f(k) + c_k - f(j) - c_j) * (k - mu) - alpha * slope(j) * mu * (1.0 - mu)
            };
            let (one, other) = (one[0][0], other[0][0]);
            let expected = 0.5 * (of(one, other) + of(other, one));
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}

/// RODEO's estimate in the logits of one layer of bits, in plain `f64`.
struct ByHand<'a> {
    /// f at real numbers h.
    f: &'a dyn Fn(&[f64]) -> f64,
    /// μ.
    means: &'a [f64],
    /// The net's weights `[2, 100]`, then `[100, 2]`; its biases are zero at first.
    weights: &'a [f64],
    /// α and β.
    coefficient: f64,
}

impl ByHand<'_> {
    fn slope(&self, h: &[f64]) -> Vec<f64> {
        let moved = |i: usize, by: f64| {
            let mut h = h.to_vec();
            h[i] += by;
            (self.f)(&h)
        };
        let slope = |i| (moved(i, 1e-4) - moved(i, -1e-4)) / 2e-4;
        (0..h.len()).map(slope).collect()
    }

    /// The two outputs of the net.
    fn net(&self, linear: f64, value: f64) -> [f64; 2] {
        let (first, second) = self.weights.split_at(200);
        let hidden = (0..100).map(|unit| {
            let sum = linear * first[unit] + value * first[100 + unit];
            if sum > 0.0 { sum } else { 0.3 * sum }
        });
        let hidden: Vec<f64> = hidden.collect();
        let output = |o: usize| {
            (0..100)
                .map(|unit| hidden[unit] * second[2 * unit + o])
                .sum()
        };
        [output(0), output(1)]
    }

    /// H and H̃ at h, made of the other particles.
    fn surrogates(&self, h: &[f64], others: &[&Vec<f64>]) -> [f64; 2] {
        let mut mean = [0.0; 2];
        for other in others {
            let steps = h.iter().zip(other.iter()).map(|(h, o)| h - o);
            let linear: f64 = steps
                .zip(self.slope(other))
                .map(|(s, slope)| s * slope)
                .sum();
            let outputs = self.net(linear, (self.f)(other));
            (0..2).for_each(|o| mean[o] += outputs[o] / others.len() as f64);
        }
        mean
    }

    /// (A g)(h), A the mean over bits of what redrawing one changes.
    fn redrawn(&self, h: &[f64], g: impl Fn(&[f64]) -> f64) -> f64 {
        let change = |i: usize| {
            let mut turned = h.to_vec();
            turned[i] = 1.0 - h[i];
            let other = if h[i] == 1.0 {
                1.0 - self.means[i]
            } else {
                self.means[i]
            };
            other * (g(&turned) - g(h))
        };
        (0..h.len()).map(change).sum::<f64>() / h.len() as f64
    }

    fn gradient(&self, particles: &[Vec<f64>]) -> Vec<f64> {
        let count = particles.len() as f64;
        let others = |k: usize| -> Vec<&Vec<f64>> {
            let others = particles.iter().enumerate().filter(|(j, _)| *j != k);
            others.map(|(_, other)| other).collect()
        };
        let baseline = |k: usize| {
            let control = self.redrawn(&particles[k], |h| self.surrogates(h, &others(k))[0]);
            (self.f)(&particles[k]) + self.coefficient * control
        };
        let baselines: Vec<f64> = (0..particles.len()).map(baseline).collect();
        let mut gradient = vec![0.0; self.means.len()];
        for (k, h) in particles.iter().enumerate() {
            let all: f64 = baselines.iter().sum();
            let signal = (self.f)(h) - (all - baselines[k]) / (count - 1.0);
            for (bit, sum) in gradient.iter_mut().enumerate() {
                let stein = self.redrawn(h, |h| {
                    self.surrogates(h, &others(k))[1] * (h[bit] - self.means[bit])
                });
                let score = h[bit] - self.means[bit];
                *sum += (signal * score + self.coefficient * stein) / count;
            }
        }
        gradient
    }
}

#[test]
fn rodeo_is_its_formula_for_two_bits() {
    let model = Reference::random(4, &[2], 3);
    let x = data(1);
    let batch = Batch::new(&model, &x);
    let f = |h: &[f64]| {
        let h = vec![h.to_vec()];
        model.log_p(&x[0], &h).0 - model.log_q(&x[0], &h).0
    };
    let coefficient = 0.8;
    let controls = batch.learned(&RODEO, 3).controls.expect("nets");
    let controls = controls.with_coefficients(coefficient).no_grad();
    // Two coefficients, the net, and the mean of the data.
    let parameters = flat_parameters(&controls);
    let states = model.states();
    for particles in [vec![0, 3], vec![1, 2], vec![0, 1, 3], vec![3, 2, 2]] {
        let chosen: Vec<&State> = particles.iter().map(|&h: &usize| &states[h]).collect();
        let means = &model.recognition_thresholds(&x[0], chosen[0])[0];
        let by_hand = ByHand {
            f: &f,
            means,
            weights: &parameters[2..402],
            coefficient,
        };
        let layer: Vec<Vec<f64>> = chosen.iter().map(|h| h[0].clone()).collect();
        let expected = by_hand.gradient(&layer);
        let noise = batch.proposing(std::slice::from_ref(&chosen));
        let found = &with(Rodeo)(&batch, &controls, particles.len(), noise)[8..10];
        assert!(
            relative_error(found, &expected) < 1e-6,
            "{found:?} {expected:?}"
        );
    }
}
