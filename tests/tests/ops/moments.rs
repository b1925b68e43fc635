//! Moments weighted by softmaxes and their gradients: the fast path in f32 against the portable definition in f64, and that against
//! the formula.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::softmax_moments;
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// L, B, P, M, D.
type Shape = [usize; 5];

struct Case {
    shape: Shape,
    logits: Matrix,
    values: Matrix,
    present: Matrix,
    coefficients: Matrix,
}

/// Sums, and the gradients of Σ (coefficient · sum) in logits and values.
type Outcome = [Vec<f64>; 3];

impl Case {
    fn new(shape: Shape, scale: f32, seed: u64) -> Self {
        let [l, b, p, m, d] = shape;
        let matrix = |shape, scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
        Self {
            shape,
            logits: matrix([b * p, m], scale, 0),
            values: matrix([b * p, d], 2.0, 1),
            present: Matrix::bits([l * b, p], seed.wrapping_add(2)),
            coefficients: matrix([l * b, m * (1 + 2 * d)], 1.0, 3),
        }
    }

    fn outcome(&self, dtype: DType) -> Outcome {
        let [l, b, p, m, d] = self.shape;
        let tensor = |of: &Matrix| of.tensor::<Autodiff<Flex>>(dtype);
        let logits = tensor(&self.logits).reshape([b, p, m]).require_grad();
        let values = tensor(&self.values).reshape([b, p, d]).require_grad();
        let present = tensor(&self.present).reshape([l, b, p]);
        let sums = softmax_moments(logits.clone(), values.clone(), present);
        let shape = [l, b, m, 1 + 2 * d];
        assert_eq!(sums.dims(), shape);
        let coefficients = tensor(&self.coefficients).reshape(shape);
        let gradients = (sums.clone() * coefficients).sum().backward();
        let [logits, values] = [logits, values].map(|t| read(t.grad(&gradients).unwrap()));
        [read(sums), logits, values]
    }

    /// The same by loops.
    fn by_hand(&self) -> Outcome {
        let [l, b, p, m, d] = self.shape;
        let width = 1 + 2 * d;
        let mut sums = vec![0.0; l * b * m * width];
        let (mut of_logits, mut of_values) = (vec![], vec![]);
        for row in 0..b * p {
            let (instance, candidate) = (row / p, row % p);
            let exp = |k: usize| (self.logits.at(row, k) - self.logits.at(row, 0)).exp();
            let norm: f64 = (0..m).map(exp).sum();
            let weight = |k: usize| exp(k) / norm;
            let value = |j: usize| self.values.at(row, j);
            let moment = |j: usize| match j {
                0 => 1.0,
                j if j <= d => value(j - 1),
                j => value(j - 1 - d).powi(2),
            };
            let mut grad = vec![0.0; m * width];
            for group in (0..l).map(|particle| particle * b + instance) {
                let present = self.present.at(group, candidate);
                for (at, grad) in grad.iter_mut().enumerate() {
                    *grad += present * self.coefficients.at(group, at);
                    let own = present * weight(at / width) * moment(at % width);
                    sums[group * m * width + at] += own;
                }
            }
            let slope =
                |k: usize| -> f64 { (0..width).map(|j| grad[k * width + j] * moment(j)).sum() };
            let mean: f64 = (0..m).map(|k| weight(k) * slope(k)).sum();
            of_logits.extend((0..m).map(|k| weight(k) * (slope(k) - mean)));
            of_values.extend((0..d).map(|j| {
                let terms = (0..m).map(|k| {
                    let own = &grad[k * width..][..width];
                    weight(k) * (own[1 + j] + 2.0 * value(j) * own[1 + d + j])
                });
                terms.sum::<f64>()
            }));
        }
        [sums, of_logits, of_values]
    }
}

