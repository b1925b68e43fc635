//! A coefficient of zero contributes exactly nothing to a gradient, whatever its row holds.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, activation};
use burn_flex::Flex;
use helmholtz_ops::{bernoulli_log_prob, leaky_relu, linear};

use crate::data::{Matrix, read};

type Ad = Autodiff<Flex>;

/// Rows whose log-density is −∞ or not a number, under a coefficient of zero.
#[test]
fn rows_of_no_weight_do_not_reach_the_gradient_of_logits_and_values() {
    const COLUMNS: usize = 20;
    for dtype in [DType::F32, DType::F64] {
        let mut logits = Matrix::symmetric([6, COLUMNS], 2.0, 1);
        let mut values = Matrix::bits([6, COLUMNS], 2);
        for (n, bad) in [(1, f32::NEG_INFINITY), (2, f32::NAN), (4, f32::INFINITY)] {
            for column in [3, 18] {
                logits.row_mut(n)[column] = bad;
                values.row_mut(n)[column] = if n == 1 { 1.0 } else { 0.0 };
            }
        }
        let weights = Matrix {
            rows: 1,
            columns: 6,
            elements: vec![0.5, 0.0, 0.0, -1.5, 0.0, 2.0],
        };
        let gradients = |logits: &Matrix, values: &Matrix| {
            let logits = logits.tensor::<Ad>(dtype).require_grad();
            let values = values.tensor::<Ad>(dtype).require_grad();
            let log_prob = bernoulli_log_prob(logits.clone(), values.clone());
            let gradients = (log_prob.clone() * weights.vector(dtype)).sum().backward();
            (
                read(log_prob),
                read(logits.grad(&gradients).unwrap()),
                read(values.grad(&gradients).unwrap()),
            )
        };
        let (log_prob, in_logits, in_values) = gradients(&logits, &values);
        assert_eq!(log_prob[1], f64::NEG_INFINITY);
        assert!(log_prob[2].is_nan());
        assert!(log_prob[4].is_nan());
        assert!(rows_not_in_order(&in_logits, &weights).is_empty());
        assert!(rows_not_in_order(&in_values, &weights).is_empty());

        // The same by burn's own derivatives, where zero times what is not a number is not zero.
        let naive = logits.tensor::<Ad>(dtype).require_grad();
        let softplus = activation::softplus(naive.clone(), 1.0);
        let log_prob = (values.tensor(dtype) * naive.clone() - softplus).sum_dim(1);
        let weighted = log_prob.squeeze_dim::<1>(1) * weights.vector(dtype);
        let in_logits = read(naive.grad(&weighted.sum().backward()).unwrap());
        assert!(!rows_not_in_order(&in_logits, &weights).is_empty());

        // Folded onto the rows that are shared: as if the rows of no weight were not there.
        let folded = |bad: f32| {
            let mut shared = Matrix::symmetric([3, COLUMNS], 2.0, 1);
            shared.row_mut(1)[5] = bad;
            let (.., in_values) = gradients(&shared_rows(&shared), &Matrix::bits([2, COLUMNS], 2));
            in_values
        };
        assert_eq!(folded(f32::NEG_INFINITY), folded(0.5));
        assert_eq!(folded(f32::NAN), folded(0.5));
    }
}

/// The rows whose gradient is not finite, or is zero under a weight, or is not under none.
fn rows_not_in_order(gradient: &[f64], weights: &Matrix) -> Vec<usize> {
    let width = gradient.len() / weights.columns;
    let in_order = |n: &usize| {
        let mut row = gradient[n * width..(n + 1) * width].iter();
        row.all(|g| g.is_finite() && (*g != 0.0) == (weights.at(0, *n) != 0.0))
    };
    (0..weights.columns).filter(|n| !in_order(n)).collect()
}

/// Six rows, of which the second, third and fifth are the second of `shared`.
fn shared_rows(shared: &Matrix) -> Matrix {
    let elements = [0, 1, 1, 2, 1, 0].map(|n| shared.row(n).to_vec()).concat();
    Matrix {
        rows: 6,
        columns: shared.columns,
        elements,
    }
}

/// A particle whose activations overflowed, under a coefficient of zero, in a network of two layers on the fast path.
/// The gradients of all parameters are, bit for bit, those of the other particles alone.
#[test]
fn a_particle_of_no_weight_does_not_reach_the_parameters() {
    const BAD: usize = 2;
    let [w_1, w_2] =
        [([7, 18], 1), ([18, 20], 2)].map(|(shape, seed)| Matrix::symmetric(shape, 0.5, seed));
    let [b_1, b_2] =
        [([1, 18], 3), ([1, 20], 4)].map(|(shape, seed)| Matrix::symmetric(shape, 0.5, seed));
    let weights = Matrix {
        rows: 1,
        columns: 5,
        elements: vec![0.5, 1.0, 0.0, -1.5, 2.0],
    };
    let bits = Matrix::bits([5, 20], 6);
    let gradients = |bad: f32, keep: &dyn Fn(usize) -> bool| {
        let mut x = Matrix::symmetric([5, 7], 1.0, 5);
        x.row_mut(BAD).fill(bad);
        let rows: Vec<usize> = (0..5).filter(|&n| keep(n)).collect();
        let select = |matrix: &Matrix| Matrix {
            rows: rows.len(),
            columns: matrix.columns,
            elements: rows.iter().flat_map(|&n| matrix.row(n).to_vec()).collect(),
        };
        let kept = Matrix {
            rows: 1,
            columns: rows.len(),
            elements: rows.iter().map(|&n| weights.row(0)[n]).collect(),
        };
        let parameters =
            [&w_1, &b_1, &w_2, &b_2].map(|matrix| matrix.tensor::<Ad>(DType::F32).require_grad());
        let [w_1, b_1, w_2, b_2] = parameters.clone();
        let x: Tensor<Ad, 2> = select(&x).tensor(DType::F32);
        let hidden = leaky_relu(linear(x, w_1, b_1.squeeze_dim(0)), 0.1);
        let logits = linear(hidden, w_2, b_2.squeeze_dim(0));
        let log_prob = bernoulli_log_prob(logits, select(&bits).tensor(DType::F32));
        let gradients = (log_prob * kept.vector(DType::F32)).sum().backward();
        parameters.map(|tensor| read(tensor.grad(&gradients).unwrap()))
    };
    let without = gradients(0.0, &|n| n != BAD);
    for bad in [1.0, 3e38, f32::INFINITY, f32::NAN] {
        assert_eq!(gradients(bad, &|_| true), without, "a particle of {bad}");
    }
}
