//! Functions of each element.

use burn::tensor::activation;
use burn::tensor::ops::FloatTensor;

use crate::Backend;

use super::{unwrap, wrap};

pub fn sigmoid<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    unwrap(activation::sigmoid(wrap::<B, 1>(x)))
}

pub fn sigmoid_backward<B: Backend>(
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let (y, grad) = (wrap::<B, 1>(output), wrap::<B, 1>(grad));
    unwrap(grad * y.clone() * (y.neg() + 1.0))
}

pub fn bounded_exp<B: Backend>(x: FloatTensor<B>, bound: f64) -> FloatTensor<B> {
    unwrap(wrap::<B, 1>(x).clamp(-bound, bound).exp())
}

pub fn bounded_log<B: Backend>(x: FloatTensor<B>, low: f64, high: f64) -> FloatTensor<B> {
    unwrap(wrap::<B, 1>(x).clamp(low, high).log())
}

pub fn bounded_exp_backward<B: Backend>(
    x: FloatTensor<B>,
    bound: f64,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let (x, grad) = (wrap::<B, 1>(x), wrap::<B, 1>(grad));
    let outside = x.clone().abs().greater_elem(bound);
    let outside = outside.bool_or(grad.clone().equal_elem(0.0));
    unwrap((grad * x.exp()).mask_fill(outside, 0.0))
}
