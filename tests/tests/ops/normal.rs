//! Log-densities of data under normals: the fast path in f32 against the portable definition in f64, and that against the
//! formula.

use std::f64::consts::PI;

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{Backend, normal_log_probs, own_normal_log_probs};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// R, N, G, M, D.
type Shape = [usize; 5];

/// Values, means, precisions.
type Parts = [Matrix; 3];

fn parts([r, n, g, m, d]: Shape, seed: u64) -> Parts {
    let matrix = |rows, scale, own| Matrix::symmetric([rows, d], scale, seed.wrapping_add(own));
    let precisions = matrix(g * m, 3.0, 2).map(f32::exp);
    [matrix(r * n, 5.0, 0), matrix(g * m, 5.0, 1), precisions]
}

fn found<B: Backend>([r, n, g, m, d]: Shape, parts: &Parts, dtype: DType) -> Vec<f64> {
    let tensor = |i: usize, rows, columns| parts[i].tensor::<B>(dtype).reshape([rows, columns, d]);
    let log_probs = normal_log_probs(tensor(0, r, n), tensor(1, g, m), tensor(2, g, m));
    assert_eq!(log_probs.dims(), [g, n, m]);
    read(log_probs)
}

/// The log-densities, and the sums of the sizes of their terms.
fn by_hand([r, n, g, m, d]: Shape, [x, mu, tau]: &Parts) -> Vec<[f64; 2]> {
    let pairs = (0..g * n * m).map(|at| (at / (n * m), at / m % n, at % m));
    let pairs = pairs.map(|(group, i, j)| {
        let (datum, normal) = (group % r * n + i, group * m + j);
        let terms = (0..d).map(|k| {
            let tau = tau.at(normal, k);
            let energy = 0.5 * tau * (x.at(datum, k) - mu.at(normal, k)).powi(2);
            let norm = 0.5 * (tau / (2.0 * PI)).ln();
            [norm - energy, energy + 0.5 * tau.ln().abs() + 1.0]
        });
        terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
    });
    pairs.collect()
}

proptest! {
    #![proptest_config(cases(100))]

    /// A term takes at most 6 roundings, and a sum of D of them D.
    #[test]
    fn fast_log_densities_agree_with_the_portable_ones_and_those_with_the_formula(
        (r, cycles, n, m, d) in (1usize..4, 1usize..4, 1usize..7, 1usize..5, 1usize..4),
        seed in any::<u64>(),
    ) {
        let shape = [r, n, r * cycles, m, d];
        let parts = parts(shape, seed);
        let expected = by_hand(shape, &parts);
        let values: Vec<f64> = expected.iter().map(|[value, _]| *value).collect();
        let portable = found::<Flex>(shape, &parts, DType::F64);
        assert_within("portable", &portable, &values, |i| 1e-14 * (1.0 + expected[i][1]));
        let bound = |i: usize| (6.0 + d as f64) * ROUNDING * expected[i][1];
        assert_within("fast", &found::<Flex>(shape, &parts, DType::F32), &values, bound);
        let untracked = found::<Autodiff<Flex>>(shape, &parts, DType::F32);
        assert_within("fast, under autodiff", &untracked, &values, bound);
    }
}

/// The same, each datum under its own: classes `[G N, M]`, one-hot.
fn own<B: Backend>(
    [r, n, g, m, d]: Shape,
    parts: &Parts,
    classes: &Matrix,
    dtype: DType,
) -> Vec<f64> {
    let tensor = |i: usize, rows, columns| parts[i].tensor::<B>(dtype).reshape([rows, columns, d]);
    let classes = classes.tensor::<B>(dtype).reshape([g, n, m]);
    let (means, precisions) = (tensor(1, g, m), tensor(2, g, m));
    let log_probs = own_normal_log_probs(tensor(0, r, n), classes, means, precisions);
    assert_eq!(log_probs.dims(), [g, n]);
    read(log_probs)
}

