//! Adam's one pass in f32 against the published algorithm in f64.

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{AdamStep, adam};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

fn step(time: u64) -> AdamStep {
    AdamStep {
        learning_rate: 3e-3,
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 1e-8,
        time,
    }
}

/// The algorithm on one parameter, with a bound of the f32 error of each state.
///
/// With ρ = 2⁻²⁴, a step adds at most 4 ρ of the moments' terms in magnitude. An update Δ = r m / (√v s + ε) then errs by
/// r/(√v s + ε) times the error of m, and by |Δ| times half the relative error of v and 16 ρ for its own roundings (a root
/// and a quotient, each to 2 units in the last place or 5 ρ, and six products and sums); the new parameter is rounded
/// once.
#[derive(Default)]
struct Reference {
    parameter: f64,
    m: f64,
    v: f64,
    /// Like m, of |g|.
    magnitude: f64,
    parameter_error: f64,
}

impl Reference {
    fn update(&mut self, gradient: f64, s: AdamStep) {
        let keep = |beta: f64, moment: f64, new: f64| beta * moment + (1.0 - beta) * new;
        self.m = keep(s.beta_1, self.m, gradient);
        self.v = keep(s.beta_2, self.v, gradient * gradient);
        self.magnitude = keep(s.beta_1, self.magnitude, gradient.abs());
        let m_hat = self.m / (1.0 - s.beta_1.powf(s.time as f64));
        let v_hat = self.v / (1.0 - s.beta_2.powf(s.time as f64));
        let denominator = v_hat.sqrt() + s.epsilon;
        let update = s.learning_rate * m_hat / denominator;
        self.parameter -= update;

        let scale = s.learning_rate / (1.0 - s.beta_1.powf(s.time as f64)) / denominator;
        self.parameter_error += scale * self.m_error(s.time)
            + update.abs() * (0.5 * self.v_error(s.time) / self.v + 16.0 * ROUNDING)
            + self.parameter.abs() * ROUNDING;
    }

    fn m_error(&self, time: u64) -> f64 {
        4.0 * ROUNDING * time as f64 * self.magnitude
    }

    fn v_error(&self, time: u64) -> f64 {
        4.0 * ROUNDING * time as f64 * self.v
    }
}

/// Several steps with gradients of many magnitudes.
fn check<const D: usize>(shape: [usize; D], dtype: DType, steps: u64, seed: u64) {
    let size = shape.iter().product();
    let draw = |n: u64| Matrix::symmetric([1, size], 1.0, seed.wrapping_add(n));
    let tensor = |matrix: &Matrix| matrix.vector::<Flex>(dtype).reshape(shape);
    let start = draw(0);
    let mut reference: Vec<Reference> = (0..size)
        .map(|i| Reference {
            parameter: start.at(0, i),
            ..Reference::default()
        })
        .collect();
    let mut parameter: Tensor<Flex, D> = tensor(&start);
    let (mut m, mut v) = (parameter.zeros_like(), parameter.zeros_like());
    for time in 1..=steps {
        let gradient = draw(time).map(|g| g * 10f32.powi(time as i32 % 7 - 4));
        (parameter, m, v) = adam(parameter, tensor(&gradient), m, v, step(time));
        for (i, reference) in reference.iter_mut().enumerate() {
            reference.update(gradient.at(0, i), step(time));
        }
    }
    // In f64 the reference itself is rounded as much.
    let finer = match dtype {
        DType::F64 => 2.0 * 2f64.powi(-29),
        _ => 1.0,
    };
    let expected = |of: fn(&Reference) -> f64| reference.iter().map(of).collect::<Vec<_>>();
    assert_within("θ", &read(parameter), &expected(|r| r.parameter), |i| {
        finer * reference[i].parameter_error
    });
    assert_within("m", &read(m), &expected(|r| r.m), |i| {
        finer * reference[i].m_error(steps)
    });
    assert_within("v", &read(v), &expected(|r| r.v), |i| {
        finer * reference[i].v_error(steps)
    });
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn adam_is_the_published_algorithm(size in 1usize..100, steps in 1u64..20, seed in any::<u64>()) {
        check([size], DType::F32, steps, seed);
        check([size], DType::F64, steps, seed);
    }
}

#[test]
fn adam_keeps_the_shape_and_the_bounds_on_a_weight_matrix() {
    check([200, 78], DType::F32, 5, 1);
    check([2, 3, 4], DType::F64, 5, 1);
}

#[test]
fn a_zero_gradient_with_zero_moments_changes_nothing() {
    let parameter = Matrix::symmetric([3, 7], 1.0, 0).tensor::<Flex>(DType::F32);
    let zero = || parameter.zeros_like();
    let (after, m, v) = adam(parameter.clone(), zero(), zero(), zero(), step(1));
    assert_eq!(read(after), read(parameter.clone()));
    assert_eq!([read(m), read(v)], [vec![0.0; 21], vec![0.0; 21]]);
}
