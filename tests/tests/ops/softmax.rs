//! Sums weighted by softmaxes and their gradients: the fast path in f32 against the portable definition in f64, and that against
//! the formula.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::softmax_sums;
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// G, N, M, D.
type Shape = [usize; 4];

/// Logits, values, and coefficients of the sums.
struct Case {
    shape: Shape,
    logits: Matrix,
    values: Matrix,
    coefficients: Matrix,
}

/// Sums, and the gradients of Σ (coefficient · sum) in logits and values.
type Outcome = [Vec<f64>; 3];

impl Case {
    fn new(shape: Shape, scale: f32, seed: u64) -> Self {
        let [g, n, m, d] = shape;
        let matrix = |shape, scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
        Self {
            shape,
            logits: matrix([g * n, m], scale, 0),
            values: matrix([g * n, d], 3.0, 1),
            coefficients: matrix([g * m, 1 + d], 1.0, 2),
        }
    }

    fn outcome(&self, dtype: DType, transposed: bool) -> Outcome {
        let [g, n, m, d] = self.shape;
        let lay = |matrix: &Matrix, columns| {
            let tensor = matrix.tensor::<Autodiff<Flex>>(dtype);
            let tensor = tensor.reshape([g, n, columns]);
            let tensor = match transposed {
                true => {
                    let data = tensor.swap_dims(1, 2).into_data();
                    Tensor::from_data(data, (&Default::default(), dtype)).swap_dims(1, 2)
                }
                false => tensor,
            };
            tensor.require_grad()
        };
        let (logits, values) = (lay(&self.logits, m), lay(&self.values, d));
        let sums = softmax_sums(logits.clone(), values.clone());
        assert_eq!(sums.dims(), [g, m, 1 + d]);
        let coefficients = self.coefficients.tensor(dtype).reshape([g, m, 1 + d]);
        let gradients = (sums.clone() * coefficients).sum().backward();
        let gradient = |of: Tensor<_, 3>| read(of.grad(&gradients).expect("a gradient"));
        [read(sums), gradient(logits), gradient(values)]
    }

    /// The same by loops.
    fn by_hand(&self) -> Outcome {
        let [g, n, m, d] = self.shape;
        let mut sums = vec![0.0; g * m * (1 + d)];
        let (mut of_logits, mut of_values) = (vec![], vec![]);
        for row in 0..g * n {
            let group = row / n;
            let exp = |k: usize| (self.logits.at(row, k) - self.logits.at(row, 0)).exp();
            let norm: f64 = (0..m).map(exp).sum();
            let weight = |k: usize| exp(k) / norm;
            let entry = |j: usize| {
                if j == 0 {
                    1.0
                } else {
                    self.values.at(row, j - 1)
                }
            };
            let coefficient = |k: usize, j: usize| self.coefficients.at(group * m + k, j);
            let of_weight =
                |k: usize| -> f64 { (0..=d).map(|j| coefficient(k, j) * entry(j)).sum() };
            let mean: f64 = (0..m).map(|k| weight(k) * of_weight(k)).sum();
            for k in 0..m {
                of_logits.push(weight(k) * (of_weight(k) - mean));
                for j in 0..=d {
                    sums[(group * m + k) * (1 + d) + j] += weight(k) * entry(j);
                }
            }
            for j in 1..=d {
                of_values.push((0..m).map(|k| weight(k) * coefficient(k, j)).sum());
            }
        }
        [sums, of_logits, of_values]
    }
}

/// With ρ = 2⁻²⁴, |logits| ≤ s, |values| ≤ 3 and coefficients of at most 1, f32 errs
/// * in a weight, relatively, by w = 2 (2 s + 4) + M + 3 roundings, from the difference of logits, the exponentials, their sum and
///   the quotient; an exponential below e⁻⁸⁷ is taken for that;
/// * in a sum of N terms by N + 1 of each more;
/// * in a slope a, |a| ≤ A = 1 + 3 D, by D + 2 of A, in their mean by w + M more, and in the difference of both by their sum.
fn bounds([_, n, m, d]: Shape, scale: f64) -> [f64; 3] {
    let [n, m, d] = [n, m, d].map(|size| size as f64);
    let weight = 2.0 * (2.0 * scale + 4.0) + m + 3.0;
    let slope = 1.0 + 3.0 * d;
    [
        3.0 * n * (weight + n + 1.0) * ROUNDING,
        2.0 * slope * (d + 4.0 + weight + m) * ROUNDING,
        (weight + m + 1.0) * ROUNDING,
    ]
}

fn assert_agree(found: &Outcome, expected: &Outcome, bounds: [f64; 3]) {
    for (i, name) in ["sums", "in logits", "in values"].into_iter().enumerate() {
        assert_within(name, &found[i], &expected[i], |_| bounds[i]);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn fast_sums_agree_with_the_portable_ones_and_those_with_the_formula(
        shape in [1usize..4, 1usize..20, 1usize..6, 1usize..5],
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0, 200.0]),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let case = Case::new(shape, scale, seed);
        let portable = case.outcome(DType::F64, transposed);
        assert_agree(&portable, &case.by_hand(), [1e-11; 3]);
        let fast = case.outcome(DType::F32, transposed);
        assert_agree(&fast, &portable, bounds(shape, f64::from(scale)));
    }
}

/// More data than are summed at a time.
#[test]
fn long_groups_are_summed_in_parts() {
    let shape = [2, 300, 3, 2];
    let case = Case::new(shape, 1.0, 11);
    assert_agree(
        &case.outcome(DType::F32, false),
        &case.by_hand(),
        bounds(shape, 1.0),
    );
}

/// A datum that is no number makes its own group's sums none, and no other's.
#[test]
fn what_is_no_number_stays_so() {
    let [g, n, m, d] = [2, 20, 3, 2];
    for of_logits in [true, false] {
        let mut case = Case::new([g, n, m, d], 1.0, 3);
        let matrix = if of_logits {
            &mut case.logits
        } else {
            &mut case.values
        };
        matrix.row_mut(5)[0] = f32::NAN;
        let [sums, ..] = case.outcome(DType::F32, false);
        let (own, others) = sums.split_at(m * (1 + d));
        let lost = own.iter().filter(|sum| sum.is_nan()).count();
        assert_eq!(lost, if of_logits { m * (1 + d) } else { m });
        assert!(others.iter().all(|sum| sum.is_finite()));
    }
}

/// Coefficients, or values, of another group: gradients and sums are off.
#[test]
fn sums_that_are_wrong_are_caught() {
    let shape = [2, 40, 3, 2];
    let bounds = bounds(shape, 1.0);
    let right = Case::new(shape, 1.0, 4).outcome(DType::F32, false);
    let off = |found: &Outcome, i: usize| {
        let errors = found[i].iter().zip(&right[i]).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max) > 10.0 * bounds[i]
    };
    let mut turned = Case::new(shape, 1.0, 4);
    turned.coefficients.elements.rotate_left(9);
    let turned = turned.by_hand();
    assert!(!off(&turned, 0) && off(&turned, 1) && off(&turned, 2));
    let mut turned = Case::new(shape, 1.0, 4);
    turned.values.elements.rotate_left(80);
    let turned = turned.by_hand();
    assert!(off(&turned, 0) && off(&turned, 1) && !off(&turned, 2));
}
