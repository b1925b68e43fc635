//! Additive scores and their gradients: the fast path in f32 against the portable definition in f64, and that against the
//! formula.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{Activation, Backend, additive_scores};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// R, N, G, M, H.
type Shape = [usize; 5];

/// Queries, keys, weights, and coefficients of the scores.
struct Case {
    shape: Shape,
    activation: Activation,
    queries: Matrix,
    keys: Matrix,
    weights: Matrix,
    coefficients: Matrix,
}

/// Scores, and the gradients of Σ c score in queries, keys and weights.
struct Outcome {
    scores: Vec<f64>,
    gradients: [Vec<f64>; 3],
}

impl Case {
    fn new(shape: Shape, activation: Activation, scale: f32, seed: u64) -> Self {
        let [r, n, g, m, h] = shape;
        let matrix = |shape, scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
        Self {
            shape,
            activation,
            queries: matrix([r * n, h], scale, 0),
            keys: matrix([g * m, h], scale, 1),
            weights: matrix([1, h], 2.0, 2),
            coefficients: matrix([1, g * n * m], 1.0, 3),
        }
    }

    fn outcome(&self, dtype: DType, transposed: bool) -> Outcome {
        let [r, n, g, m, h] = self.shape;
        let lay = |matrix: &Matrix| {
            let tensor = matrix.tensor::<Autodiff<Flex>>(dtype);
            let data = tensor.clone().transpose().into_data();
            match transposed {
                true => Tensor::from_data(data, (&Default::default(), dtype)).transpose(),
                false => tensor,
            }
        };
        let queries = lay(&self.queries).require_grad();
        let keys = lay(&self.keys).require_grad();
        let weights = self.weights.vector(dtype).require_grad();
        let scores = additive_scores(
            queries.clone().reshape([r, n, h]),
            keys.clone().reshape([g, m, h]),
            weights.clone(),
            self.activation,
        );
        let weighted = scores.clone().flatten::<1>(0, 2) * self.coefficients.vector(dtype);
        let gradients = weighted.sum().backward();
        Outcome {
            scores: read(scores),
            gradients: [
                read(queries.grad(&gradients).unwrap()),
                read(keys.grad(&gradients).unwrap()),
                read(weights.grad(&gradients).unwrap()),
            ],
        }
    }

    /// The same by loops.
    fn by_hand(&self) -> Outcome {
        let [r, n, g, m, h] = self.shape;
        let mut scores = vec![];
        let mut gradients = [vec![0.0; r * n * h], vec![0.0; g * m * h], vec![0.0; h]];
        for (group, i, j) in (0..g * n * m).map(|at| (at / (n * m), at / m % n, at % m)) {
            let (query, key) = (group % r * n + i, group * m + j);
            let c = self.coefficients.at(0, scores.len());
            let mut score = 0.0;
            for unit in 0..h {
                let w = self.weights.at(0, unit);
                let sum = self.queries.at(query, unit) + self.keys.at(key, unit);
                let (t, slope) = match self.activation {
                    Activation::Tanh => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
                    Activation::LeakyRelu(_) if sum > 0.0 => (sum, 1.0),
                    Activation::LeakyRelu(slope) => (slope * sum, slope),
                };
                score += w * t;
                let d = c * w * slope;
                gradients[0][query * h + unit] += d;
                gradients[1][key * h + unit] += d;
                gradients[2][unit] += c * t;
            }
            scores.push(score);
        }
        Outcome { scores, gradients }
    }
}

/// With ρ = 2⁻²⁴, for |q|, |k| ≤ s, |w| ≤ 2 and |c| ≤ 1, f32 errs
/// * in t = f(q + k), of at most 2 s or 1, by 6 roundings, and by the rounding of the sum, 2 s ρ;
/// * in f' by twice that and by 3 ρ;
/// * in sums of T terms of at most 2 t, or 2, by (T + 3) roundings of each.
fn bounds(shape: Shape, scale: f64) -> [f64; 4] {
    let [r, n, g, m, h] = shape.map(|size| size as f64);
    let largest = f64::max(1.0, 2.0 * scale);
    let of_unit = 6.0 * largest + 2.0 * scale;
    let sum =
        |terms: f64, size: f64, each: f64| 2.0 * terms * (each + (terms + 3.0) * size) * ROUNDING;
    let of_slope = 2.0 * of_unit + 3.0;
    [
        sum(h, largest, of_unit),
        sum(m * g / r, 1.0, of_slope),
        sum(n, 1.0, of_slope),
        sum(g * n * m, largest, of_unit),
    ]
}

