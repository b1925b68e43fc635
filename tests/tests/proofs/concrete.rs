//! The relaxed bound: densities, law, and gradient of binary Concrete latents, by quadrature.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_distributions::{BinaryConcrete, LogProb};
use helmholtz_estimators::Concrete;
use helmholtz_tests::uniforms::{Listed, each_choice};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Batch, Enumerable, Inner, Reference, flat_gradient};

use crate::{WRONG, data};

fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}

fn logit(p: f64) -> f64 {
    p.ln() - (-p).ln_1p()
}

/// The trapezoid rule between ±`end`. The integrands here are analytic in a strip about the real line, so that its error falls
/// exponentially with 1 / step.
fn integral(end: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let points = (2.0 * end / step).round() as usize;
    (0..=points).map(|i| step * f(step * i as f64 - end)).sum()
}

/// The production's log-density of y.
fn log_density(logit: f64, temperature: f64, y: f64) -> f64 {
    let one = |value: f64| {
        let data = TensorData::from([[value]]);
        Tensor::<Inner, 2>::from_data(data, (&Default::default(), DType::F64))
    };
    let density = BinaryConcrete::new(one(logit), temperature).log_prob(one(y));
    density.into_data().iter::<f64>().next().unwrap()
}

const SETTINGS: [(f64, f64); 4] = [(0.0, 0.5), (0.7, 2.0 / 3.0), (-2.5, 1.0), (1.3, 2.5)];

#[test]
fn the_density_integrates_to_one() {
    for (a, temperature) in SETTINGS {
        let density = |y: f64| log_density(a, temperature, y).exp();
        let total = integral(90.0, 0.25, density);
        assert!((total - 1.0).abs() < 1e-10, "{a}, {temperature}: {total}");
    }
}

#[test]
fn gumbel_softmax_of_two_classes_has_the_same_density() {
    // Of the logits (0, a) y is (a + G₁ − G₀) / τ, with Gumbel G of density e^(−g − e^−g): the density of y is a convolution.
    let gumbel = |g: f64| (-g - (-g).exp()).exp();
    for (a, temperature) in SETTINGS {
        for y in [-3.0, -0.4, 0.0, 0.9, 4.0] {
            let both = |g: f64| gumbel(g) * gumbel(g + temperature * y - a);
            let softmax = temperature * integral(60.0, 1.0 / 16.0, both);
            let concrete = log_density(a, temperature, y).exp();
            assert!((softmax - concrete).abs() < 1e-10, "{softmax} {concrete}");
        }
    }
}

/// What may be wrong in the plain bound below.
#[derive(Clone, Copy, PartialEq)]
enum Density {
    /// Of y, both in p and in q.
    OfY,
    /// In p that of σ(y), in q that of y: a Jacobian is missing.
    OfZInP,
}

/// log p(x | z) + Σ_l log p(y^l | z^{l+1}) − log q(y^l | z^{l−1}) at these uniforms, one a bit, in plain `f64`.
fn bound(model: &Reference, x: &[f64], u: &[f32], concrete: Concrete, density: Density) -> f64 {
    let log_density = |a: f64, temperature: f64, y: f64| {
        let d = a - temperature * y;
        temperature.ln() + d - 2.0 * (d.max(0.0) + (-d.abs()).exp().ln_1p())
    };
    let mut noise = u.iter().map(|&u| logit(f64::from(u)));
    let mut z: Vec<Vec<f64>> = model.layers().iter().map(|&bits| vec![0.0; bits]).collect();
    let (mut y, mut log_q) = (z.clone(), 0.0);
    for level in 0..z.len() {
        let p = model.recognition_thresholds(x, &z)[level].clone();
        for (bit, a) in p.into_iter().map(logit).enumerate() {
            y[level][bit] = (a + noise.next().unwrap()) / concrete.posterior;
            z[level][bit] = sigmoid(y[level][bit]);
            log_q += log_density(a, concrete.posterior, y[level][bit]);
        }
    }
    let mut generated = model.generation_thresholds(&z);
    let observed = generated.pop().unwrap();
    let log_x: f64 = observed
        .iter()
        .zip(x)
        .map(|(p, x)| x * p.ln() + (1.0 - x) * (-p).ln_1p())
        .sum();
    let latent = generated.iter().rev().flatten().zip(y.iter().flatten());
    let log_p: f64 = latent
        .map(|(&p, &y)| {
            let jacobian = match density {
                Density::OfY => 0.0,
                Density::OfZInP => (sigmoid(y) * sigmoid(-y)).ln(),
            };
            log_density(logit(p), concrete.prior, y) - jacobian
        })
        .sum();
    log_x + log_p - log_q
}

