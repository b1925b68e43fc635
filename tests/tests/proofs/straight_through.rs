//! The biased estimators: where their mean is exact, and that it is not elsewhere.

use burn::tensor::{DType, Tensor};
use helmholtz_distributions::Bits;
use helmholtz_estimators::{
    Controls, ControlsConfig, Declaration, GumbelSoftmax, Half, LearnedGumbelSoftmax,
    LearnedTemperature, Reparameterise, SlopeAnnealed, StraightThrough, Temperature,
    estimate_pathwise,
};
use helmholtz_tests::uniforms::{Listed, each_choice};
use helmholtz_tests::vectors::{add_scaled, relative_error};
use helmholtz_tests::{Tape, Toy, flat_gradient};

use crate::{TOLERANCE, WRONG};

const LOGITS: [f64; 3] = [0.7, -1.3, 0.2];
const LINEAR: [f64; 3] = [1.3, -0.4, 2.0];
const QUADRATIC: [f64; 9] = [0.8, -1.1, 0.6, 0.5, 1.7, -0.9, -0.3, 0.4, -1.2];
const NOTHING: [f64; 9] = [0.0; 9];

fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}

fn f(h: &[f64], quadratic: &[f64]) -> f64 {
    let linear: f64 = h.iter().zip(LINEAR).map(|(h, c)| h * c).sum();
    let pairs = (0..9).map(|i| quadratic[i] * h[i / 3] * h[i % 3]);
    linear + pairs.sum::<f64>()
}

/// ∂/∂a E f, of bits with logits s·a.
fn exact(quadratic: &[f64], slope: f64) -> Vec<f64> {
    let p = LOGITS.map(|a| sigmoid(slope * a));
    let mut gradient = vec![0.0; 3];
    for state in 0..8 {
        let h: Vec<f64> = (0..3).map(|v| f64::from(state >> v & 1)).collect();
        let probability: f64 = (0..3)
            .map(|v| h[v] * p[v] + (1.0 - h[v]) * (1.0 - p[v]))
            .product();
        // Log p holds log q of the logits a, and the score is that of s·a.
        let scores = (0..3).map(|v| (1.0 - slope) * LOGITS[v] * h[v]);
        let value = f(&h, quadratic) + scores.sum::<f64>();
        for v in 0..3 {
            gradient[v] += probability * value * (h[v] - p[v]) * slope;
        }
    }
    gradient
}

fn gradient(
    estimator: &impl Reparameterise<Tape, Bits>,
    quadratic: &[f64],
    uniforms: &[f32],
) -> Vec<f64> {
    let model = Toy::<Tape>::new(&LOGITS, &LINEAR, quadratic);
    let x = Tensor::zeros([1, 1], (&Default::default(), DType::F64));
    let estimate = estimate_pathwise(estimator, &model, x, 1, &mut Listed(uniforms)).unwrap();
    flat_gradient(&estimate.loss, &model)[..3]
        .iter()
        .map(|g| -g)
        .collect()
}

/// The mean over the bits.
fn expected(estimator: &impl Reparameterise<Tape, Bits>, quadratic: &[f64]) -> Vec<f64> {
    let p = LOGITS.map(|a| sigmoid(estimator.slope() * a));
    let places = p.map(|p| vec![(p, (0.5 * p) as f32), (1.0 - p, (0.5 + 0.5 * p) as f32)]);
    let mut mean = vec![0.0; 3];
    each_choice(&places, |probability, uniforms| {
        add_scaled(
            &mut mean,
            probability,
            &gradient(estimator, quadratic, uniforms),
        );
    });
    mean
}

#[test]
fn straight_through_is_exact_for_linear_f_and_not_for_quadratic_f() {
    let error = |q: &[f64]| relative_error(&expected(&StraightThrough, q), &exact(q, 1.0));
    assert!(error(&NOTHING) < TOLERANCE && error(&QUADRATIC) > WRONG);
}

#[test]
fn an_annealed_slope_is_exact_for_linear_f_of_the_steeper_bits() {
    let annealed = SlopeAnnealed { slope: 2.5 };
    let mean = expected(&annealed, &NOTHING);
    assert!(relative_error(&mean, &exact(&NOTHING, 2.5)) < TOLERANCE);
    assert!(relative_error(&mean, &exact(&NOTHING, 1.0)) > WRONG);
}

#[test]
fn half_is_exact_for_quadratic_f() {
    let error = relative_error(&expected(&Half, &QUADRATIC), &exact(&QUADRATIC, 1.0));
    assert!(error < TOLERANCE, "{error}");
}

