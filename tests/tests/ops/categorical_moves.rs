//! Moves of classes: what one pass gives is what drawing and scoring give.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{categorical_log_prob, categorical_move, sample_categorical};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

type B = Autodiff<Flex>;

/// Logits `[N, C]`, uniforms `[N]`, the classes moved from `[N, C]`, coefficients `[N]`.
struct Case {
    logits: Matrix,
    uniforms: Matrix,
    from: Matrix,
    coefficients: Matrix,
}

/// Classes, both log-probabilities, and the gradient of Σ c (log q + reverse) in the logits.
type Outcome = [Vec<f64>; 4];

impl Case {
    fn new([rows, classes]: [usize; 2], scale: f32, seed: u64) -> Self {
        let matrix = |shape, own| Matrix::uniform(shape, seed.wrapping_add(own));
        let mut from = Matrix::uniform([rows, classes], 0).map(|_| 0.0);
        for (row, u) in matrix([1, rows], 1).elements.into_iter().enumerate() {
            from.row_mut(row)[(u * classes as f32) as usize] = 1.0;
        }
        Self {
            logits: Matrix::symmetric([rows, classes], scale, seed),
            uniforms: matrix([1, rows], 2),
            from,
            coefficients: Matrix::symmetric([1, rows], 1.0, seed.wrapping_add(3)),
        }
    }

    fn outcome(&self, dtype: DType) -> Outcome {
        let logits = self.logits.tensor::<B>(dtype).require_grad();
        let uniforms = self.uniforms.vector(dtype);
        let (drawn, log_q, reverse) =
            categorical_move(logits.clone(), uniforms, self.from.tensor(dtype));
        let loss = (log_q.clone() + reverse.clone()) * self.coefficients.vector(dtype);
        let gradients = loss.sum().backward();
        let gradient = read(logits.grad(&gradients).expect("a gradient"));
        [read(drawn), read(log_q), read(reverse), gradient]
    }

    /// The same by the operations for each, of logits whose first is pinned.
    fn apart(&self, dtype: DType) -> Outcome {
        let [rows, classes] = [self.logits.rows, self.logits.columns];
        let logits = self.logits.tensor::<B>(dtype).require_grad();
        let first = logits.clone().narrow(1, 0, 1);
        let pinned = logits.clone().narrow(1, 1, classes - 1) - first;
        let uniforms = self.uniforms.vector::<B>(dtype).reshape([rows, 1]);
        let drawn = sample_categorical(pinned.clone(), uniforms, classes);
        let log_q = categorical_log_prob(pinned.clone(), drawn.clone(), classes);
        let from: Tensor<B, 2> = self.from.tensor(dtype);
        let reverse = categorical_log_prob(pinned, from, classes);
        let loss = log_q.clone() * self.coefficients.vector(dtype);
        let gradient = read(logits.grad(&loss.sum().backward()).expect("a gradient"));
        [read(drawn), read(log_q), read(reverse), gradient]
    }
}

/// Roundings of a log-probability of at most 2 s + ln C, and of a probability.
fn bounds(classes: usize, scale: f32) -> [f64; 2] {
    let (c, s) = (classes as f64, f64::from(scale));
    let log_p = 2.0 * (2.0 * s + c.ln()) + 3.0 * c + 8.0;
    [log_p * ROUNDING, (4.0 * s + 2.0 * c + 12.0) * ROUNDING]
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn moves_are_draws_and_densities(
        (rows, classes) in (1usize..300, 2usize..7),
        scale in prop::sample::select(vec![0.1f32, 3.0, 50.0]),
        seed in any::<u64>(),
    ) {
        let case = Case::new([rows, classes], scale, seed);
        let exact = case.apart(DType::F64);
        let portable = case.outcome(DType::F64);
        prop_assert_eq!(&portable[0], &exact[0]);
        (1..4).for_each(|i| assert_within("portable", &portable[i], &exact[i], |_| 1e-12));
        let fast = case.outcome(DType::F32);
        // A uniform within a rounding of a boundary may fall on either side.
        let same: Vec<bool> = (0..rows)
            .map(|row| (row * classes..(row + 1) * classes).all(|at| fast[0][at] == exact[0][at]))
            .collect();
        prop_assert!(same.iter().filter(|same| !**same).count() <= 1);
        let [log_p, p] = bounds(classes, scale);
        let of = |row: usize, bound: f64| if same[row] { bound } else { f64::INFINITY };
        assert_within("log q", &fast[1], &exact[1], |row| of(row, log_p));
        assert_within("reverse", &fast[2], &exact[2], |_| log_p);
        assert_within("gradient", &fast[3], &exact[3], |at| of(at / classes, p));
    }
}

/// An impossible class is never drawn, whatever the uniform; that of a row without numbers is the last.
#[test]
fn the_edges_are_those_of_sampling() {
    for dtype in [DType::F32, DType::F64] {
        let mut case = Case::new([3, 3], 1.0, 1);
        case.logits.row_mut(0).copy_from_slice(&[0.0, -1e4, -1e4]);
        case.logits.row_mut(1).copy_from_slice(&[-1e4, -1e4, 0.0]);
        case.logits.row_mut(2).fill(f32::NAN);
        case.uniforms.elements = vec![0.999_999_94, 0.0, 0.5];
        let [drawn, log_q, ..] = case.outcome(dtype);
        assert_eq!(drawn, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert!(log_q[0] == 0.0 && log_q[1] == 0.0 && log_q[2].is_nan());
    }
}

/// A row without a coefficient has no part in the gradient, whatever it holds; logits turned about are noticed.
#[test]
fn what_is_wrong_is_caught() {
    let mut case = Case::new([40, 3], 2.0, 4);
    case.logits.row_mut(7).fill(f32::NAN);
    case.coefficients.elements[7] = 0.0;
    assert_eq!(case.outcome(DType::F32)[3][21..24], [0.0; 3]);
    let mut case = Case::new([40, 3], 2.0, 4);
    let right = case.outcome(DType::F32);
    case.logits.elements.rotate_left(3);
    let wrong = case.apart(DType::F64);
    let [log_p, p] = bounds(3, 2.0);
    for (i, bound) in [(1, log_p), (2, log_p), (3, p)] {
        let errors = wrong[i].iter().zip(&right[i]).map(|(a, b)| (a - b).abs());
        assert!(errors.fold(0.0, f64::max) > 100.0 * bound);
    }
}