/// With ρ = 2⁻²⁴, |logits| ≤ s, |values| ≤ 2 and coefficients of at most 1, f32 errs
/// * in a weight, relatively, by w = 2 (2 s + 4) + M + 3 roundings; a moment, at most 4, adds 3, and a sum of P terms P;
/// * in G, |G| ≤ L, by L; in a slope of 1 + 2 D terms of at most 4 L by L + 3 D + 3 of each; in a mean by w + M more.
fn bounds([l, _, p, m, d]: Shape, scale: f64) -> [f64; 3] {
    let [l, p, m, d] = [l, p, m, d].map(|size| size as f64);
    let weight = 2.0 * (2.0 * scale + 4.0) + m + 3.0;
    let slope = 4.0 * l * (1.0 + 2.0 * d);
    [
        4.0 * p * (weight + p + 3.0) * ROUNDING,
        2.0 * slope * (l + 3.0 * d + 3.0 + weight + m) * ROUNDING,
        5.0 * l * (l + weight + m + 4.0) * ROUNDING,
    ]
}

fn assert_agree(found: &Outcome, expected: &Outcome, bounds: [f64; 3]) {
    for (i, name) in ["sums", "in logits", "in values"].into_iter().enumerate() {
        assert_within(name, &found[i], &expected[i], |_| bounds[i]);
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// More columns than a vector register has are summed in blocks of it.
    #[test]
    fn fast_moments_agree_with_the_portable_ones_and_those_with_the_formula(
        shape in [1usize..5, 1usize..4, 1usize..20, 1usize..6, 1usize..4],
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0]),
        seed in any::<u64>(),
    ) {
        let case = Case::new(shape, scale, seed);
        let portable = case.outcome(DType::F64);
        assert_agree(&portable, &case.by_hand(), [1e-11; 3]);
        assert_agree(&case.outcome(DType::F32), &portable, bounds(shape, f64::from(scale)));
    }
}

/// More candidates than are worked on at a time.
#[test]
fn many_candidates_are_summed_in_parts() {
    let shape = [3, 2, 300, 3, 2];
    let case = Case::new(shape, 1.0, 11);
    let found = case.outcome(DType::F32);
    assert_agree(&found, &case.by_hand(), bounds(shape, 1.0));
}

/// Of no candidates there are no moments.
#[test]
fn moments_of_nothing_are_zero() {
    let nothing = |shape: [usize; 3]| {
        Tensor::<Autodiff<Flex>, 3>::zeros(shape, &Default::default()).require_grad()
    };
    let [logits, values] = [[3, 0, 4], [3, 0, 2]].map(nothing);
    let sums = softmax_moments(logits.clone(), values.clone(), nothing([2, 3, 0]));
    assert_eq!(sums.dims(), [2, 3, 4, 5]);
    let gradients = sums.clone().sum().backward();
    assert_eq!(read(sums), [0.0; 2 * 3 * 4 * 5]);
    for (tensor, shape) in [(logits, [3, 0, 4]), (values, [3, 0, 2])] {
        assert_eq!(tensor.grad(&gradients).expect("a gradient").dims(), shape);
    }
}

/// Another particle's candidates, or values of another instance: sums and gradients are off.
#[test]
fn moments_that_are_wrong_are_caught() {
    let shape = [2, 2, 40, 3, 2];
    let bounds = bounds(shape, 1.0);
    let right = Case::new(shape, 1.0, 4).outcome(DType::F32);
    let off = |wrong: &Case, i: usize| {
        let wrong = wrong.by_hand();
        let errors = wrong[i].iter().zip(&right[i]).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max) > 10.0 * bounds[i]
    };
    assert!((0..3).all(|i| !off(&Case::new(shape, 1.0, 4), i)));
    let mut turned = Case::new(shape, 1.0, 4);
    turned.present.elements.rotate_left(80);
    assert!((0..3).all(|i| off(&turned, i)));
    let mut turned = Case::new(shape, 1.0, 4);
    turned.values.elements.rotate_left(80);
    assert!((0..3).all(|i| off(&turned, i)));
}
