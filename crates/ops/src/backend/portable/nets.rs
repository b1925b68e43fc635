//! Layers, small nets, and their training.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData, TensorMetadata};

use super::{cycle, unwrap, wrap};
use crate::{
    Activation, AdamStep, AdditiveGradients, Backend, LinearGradients, PerceptronGradients,
};

pub fn linear<B: Backend>(
    x: FloatTensor<B>,
    weight: FloatTensor<B>,
    bias: FloatTensor<B>,
) -> FloatTensor<B> {
    let product = wrap::<B, 2>(x).matmul(wrap(weight));
    unwrap(product + wrap::<B, 1>(bias).unsqueeze())
}

pub fn linear_backward<B: Backend>(
    x: Option<FloatTensor<B>>,
    weight: Option<FloatTensor<B>>,
    grad: FloatTensor<B>,
) -> LinearGradients<B> {
    let grad = wrap::<B, 2>(grad);
    LinearGradients {
        input: weight.map(|weight| unwrap(grad.clone().matmul(wrap::<B, 2>(weight).transpose()))),
        parameters: x.map(|x| {
            let bias = grad.clone().sum_dim(0).squeeze_dim::<1>(0);
            let weight = wrap::<B, 2>(x).transpose().matmul(grad);
            (unwrap(weight), unwrap(bias))
        }),
    }
}

/// f(x), elementwise.
fn activate<B: Backend, const D: usize>(x: Tensor<B, D>, activation: Activation) -> Tensor<B, D> {
    match activation {
        Activation::Tanh => x.tanh(),
        Activation::LeakyRelu(slope) => {
            let below = x.clone().lower_equal_elem(0.0);
            x.clone().mask_where(below, x * slope)
        }
    }
}

/// `grad` · f', from the values t = f(x).
fn times_slope<B: Backend, const D: usize>(
    t: Tensor<B, D>,
    grad: Tensor<B, D>,
    activation: Activation,
) -> Tensor<B, D> {
    match activation {
        Activation::Tanh => grad * (t.square().neg() + 1.0),
        Activation::LeakyRelu(slope) => {
            let below = t.lower_equal_elem(0.0);
            grad.clone().mask_where(below, grad * slope)
        }
    }
}

/// f(q + k) of each pair: `[G / R, R, N, M, H]`.
fn hidden<B: Backend>(
    queries: FloatTensor<B>,
    keys: FloatTensor<B>,
    activation: Activation,
) -> Tensor<B, 5> {
    let (queries, keys) = (wrap::<B, 3>(queries), wrap::<B, 3>(keys));
    let ([r, n, h], [g, m, _]) = (queries.dims(), keys.dims());
    let sums = queries.reshape([1, r, n, 1, h]) + keys.reshape([g / r, r, 1, m, h]);
    activate(sums, activation)
}

pub fn additive_scores<B: Backend>(
    queries: FloatTensor<B>,
    keys: FloatTensor<B>,
    weights: FloatTensor<B>,
    activation: Activation,
) -> FloatTensor<B> {
    let hidden = hidden::<B>(queries, keys, activation);
    let [cycles, r, n, m, h] = hidden.dims();
    let weights = wrap::<B, 1>(weights).reshape([1, 1, 1, 1, h]);
    unwrap((hidden * weights).sum_dim(4).reshape([cycles * r, n, m]))
}

pub fn additive_scores_backward<B: Backend>(
    queries: FloatTensor<B>,
    keys: FloatTensor<B>,
    weights: FloatTensor<B>,
    activation: Activation,
    grad: FloatTensor<B>,
) -> AdditiveGradients<B> {
    let hidden = hidden::<B>(queries, keys, activation);
    let [cycles, r, n, m, h] = hidden.dims();
    let weights = wrap::<B, 1>(weights).reshape([1, 1, 1, 1, h]);
    let grad = wrap::<B, 3>(grad).reshape([cycles, r, n, m, 1]);
    let in_weights = (hidden.clone() * grad.clone()).reshape([cycles * r * n * m, h]);
    let in_sum = times_slope(hidden, weights * grad, activation);
    AdditiveGradients {
        queries: unwrap(in_sum.clone().sum_dim(3).sum_dim(0).reshape([r, n, h])),
        keys: unwrap(in_sum.sum_dim(2).reshape([cycles * r, m, h])),
        weights: unwrap(in_weights.sum_dim(0).squeeze_dim::<1>(0)),
    }
}

/// f(x W + b) `[N, H]`.
fn units<B: Backend>(
    x: FloatTensor<B>,
    [w, b]: [FloatTensor<B>; 2],
    activation: Activation,
) -> Tensor<B, 2> {
    activate(wrap::<B, 2>(B::fused_linear(x, w, b)), activation)
}

pub fn perceptron<B: Backend>(
    x: FloatTensor<B>,
    [w, b, v, c]: [FloatTensor<B>; 4],
    activation: Activation,
) -> FloatTensor<B> {
    B::fused_linear(unwrap(units::<B>(x, [w, b], activation)), v, c)
}

pub fn perceptron_backward<B: Backend>(
    x: FloatTensor<B>,
    [w, b, v, _]: [FloatTensor<B>; 4],
    activation: Activation,
    grad: FloatTensor<B>,
    of_input: bool,
) -> PerceptronGradients<B> {
    let units = units::<B>(x.clone(), [w.clone(), b], activation);
    let outer = linear_backward::<B>(Some(unwrap(units.clone())), Some(v), grad);
    let in_units = wrap::<B, 2>(outer.input.expect("asked for"));
    let in_sums = unwrap(times_slope(units, in_units, activation));
    let inner = linear_backward::<B>(Some(x), of_input.then_some(w), in_sums);
    let (w, b) = inner.parameters.expect("asked for");
    let (v, c) = outer.parameters.expect("asked for");
    PerceptronGradients {
        input: inner.input,
        weights: [w, b, v, c],
    }
}

