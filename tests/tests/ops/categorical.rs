//! Categorical log-probabilities and their gradients: the fast path in f32 against the portable definition in f64, and
//! that against the formula.

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_ops::{bernoulli_log_prob, categorical_log_prob};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// Log-probabilities, and the gradients of Σ_n c_n log p_n in logits and values.
pub struct Outcome {
    pub log_prob: Vec<f64>,
    pub in_logits: Vec<f64>,
    pub in_values: Vec<f64>,
}

pub fn outcome(
    logits: &Matrix,
    values: &Matrix,
    classes: usize,
    weights: &Matrix,
    dtype: DType,
) -> Outcome {
    let logits = logits.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let values = values.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let log_prob = categorical_log_prob(logits.clone(), values.clone(), classes);
    let gradients = (log_prob.clone() * weights.vector(dtype)).sum().backward();
    Outcome {
        log_prob: read(log_prob),
        in_logits: read(logits.grad(&gradients).unwrap()),
        in_values: read(values.grad(&gradients).unwrap()),
    }
}

pub fn value_alone(logits: &Matrix, values: &Matrix, classes: usize, dtype: DType) -> Vec<f64> {
    let (logits, values) = (logits.tensor::<Flex>(dtype), values.tensor(dtype));
    read(categorical_log_prob(logits, values, classes))
}

/// Rows of one-hot values.
pub fn one_hot(rows: usize, variables: usize, classes: usize, seed: u64) -> Matrix {
    let chosen = Matrix::uniform([rows, variables], seed).map(|u| (u * classes as f32).floor());
    let value = |&chosen: &f32| (0..classes).map(move |c| f32::from(u8::from(c as f32 == chosen)));
    Matrix {
        rows,
        columns: variables * classes,
        elements: chosen.elements.iter().flat_map(value).collect(),
    }
}

/// Holds the fast path to its rounding errors.
///
/// With ρ = 2⁻²⁴, f32 errs
/// * in ln Σ_c e^(φ − m) by at most ρ (3 C / 2 + 5): x = φ − m is rounded, and e^x errs by 4 ρ and by |x| ρ, which sum to
///   at most 4 ρ and C ρ / e relative to a sum of at least 1; the sum takes C − 1 roundings;
/// * in a log-probability by that for each variable and ρ |log p|, all else being in f64;
/// * in z − softmax(φ) by that and by 9 ρ, for e^x, an inverse, a product and a difference;
/// * in a fold of R rows by R + 1 roundings of each term.
pub fn check(logits: &Matrix, values: &Matrix, classes: usize) {
    let count = logits.rows.max(values.rows);
    let weights = Matrix::symmetric([1, count], 1.0, 3);
    let found = outcome(logits, values, classes, &weights, DType::F32);
    let expected = outcome(logits, values, classes, &weights, DType::F64);
    let normaliser = 1.5 * classes as f64 + 5.0;
    let variables = (values.columns / classes) as f64;
    assert_within("log p", &found.log_prob, &expected.log_prob, |n| {
        ROUNDING * (variables * normaliser + expected.log_prob[n].abs())
    });
    let alone = value_alone(logits, values, classes, DType::F32);
    assert_eq!(alone, found.log_prob, "without a gradient");

    // Σ over the rows n ≡ m of |c_n| · size.
    let folded = |rows: usize, m: usize, size: &dyn Fn(usize) -> f64| -> f64 {
        let rows = (m..count).step_by(rows);
        rows.map(|n| weights.at(0, n).abs() * size(n)).sum()
    };
    let repeats = |rows: usize| (count / rows) as f64;
    assert_within("in logits", &found.in_logits, &expected.in_logits, |i| {
        let roundings = repeats(logits.rows) + normaliser + 10.0;
        ROUNDING * roundings * folded(logits.rows, i / logits.columns, &|_| 1.0)
    });
    assert_within("in values", &found.in_values, &expected.in_values, |i| {
        let (row, column) = (i / values.columns, i % values.columns);
        let size = |n| match column % classes {
            0 => 0.0,
            class => logits
                .at(n, column / classes * (classes - 1) + class - 1)
                .abs(),
        };
        ROUNDING * (repeats(values.rows) + 1.0) * folded(values.rows, row, &size)
    });
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_fast_row_pass_agrees_with_the_portable_one(
        (rows, particles) in (1usize..5, 1usize..5),
        (variables, classes) in (1usize..7, 2usize..13),
        many_logits in any::<bool>(),
        relaxed in any::<bool>(),
        scale in prop::sample::select(vec![0.01f32, 1.0, 6.0, 80.0, 1e4]),
        seed in any::<u64>(),
    ) {
        let (many, few) = (rows * particles, rows);
        let (of_logits, of_values) = if many_logits { (many, few) } else { (few, many) };
        let values = match relaxed {
            true => Matrix::uniform([of_values, variables * classes], seed),
            false => one_hot(of_values, variables, classes, seed),
        };
        let logits = [of_logits, variables * (classes - 1)];
        check(&Matrix::symmetric(logits, scale, seed.wrapping_add(1)), &values, classes);
    }
}