/// Uniforms and weights that integrate over a logistic variable between ±15.
fn nodes(step: f64) -> Vec<(f64, f32)> {
    let points = (30.0 / step) as usize;
    let node = |i: usize| {
        let noise = step * i as f64 - 15.0;
        let density = sigmoid(noise) * sigmoid(-noise);
        (step * density, sigmoid(noise) as f32)
    };
    (0..=points).map(node).collect()
}

/// Networks of one bit a layer, with the quadrature of each bit.
fn networks() -> [(Reference, f64); 2] {
    [
        (Reference::random(4, &[1], 8), 0.25),
        (Reference::random(4, &[1, 1], 9), 1.0),
    ]
}

/// The relative error of the mean of the production's gradient against central differences of the mean of `bound`.
fn error(production: Concrete, density: Density) -> f64 {
    let x = data(1);
    let errors = networks().map(|(model, step)| {
        let batch = Batch::new(&model, &x);
        let places = vec![nodes(step); model.layers().len()];
        let mut mean = vec![0.0; model.parameters.len()];
        each_choice(&places, |weight, u| {
            let noise = &mut Listed(u);
            let estimate = production
                .estimate(batch.model(), batch.x(), 1, noise)
                .unwrap();
            add_scaled(
                &mut mean,
                -weight,
                &flat_gradient(&estimate.loss, batch.model()),
            );
        });
        let moved = |at: usize, by: f64| {
            let mut parameters = model.parameters.clone();
            parameters[at] += by;
            let model = model.with_parameters(parameters);
            let mut total = 0.0;
            each_choice(&places, |weight, u| {
                total += weight * bound(&model, &x[0], u, Concrete::DEFAULT, density);
            });
            total
        };
        let by = 1e-5;
        let differences = (0..mean.len()).map(|at| (moved(at, by) - moved(at, -by)) / (2.0 * by));
        relative_error(&mean, &differences.collect::<Vec<_>>())
    });
    errors.into_iter().fold(0.0, f64::max)
}

#[test]
fn the_estimate_is_unbiased_for_the_gradient_of_the_relaxed_bound() {
    let error = error(Concrete::DEFAULT, Density::OfY);
    assert!(error < 1e-7, "{error}");
}

#[test]
fn another_temperature_of_the_prior_is_another_bound() {
    let other = Concrete {
        prior: 2.0 / 3.0,
        ..Concrete::DEFAULT
    };
    let error = error(other, Density::OfY);
    assert!(error > WRONG, "{error}");
}

#[test]
fn a_density_without_its_jacobian_is_another_bound() {
    let error = error(Concrete::DEFAULT, Density::OfZInP);
    assert!(error > WRONG, "{error}");
}

/// The mean of exp(bound) under q, over p(x) of the relaxed model by a quadrature over p's own noise: 1 where the densities are
/// those of what is drawn.
fn evidence_ratio(production: Concrete) -> f64 {
    let (model, x) = (Reference::random(4, &[1], 8), data(1));
    let batch = Batch::new(&model, &x);
    let mut weighted = 0.0;
    for (weight, u) in nodes(0.25) {
        let noise = &mut Listed(&[u]);
        let estimate = production
            .estimate(batch.model(), batch.x(), 1, noise)
            .unwrap();
        weighted += weight * estimate.elbo.exp();
    }
    let prior = logit(model.generation_thresholds(&vec![vec![0.0]])[0][0]);
    let evidence = integral(60.0, 0.25, |noise| {
        let z = sigmoid((prior + noise) / Concrete::DEFAULT.prior);
        let observed = &model.generation_thresholds(&vec![vec![z]])[1];
        let likelihood = observed
            .iter()
            .zip(&x[0])
            .map(|(p, x)| x * p + (1.0 - x) * (1.0 - p));
        sigmoid(noise) * sigmoid(-noise) * likelihood.product::<f64>()
    });
    weighted / evidence
}

#[test]
fn its_weights_have_the_relaxed_models_evidence_for_their_mean() {
    // What lies beyond ±15 in q's noise is less than a hundred-thousandth of p's.
    let ratio = evidence_ratio(Concrete::DEFAULT);
    assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
}
