//! Layers, small nets, and their training.

use burn::tensor::Tensor;

use super::{assert_groups, wrap};
use crate::{Activation, AdamStep, Backend, Values};

/// x W + b for x `[N, I]`, W `[I, O]`, b `[O]`: `[N, O]`. Differentiable in W and b, and in x if it is of numbers.
///
/// Products of packed bits cost the CPU less than those of numbers: see [`Backend::bit_linear`]. Rows of the gradient that are zero throughout cost no multiplication on the CPU: a particle without a coefficient
/// is not differentiated.
pub fn linear<B: Backend>(
    x: impl Into<Values<B>>,
    weight: Tensor<B, 2>,
    bias: Tensor<B, 1>,
) -> Tensor<B, 2> {
    let x = x.into();
    assert_eq!(
        x.dims()[1],
        weight.dims()[0],
        "input and weight differ in features"
    );
    assert_eq!(
        weight.dims()[1],
        bias.dims()[0],
        "weight and bias differ in outputs"
    );
    let weight = weight.into_primitive().tensor();
    let bias = bias.into_primitive().tensor();
    wrap(match x {
        Values::Bits(bits) => B::bit_linear(bits.words().clone().into_primitive(), weight, bias),
        Values::Numbers(x) => B::fused_linear(x.into_primitive().tensor(), weight, bias),
    })
}

/// Σ_h w_h f(q_nh + k_mh) of each query n with each key m. It is a net of one hidden layer on pairs. Its first layer is the sum
/// of one of the query and one of the key (Bahdanau, Cho & Bengio 2015, appendix A.1.2, with f = tanh).
///
/// Queries `[R, N, H]`, keys `[G, M, H]`, weights `[H]`; group g of the keys meets the queries g mod R: `[G, N, M]`.
/// Differentiable in all of them. On the CPU the hidden units, `[G, N, M, H]`, are never in memory: the gradient makes them
/// again.
///
/// # Panics
/// If the numbers of units differ, R doesn't divide G, or a rectifier's slope is negative.
pub fn additive_scores<B: Backend>(
    queries: Tensor<B, 3>,
    keys: Tensor<B, 3>,
    weights: Tensor<B, 1>,
    activation: Activation,
) -> Tensor<B, 3> {
    let units = queries.dims()[2];
    assert_eq!(units, keys.dims()[2], "queries and keys differ in units");
    assert_eq!(
        [units],
        weights.dims(),
        "queries and weights differ in units"
    );
    assert_groups(queries.dims()[0], keys.dims()[0]);
    assert_slope(activation);
    wrap(B::additive_scores(
        queries.into_primitive().tensor(),
        keys.into_primitive().tensor(),
        weights.into_primitive().tensor(),
        activation,
    ))
}

/// f(x W + b) V + c `[N, O]`, a net of one hidden layer. Here x is `[N, I]`; W `[I, H]` and b `[H]` are the hidden layer's,
/// V `[H, O]` and c `[O]` the output's. Differentiable in all of them.
///
/// On the CPU the hidden units are never in memory: the gradient makes them again, and rows of its own that are zero throughout
/// cost nothing. That is the faster, the fewer the weights: see [`linear`] for large layers.
///
/// # Panics
/// If the sizes of x and of the layers do not belong together, inputs or outputs are none, or a rectifier's slope is negative.
pub fn perceptron<B: Backend>(
    x: Tensor<B, 2>,
    (w, b): (Tensor<B, 2>, Tensor<B, 1>),
    (v, c): (Tensor<B, 2>, Tensor<B, 1>),
    activation: Activation,
) -> Tensor<B, 2> {
    let ([inputs, hidden], [units, outputs]) = (w.dims(), v.dims());
    assert_eq!(x.dims()[1], inputs, "input and weight differ in features");
    assert_eq!(
        [hidden; 2],
        [units, b.dims()[0]],
        "layers differ in hidden units"
    );
    assert_eq!([outputs], c.dims(), "weight and bias differ in outputs");
    assert!(inputs > 0 && outputs > 0, "no inputs or no outputs");
    assert_slope(activation);
    let (w, v) = (w.into_primitive().tensor(), v.into_primitive().tensor());
    let (b, c) = (b.into_primitive().tensor(), c.into_primitive().tensor());
    let x = x.into_primitive().tensor();
    wrap(B::perceptron(x, [w, b, v, c], activation))
}

