//! Linear splines and their gradients: the fast path in f32 against the portable definition in f64, and that against the formula.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::linear_splines;
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, cases, read};
use crate::nets::Outcome;

/// N, R, P, C, H, O.
type Shape = [usize; 6];

/// Points, w, c, V, b, and coefficients of the outputs.
struct Case {
    shape: Shape,
    slope: f64,
    curves: Vec<usize>,
    points: Matrix,
    weights: [Matrix; 4],
    coefficients: Matrix,
}

impl Case {
    fn new(shape: Shape, slope: f64, scale: f32, seed: u64) -> Self {
        let [n, r, p, c, h, o] = shape;
        let matrix = |shape, scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
        let curves = Matrix::uniform([1, n], seed.wrapping_add(6)).elements;
        Self {
            shape,
            slope,
            curves: curves.iter().map(|u| (u * c as f32) as usize).collect(),
            points: matrix([n, p], scale, 0),
            weights: [
                matrix([1, h], 1.0, 1),
                matrix([c, h], 1.0, 2),
                matrix([h, o], 1.0, 3),
                matrix([1, o], 1.0, 4),
            ],
            coefficients: matrix([o, r * p], 1.0, 5),
        }
    }

    fn outcome(&self, dtype: DType) -> Outcome {
        let [_, r, p, _, _, o] = self.shape;
        let lay = |matrix: &Matrix| matrix.tensor::<Autodiff<Flex>>(dtype).require_grad();
        let points = lay(&self.points);
        let [w, c, v, b] = self.weights.each_ref().map(lay);
        let vector = |row: &Tensor<Autodiff<Flex>, 2>| row.clone().squeeze_dim::<1>(0);
        let outputs = linear_splines(
            points.clone(),
            &self.curves,
            r,
            (vector(&w), c.clone()),
            (v.clone(), vector(&b)),
            self.slope,
        );
        assert_eq!(outputs.dims(), [o, r, p]);
        let outputs = outputs.flatten::<2>(1, 2);
        let weighted = outputs.clone() * self.coefficients.tensor(dtype);
        let gradients = weighted.sum().backward();
        Outcome {
            outputs: read(outputs),
            gradients: [points, w, c, v, b].map(|tensor| read(tensor.grad(&gradients).unwrap())),
        }
    }

    /// The same by loops over all hidden units.
    fn by_hand(&self) -> Outcome {
        let [rows, sums, per_row, curves, hidden, outputs] = self.shape;
        let [w, c, v, b] = &self.weights;
        let sizes = [
            rows * per_row,
            hidden,
            curves * hidden,
            hidden * outputs,
            outputs,
        ];
        let mut gradients = sizes.map(|size| vec![0.0; size]);
        let plane = sums * per_row;
        let mut all = vec![0.0; outputs * plane];
        for at in 0..rows * per_row {
            let (row, column) = (at / per_row, at % per_row);
            let (x, curve) = (self.points.at(row, column), self.curves[row]);
            let to = row % sums * per_row + column;
            for output in 0..outputs {
                all[output * plane + to] += b.at(0, output);
                gradients[4][output] += self.coefficients.at(output, to);
            }
            for unit in 0..hidden {
                let sum = w.at(0, unit) * x + c.at(curve, unit);
                let slope = if sum > 0.0 { 1.0 } else { self.slope };
                let mut back = 0.0;
                for output in 0..outputs {
                    let g = self.coefficients.at(output, to);
                    all[output * plane + to] += v.at(unit, output) * slope * sum;
                    gradients[3][unit * outputs + output] += g * slope * sum;
                    back += g * slope * v.at(unit, output);
                }
                gradients[0][at] += back * w.at(0, unit);
                gradients[1][unit] += back * x;
                gradients[2][curve * hidden + unit] += back;
            }
        }
        Outcome {
            outputs: all,
            gradients,
        }
    }
}