/// f(w_h x + c_sh) `[N, P, H]` of points x `[N, P]`, and the curves' numbers as a tensor.
fn spline_units<B: Backend>(
    points: FloatTensor<B>,
    curves: &[usize],
    [w, c]: [FloatTensor<B>; 2],
    slope: f64,
) -> (Tensor<B, 3>, Tensor<B, 1, Int>) {
    let (points, c) = (wrap::<B, 2>(points), wrap::<B, 2>(c));
    let (rows, hidden) = (curves.len(), c.dims()[1]);
    let curves: Vec<i64> = curves.iter().map(|&curve| curve as i64).collect();
    let curves = Tensor::from_data(TensorData::new(curves, [rows]), &c.device());
    let offsets = c.select(0, curves.clone()).unsqueeze_dim::<3>(1);
    let w = wrap::<B, 1>(w).reshape([1, 1, hidden]);
    let sums = points.unsqueeze_dim::<3>(2) * w + offsets;
    (activate(sums, Activation::LeakyRelu(slope)), curves)
}

pub fn linear_splines<B: Backend>(
    points: FloatTensor<B>,
    curves: &[usize],
    sums: usize,
    [w, c, v, b]: [FloatTensor<B>; 4],
    slope: f64,
) -> FloatTensor<B> {
    let (units, _) = spline_units::<B>(points, curves, [w, c], slope);
    let [all, per_row, hidden] = units.dims();
    let outputs = b.shape()[0];
    let y = B::fused_linear(unwrap(units.reshape([all * per_row, hidden])), v, b);
    let y = wrap::<B, 2>(y).reshape([all / sums, sums * per_row, outputs]);
    let y = y.sum_dim(0).reshape([sums * per_row, outputs]).transpose();
    unwrap(y.reshape([outputs, sums, per_row]))
}

pub fn linear_splines_backward<B: Backend>(
    points: FloatTensor<B>,
    curves: &[usize],
    sums: usize,
    [w, c, v, _]: [FloatTensor<B>; 4],
    slope: f64,
    grad: FloatTensor<B>,
    of_points: bool,
) -> PerceptronGradients<B> {
    let given = [w.clone(), c.clone()];
    let (units, curves) = spline_units::<B>(points.clone(), curves, given, slope);
    let [all, per_row, hidden] = units.dims();
    let outputs = grad.shape()[0];
    let flat = units.clone().reshape([all * per_row, hidden]);
    let grad = wrap::<B, 3>(grad).reshape([outputs, sums * per_row]);
    let grad = cycle(grad.transpose(), all * per_row);
    let outer = linear_backward::<B>(Some(unwrap(flat)), Some(v), unwrap(grad));
    let in_units = wrap::<B, 2>(outer.input.expect("asked for"));
    let in_units = in_units.reshape([all, per_row, hidden]);
    let in_sums = times_slope(units, in_units, Activation::LeakyRelu(slope));
    let points = wrap::<B, 2>(points).unsqueeze_dim::<3>(2);
    let in_w = (in_sums.clone() * points).reshape([all * per_row, hidden]);
    let in_rows = in_sums.clone().sum_dim(1).reshape([all, hidden]);
    let in_c = wrap::<B, 2>(c).zeros_like();
    let in_c = in_c.select_assign(0, curves, in_rows, IndexingUpdateOp::Add);
    let in_points = of_points.then(|| {
        let w = wrap::<B, 1>(w).reshape([1, 1, hidden]);
        unwrap((in_sums * w).sum_dim(2).reshape([all, per_row]))
    });
    let (v, b) = outer.parameters.expect("asked for");
    let in_w = unwrap(in_w.sum_dim(0).reshape([hidden]));
    PerceptronGradients {
        input: in_points,
        weights: [in_w, unwrap(in_c), v, b],
    }
}

pub fn activation<B: Backend>(x: FloatTensor<B>, activation: Activation) -> FloatTensor<B> {
    unwrap(activate(wrap::<B, 2>(x), activation))
}

pub fn activation_backward<B: Backend>(
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
    activation: Activation,
) -> FloatTensor<B> {
    let (output, grad) = (wrap::<B, 2>(output), wrap::<B, 2>(grad));
    unwrap(times_slope(output, grad, activation))
}

/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − α · m̂ / (√v̂ + ε), shapes flattened by the caller's choice.
pub fn adam<B: Backend>(
    parameter: FloatTensor<B>,
    grad: FloatTensor<B>,
    moment_1: FloatTensor<B>,
    moment_2: FloatTensor<B>,
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (first, second) = step.bias_corrections();
    let grad = wrap::<B, 1>(grad);
    let moment_1 = wrap::<B, 1>(moment_1) * step.beta_1 + grad.clone() * (1.0 - step.beta_1);
    let moment_2 = wrap::<B, 1>(moment_2) * step.beta_2 + grad.clone() * grad * (1.0 - step.beta_2);
    let denominator = (moment_2.clone() / second).sqrt() + step.epsilon;
    let parameter =
        wrap::<B, 1>(parameter) - (moment_1.clone() / first) / denominator * step.learning_rate;
    (unwrap(parameter), unwrap(moment_1), unwrap(moment_2))
}