#[test]
fn half_is_reinmax_for_two_classes() {
    // The Jacobian of a bit is its gradient where f = h.
    for (v, &a) in LOGITS.iter().enumerate() {
        let p = sigmoid(a);
        for (bit, uniform) in [(1.0, 0.5 * p), (0.0, 0.5 + 0.5 * p)] {
            let m = 0.5 * (p + bit);
            let reinmax = 2.0 * m * (1.0 - m) - 0.5 * p * (1.0 - p);
            let jacobian = gradient(&Half, &NOTHING, &[uniform as f32; 3])[v] / LINEAR[v];
            assert!((jacobian - reinmax).abs() < 1e-12);
        }
    }
}

#[test]
fn relaxed_bits_have_the_gradient_of_their_function_and_hard_ones_take_it_over() {
    let uniforms = [0.31f32, 0.77, 0.52];
    for temperature in [0.5, 1.0, 2.0] {
        let soft = |logits: [f64; 3]| -> Vec<f64> {
            let z = |v: usize| {
                let u = f64::from(uniforms[v]);
                sigmoid((logits[v] + (u / (1.0 - u)).ln()) / temperature)
            };
            (0..3).map(z).collect()
        };
        let step = 1e-6;
        let moved = |v: usize, by: f64| {
            let mut logits = LOGITS;
            logits[v] += by;
            soft(logits)
        };
        let relaxed = GumbelSoftmax {
            temperature,
            hard: false,
        };
        let differences: Vec<f64> = (0..3)
            .map(|v| {
                let [up, down] = [step, -step].map(|by| f(&moved(v, by), &QUADRATIC));
                (up - down) / (2.0 * step)
            })
            .collect();
        let given = gradient(&relaxed, &QUADRATIC, &uniforms);
        assert!(relative_error(&given, &differences) < 1e-7);

        // With f linear, the gradient does not depend on the value: hard and soft agree.
        let hard = GumbelSoftmax {
            temperature,
            hard: true,
        };
        let [hard, soft] = [hard, relaxed].map(|e| gradient(&e, &NOTHING, &uniforms));
        assert!(relative_error(&hard, &soft) < TOLERANCE);
    }
}

/// Controls whose temperature starts here.
fn learned(temperature: f64) -> Controls<Tape> {
    let config = ControlsConfig {
        temperature: Some(Temperature::Itself(temperature)),
        ..LearnedTemperature.controls()
    };
    let device = Default::default();
    Controls::init(&config, &[0.5], &[Bits(3)], 1, DType::F64, &device)
}

#[test]
fn a_learned_temperature_descends_the_loss_of_the_relaxed_bits() {
    let uniforms = [0.31f32, 0.77, 0.52];
    let model = Toy::<Tape>::new(&LOGITS, &LINEAR, &NOTHING);
    for temperature in [0.3, 1.0, 1.7] {
        let controls = learned(temperature);
        let estimator = LearnedGumbelSoftmax::new(&controls);
        let x = Tensor::zeros([1, 1], (&Default::default(), DType::F64));
        let noise = &mut Listed(&uniforms);
        let estimate = estimate_pathwise(&estimator, &model, x, 1, noise).unwrap();
        assert!(estimate.controls.is_none(), "the loss itself is descended");
        let gradients = estimate.loss.backward();
        let found = controls.temperature().grad(&gradients).unwrap();
        let found = found.into_data().iter::<f64>().next().unwrap();

        // f is linear, so that its derivative does not depend on the hard values: that of f at the relaxed ones.
        let loss = |temperature: f64| {
            let z = |v: usize| {
                let u = f64::from(uniforms[v]);
                sigmoid((LOGITS[v] + (u / (1.0 - u)).ln()) / temperature)
            };
            -f(&[z(0), z(1), z(2)], &NOTHING)
        };
        let step = 1e-6;
        let expected = (loss(temperature + step) - loss(temperature - step)) / (2.0 * step);
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");

        // The logits' gradient is that of the fixed temperature.
        let fixed = GumbelSoftmax {
            temperature,
            hard: true,
        };
        let ours = gradient(&estimator, &QUADRATIC, &uniforms);
        let fixed = gradient(&fixed, &QUADRATIC, &uniforms);
        assert!(relative_error(&ours, &fixed) < TOLERANCE);
    }
}

#[test]
fn a_learned_temperature_is_kept_above_its_bound() {
    for (start, bounded) in [(-0.2, 0.05), (0.05, 0.05), (0.4, 0.4)] {
        let temperature = learned(start).bounded().temperature().into_data();
        let temperature = temperature.iter::<f64>().next().unwrap();
        assert!((temperature - bounded).abs() < 1e-15, "{temperature}");
    }
}
