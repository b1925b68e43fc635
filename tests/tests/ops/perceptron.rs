//! Nets of one hidden layer and their gradients: the fast path in f32 against the portable definition in f64, and that against the
//! formula.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{Activation, perceptron};
use proptest::prelude::*;

use crate::additive::activations;
use crate::data::{Matrix, ROUNDING, cases, read};
use crate::nets::Outcome;

/// N, I, H, O.
type Shape = [usize; 4];

/// Rows, W, b, V, c, and coefficients of the outputs.
struct Case {
    shape: Shape,
    activation: Activation,
    x: Matrix,
    weights: [Matrix; 4],
    coefficients: Matrix,
}

impl Case {
    fn new(shape: Shape, activation: Activation, scale: f32, seed: u64) -> Self {
        let [n, i, h, o] = shape;
        let matrix = |shape, scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
        Self {
            shape,
            activation,
            x: matrix([n, i], scale, 0),
            weights: [
                matrix([i, h], 1.0, 1),
                matrix([1, h], 1.0, 2),
                matrix([h, o], 1.0, 3),
                matrix([1, o], 1.0, 4),
            ],
            coefficients: matrix([n, o], 1.0, 5),
        }
    }

    fn outcome(&self, dtype: DType, transposed: bool) -> Outcome {
        let lay = |matrix: &Matrix| {
            let tensor = matrix.tensor::<Autodiff<Flex>>(dtype);
            let data = tensor.clone().transpose().into_data();
            let tensor = match transposed {
                true => Tensor::from_data(data, (&Default::default(), dtype)).transpose(),
                false => tensor,
            };
            tensor.require_grad()
        };
        let x = lay(&self.x);
        let [w, b, v, c] = self.weights.each_ref().map(lay);
        let vector = |row: &Tensor<Autodiff<Flex>, 2>| row.clone().squeeze_dim::<1>(0);
        let outputs = perceptron(
            x.clone(),
            (w.clone(), vector(&b)),
            (v.clone(), vector(&c)),
            self.activation,
        );
        let weighted = outputs.clone() * self.coefficients.tensor(dtype);
        let gradients = weighted.sum().backward();
        Outcome {
            outputs: read(outputs),
            gradients: [x, w, b, v, c].map(|tensor| read(tensor.grad(&gradients).unwrap())),
        }
    }

    /// The same by loops.
    fn by_hand(&self) -> Outcome {
        let [rows, inputs, hidden, outputs] = self.shape;
        let [w, b, v, c] = &self.weights;
        let sizes = [
            rows * inputs,
            inputs * hidden,
            hidden,
            hidden * outputs,
            outputs,
        ];
        let mut gradients = sizes.map(|size| vec![0.0; size]);
        let mut all = vec![];
        for n in 0..rows {
            let mut y: Vec<f64> = (0..outputs).map(|o| c.at(0, o)).collect();
            let of_output = |o| self.coefficients.at(n, o);
            (0..outputs).for_each(|o| gradients[4][o] += of_output(o));
            for unit in 0..hidden {
                let terms = (0..inputs).map(|i| self.x.at(n, i) * w.at(i, unit));
                let sum = b.at(0, unit) + terms.sum::<f64>();
                let (t, slope) = match self.activation {
                    Activation::Tanh => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
                    Activation::LeakyRelu(_) if sum > 0.0 => (sum, 1.0),
                    Activation::LeakyRelu(slope) => (slope * sum, slope),
                };
                let mut back = 0.0;
                for (o, y) in y.iter_mut().enumerate() {
                    *y += t * v.at(unit, o);
                    back += of_output(o) * v.at(unit, o);
                    gradients[3][unit * outputs + o] += of_output(o) * t;
                }
                let d = back * slope;
                gradients[2][unit] += d;
                for i in 0..inputs {
                    gradients[0][n * inputs + i] += d * w.at(i, unit);
                    gradients[1][i * hidden + unit] += d * self.x.at(n, i);
                }
            }
            all.extend(y);
        }
        Outcome {
            outputs: all,
            gradients,
        }
    }
}

/// With ρ = 2⁻²⁴, weights and coefficients of at most 1 and |x| ≤ s, f32 errs
/// * in a hidden sum a, |a| ≤ S = s I + 1, by (I + 1) S ρ;
/// * in t = f(a), |t| ≤ S, by that and by 6 roundings of it;
/// * in f', at most 1, by twice the first and by 9 ρ;
/// * in a sum of T terms of at most m by (T + 3) roundings of each.
fn bounds([n, i, h, o]: Shape, scale: f64) -> [f64; 6] {
    let [n, i, h, o] = [n, i, h, o].map(|size| size as f64);
    let largest = scale * i + 1.0;
    let of_sum = (i + 1.0) * largest;
    let of_unit = of_sum + 6.0 * largest;
    let sum = |terms: f64, size: f64, each: f64| terms * (each + (terms + 3.0) * size) * ROUNDING;
    // Σ_o g v, and with the slope.
    let back = sum(o, 1.0, 0.0) / ROUNDING;
    let d = back + o * (2.0 * of_sum + 9.0);
    [
        sum(h + 1.0, largest, of_unit),
        sum(h, o, d),
        sum(n, o * scale, d * scale),
        sum(n, o, d),
        sum(n, largest, of_unit),
        sum(n, 1.0, 0.0),
    ]
}

