//! The portable definitions of our operations, in plain tensor operations on any backend and dtype.

use std::f64::consts::PI;

use std::ops::Range;

use burn::tensor::ops::{ConvOptions, FloatTensor, IntTensor};
use burn::tensor::{
    DType, ElementConversion, IndexingUpdateOp, Int, Tensor, TensorData, TensorMetadata,
    TensorPrimitive, activation, module,
};

use crate::{
    Activation, AdamStep, AdditiveGradients, Backend, LinearGradients, OwnNormalGradients,
    PerceptronGradients, Pieces, cat,
};

/// Bits of a word.
pub(crate) const WORD: usize = u32::BITS as usize;

fn wrap<B: Backend, const D: usize>(primitive: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(primitive))
}

fn unwrap<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> FloatTensor<B> {
    tensor.into_primitive().tensor()
}

/// `rows` repeated cyclically to `count` rows. Not by burn's `repeat_dim`, whose gradient (0.21) folds neighbouring rows
/// instead of equal ones.
pub fn cycle<B: Backend>(rows: Tensor<B, 2>, count: usize) -> Tensor<B, 2> {
    let [have, width] = rows.dims();
    if have == count {
        rows
    } else {
        rows.unsqueeze::<3>()
            .expand([count / have, have, width])
            .reshape([count, width])
    }
}

/// The places 0 … 31 of the bits of a word, `[1, 1, 32]`.
fn places<B: Backend>(words: &Tensor<B, 2, Int>) -> Tensor<B, 3, Int> {
    let places = Tensor::<B, 1, Int>::arange(0..WORD as i64, &words.device());
    places.cast(DType::U32).reshape([1, 1, WORD])
}

pub fn pack_bits<B: Backend>(values: FloatTensor<B>) -> IntTensor<B> {
    let values = wrap::<B, 2>(values);
    let [rows, columns] = values.dims();
    let per_row = columns.div_ceil(WORD);
    let room = Tensor::<B, 2>::zeros(
        [rows, per_row * WORD - columns],
        (&values.device(), values.dtype()),
    );
    let ones = cat(vec![values, room], 1).greater_elem(0.5);
    let ones = ones.int().cast(DType::U32).reshape([rows, per_row, WORD]);
    let shifts = places(&ones.clone().reshape([rows * per_row, WORD]));
    let shifted = ones.bitwise_left_shift(shifts.expand([rows, per_row, WORD]));
    shifted.sum_dim(2).reshape([rows, per_row]).into_primitive()
}

pub fn unpack_bits<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    dtype: DType,
) -> FloatTensor<B> {
    let words = Tensor::<B, 2, Int>::from_primitive(words);
    let [rows, per_row] = words.dims();
    let all = [rows, per_row, WORD];
    let shifts = places(&words).expand(all);
    let shifted = words
        .unsqueeze_dim::<3>(2)
        .expand(all)
        .bitwise_right_shift(shifts);
    let bits = shifted.bitwise_and_scalar(1.elem());
    let bits = bits.reshape([rows, per_row * WORD]).narrow(1, 0, columns);
    unwrap(bits.float().cast(dtype))
}

pub fn bit_columns<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    range: Range<usize>,
) -> IntTensor<B> {
    let numbers = wrap::<B, 2>(B::unpack_bits(words, columns, DType::F32));
    B::pack_bits(unwrap(numbers.narrow(1, range.start, range.len())))
}

/// Packed bits as numbers of the dtype of a matrix, as many columns as its `dimension` is long.
pub fn unpack_like<B: Backend>(
    words: IntTensor<B>,
    matrix: &FloatTensor<B>,
    dimension: usize,
) -> FloatTensor<B> {
    B::unpack_bits(words, matrix.shape()[dimension], matrix.dtype())
}

pub fn bit_linear_backward<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 2] {
    let x = B::unpack_bits(words, columns, grad.dtype());
    let gradients = B::fused_linear_backward(Some(x), None, grad);
    gradients.parameters.expect("x was given").into()
}

/// Logits and values, both with the larger number of rows.
fn align<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> (Tensor<B, 2>, Tensor<B, 2>) {
    let (logits, values) = (wrap::<B, 2>(logits), wrap::<B, 2>(values));
    let rows = logits.dims()[0].max(values.dims()[0]);
    (cycle(logits, rows), cycle(values, rows))
}

