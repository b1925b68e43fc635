//! Categorical log-probabilities at their edges: sure and impossible classes, rows of no weight, and what is refused.

use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{categorical_log_prob, pinned_logits};

use crate::categorical::{check, one_hot, outcome, value_alone};
use crate::data::{Matrix, ROUNDING, read};

/// A logit of ±a for one class of five, all others 0.
#[test]
fn sure_classes_have_log_probability_zero_and_unlikely_ones_minus_the_logit() {
    for a in [80.0f32, 1e4] {
        for variables in [1, 20] {
            let chosen = |c: usize| {
                let value = (0..5).map(|i| f32::from(u8::from(i == c)));
                let elements = value.collect::<Vec<_>>().repeat(variables);
                Matrix {
                    rows: 1,
                    columns: 5 * variables,
                    elements,
                }
            };
            let logits = |a: f32| Matrix {
                rows: 1,
                columns: 4 * variables,
                elements: [0.0, a, 0.0, 0.0].repeat(variables),
            };
            let log_prob = |a, c| value_alone(&logits(a), &chosen(c), 5, DType::F32)[0];
            let sure = log_prob(a, 2);
            assert!((-1e-32..=0.0).contains(&sure), "{sure}");
            assert_eq!(log_prob(a, 0), -f64::from(a) * variables as f64);
            let unlikely = -(f64::from(a) + 4f64.ln()) * variables as f64;
            assert!((log_prob(-a, 2) / unlikely - 1.0).abs() <= ROUNDING);
            for (a, c) in [(a, 0), (a, 2), (-a, 0), (-a, 2)] {
                check(&logits(a), &chosen(c), 5);
            }
        }
    }
}

#[test]
fn a_not_a_number_logit_is_seen_in_its_row_and_variable_alone() {
    let classes = 4;
    for column in [1, 17] {
        let mut logits = Matrix::symmetric([2, 18], 2.0, 4);
        logits.row_mut(1)[column] = f32::NAN;
        let weights = Matrix::uniform([1, 2], 6);
        let values = one_hot(2, 6, classes, 5);
        let found = outcome(&logits, &values, classes, &weights, DType::F32);
        assert!(found.log_prob[0].is_finite() && found.log_prob[1].is_nan());
        for (i, gradient) in found.in_logits.iter().enumerate() {
            let touched = i / 18 == 1 && i % 18 / 3 == column / 3;
            assert_eq!(gradient.is_nan(), touched, "element {i}");
        }
    }
}

/// Rows whose log-density is −∞ or not a number, under a coefficient of zero.
#[test]
fn rows_of_no_weight_do_not_reach_the_gradient_of_logits_and_values() {
    for dtype in [DType::F32, DType::F64] {
        let mut logits = Matrix::symmetric([6, 18], 2.0, 1);
        for (n, bad) in [(1, f32::NEG_INFINITY), (2, f32::NAN), (4, f32::INFINITY)] {
            logits.row_mut(n)[7] = bad;
        }
        let weights = Matrix {
            rows: 1,
            columns: 6,
            elements: vec![0.5, 0.0, 0.0, -1.5, 0.0, 2.0],
        };
        let found = outcome(&logits, &one_hot(6, 6, 4, 2), 4, &weights, dtype);
        let kept = |gradient: &[f64], n: usize| -> Vec<f64> {
            let width = gradient.len() / 6;
            gradient[n * width..][..width].to_vec()
        };
        for n in 0..6 {
            let in_logits = kept(&found.in_logits, n);
            let in_values = kept(&found.in_values, n);
            let live = weights.at(0, n) != 0.0;
            assert!(
                in_logits
                    .iter()
                    .all(|g| g.is_finite() && (*g != 0.0) == live)
            );
            assert!(in_values.iter().all(|g| g.is_finite()));
            assert_eq!(in_values.iter().any(|g| *g != 0.0), live);
        }
    }
}

#[test]
fn all_logits_are_the_given_ones_after_a_zero() {
    let logits = Matrix::symmetric([2, 6], 1.0, 1);
    for dtype in [DType::F32, DType::F64] {
        let all = pinned_logits::<Flex>(logits.tensor(dtype), 3);
        assert_eq!((all.dims(), all.dtype()), ([2, 3, 3], dtype));
        let given = logits
            .elements
            .chunks(2)
            .flat_map(|pair| [0.0, pair[0], pair[1]]);
        assert_eq!(read(all), given.map(f64::from).collect::<Vec<_>>());
    }
}

fn zeros(rows: usize, columns: usize) -> Tensor<Flex, 2> {
    Matrix::uniform([rows, columns], 0).tensor(DType::F32)
}

#[test]
#[should_panic(expected = "1 classes: give at least 2")]
fn one_class_is_refused() {
    categorical_log_prob(zeros(1, 4), zeros(1, 4), 1);
}

#[test]
#[should_panic(expected = "5 columns of logits are not 2 a variable")]
fn columns_that_are_no_variables_are_refused() {
    categorical_log_prob(zeros(1, 5), zeros(1, 6), 3);
}

#[test]
#[should_panic(expected = "logits and values differ in variables")]
fn values_of_other_variables_are_refused() {
    categorical_log_prob(zeros(1, 4), zeros(1, 4), 3);
}