fn assert_agree(found: &Outcome, expected: &Outcome, bounds: [f64; 4]) {
    assert_within("scores", &found.scores, &expected.scores, |_| bounds[0]);
    let names = ["in queries", "in keys", "in weights"];
    for (i, name) in names.into_iter().enumerate() {
        let (found, expected) = (&found.gradients[i], &expected.gradients[i]);
        assert_within(name, found, expected, |_| bounds[i + 1]);
    }
}

pub fn activations() -> impl Strategy<Value = Activation> {
    let all = [0.0, 0.1].map(Activation::LeakyRelu);
    prop::sample::select([&all[..], &[Activation::Tanh]].concat())
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn fast_scores_agree_with_the_portable_ones_and_those_with_the_formula(
        (r, cycles, n, m) in (1usize..4, 1usize..4, 1usize..7, 1usize..5),
        h in 1usize..40,
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0]),
        activation in activations(),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let shape = [r, n, r * cycles, m, h];
        let case = Case::new(shape, activation, scale, seed);
        let portable = case.outcome(DType::F64, transposed);
        assert_agree(&case.outcome(DType::F32, transposed), &portable, bounds(shape, f64::from(scale)));
        assert_agree(&portable, &case.by_hand(), [1e-12; 4]);
    }
}

/// As many queries as lanes, or twice as many: no coefficient is one that fills up.
#[test]
fn whole_vectors_of_queries_have_their_gradients() {
    for n in [16, 32] {
        let shape = [1, n, 1, 2, 5];
        let case = Case::new(shape, Activation::Tanh, 1.0, 11);
        let portable = case.outcome(DType::F64, false);
        assert_agree(
            &case.outcome(DType::F32, false),
            &portable,
            bounds(shape, 1.0),
        );
    }
}

/// A wrong group of queries, a gradient without the slope, a weight that is not shared: each is off.
#[test]
fn scores_that_are_wrong_are_caught() {
    let shape = [2, 3, 6, 2, 18];
    let case = Case::new(shape, Activation::Tanh, 1.0, 4);
    let (right, bounds) = (case.outcome(DType::F32, false), bounds(shape, 1.0));
    let mut by_blocks = case.by_hand();
    by_blocks.scores.rotate_left(6);
    let off = |found: &[f64], expected: &[f64], bound: f64| {
        let errors = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max) > 10.0 * bound
    };
    assert!(off(&right.scores, &by_blocks.scores, bounds[0]));
    let one_group = Case {
        shape: [2, 3, 2, 2, 18],
        coefficients: Matrix::symmetric([1, 12], 1.0, 7),
        ..Case::new(shape, Activation::Tanh, 1.0, 4)
    };
    assert!(off(
        &right.gradients[0],
        &one_group.by_hand().gradients[0],
        bounds[1]
    ));
    assert!(off(
        &right.gradients[2],
        &one_group.by_hand().gradients[2],
        bounds[3]
    ));
}

/// A pair under a coefficient of zero, whatever its units hold.
#[test]
fn pairs_of_no_weight_do_not_reach_the_gradient() {
    let units = 20;
    let gradients = |bad: f32| {
        let mut keys = Matrix::symmetric([2, units], 1.0, 1);
        keys.row_mut(1)[3] = bad;
        let queries = Matrix::symmetric([1, units], 1.0, 2).tensor::<Autodiff<Flex>>(DType::F32);
        let queries = queries.require_grad();
        let keys = keys.tensor(DType::F32).reshape([1, 2, units]);
        let weights = Matrix::symmetric([1, units], 1.0, 3).vector(DType::F32);
        let queries_of = queries.clone().reshape([1, 1, units]);
        let scores = additive_scores(queries_of, keys, weights, Activation::Tanh);
        let coefficients = Tensor::from_floats([[[0.7, 0.0]]], &Default::default());
        // Not by a product, whose gradient would be of no weight, but no zero.
        let gradients = scores.mask_fill(coefficients_are_zero(&coefficients), 0.0) * coefficients;
        read(queries.grad(&gradients.sum().backward()).unwrap())
    };
    let without = gradients(0.0);
    assert!(without.iter().any(|&g| g != 0.0));
    for bad in [f32::NAN, f32::INFINITY, 1e30] {
        assert_eq!(gradients(bad), without);
    }
}

fn coefficients_are_zero<B: Backend>(
    coefficients: &Tensor<B, 3>,
) -> Tensor<B, 3, burn::tensor::Bool> {
    coefficients.clone().equal_elem(0.0)
}