pub fn bernoulli_log_prob<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> FloatTensor<B> {
    let (logits, values) = align::<B>(logits, values);
    // v·a − softplus(a), in an order that cancels nothing: of a bit that is as its logit likes, the bracket is exactly zero.
    let tail = logits.clone().abs().neg().exp().log1p();
    let rows = (values * logits.clone() - logits.clamp_min(0.0)) - tail;
    unwrap(rows.sum_dim(1).squeeze_dim::<1>(1))
}

pub fn bernoulli_log_prob_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = B::bernoulli_log_prob(logits.clone(), values.clone());
    let (logits, values) = align::<B>(logits, values);
    (log_prob, unwrap(values - activation::sigmoid(logits)))
}

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

pub fn sample_bernoulli<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
) -> FloatTensor<B> {
    let (logits, uniforms) = (wrap::<B, 2>(logits), wrap::<B, 2>(uniforms));
    let probabilities = cycle(activation::sigmoid(logits), uniforms.dims()[0]);
    let ones = uniforms.clone().ones_like();
    unwrap(
        uniforms
            .zeros_like()
            .mask_where(uniforms.lower(probabilities), ones),
    )
}

/// All logits `[M, V, C]` of logits `[M, V (C − 1)]`: before those of each variable the constant 0 of its first class.
pub fn pinned<B: Backend>(logits: Tensor<B, 2>, classes: usize) -> Tensor<B, 3> {
    let [rows, columns] = logits.dims();
    let logits = logits.reshape([rows, columns / (classes - 1), classes - 1]);
    let first = logits.clone().narrow(2, 0, 1).zeros_like();
    cat(vec![first, logits], 2)
}

/// [`pinned`], laid out as values are: `[M, V C]`.
pub fn pinned_rows<B: Backend>(logits: FloatTensor<B>, classes: usize) -> FloatTensor<B> {
    unwrap(pinned(wrap::<B, 2>(logits), classes).flatten::<2>(1, 2))
}

/// ln(ρ + ε) and ln(1 − ρ + ε) of means ρ, cut off at 0 and 1. Added to 1 the floor would round away.
fn log_means<B: Backend>(means: Tensor<B, 2>, floor: f64) -> [Tensor<B, 2>; 2] {
    let means = means.clamp(0.0, 1.0);
    let rest = means.clone().neg() + 1.0;
    [means + floor, rest + floor].map(Tensor::log)
}

/// What the log-probability grows by when a value grows by 1: `[M, D]`.
pub fn mean_logits<B: Backend>(means: FloatTensor<B>, floor: f64) -> FloatTensor<B> {
    let [light, dark] = log_means::<B>(wrap(means), floor);
    unwrap(light - dark)
}

pub fn bernoulli_mean_log_prob<B: Backend>(
    means: FloatTensor<B>,
    values: FloatTensor<B>,
    floor: f64,
) -> FloatTensor<B> {
    let (means, values) = align::<B>(means, values);
    let [light, dark] = log_means(means, floor);
    let terms = values.clone() * light + (values.neg() + 1.0) * dark;
    unwrap(terms.sum_dim(1).squeeze_dim::<1>(1))
}

pub fn bernoulli_mean_log_prob_and_slope<B: Backend>(
    means: FloatTensor<B>,
    values: FloatTensor<B>,
    floor: f64,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = bernoulli_mean_log_prob::<B>(means.clone(), values.clone(), floor);
    let (means, values) = align::<B>(means, values);
    let beyond = means
        .clone()
        .lower_elem(0.0)
        .bool_or(means.clone().greater_elem(1.0));
    let light = values.clone() / (means.clone() + floor);
    let dark = (values.neg() + 1.0) / (means.neg() + 1.0 + floor);
    (log_prob, unwrap((light - dark).mask_fill(beyond, 0.0)))
}

/// Σ_v z·φ + ln softmax(φ)_0, the second being −ln Σ_c e^φ_c, since φ_0 = 0.
pub fn categorical_log_prob<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let all = pinned(wrap::<B, 2>(logits), classes);
    let first = activation::log_softmax(all.clone(), 2).narrow(2, 0, 1);
    let normaliser = first.squeeze_dim::<2>(2).sum_dim(1);
    let (all, values) = align::<B>(unwrap(all.flatten::<2>(1, 2)), values);
    let normaliser = cycle(normaliser, values.dims()[0]);
    unwrap(((values * all).sum_dim(1) + normaliser).squeeze_dim::<1>(1))
}