/// With ρ = 2⁻²⁴, weights and coefficients of at most 1 and |x| ≤ s, f32 errs
/// * in an output, by those of N / R lines of H units, H s + H + 1 at most: their own, of product and sum, of adding them up, and by ρ
///   for each unit whose knot is rounded to the other side of x;
/// * in the gradient at a point, of O terms of at most H, by a rounding of the line, of a product and of each sum;
/// * in the other gradients, which are summed in f64, by a rounding of the sum and of what it is added to.
fn bounds([n, r, p, _, h, o]: Shape, scale: f64) -> [f64; 6] {
    let [points, lines, h, o] = [n * p, n / r.max(1), h, o].map(|size| size as f64);
    [
        lines * ((4.0 + lines) * (h * scale + h + 1.0) + h),
        o * h * (o + 2.0),
        2.0 * points * o * scale,
        2.0 * points * o,
        2.0 * points * (scale + 1.0),
        2.0 * points,
    ]
    .map(|roundings| roundings * ROUNDING)
}

const NAMES: [&str; 5] = ["in x", "in w", "in c", "in V", "in b"];

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn the_fast_splines_agree_with_the_portable_ones_and_these_with_the_formula(
        [lines, r, p, c, h, o] in
            [1usize..4, 1usize..4, 1usize..20, 1usize..4, 1usize..40, 1usize..4],
        slope in prop::sample::select(vec![0.0, 0.3, 1.0, 2.0]),
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0]),
        seed in any::<u64>(),
    ) {
        let shape = [lines * r, r, p, c, h, o];
        let case = Case::new(shape, slope, scale, seed);
        let portable = case.outcome(DType::F64);
        portable.assert_agrees(&case.by_hand(), NAMES, [1e-11; 6]);
        let fast = case.outcome(DType::F32);
        fast.assert_agrees(&portable, NAMES, bounds(shape, f64::from(scale)));
    }
}

/// Units that never turn, that turn far away, and several that turn at the same place.
#[test]
fn knots_may_be_nowhere_far_away_or_equal() {
    let shape = [3, 3, 30, 2, 8, 2];
    let mut case = Case::new(shape, 0.3, 1.0, 7);
    case.weights[0].row_mut(0)[..4].copy_from_slice(&[0.0, -0.0, 1e-30, -1e-38]);
    for curve in 0..2 {
        case.weights[1].row_mut(curve)[4] = case.weights[1].row(curve)[5];
    }
    case.weights[0].row_mut(0)[4] = case.weights[0].row(0)[5];
    // Neither on nor off.
    case.weights[1].row_mut(0)[1] = 0.0;
    let (fast, right) = (case.outcome(DType::F32), case.by_hand());
    fast.assert_agrees(&right, NAMES, bounds(shape, 1.0));
}

/// Another slope, or coefficients of other points: each gradient is off.
#[test]
fn gradients_that_are_wrong_are_caught() {
    let shape = [6, 3, 8, 2, 18, 2];
    let (right, bounds) = (
        Case::new(shape, 0.3, 1.0, 4).outcome(DType::F32),
        bounds(shape, 1.0),
    );
    let other = Case::new(shape, 0.31, 1.0, 4).by_hand();
    assert!(right.outputs_differ(&other, bounds[0]));
    let mut turned = Case::new(shape, 0.3, 1.0, 4);
    turned.coefficients.elements.rotate_left(1);
    let turned = turned.by_hand();
    right.assert_gradients_differ(&turned, NAMES, bounds);
}

/// No rows or no points: gradients of zero.
#[test]
fn nothing_gives_nothing() {
    for shape in [[0, 1, 3, 2, 4, 1], [3, 3, 0, 2, 4, 1]] {
        let found = Case::new(shape, 0.3, 1.0, 1).outcome(DType::F32);
        assert!(found.outputs.iter().all(|&y| y == 0.0) && found.gradients[0].is_empty());
        assert!(found.gradients[1..].iter().flatten().all(|&g| g == 0.0));
    }
}

#[test]
#[should_panic(expected = "there is no such curve")]
fn a_curve_that_is_not_there_is_refused() {
    let mut case = Case::new([2, 2, 3, 2, 4, 1], 0.3, 1.0, 1);
    case.curves[1] = 2;
    case.outcome(DType::F32);
}

#[test]
#[should_panic(expected = "the sums have no equal numbers of rows")]
fn sums_of_unequal_numbers_of_rows_are_refused() {
    Case::new([3, 2, 3, 2, 4, 1], 0.3, 1.0, 1).outcome(DType::F32);
}
