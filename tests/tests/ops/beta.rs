//! Log-densities of beta laws and their gradients: the fast path in f32 against the portable definition in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::beta_log_prob;
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// log p, and the gradients of Σ c ∘ log p in a, b and x.
fn outcome([a, b, x, c]: [&Matrix; 4], dtype: DType) -> [Vec<f64>; 4] {
    let own = |matrix: &Matrix| matrix.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let all = [a, b, x].map(own);
    let [a, b, x] = all.clone();
    let log_p = beta_log_prob(a, b, x);
    let gradients = (log_p.clone() * c.tensor(dtype)).sum().backward();
    let [in_a, in_b, in_x] = all.map(|tensor| read(tensor.grad(&gradients).unwrap()));
    [read(log_p), in_a, in_b, in_x]
}

/// a and b from e⁻¹⁰ to e¹⁰, x near their mean or anywhere.
fn laws(shape: [usize; 2], near: bool, seed: u64) -> [Matrix; 3] {
    let spread = |own: u64| Matrix::symmetric(shape, 10.0, seed.wrapping_add(own)).map(f32::exp);
    let (a, b) = (spread(0), spread(1));
    let mut x = Matrix::uniform(shape, seed.wrapping_add(2));
    for (at, x) in x.elements.iter_mut().enumerate() {
        let mean = a.elements[at] / (a.elements[at] + b.elements[at]);
        let there = if near { mean * (0.98 + 0.04 * *x) } else { *x };
        *x = there.clamp(1e-6, 1.0 - 1e-6);
    }
    [a, b, x]
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn log_densities_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..40],
        near in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let [a, b, x] = laws(shape, near, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(3));
        let all = [&a, &b, &x, &c];
        let (found, expected) = (outcome(all, DType::F32), outcome(all, DType::F64));
        let at = |matrix: &Matrix, i: usize| f64::from(matrix.elements[i]);
        // Eight roundings of the arguments of a ln and of b ln, and of what they come to; a few of the rest.
        let value = |i: usize| {
            let (a, b) = (at(&a, i), at(&b, i));
            let (x, mean) = (at(&x, i), a / (a + b));
            let far = a * (x / mean).ln().abs() + b * ((1.0 - x) / (1.0 - mean)).ln().abs();
            8.0 * (a + b + far + 40.0) * ROUNDING
        };
        assert_within("log p", &found[0], &expected[0], value);
        // Sixteen roundings of logarithms and digammas, of which that of a small number is its reciprocal.
        let slope = |of: &Matrix, i: usize| {
            let sizes = 40.0 + 1.0 / at(of, i) + 1.0 / (at(&a, i) + at(&b, i));
            16.0 * sizes * ROUNDING
        };
        assert_within("in a", &found[1], &expected[1], |i| slope(&a, i));
        assert_within("in b", &found[2], &expected[2], |i| slope(&b, i));
        // Of the difference of two terms, each of three roundings.
        let in_x = |i: usize| {
            let terms = (at(&a, i) + 1.0) / at(&x, i) + (at(&b, i) + 1.0) / (1.0 - at(&x, i));
            8.0 * terms * ROUNDING
        };
        assert_within("in x", &found[3], &expected[3], in_x);
    }
}

/// Three log-gammas subtracted in f32 are further off where a and b are large.
#[test]
fn log_gammas_subtracted_are_less_exact() {
    let [a, b, x] = [(15_000.0f32, 0.3f32), (7_000.0, 0.1)]
        .map(|(c, mean)| [c * mean, c * (1.0 - mean), mean])[0];
    let one = |value: f32| Matrix::uniform([1, 1], 0).map(|_| value);
    let c = one(1.0);
    let [a, b, x] = [a, b, x].map(one);
    let error = |found: f64| (found - outcome([&a, &b, &x, &c], DType::F64)[0][0]).abs();
    let fast = outcome([&a, &b, &x, &c], DType::F32)[0][0];
    let [a32, b32, x32] = [&a, &b, &x].map(|m| m.vector::<Flex>(DType::F32));
    let log_gamma = helmholtz_ops::log_gamma::<Flex, 1>;
    let log_norm =
        log_gamma(a32.clone()) + log_gamma(b32.clone()) - log_gamma(a32.clone() + b32.clone());
    let naive: Tensor<Flex, 1> =
        (a32 - 1.0) * x32.clone().log() + (b32 - 1.0) * x32.neg().log1p() - log_norm;
    assert!(error(fast) < 3e-3, "{}", error(fast));
    assert!(error(read(naive)[0]) > 3.0 * error(fast));
}

#[test]
fn outside_the_interval_there_is_no_density() {
    let one = |value: f32| Matrix::uniform([1, 1], 0).map(|_| value);
    for (a, b, x) in [
        (2.0, 2.0, -0.1),
        (2.0, 2.0, 1.5),
        (-1.0, 2.0, 0.5),
        (2.0, -1.0, 0.5),
    ] {
        for dtype in [DType::F32, DType::F64] {
            let found = outcome([&one(a), &one(b), &one(x), &one(1.0)], dtype)[0][0];
            assert!(!found.is_finite(), "{a} {b} {x}: {found}");
            let without = outcome([&one(a), &one(b), &one(x), &one(0.0)], dtype);
            assert_eq!(without[1..], [[0.0], [0.0], [0.0]], "no part in the sum");
        }
    }
}

/// What is no number makes the gradients none, and very small parameters are no exception to the formula.
#[test]
fn the_edges_are_as_in_f64() {
    let one = |value: f32| Matrix::uniform([1, 1], 0).map(|_| value);
    let of = |a, b, x, dtype| outcome([&one(a), &one(b), &one(x), &one(1.0)], dtype);
    for dtype in [DType::F32, DType::F64] {
        let [_, in_a, in_b, in_x] = of(f32::NAN, 2.0, 0.5, dtype);
        assert!(in_a[0].is_nan() && in_b[0].is_nan() && in_x[0].is_nan());
    }
    for (a, b, x) in [(1e-20, 1e-20, 0.5), (1e-15, 3.0, 0.25), (2.0, 1e-18, 0.9)] {
        let [fast, exact] = [DType::F32, DType::F64].map(|dtype| of(a, b, x, dtype)[0][0]);
        assert!((fast - exact).abs() < 2e-4, "{a} {b} {x}: {fast}, {exact}");
    }
}

/// The gradients in a and in b exchanged.
#[test]
fn gradients_that_are_wrong_are_caught() {
    let shape = [2, 20];
    let [a, b, x] = laws(shape, true, 5);
    let c = Matrix::symmetric(shape, 1.0, 6);
    let right = outcome([&a, &b, &x, &c], DType::F64);
    let [_, in_a, in_b, _] = outcome([&a, &b, &x, &c], DType::F32);
    let off = |found: &[f64], expected: &[f64]| {
        let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max)
    };
    assert!(off(&in_a, &right[1]) < 0.1 && off(&in_b, &right[1]) > 1.0);
}