pub fn categorical_log_prob_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    classes: usize,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = B::categorical_log_prob(logits.clone(), values.clone(), classes);
    let probabilities = activation::softmax(pinned(wrap::<B, 2>(logits), classes), 2);
    let probabilities = unwrap(probabilities.flatten::<2>(1, 2));
    let (probabilities, values) = align::<B>(probabilities, values);
    let [rows, columns] = values.dims();
    let residual = (values - probabilities).reshape([rows, columns / classes, classes]);
    let learned = residual.narrow(2, 1, classes - 1);
    (log_prob, unwrap(learned.flatten::<2>(1, 2)))
}

pub fn categorical_move<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    from: FloatTensor<B>,
) -> [FloatTensor<B>; 3] {
    let logits = wrap::<B, 2>(logits);
    let [rows, classes] = logits.dims();
    let first = logits.clone().narrow(1, 0, 1);
    let pinned = logits.narrow(1, 1, classes - 1) - first;
    let uniforms = wrap::<B, 1>(uniforms).reshape([rows, 1]);
    let drawn = B::sample_categorical(unwrap(pinned.clone()), unwrap(uniforms), classes);
    let log_prob = B::categorical_log_prob(unwrap(pinned.clone()), drawn.clone(), classes);
    let reverse = B::categorical_log_prob(unwrap(pinned.detach()), from, classes);
    [drawn, log_prob, reverse]
}

pub fn categorical_move_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    from: FloatTensor<B>,
) -> ([FloatTensor<B>; 3], FloatTensor<B>) {
    let moved = B::categorical_move(logits.clone(), uniforms, from);
    let drawn = wrap::<B, 2>(moved[0].clone());
    let residual = drawn - activation::softmax(wrap::<B, 2>(logits), 1);
    (moved, unwrap(residual))
}

/// The class is the number of cumulative sums F(0), …, F(C − 2) that are at most u F(C − 1). For every u < 1 this product is
/// below F(C − 1), also rounded: a class of probability 0 is not drawn, whatever the rounding of the sums.
pub fn sample_categorical<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let probabilities = activation::softmax(pinned(wrap::<B, 2>(logits), classes), 2);
    let [_, variables, _] = probabilities.dims();
    // Not by `cumsum`, which on some device may sum in another order.
    let mut cumulative = vec![probabilities.clone().narrow(2, 0, 1)];
    for class in 1..classes {
        let own = probabilities.clone().narrow(2, class, 1);
        cumulative.push(cumulative[class - 1].clone() + own);
    }
    let total = cumulative.pop().expect("a class");
    let uniforms = wrap::<B, 2>(uniforms);
    let rows = uniforms.dims()[0];
    let scaled = uniforms * cycle(total.squeeze_dim::<2>(2), rows);
    let shape = [rows, variables, classes - 1];
    let cumulative = cat(cumulative, 2).flatten::<2>(1, 2);
    let cumulative = cycle(cumulative, rows).reshape(shape);
    let below = scaled
        .reshape([rows, variables, 1])
        .expand(shape)
        .lower(cumulative.clone());
    // 1 where u < F(c), which rises from F(−1) = 0 to F(C − 1) = 1: its steps are the class.
    let below = cumulative.zeros_like().mask_fill(below, 1.0);
    let zeros = below.clone().narrow(2, 0, 1).zeros_like();
    let ones = zeros.ones_like();
    let steps = cat(vec![below.clone(), ones], 2) - cat(vec![zeros, below], 2);
    unwrap(steps.flatten::<2>(1, 2))
}

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

pub fn own_normal_log_probs<B: Backend>(
    values: FloatTensor<B>,
    classes: FloatTensor<B>,
    means: FloatTensor<B>,
    precisions: FloatTensor<B>,
) -> FloatTensor<B> {
    let classes = wrap::<B, 3>(classes);
    let all = wrap::<B, 3>(B::normal_log_probs(values, means, precisions));
    // Another's density counts for nothing, whatever it is.
    let all = all.mask_fill(classes.clone().equal_elem(0.0), 0.0);
    unwrap((classes * all).sum_dim(2).squeeze_dim::<2>(2))
}