/// Σ_n (Σ_h V_ho f(w_h x_np + c_sh) + b_o), f the leaky rectifier of this slope below 0, at points x `[N, P]`, row n on curve
/// s = `curves[n]`: `[O, R, P]`, row r of R = `sums` the sum over the rows n with n mod R = r. Here w is `[H]`, c `[C, H]` of C
/// curves, V `[H, O]` and b `[O]`. Differentiable in all of them.
///
/// Such a net of one input is a linear spline with the knots −c_sh / w_h. On the CPU the knots of a curve are sorted once, and a point
/// costs a search among them in place of all H units: H log H for a curve, log H for a point, both ways. Where x is on a knot, the
/// gradient may be of either side.
///
/// With [`linear`] for c, it is [`perceptron`] at many values of one input for each of a few values of the others.
///
/// # Panics
/// If the sizes do not belong together, R doesn't divide N, a curve is none of C, outputs or hidden units are none, or the slope is
/// negative.
pub fn linear_splines<B: Backend>(
    points: Tensor<B, 2>,
    curves: &[usize],
    sums: usize,
    (w, c): (Tensor<B, 1>, Tensor<B, 2>),
    (v, b): (Tensor<B, 2>, Tensor<B, 1>),
    slope: f64,
) -> Tensor<B, 3> {
    let ([have, hidden], [units, outputs]) = (c.dims(), v.dims());
    assert_eq!(
        points.dims()[0],
        curves.len(),
        "points and curves differ in rows"
    );
    assert!(
        curves.iter().all(|&curve| curve < have),
        "there is no such curve"
    );
    assert_eq!(
        [hidden; 2],
        [units, w.dims()[0]],
        "layers differ in hidden units"
    );
    assert_eq!([outputs], b.dims(), "weight and bias differ in outputs");
    assert!(
        sums > 0 && curves.len().is_multiple_of(sums),
        "the sums have no equal numbers of rows"
    );
    assert!(hidden > 0 && outputs > 0, "no hidden units or no outputs");
    assert_slope(Activation::LeakyRelu(slope));
    let (w, c) = (w.into_primitive().tensor(), c.into_primitive().tensor());
    let (v, b) = (v.into_primitive().tensor(), b.into_primitive().tensor());
    let points = points.into_primitive().tensor();
    wrap(B::linear_splines(points, curves, sums, [w, c, v, b], slope))
}

/// Asserts what the gradient needs, which tells the side of the kink from the value.
fn assert_slope(activation: Activation) {
    if let Activation::LeakyRelu(slope) = activation {
        assert!(slope >= 0.0, "the slope must not be negative");
    }
}

/// max(x, 0) + slope · min(x, 0), elementwise, for a slope ≥ 0; 0 is the rectifier, whose derivative at 0 is 0.
///
/// # Panics
/// If the slope is negative: its sign could not be told from the output's.
pub fn leaky_relu<B: Backend>(x: Tensor<B, 2>, slope: f64) -> Tensor<B, 2> {
    assert!(slope >= 0.0, "the slope must not be negative");
    let rectifier = Activation::LeakyRelu(slope);
    wrap(B::fused_activation(x.into_primitive().tensor(), rectifier))
}

/// tanh x, elementwise, in vector instructions where the backend can. Differentiable.
pub fn tanh<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let x = x.into_primitive().tensor();
    wrap(B::fused_activation(x, Activation::Tanh))
}

/// One Adam update (Kingma & Ba 2015, algorithm 1): the new parameter and moments, in one pass where the backend can.
pub fn adam<B: Backend, const D: usize>(
    parameter: Tensor<B, D>,
    grad: Tensor<B, D>,
    moment_1: Tensor<B, D>,
    moment_2: Tensor<B, D>,
    step: AdamStep,
) -> (Tensor<B, D>, Tensor<B, D>, Tensor<B, D>) {
    let shape = parameter.shape();
    let flat = |tensor: Tensor<B, D>| tensor.flatten::<1>(0, D - 1).into_primitive().tensor();
    let (parameter, moment_1, moment_2) = B::adam(
        flat(parameter),
        flat(grad),
        flat(moment_1),
        flat(moment_2),
        step,
    );
    let unflat = |primitive| wrap::<B, 1>(primitive).reshape(shape.clone());
    (unflat(parameter), unflat(moment_1), unflat(moment_2))
}