/// One class a row, drawn.
fn classes(rows: usize, classes: usize, seed: u64) -> Matrix {
    let mut one_hot = Matrix::uniform([rows, classes], 0).map(|_| 0.0);
    for (row, u) in Matrix::uniform([1, rows], seed)
        .elements
        .into_iter()
        .enumerate()
    {
        one_hot.row_mut(row)[(u * classes as f32) as usize] = 1.0;
    }
    one_hot
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn own_log_densities_are_those_of_the_pairs(
        (r, cycles, n, m, d) in (1usize..4, 1usize..4, 1usize..40, 1usize..5, 1usize..4),
        seed in any::<u64>(),
    ) {
        let shape = [r, n, r * cycles, m, d];
        let parts = parts(shape, seed);
        let classes = classes(r * cycles * n, m, seed.wrapping_add(9));
        let all = by_hand(shape, &parts);
        let expected = (0..r * cycles * n).map(|row| {
            let class = classes.row(row).iter().position(|&c| c == 1.0);
            all[row * m + class.expect("a class")]
        });
        let expected: Vec<[f64; 2]> = expected.collect();
        let values: Vec<f64> = expected.iter().map(|[value, _]| *value).collect();
        let portable = own::<Flex>(shape, &parts, &classes, DType::F64);
        assert_within("portable", &portable, &values, |i| 1e-14 * (1.0 + expected[i][1]));
        let bound = |i: usize| (6.0 + d as f64) * ROUNDING * expected[i][1];
        let fast = own::<Autodiff<Flex>>(shape, &parts, &classes, DType::F32);
        assert_within("fast", &fast, &values, bound);
    }
}

/// The gradients of Σ c ∘ log p in values, means and precisions.
fn own_gradients(
    [r, n, g, m, d]: Shape,
    parts: &Parts,
    [classes, c]: [&Matrix; 2],
    dtype: DType,
) -> [Vec<f64>; 3] {
    let tensor = |i: usize, rows, columns| {
        let tensor = parts[i].tensor::<Autodiff<Flex>>(dtype);
        tensor.reshape([rows, columns, d]).require_grad()
    };
    let all = [tensor(0, r, n), tensor(1, g, m), tensor(2, g, m)];
    let [values, means, precisions] = all.clone();
    let classes = classes.tensor(dtype).reshape([g, n, m]);
    let log_probs = own_normal_log_probs(values, classes, means, precisions);
    let c = c.tensor(dtype).reshape([g, n]);
    let gradients = (log_probs * c).sum().backward();
    all.map(|tensor| read(tensor.grad(&gradients).expect("a gradient")))
}

proptest! {
    #![proptest_config(cases(100))]

    /// Sums of at most G M or N terms of at most τ δ, 1/τ or δ², with precisions from e⁻³ to e³ and |δ| ≤ 10.
    #[test]
    fn fast_gradients_of_own_log_densities_agree_with_the_portable_ones(
        (r, cycles, n, m, d) in (1usize..4, 1usize..4, 1usize..40, 1usize..5, 1usize..4),
        seed in any::<u64>(),
    ) {
        let shape = [r, n, r * cycles, m, d];
        let parts = parts(shape, seed);
        let classes = classes(r * cycles * n, m, seed.wrapping_add(9));
        let c = Matrix::symmetric([1, r * cycles * n], 1.0, seed.wrapping_add(10));
        let of = |dtype| own_gradients(shape, &parts, [&classes, &c], dtype);
        let (found, expected) = (of(DType::F32), of(DType::F64));
        let terms = n as f64 + 8.0;
        for (i, size) in [200.0, 200.0, 100.0].into_iter().enumerate() {
            let bound = size * terms * terms * ROUNDING;
            assert_within("gradients", &found[i], &expected[i], |_| bound);
        }
    }
}

