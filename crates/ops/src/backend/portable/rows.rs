//! Rows of numbers.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, activation};

use super::{cycle, unwrap, wrap};
use crate::{Backend, cat};

pub fn fold_rows<B: Backend>(
    weights: FloatTensor<B>,
    rows: FloatTensor<B>,
    folded: usize,
) -> FloatTensor<B> {
    let (weights, rows) = (wrap::<B, 1>(weights), wrap::<B, 2>(rows));
    let [count, width] = rows.dims();
    let weights = weights.reshape([count, 1]);
    // Only what would make 0 · row other than zero: how a finite row grows with its weight is not lost.
    let unweighted = weights.clone().equal_elem(0.0).expand([count, width]);
    let dropped = unweighted.bool_and(rows.clone().is_finite().bool_not());
    let weighted = weights * rows.mask_fill(dropped, 0.0);
    let summed = weighted.reshape([count / folded, folded, width]).sum_dim(0);
    unwrap(summed.squeeze_dim::<2>(0))
}

pub fn softmax_rows<B: Backend>(x: FloatTensor<B>, temperature: FloatTensor<B>) -> FloatTensor<B> {
    let [x, temperature] = [x, temperature].map(wrap::<B, 2>);
    unwrap(activation::softmax(x / temperature, 1))
}

pub fn softmax_rows_backward<B: Backend>(
    x: Option<FloatTensor<B>>,
    temperature: FloatTensor<B>,
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> (FloatTensor<B>, Option<FloatTensor<B>>) {
    let [temperature, y, grad] = [temperature, output, grad].map(wrap::<B, 2>);
    let mean = (y.clone() * grad.clone()).sum_dim(1);
    let of_x = y * (grad - mean) / temperature.clone();
    let of_temperature = x.map(|x| {
        let slope = (of_x.clone() * wrap::<B, 2>(x)).sum_dim(0).sum_dim(1);
        unwrap(slope.neg() / temperature)
    });
    (unwrap(of_x), of_temperature)
}

pub fn side_by_side<B: Backend>(parts: Vec<FloatTensor<B>>) -> FloatTensor<B> {
    let parts: Vec<_> = parts.into_iter().map(wrap::<B, 2>).collect();
    let rows = parts.iter().map(|part| part.dims()[0]).max().unwrap_or(0);
    let parts = parts.into_iter().map(|part| cycle(part, rows));
    unwrap(cat(parts.collect(), 1))
}

pub fn own_differences<B: Backend>(
    values: FloatTensor<B>,
    classes: FloatTensor<B>,
    centres: FloatTensor<B>,
) -> FloatTensor<B> {
    let own = wrap::<B, 3>(classes).matmul(wrap::<B, 3>(centres));
    let (values, dims) = (wrap::<B, 3>(values), own.dims());
    let [r, n, d] = values.dims();
    let own = own.reshape([dims[0] / r, r * n * d]);
    unwrap((own.neg() + values.reshape([1, r * n * d])).reshape(dims))
}

pub fn squared_norms<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    let squares = wrap::<B, 2>(x).square().sum_dim(1);
    unwrap(squares.squeeze_dim::<1>(1))
}

pub fn squared_norms_backward<B: Backend>(
    x: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let grad = wrap::<B, 1>(grad).unsqueeze_dim::<2>(1);
    unwrap(wrap::<B, 2>(x) * (grad * 2.0))
}

/// √(‖x‖² + ε) of each row: `[N, 1]`.
fn lengths<B: Backend>(x: &Tensor<B, 2>, epsilon: f64) -> Tensor<B, 2> {
    (x.clone().square().sum_dim(1) + epsilon).sqrt()
}

pub fn directions<B: Backend>(x: FloatTensor<B>, epsilon: f64) -> FloatTensor<B> {
    let x = wrap::<B, 2>(x);
    let lengths = lengths(&x, epsilon);
    unwrap(x / lengths)
}

pub fn directions_backward<B: Backend>(
    x: FloatTensor<B>,
    epsilon: f64,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let (x, grad) = (wrap::<B, 2>(x), wrap::<B, 2>(grad));
    let lengths = lengths(&x, epsilon);
    let y = x / lengths.clone();
    let along = (y.clone() * grad.clone()).sum_dim(1);
    unwrap((grad - y * along) / lengths)
}