/// Where the pieces of each group lie on its row `[G, K]`, entry `beyond` standing for none, and on its source.
fn indices<B: Backend>(
    pieces: &Pieces,
    beyond: usize,
    device: &B::Device,
) -> [Tensor<B, 2, Int>; 2] {
    let (places, count) = pieces.places([beyond, 0]);
    [0, 1].map(|which| {
        let own: Vec<i64> = places.iter().map(|place| place[which] as i64).collect();
        Tensor::from_data(TensorData::new(own, [pieces.groups(), count]), device)
    })
}

pub fn add_pieces<B: Backend>(
    rows: FloatTensor<B>,
    sources: FloatTensor<B>,
    pieces: &Pieces,
    weight: f64,
) -> FloatTensor<B> {
    let (rows, sources) = (wrap::<B, 2>(rows), wrap::<B, 2>(sources));
    let (groups, width) = (pieces.groups(), rows.dims()[1]);
    let like = (&rows.device(), rows.dtype());
    let [to, from] = indices::<B>(pieces, width, like.0);
    let seen = cycle(sources, groups).gather(1, from);
    let placed = Tensor::<B, 2>::zeros([groups, width + 1], like);
    let placed = placed.scatter(1, to, seen, IndexingUpdateOp::Add);
    unwrap(cycle(rows, groups) + placed.narrow(1, 0, width) * weight)
}

pub fn add_pieces_backward<B: Backend>(
    grad: FloatTensor<B>,
    [count, own]: [usize; 2],
    pieces: &Pieces,
    weight: f64,
) -> FloatTensor<B> {
    let grad = wrap::<B, 2>(grad);
    let [groups, width] = grad.dims();
    let like = (&grad.device(), grad.dtype());
    let [to, from] = indices::<B>(pieces, width, like.0);
    let grad = cat(vec![grad.clone(), Tensor::zeros([groups, 1], like)], 1);
    let taken = Tensor::<B, 2>::zeros([groups, own], like);
    let taken = taken.scatter(1, from, grad.gather(1, to), IndexingUpdateOp::Add);
    let taken = taken.reshape([groups / count, count, own]).sum_dim(0);
    unwrap(taken.reshape([count, own]) * weight)
}

pub fn softmax_rows<B: Backend>(x: FloatTensor<B>) -> FloatTensor<B> {
    unwrap(activation::softmax(wrap::<B, 2>(x), 1))
}

pub fn softmax_rows_backward<B: Backend>(
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let (y, grad) = (wrap::<B, 2>(output), wrap::<B, 2>(grad));
    let mean = (y.clone() * grad.clone()).sum_dim(1);
    unwrap(y * (grad - mean))
}

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

