//! Sums over data, weighted by softmaxes.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, activation};

use super::{unwrap, wrap};
use crate::{Backend, cat};

/// 1 and v, side by side.
fn with_ones<B: Backend>(values: FloatTensor<B>) -> Tensor<B, 3> {
    let values = wrap::<B, 3>(values);
    let [groups, data, _] = values.dims();
    let ones = Tensor::ones([groups, data, 1], (&values.device(), values.dtype()));
    cat(vec![ones, values], 2)
}

pub fn softmax_sums<B: Backend>(logits: FloatTensor<B>, values: FloatTensor<B>) -> FloatTensor<B> {
    let weights = activation::softmax(wrap::<B, 3>(logits), 2);
    unwrap(weights.swap_dims(1, 2).matmul(with_ones::<B>(values)))
}

pub fn softmax_sums_backward<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 2] {
    let (grad, values) = (wrap::<B, 3>(grad), with_ones::<B>(values));
    let weights = activation::softmax(wrap::<B, 3>(logits), 2);
    let width = values.dims()[2] - 1;
    let slopes = values.matmul(grad.clone().swap_dims(1, 2));
    let mean = (weights.clone() * slopes.clone()).sum_dim(2);
    let of_values = weights.clone().matmul(grad).narrow(2, 1, width);
    [unwrap(weights * (slopes - mean)), unwrap(of_values)]
}

/// (1, t, t²).
fn with_squares<B: Backend>(values: Tensor<B, 3>) -> Tensor<B, 3> {
    let ones = values.clone().narrow(2, 0, 1).ones_like();
    cat(vec![ones, values.clone(), values.square()], 2)
}

pub fn softmax_moments<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    present: FloatTensor<B>,
) -> FloatTensor<B> {
    let weights = activation::softmax(wrap::<B, 3>(logits), 2);
    let (moments, present) = (
        with_squares::<B>(wrap::<B, 3>(values)),
        wrap::<B, 3>(present),
    );
    let ([b, p, m], width, particles) = (weights.dims(), moments.dims()[2], present.dims()[0]);
    let products = weights.unsqueeze_dim::<4>(3) * moments.unsqueeze_dim::<4>(2);
    let products = products.reshape([b, p, m * width]);
    let sums = present.swap_dims(0, 1).matmul(products).swap_dims(0, 1);
    unwrap(sums.reshape([particles, b, m, width]))
}

pub fn softmax_moments_backward<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    present: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 2] {
    let weights = activation::softmax(wrap::<B, 3>(logits), 2);
    let (values, grad) = (wrap::<B, 3>(values), wrap::<B, 4>(grad));
    let ([particles, b, m, width], [_, p, d]) = (grad.dims(), values.dims());
    let grad = grad.reshape([particles, b, m * width]).swap_dims(0, 1);
    let present = wrap::<B, 3>(present).swap_dims(0, 1).swap_dims(1, 2);
    let of_products = present.matmul(grad).reshape([b, p, m, width]);
    let moments = with_squares::<B>(values.clone()).unsqueeze_dim::<4>(2);
    let slopes = (of_products.clone() * moments).sum_dim(3);
    let slopes = slopes.squeeze_dim::<3>(3);
    let mean = (weights.clone() * slopes.clone()).sum_dim(2);
    let of_moments = (of_products * weights.clone().unsqueeze_dim::<4>(3)).sum_dim(2);
    let of_moments = of_moments.squeeze_dim::<3>(2);
    let of_squares = of_moments.clone().narrow(2, 1 + d, d);
    let of_values = of_moments.narrow(2, 1, d) + of_squares * values * 2.0;
    [unwrap(weights * (slopes - mean)), unwrap(of_values)]
}
