//! ReinMax-Rao and ReinMax-CV: their Jacobians by hand, and what the control variate does to the mean.

use burn::tensor::{DType, Tensor};
use helmholtz_distributions::Bits;
use helmholtz_estimators::{
    Method, Model, Pathwise, ReinMax, ReinMaxCv, ReinMaxRao, Reparameterise, estimate_pathwise,
};
use helmholtz_invariance::gradients::Subject;
use helmholtz_tests::certify::subject_of;
use helmholtz_tests::statistics::STUDENT_LIMIT_OF_MANY;
use helmholtz_tests::uniforms::Listed;
use helmholtz_tests::{Categories, Reference, Tape, Toy, flat_gradient};

use crate::gumbel_rao::{apart, of, variance};

const LOGITS: [f64; 3] = [0.7, -1.3, 0.2];
const LINEAR: [f64; 3] = [1.3, -0.4, 2.0];
const DRAWS: usize = 2;
const TEMPERATURE: f64 = 0.7;
const SCALE: f64 = 1.5;

/// Of each noise of a row, the bits' uniforms: that of the value, two of R, and one more.
const UNIFORMS: [[f32; 3]; 4] = [
    [0.31, 0.77, 0.92],
    [0.11, 0.63, 0.48],
    [0.85, 0.09, 0.27],
    [0.52, 0.36, 0.71],
];

fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}

fn softplus(a: f64) -> f64 {
    a.exp().ln_1p()
}

fn logistic(noise: usize, bit: usize) -> f64 {
    let u = f64::from(UNIFORMS[noise][bit]);
    (u / (1.0 - u)).ln()
}

/// What the estimators are made of, of one bit, in plain numbers.
struct ByHand {
    reinmax: f64,
    averaged: f64,
    second: f64,
    given: f64,
    shared: f64,
}

impl ByHand {
    fn of(bit: usize) -> Self {
        let p = sigmoid(LOGITS[bit]);
        let value = f64::from(u8::from(LOGITS[bit] + logistic(0, bit) > 0.0));
        let m = 0.5 * (p + value);
        let shifted = (m / (1.0 - m)).ln();
        let sign = 2.0 * value - 1.0;
        let jacobian = |z: f64| {
            let r = sigmoid(z / TEMPERATURE);
            r * (1.0 - r) / TEMPERATURE
        };
        let given = |noise: usize| {
            jacobian(sign * softplus(sign * logistic(noise, bit) + softplus(sign * shifted)))
        };
        let second = 0.5 * p * (1.0 - p);
        Self {
            reinmax: 2.0 * m * (1.0 - m) - second,
            averaged: 0.5 * (given(1) + given(2)),
            second,
            given: given(3),
            shared: jacobian(shifted + logistic(0, bit)),
        }
    }
}

/// The Jacobian of each bit: the gradient of linear f over its coefficients.
fn jacobian(estimator: &impl Reparameterise<Tape, Bits>) -> Vec<f64> {
    let model = Toy::<Tape>::new(&LOGITS, &LINEAR, &[0.0; 9]);
    let x = Tensor::zeros([1, 1], (&Default::default(), DType::F64));
    let noises = estimator.uniforms(Bits(3)) / 3;
    let uniforms = UNIFORMS[..noises].concat();
    let estimate = estimate_pathwise(estimator, &model, x, 1, &mut Listed(&uniforms)).unwrap();
    let gradient = flat_gradient(&estimate.loss, &model);
    (0..3).map(|bit| -gradient[bit] / LINEAR[bit]).collect()
}

fn cv(scale: f64, given: bool) -> ReinMaxCv {
    ReinMaxCv {
        temperature: TEMPERATURE,
        draws: DRAWS,
        scale,
        given,
    }
}

#[test]
fn the_jacobians_of_bits_are_those_by_hand() {
    let rao = ReinMaxRao {
        temperature: TEMPERATURE,
        draws: DRAWS,
    };
    let found = [
        jacobian(&rao),
        jacobian(&cv(0.0, false)),
        jacobian(&cv(SCALE, false)),
        jacobian(&cv(SCALE, true)),
    ];
    for bit in 0..3 {
        let ByHand {
            reinmax,
            averaged,
            second,
            given,
            shared,
        } = ByHand::of(bit);
        let exact = [
            2.0 * averaged - second,
            reinmax,
            reinmax + SCALE * (averaged - shared),
            reinmax + SCALE * (averaged - given),
        ];
        for (found, exact) in found.iter().zip(exact) {
            assert!(
                (found[bit] - exact).abs() < 1e-12,
                "{}, {exact}",
                found[bit]
            );
        }
    }
}

fn check<M: Model<Tape>>(subject: &Subject<M>) {
    let method = |given| Method::Pathwise(Pathwise::ReinMaxCv(cv(6.0, given)));
    let reinmax = of(Method::Pathwise(Pathwise::ReinMax(ReinMax)), subject);
    let (given, shared) = (of(method(true), subject), of(method(false), subject));
    let t = apart(&given, &reinmax);
    assert!(t < STUDENT_LIMIT_OF_MANY, "{t}");
    // The twin: noise under another law.
    let t = apart(&shared, &reinmax);
    assert!(t > STUDENT_LIMIT_OF_MANY, "{t}");
    // 100 batches tell a variance to within a factor of 1.8.
    let [given, reinmax] = [given, reinmax].map(|found| variance(&found, subject));
    assert!(given > 1.8 * reinmax, "{given}, {reinmax}");
}

#[test]
fn a_variate_that_is_centred_given_the_value_keeps_the_mean_and_adds_variance() {
    check(&subject_of(&Reference::t1()).fewer());
    check(&subject_of(&Categories::t3()).fewer());
}
