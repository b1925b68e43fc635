//! Log-probabilities of rows and their gradients: the fast path in f32 against the portable definition in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{Backend, PackedBits, bernoulli_log_prob};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// Log-probabilities, and the gradients of Σ_n c_n log p_n in logits and values.
struct Outcome {
    log_prob: Vec<f64>,
    in_logits: Vec<f64>,
    in_values: Vec<f64>,
}

fn outcome(logits: &Matrix, values: &Matrix, coefficients: &Matrix, dtype: DType) -> Outcome {
    let logits = logits.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let values = values.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let log_prob = bernoulli_log_prob(logits.clone(), values.clone());
    let gradients = (log_prob.clone() * coefficients.vector(dtype))
        .sum()
        .backward();
    Outcome {
        log_prob: read(log_prob),
        in_logits: read(logits.grad(&gradients).unwrap()),
        in_values: read(values.grad(&gradients).unwrap()),
    }
}

/// Holds the fast path to its rounding errors.
///
/// With ρ = 2⁻²⁴ and D columns, f32 errs in a log-probability by at most
/// * ρ (D/16 + 5) Σ|a|: each term v·a − max(a, 0) is two roundings of numbers up to |a|, summed in 16 lanes;
/// * 6 ρ D: each factor 1 + e^−|a| (e to 2 units in the last place, a sum, a product) in its logarithm;
/// * ρ |log p|: the result.
///
/// The derivative v − σ(a) errs by at most 8 ρ, and folding R rows costs R + 1 roundings of each term.
fn check(logits: &Matrix, values: &Matrix) {
    let count = logits.rows.max(values.rows);
    let columns = logits.columns;
    let coefficients = Matrix::symmetric([1, count], 1.0, 3);
    let found = outcome(logits, values, &coefficients, DType::F32);
    let expected = outcome(logits, values, &coefficients, DType::F64);
    assert_within("log p", &found.log_prob, &expected.log_prob, |n| {
        let magnitude: f64 = logits.row(n).iter().map(|a| f64::from(a.abs())).sum();
        let columns = columns as f64;
        ROUNDING * ((columns / 16.0 + 5.0) * magnitude + 6.0 * columns + expected.log_prob[n].abs())
    });
    assert_eq!(
        value_alone(logits, values),
        found.log_prob,
        "without a gradient"
    );

    // Σ over the rows n ≡ m of |c_n| · size.
    let folded = |rows: usize, m: usize, size: &dyn Fn(usize) -> f64| -> f64 {
        let rows = (m..count).step_by(rows);
        rows.map(|n| coefficients.at(0, n).abs() * size(n)).sum()
    };
    let repeats = |rows: usize| (count / rows) as f64;
    assert_within("in logits", &found.in_logits, &expected.in_logits, |i| {
        ROUNDING * (repeats(logits.rows) + 9.0) * folded(logits.rows, i / columns, &|_| 1.0)
    });
    assert_within("in values", &found.in_values, &expected.in_values, |i| {
        let size = |n| logits.at(n, i % columns).abs();
        ROUNDING * (repeats(values.rows) + 1.0) * folded(values.rows, i / columns, &size)
    });
}

fn value_alone(logits: &Matrix, values: &Matrix) -> Vec<f64> {
    read(bernoulli_log_prob::<Flex>(
        logits.tensor(DType::F32),
        values.tensor(DType::F32),
    ))
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_fast_row_pass_agrees_with_the_portable_one(
        (rows, particles, columns) in (1usize..5, 1usize..5, 1usize..41),
        many_logits in any::<bool>(),
        relaxed in any::<bool>(),
        scale in prop::sample::select(vec![0.01f32, 1.0, 6.0, 80.0, 1e4]),
        seed in any::<u64>(),
    ) {
        let (few, many) = ([rows, columns], [rows * particles, columns]);
        let (of_logits, of_values) = if many_logits { (many, few) } else { (few, many) };
        let values = Matrix::uniform(of_values, seed);
        let values = if relaxed { values } else { Matrix::bits(of_values, seed) };
        check(&Matrix::symmetric(of_logits, scale, seed.wrapping_add(1)), &values);
    }
}

/// 784 pixels; 960 and 976, where the lane products have just been, and are just about to be, turned into a logarithm;
/// 2000, several such turns.
#[test]
fn wide_rows_agree_too() {
    for columns in [784, 959, 960, 961, 976, 2000] {
        for scale in [1e-3, 4.0, 80.0, 1e4] {
            let logits = Matrix::symmetric([2, columns], scale, 1);
            check(&logits, &Matrix::bits([6, columns], 2));
        }
    }
}

/// At a = 0 every factor is 2: the largest product of all.
#[test]
fn zero_logits_give_minus_columns_log_2() {
    for columns in [1, 16, 784, 2000] {
        let logits = Matrix::uniform([1, columns], 0).map(|_| 0.0);
        let values = Matrix::bits([3, columns], 1);
        check(&logits, &values);
        let expected = -(columns as f64) * std::f64::consts::LN_2;
        for log_prob in value_alone(&logits, &values) {
            assert!((log_prob / expected - 1.0).abs() <= ROUNDING);
        }
    }
}