const NAMES: [&str; 5] = ["in x", "in W", "in b", "in V", "in c"];

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn the_fast_net_agrees_with_the_portable_one_and_that_with_the_formula(
        shape in [1usize..9, 1usize..5, 1usize..40, 1usize..5],
        activation in activations(),
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0]),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let case = Case::new(shape, activation, scale, seed);
        let portable = case.outcome(DType::F64, transposed);
        portable.assert_agrees(&case.by_hand(), NAMES, [1e-11; 6]);
        // A rectifier's slope jumps at 0, on whose other side a rounded sum may be; few of these sums are so near.
        let fast = case.outcome(DType::F32, transposed);
        fast.assert_agrees(&portable, NAMES, bounds(shape, f64::from(scale)));
    }
}

/// More rows than are summed at a time.
#[test]
fn long_batches_are_summed_in_groups() {
    let shape = [700, 2, 20, 3];
    for activation in [Activation::Tanh, Activation::LeakyRelu(0.0)] {
        let case = Case::new(shape, activation, 1.0, 11);
        let (fast, right) = (case.outcome(DType::F32, false), case.by_hand());
        fast.assert_agrees(&right, NAMES, bounds(shape, 1.0));
    }
}

/// Rows of no weight between the others.
#[test]
fn rows_between_rows_of_no_weight_keep_their_gradients() {
    let shape = [40, 3, 18, 2];
    let mut case = Case::new(shape, Activation::Tanh, 1.0, 6);
    for n in (0..40).step_by(3) {
        case.coefficients.row_mut(n).fill(0.0);
    }
    let fast = case.outcome(DType::F32, false);
    fast.assert_agrees(&case.by_hand(), NAMES, bounds(shape, 1.0));
}

/// Another activation, or coefficients of other rows: each gradient is off.
#[test]
fn gradients_that_are_wrong_are_caught() {
    let shape = [40, 3, 18, 2];
    let case = Case::new(shape, Activation::Tanh, 1.0, 4);
    let (right, bounds) = (case.outcome(DType::F32, false), bounds(shape, 1.0));
    let rectified = Case::new(shape, Activation::LeakyRelu(0.0), 1.0, 4).by_hand();
    assert!(right.outputs_differ(&rectified, bounds[0]));
    let mut turned = Case::new(shape, Activation::Tanh, 1.0, 4);
    turned.coefficients.elements.rotate_left(1);
    let turned = turned.by_hand();
    right.assert_gradients_differ(&turned, NAMES, bounds);
}

/// A row under a coefficient of zero, whatever it holds.
#[test]
fn rows_of_no_weight_do_not_reach_the_gradient() {
    for activation in [Activation::Tanh, Activation::LeakyRelu(0.1)] {
        let gradients = |bad: f32| {
            let mut case = Case::new([3, 2, 20, 2], activation, 1.0, 3);
            case.coefficients.row_mut(1).fill(0.0);
            case.x.row_mut(1)[1] = bad;
            // Not by a product, whose gradient would be of no weight, but no zero.
            let x = case.x.tensor::<Autodiff<Flex>>(DType::F32).require_grad();
            let [w, b, v, c] = case.weights.each_ref().map(|weight| {
                let weight = weight.tensor::<Autodiff<Flex>>(DType::F32);
                weight.require_grad()
            });
            let bias = |row: &Tensor<Autodiff<Flex>, 2>| row.clone().squeeze_dim::<1>(0);
            let y = perceptron(
                x.clone(),
                (w.clone(), bias(&b)),
                (v.clone(), bias(&c)),
                activation,
            );
            let coefficients = case.coefficients.tensor(DType::F32);
            let y = y.mask_fill(coefficients.clone().equal_elem(0.0), 0.0);
            let gradients = (y * coefficients).sum().backward();
            [x, w, b, v, c].map(|tensor| read(tensor.grad(&gradients).unwrap()))
        };
        let without = gradients(0.0);
        assert!(without.iter().all(|own| own.iter().any(|&g| g != 0.0)));
        for bad in [f32::NAN, f32::INFINITY, 1e30] {
            assert_eq!(gradients(bad), without);
        }
    }
}