pub fn own_normal_log_probs_backward<B: Backend>(
    values: FloatTensor<B>,
    classes: FloatTensor<B>,
    normals: [FloatTensor<B>; 2],
    grad: FloatTensor<B>,
    of_values: bool,
) -> OwnNormalGradients<B> {
    let (values, classes) = (wrap::<B, 3>(values), wrap::<B, 3>(classes));
    let [means, precisions] = normals.map(wrap::<B, 3>);
    let ([r, n, d], [g, ..]) = (values.dims(), means.dims());
    let weights = classes * wrap::<B, 2>(grad).unsqueeze_dim::<3>(2);
    let x = cycle(values.reshape([r, n * d]), g).reshape([g, n, 1, d]);
    let away = x - means.unsqueeze_dim::<4>(1);
    // Another's density counts for nothing, whatever it is.
    let nothing = weights.clone().equal_elem(0.0).unsqueeze_dim::<4>(3);
    let away = away.clone().mask_fill(nothing.expand(away.dims()), 0.0);
    let weighted = away.clone() * weights.clone().unsqueeze_dim::<4>(3);
    let over_data = |of: Tensor<B, 4>| of.sum_dim(1).squeeze_dim::<3>(1);
    let counts = weights.sum_dim(1).swap_dims(1, 2);
    let squares = over_data(weighted.clone() * away);
    let of_precisions = (counts / precisions.clone() - squares) * 0.5;
    let of_means = over_data(weighted.clone()) * precisions.clone();
    let of_values = of_values.then(|| {
        let pulls = (weighted * precisions.unsqueeze_dim::<4>(1)).sum_dim(2);
        let rows = pulls.neg().reshape([g / r, r * n * d]).sum_dim(0);
        unwrap(rows.reshape([r, n, d]))
    });
    OwnNormalGradients {
        values: of_values,
        normals: [of_means, of_precisions].map(unwrap),
    }
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

pub fn bounded_exp<B: Backend>(x: FloatTensor<B>, bound: f64) -> FloatTensor<B> {
    unwrap(wrap::<B, 1>(x).clamp(-bound, bound).exp())
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

pub fn normal_gamma_log_prob<B: Backend>(
    parameters: [FloatTensor<B>; 4],
    value: [FloatTensor<B>; 2],
) -> FloatTensor<B> {
    let [mean, nu, alpha, beta] = parameters.map(wrap::<B, 1>);
    let [mu, tau] = value.map(wrap::<B, 1>);
    let log_gamma = wrap::<B, 1>(B::log_gamma(unwrap(alpha.clone())));
    let log_tau = tau.clone().log();
    let of_tau = alpha.clone() * beta.clone().log() - log_gamma;
    let of_tau = of_tau + (alpha - 1.0) * log_tau.clone() - beta * tau.clone();
    let squares = (mu - mean).square() * nu.clone() * tau;
    unwrap(of_tau + (nu.log() + log_tau - squares - (2.0 * PI).ln()) * 0.5)
}

#[allow(clippy::type_complexity)] // as the arguments
pub fn normal_gamma_log_prob_backward<B: Backend>(
    parameters: [FloatTensor<B>; 4],
    value: [FloatTensor<B>; 2],
    grad: FloatTensor<B>,
) -> ([FloatTensor<B>; 4], [FloatTensor<B>; 2]) {
    let [mean, nu, alpha, beta] = parameters.map(wrap::<B, 1>);
    let [mu, tau] = value.map(wrap::<B, 1>);
    let grad = wrap::<B, 1>(grad);
    let digamma = wrap::<B, 1>(B::digamma(unwrap(alpha.clone())));
    let away = mu - mean;
    let squares = away.clone().square() * 0.5;
    let pull = away * nu.clone() * tau.clone();
    let of_nu = nu.clone().recip() * 0.5 - tau.clone() * squares.clone();
    let of_alpha = beta.clone().log() - digamma + tau.clone().log();
    let of_beta = alpha.clone() / beta.clone() - tau.clone();
    let of_tau = (alpha - 0.5) / tau - beta - nu * squares;
    // Nothing of an element whose gradient is zero, whatever it holds.
    let nothing = grad.clone().equal_elem(0.0);
    let weigh = |slope: Tensor<B, 1>| {
        let slope = slope * grad.clone();
        unwrap(slope.mask_fill(nothing.clone(), 0.0))
    };
    (
        [pull.clone(), of_nu, of_alpha, of_beta].map(weigh),
        [pull.neg(), of_tau].map(weigh),
    )
}

/// ½ Σ_d (log τ − log 2π − τ (x − μ)²).
pub fn normal_log_probs<B: Backend>(
    values: FloatTensor<B>,
    means: FloatTensor<B>,
    precisions: FloatTensor<B>,
) -> FloatTensor<B> {
    let values = wrap::<B, 3>(values);
    let (means, precisions) = (wrap::<B, 3>(means), wrap::<B, 3>(precisions));
    let ([r, n, d], [g, m, _]) = (values.dims(), means.dims());
    let own = [g / r, r, 1, m, d];
    let norm = (precisions.clone().log() - (2.0 * PI).ln()).sum_dim(2);
    let norm = norm.reshape([g / r, r, 1, m, 1]);
    let away = (values.reshape([1, r, n, 1, d]) - means.reshape(own)).square();
    let energy = (away * precisions.reshape(own)).sum_dim(4);
    unwrap(((norm - energy) * 0.5).reshape([g, n, m]))
}

pub fn cross_correlation<B: Backend>(
    images: FloatTensor<B>,
    templates: FloatTensor<B>,
) -> FloatTensor<B> {
    let (images, templates) = (wrap::<B, 3>(images), wrap::<B, 3>(templates));
    let ([r, h, w], [s, p, q]) = (images.dims(), templates.dims());
    let groups = r.max(s);
    let images = cycle(images.reshape([r, h * w]), groups).reshape([1, groups, h, w]);
    let templates = cycle(templates.reshape([s, p * q]), groups).reshape([groups, 1, p, q]);
    let options = ConvOptions::new([1, 1], [0, 0], [1, 1], groups);
    let responses = module::conv2d(images, templates, None, options);
    unwrap(responses.squeeze_dim::<3>(0))
}

pub fn leaky_relu<B: Backend>(x: FloatTensor<B>, slope: f64) -> FloatTensor<B> {
    unwrap(activate(wrap::<B, 2>(x), Activation::LeakyRelu(slope)))
}

pub fn leaky_relu_backward<B: Backend>(
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
    slope: f64,
) -> FloatTensor<B> {
    let (output, grad) = (wrap::<B, 2>(output), wrap::<B, 2>(grad));
    unwrap(times_slope(output, grad, Activation::LeakyRelu(slope)))
}

pub fn beta_log_prob<B: Backend>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    x: FloatTensor<B>,
) -> FloatTensor<B> {
    let [a, b, x] = [a, b, x].map(wrap::<B, 1>);
    let log_gamma = |of: Tensor<B, 1>| wrap::<B, 1>(B::log_gamma(unwrap(of)));
    let log_norm = log_gamma(a.clone()) + log_gamma(b.clone()) - log_gamma(a.clone() + b.clone());
    unwrap((a - 1.0) * x.clone().log() + (b - 1.0) * x.neg().log1p() - log_norm)
}

pub fn beta_log_prob_backward<B: Backend>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    x: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 3] {
    let [a, b, x, grad] = [a, b, x, grad].map(wrap::<B, 1>);
    let digamma = |of: &Tensor<B, 1>| wrap::<B, 1>(B::digamma(unwrap(of.clone())));
    let of_sum = digamma(&(a.clone() + b.clone()));
    let in_a = x.clone().log() - digamma(&a) + of_sum.clone();
    let in_b = x.clone().neg().log1p() - digamma(&b) + of_sum;
    let in_x = (a - 1.0) / x.clone() - (b - 1.0) / (x.neg() + 1.0);
    // Nothing of an element whose gradient is zero, whatever it holds.
    let nothing = grad.clone().equal_elem(0.0);
    [in_a, in_b, in_x].map(|slope| {
        let slope = slope * grad.clone();
        unwrap(slope.mask_fill(nothing.clone(), 0.0))
    })
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

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::TensorData;
    use burn_flex::Flex;

    use super::*;

    /// In f32, of single bits that are as their logits like, relative to a value as small as e^−80.
    #[test]
    fn a_likely_bit_has_its_small_log_probability_in_f32() {
        let logits: Vec<f32> = (0..=140).map(|i| 0.5 * i as f32 + 10.0).collect();
        let shape = [logits.len(), 1];
        let column = |of: Vec<f32>| -> Tensor<Flex, 2> {
            Tensor::from_data(TensorData::new(of, shape), &Default::default())
        };
        for (sign, bit) in [(1.0, 1.0), (-1.0, 0.0)] {
            let a = column(logits.iter().map(|a| sign * a).collect());
            let v = column(vec![bit; logits.len()]);
            // b a - softplus(a) as it is written: nothing is left of it.
            let naive = v.clone() * a.clone() - activation::softplus(a.clone(), 1.0);
            let naive: Vec<f32> = naive.into_data().to_vec().expect("f32");
            let found = bernoulli_log_prob::<Flex>(unwrap(a), unwrap(v));
            let found: Vec<f32> = wrap::<Flex, 1>(found).into_data().to_vec().expect("f32");
            let error = |found: f32, a: f32| {
                let expected = -(-f64::from(a)).exp().ln_1p();
                (f64::from(found) / expected - 1.0).abs()
            };
            for (i, &a) in logits.iter().enumerate() {
                assert!(error(found[i], a) < 1e-6, "{a}: {}", found[i]);
            }
            assert!(
                sign < 0.0 || error(naive[20], logits[20]) > 0.1,
                "{naive:?}"
            );
        }
    }
}