#[test]
fn sure_bits_have_log_probability_zero_and_unlikely_ones_minus_the_logit() {
    for a in [80.0f32, 1e4] {
        for columns in [3, 20] {
            let mut logits = Matrix::uniform([2, columns], 0).map(|_| a);
            logits.row_mut(1).fill(-a);
            let ones = Matrix::uniform([2, columns], 0).map(|_| 1.0);
            let [sure, unlikely] = value_alone(&logits, &ones).try_into().unwrap();
            // e^−80 is 2·10⁻³⁵.
            assert!((-1e-33..=0.0).contains(&sure), "{sure}");
            assert_eq!(unlikely, -f64::from(a) * columns as f64);
            check(&logits, &ones);
        }
    }
}

/// Beyond a logit of 10 the log-probability of a likely bit is a small number, and right to f32's precision all the same: as
/// Σ ln(1 + e^−|a|) in f64, of numbers and of packed bits, and of one row of logits that meets several rows.
#[test]
fn small_log_probabilities_are_good_to_their_own_size() {
    for columns in [1, 3, 20, 200] {
        for rows in [1, 3] {
            let logits = Matrix::symmetric([1, columns], 1.0, 7);
            let logits = logits.map(|u| 10f32.copysign(u) + 30.0 * u);
            let likely = logits.clone().map(|a| f32::from(u8::from(a > 0.0)));
            let expected: f64 = logits.row(0).iter().map(|&a| tail(a)).sum();
            let elements = likely.elements.repeat(rows);
            let values = Matrix {
                rows,
                columns,
                elements,
            };
            let numbers: Tensor<Flex, 2> = values.tensor(DType::F32);
            let bits = PackedBits::of(numbers);
            let of_bits = read(bernoulli_log_prob(logits.tensor(DType::F32), bits));
            for found in [value_alone(&logits, &values), of_bits] {
                assert_eq!(found.len(), rows);
                for found in found {
                    assert!((found / -expected - 1.0).abs() <= 2.0 * ROUNDING);
                }
            }
        }
    }
}

/// ln(1 + e^−|a|).
fn tail(a: f32) -> f64 {
    (-f64::from(a).abs()).exp().ln_1p()
}

#[test]
fn a_not_a_number_logit_is_seen_in_its_row_alone() {
    for column in [2, 18] {
        let mut logits = Matrix::symmetric([2, 20], 2.0, 4);
        logits.row_mut(1)[column] = f32::NAN;
        let values = Matrix::bits([2, 20], 5);
        let coefficients = Matrix::uniform([1, 2], 6);
        let found = outcome(&logits, &values, &coefficients, DType::F32);
        assert!(found.log_prob[0].is_finite() && found.log_prob[1].is_nan());
        for (i, gradient) in found.in_logits.iter().enumerate() {
            assert_eq!(gradient.is_nan(), i == 20 + column, "element {i}");
        }
    }
}

#[test]
fn a_bit_that_cannot_be_has_log_probability_minus_infinity() {
    for column in [2, 18] {
        let mut logits = Matrix::symmetric([1, 20], 2.0, 4);
        logits.row_mut(0)[column] = f32::NEG_INFINITY;
        let ones = Matrix::uniform([1, 20], 0).map(|_| 1.0);
        assert_eq!(value_alone(&logits, &ones), [f64::NEG_INFINITY]);
    }
}

#[test]
fn views_of_larger_tensors_are_read_right() {
    let logits = Matrix::symmetric([20, 37], 3.0, 1);
    let values = Matrix::bits([20, 37], 2);
    let log_prob = |dtype| {
        let view = |matrix: &Matrix| -> [Tensor<Flex, 2>; 3] {
            let whole = matrix.tensor::<Flex>(dtype);
            [
                whole.clone().transpose(),
                whole.clone().slice([3..11, 5..25]).transpose(),
                whole.slice([0..8, 0..37]),
            ]
        };
        let pairs = view(&logits).into_iter().zip(view(&values));
        pairs
            .flat_map(|(logits, values)| read(bernoulli_log_prob(logits, values)))
            .collect::<Vec<_>>()
    };
    assert_within(
        "log p",
        &log_prob(DType::F32),
        &log_prob(DType::F64),
        |_| ROUNDING * (8.0 * 37.0 * 3.0 + 6.0 * 37.0 + 37.0 * 4.0),
    );
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn fast_folding_agrees_with_the_portable_one(
        (folded, repeats, columns) in (1usize..6, 1usize..6, 1usize..41),
        seed in any::<u64>(),
    ) {
        let rows = Matrix::symmetric([folded * repeats, columns], 5.0, seed);
        let weights = Matrix::symmetric([1, rows.rows], 1.0, seed.wrapping_add(1));
        let fold = |dtype| {
            let weights = weights.vector::<Flex>(dtype).into_primitive().tensor();
            let rows = rows.tensor::<Flex>(dtype).into_primitive().tensor();
            let folded = Flex::fold_rows(weights, rows, folded);
            read(Tensor::<Flex, 2>::from_primitive(burn::tensor::TensorPrimitive::Float(folded)))
        };
        assert_within("folded", &fold(DType::F32), &fold(DType::F64), |_| {
            ROUNDING * (repeats as f64 + 1.0) * repeats as f64 * 5.0
        });
    }
}