/// The net of table 2 of Ou & Song (2020); so many variables that their product of normalisers overflows f64; many classes.
#[test]
fn wide_rows_agree_too() {
    for (variables, classes) in [(20, 10), (400, 7), (3, 1000)] {
        for scale in [1e-3, 4.0, 80.0, 1e4] {
            let logits = Matrix::symmetric([2, variables * (classes - 1)], scale, 1);
            check(&logits, &one_hot(6, variables, classes, 2), classes);
        }
    }
}

/// In plain f64, also where values of a variable do not sum to one.
#[test]
fn the_portable_definition_is_the_formula() {
    let (variables, classes) = (4, 3);
    let logits = Matrix::symmetric([2, variables * (classes - 1)], 3.0, 1);
    for values in [
        one_hot(6, variables, classes, 2),
        Matrix::uniform([6, variables * classes], 3),
    ] {
        let found = value_alone(&logits, &values, classes, DType::F64);
        let expected: Vec<f64> = (0..6)
            .map(|n| {
                let variable = |v: usize| {
                    let phi = |c: usize| {
                        if c == 0 {
                            0.0
                        } else {
                            logits.at(n, v * (classes - 1) + c - 1)
                        }
                    };
                    let linear = (0..classes).map(|c| values.at(n, v * classes + c) * phi(c));
                    let sum: f64 = (0..classes).map(|c| phi(c).exp()).sum();
                    linear.sum::<f64>() - sum.ln()
                };
                (0..variables).map(variable).sum()
            })
            .collect();
        assert_within("log p", &found, &expected, |_| 1e-13);
    }
}

#[test]
fn two_classes_are_a_bit() {
    let (logits, bits) = (Matrix::symmetric([3, 5], 4.0, 1), Matrix::bits([6, 5], 2));
    let elements = bits.elements.iter().flat_map(|&b| [1.0 - b, b]).collect();
    let values = Matrix {
        rows: 6,
        columns: 10,
        elements,
    };
    let found = value_alone(&logits, &values, 2, DType::F64);
    let as_bits = bernoulli_log_prob::<Flex>(logits.tensor(DType::F64), bits.tensor(DType::F64));
    assert_within("log p", &found, &read(as_bits), |_| 1e-13);
}

#[test]
fn equal_logits_give_minus_log_of_the_classes_each_variable() {
    for (variables, classes) in [(1, 2), (20, 10), (500, 64)] {
        let logits = Matrix::uniform([1, variables * (classes - 1)], 0).map(|_| 0.0);
        let expected = -(variables as f64) * (classes as f64).ln();
        let values = one_hot(3, variables, classes, 1);
        for log_prob in value_alone(&logits, &values, classes, DType::F32) {
            assert!((log_prob / expected - 1.0).abs() <= ROUNDING);
        }
    }
}

fn transposed(matrix: &Matrix) -> Matrix {
    let column = |d: usize| (0..matrix.rows).map(move |n| matrix.row(n)[d]);
    Matrix {
        rows: matrix.columns,
        columns: matrix.rows,
        elements: (0..matrix.columns).flat_map(column).collect(),
    }
}

#[test]
fn views_of_larger_tensors_are_read_right() {
    let logits = Matrix::symmetric([20, 36], 3.0, 1);
    let values = one_hot(20, 12, 4, 2);
    let log_prob = |dtype| {
        // Seven variables out of the middle; then all, stored by columns.
        let sliced = categorical_log_prob(
            logits.tensor::<Flex>(dtype).slice([3..11, 6..27]),
            values.tensor(dtype).slice([1..9, 4..32]),
            4,
        );
        let by_columns = |matrix: &Matrix| transposed(matrix).tensor::<Flex>(dtype).transpose();
        let turned = categorical_log_prob(by_columns(&logits), by_columns(&values), 4);
        [read(sliced), read(turned)].concat()
    };
    let (found, expected) = (log_prob(DType::F32), log_prob(DType::F64));
    assert_within("log p", &found, &expected, |n| {
        ROUNDING * (12.0 * 11.0 + expected[n].abs())
    });
}