/// One datum of more dimensions than there are data and classes.
#[test]
fn own_log_densities_of_one_datum() {
    let shape = [1, 1, 1, 1, 3];
    let (parts, classes) = (parts(shape, 1), classes(1, 1, 2));
    let c = Matrix::uniform([1, 1], 3);
    let of = |dtype| own::<Flex>(shape, &parts, &classes, dtype);
    assert_within("densities", &of(DType::F32), &of(DType::F64), |_| 1e-3);
    let of = |dtype| own_gradients(shape, &parts, [&classes, &c], dtype);
    for (found, expected) in of(DType::F32).iter().zip(&of(DType::F64)) {
        assert_within("gradients", found, expected, |_| 1e-3);
        assert!(found.iter().all(|&g| g != 0.0));
    }
}

/// No data have no log-densities, and their normals no gradient.
#[test]
fn own_log_densities_of_nothing() {
    let device = Default::default();
    let normals = || Tensor::<Autodiff<Flex>, 3>::ones([1, 2, 3], &device).require_grad();
    let (means, precisions) = (normals(), normals());
    let log_probs = own_normal_log_probs(
        Tensor::zeros([1, 0, 3], &device),
        Tensor::zeros([1, 0, 2], &device),
        means.clone(),
        precisions.clone(),
    );
    assert_eq!(log_probs.dims(), [1, 0]);
    let gradients = log_probs.sum().backward();
    for normals in [means, precisions] {
        assert_eq!(
            read(normals.grad(&gradients).expect("a gradient")),
            [0.0; 6]
        );
    }
}

/// Without a coefficient, or as another's, a normal that is none has no gradient and spoils none.
#[test]
fn the_gradients_of_others_are_nothing() {
    let shape = [1, 20, 1, 3, 2];
    let mut parts = parts(shape, 3);
    parts[1].row_mut(1).fill(f32::NAN);
    let classes = classes(20, 3, 4);
    let mut c = Matrix::symmetric([1, 20], 1.0, 5);
    for (row, c) in c.elements.iter_mut().enumerate() {
        *c = if classes.row(row)[1] == 1.0 { 0.0 } else { *c };
    }
    for dtype in [DType::F32, DType::F64] {
        for gradient in own_gradients(shape, &parts, [&classes, &c], dtype) {
            assert!(gradient.iter().all(|g| g.is_finite()));
        }
    }
}

/// A normal that is none spoils the data that are its own, and no other.
#[test]
fn the_densities_of_others_count_for_nothing() {
    let shape = [1, 20, 1, 3, 2];
    let mut parts = parts(shape, 3);
    parts[1].row_mut(1).fill(f32::NAN);
    let classes = classes(20, 3, 4);
    for dtype in [DType::F32, DType::F64] {
        for (row, value) in own::<Flex>(shape, &parts, &classes, dtype)
            .iter()
            .enumerate()
        {
            assert_eq!(value.is_nan(), classes.row(row)[1] == 1.0);
        }
    }
}

/// Classes of another group.
#[test]
fn own_log_densities_that_are_wrong_are_caught() {
    let shape = [2, 30, 2, 3, 2];
    let parts = parts(shape, 7);
    let mut classes = classes(60, 3, 8);
    let right = own::<Flex>(shape, &parts, &classes, DType::F32);
    classes.elements.rotate_left(90);
    let wrong = own::<Flex>(shape, &parts, &classes, DType::F64);
    let off = wrong
        .iter()
        .zip(&right)
        .filter(|(a, b)| (*a - *b).abs() > 1e-2);
    assert!(off.count() > 20);
}

/// Groups that meet the values of another, and a precision taken for a variance.
#[test]
fn log_densities_that_are_wrong_are_caught() {
    let shape = [2, 3, 4, 2, 2];
    let parts = parts(shape, 7);
    let right = found::<Flex>(shape, &parts, DType::F32);
    let off = |wrong: &Parts| {
        let wrong = by_hand(shape, wrong).into_iter().zip(&right);
        wrong
            .filter(|([value, _], right)| (value - *right).abs() > 1e-2)
            .count()
    };
    assert_eq!(off(&parts), 0);
    let mut turned = parts.clone();
    turned[0].elements.rotate_left(6);
    assert_eq!(off(&turned), right.len());
    let mut inverted = parts.clone();
    inverted[2] = inverted[2].clone().map(f32::recip);
    assert_eq!(off(&inverted), right.len());
}
