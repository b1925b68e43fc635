//! Our operations on tensors.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use crate::{Activation, AdamStep, Backend, PackedBits, Piece, Pieces, Values, portable};

pub(crate) fn wrap<B: Backend, const D: usize>(primitive: FloatTensor<B>) -> Tensor<B, D> {
    Tensor::from_primitive(TensorPrimitive::Float(primitive))
}

/// Asserts that `a` rows and `b` rows can meet cyclically.
fn assert_cyclic(a: usize, b: usize) {
    let (few, many) = (a.min(b), a.max(b));
    assert!(
        few > 0 && many.is_multiple_of(few),
        "{a} rows cannot meet {b} rows cyclically"
    );
}

/// log p(v) = Σ_d v·a − softplus(a) of each row of bits v under Bernoulli logits a, in nats.
///
/// Logits `[M, D]`, values `[M', D]`, the fewer rows repeated cyclically: `[max(M, M')]`. Values may be relaxed
/// (any real number in [0, 1]). Differentiable in the logits, and in values that are numbers.
///
/// # Panics
/// If the numbers of columns differ, or one number of rows doesn't divide the other.
pub fn bernoulli_log_prob<B: Backend>(
    logits: Tensor<B, 2>,
    values: impl Into<Values<B>>,
) -> Tensor<B, 1> {
    let values = values.into();
    assert_eq!(
        logits.dims()[1],
        values.dims()[1],
        "logits and values differ in columns"
    );
    assert_cyclic(logits.dims()[0], values.dims()[0]);
    let logits = logits.into_primitive().tensor();
    wrap(match values {
        Values::Bits(bits) => {
            B::bit_bernoulli_log_prob(logits, bits.words().clone().into_primitive())
        }
        Values::Numbers(values) => B::bernoulli_log_prob(logits, values.into_primitive().tensor()),
    })
}

/// Σ_d v ln(ρ + ε) + (1 − v) ln(1 − ρ + ε) of each row of values v under Bernoulli means ρ, in nats. Means below 0 or above 1 count
/// as 0 and 1, and have no gradient.
///
/// Means `[M, D]`, values `[M', D]`, the fewer rows repeated cyclically: `[max(M, M')]`. Values may be grey (any real number in
/// [0, 1]); the floor ε is what a value costs that the mean excludes. Differentiable in both.
///
/// # Panics
/// If the numbers of columns differ, one number of rows doesn't divide the other, or the floor is not above 0.
pub fn bernoulli_mean_log_prob<B: Backend>(
    means: Tensor<B, 2>,
    values: Tensor<B, 2>,
    floor: f64,
) -> Tensor<B, 1> {
    let ([m, d], [n, columns]) = (means.dims(), values.dims());
    assert_eq!(d, columns, "means and values differ in columns");
    assert_cyclic(m, n);
    assert!(floor > 0.0, "the floor must be above 0");
    wrap(B::bernoulli_mean_log_prob(
        means.into_primitive().tensor(),
        values.into_primitive().tensor(),
        floor,
    ))
}

/// Bits b = 1 iff u < σ(a), for logits `[M, D]` and uniforms u ∈ [0, 1) `[N, D]`, logits repeated cyclically: `[N, D]`.
///
/// The bits carry no gradient.
///
/// # Panics
/// If the numbers of columns differ, or M doesn't divide N.
pub fn sample_bernoulli<B: Backend>(logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
    assert_eq!(
        logits.dims()[1],
        uniforms.dims()[1],
        "logits and uniforms differ in columns"
    );
    assert!(
        uniforms.dims()[0].is_multiple_of(logits.dims()[0]),
        "fewer uniforms than logits"
    );
    wrap(B::sample_bernoulli(
        logits.into_primitive().tensor(),
        uniforms.into_primitive().tensor(),
    ))
}

/// [`sample_bernoulli`], the bits packed where the backend [multiplies them so](Backend::PACKS_BITS).
///
/// # Panics
/// As [`sample_bernoulli`].
pub fn draw_bernoulli<B: Backend>(logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Values<B> {
    if !B::PACKS_BITS {
        return sample_bernoulli(logits, uniforms).into();
    }
    let ([few, columns], [rows, width]) = (logits.dims(), uniforms.dims());
    assert_eq!(columns, width, "logits and uniforms differ in columns");
    assert!(rows.is_multiple_of(few), "fewer uniforms than logits");
    let dtype = logits.dtype();
    let words = B::sample_bits(
        logits.into_primitive().tensor(),
        uniforms.into_primitive().tensor(),
    );
    PackedBits::from_words(Tensor::from_primitive(words), columns, dtype).into()
}

/// Asserts that there are classes, and logits for all but the first of each of a number of variables, which is returned.
fn variables(logits: usize, classes: usize) -> usize {
    assert!(classes >= 2, "{classes} classes: give at least 2");
    let free = classes - 1;
    assert!(
        logits.is_multiple_of(free),
        "{logits} columns of logits are not {free} a variable"
    );
    logits / free
}

/// All logits `[M, V, C]` of V variables of C classes, from those that are not pinned `[M, V (C − 1)]`: the logit of the
/// first class of each variable is the constant 0. Differentiable.
///
/// # Panics
/// With fewer than 2 classes, or if C − 1 doesn't divide the columns.
pub fn pinned_logits<B: Backend>(logits: Tensor<B, 2>, classes: usize) -> Tensor<B, 3> {
    variables(logits.dims()[1], classes);
    portable::pinned(logits, classes)
}

/// log p(z) = Σ_v z_v·φ_v − ln Σ_c e^φ_vc of each row of one-hot values z under the logits φ of V variables of C classes, in
/// nats. The first logit of each variable is pinned to 0 and left out.
///
/// Logits `[M, V (C − 1)]`, values `[M', V C]`, both variable by variable, the fewer rows repeated cyclically:
/// `[max(M, M')]`. Values may be relaxed (any real number in [0, 1]). Differentiable in both.
///
/// # Panics
/// With fewer than 2 classes, if the numbers of columns do not belong together, or one number of rows doesn't divide the
/// other.
pub fn categorical_log_prob<B: Backend>(
    logits: Tensor<B, 2>,
    values: impl Into<Values<B>>,
    classes: usize,
) -> Tensor<B, 1> {
    let values = values.into().numbers();
    assert_eq!(
        variables(logits.dims()[1], classes) * classes,
        values.dims()[1],
        "logits and values differ in variables"
    );
    assert_cyclic(logits.dims()[0], values.dims()[0]);
    wrap(B::categorical_log_prob(
        logits.into_primitive().tensor(),
        values.into_primitive().tensor(),
        classes,
    ))
}

/// One-hot classes by inversion: class c iff F(c − 1) ≤ u < F(c), F the cumulative probabilities of a variable. Logits as in
/// [`categorical_log_prob`] `[M, V (C − 1)]`, repeated cyclically, and uniforms u ∈ [0, 1) `[N, V]`: `[N, V C]`.
///
/// No u draws a class of probability 0. The values carry no gradient.
///
/// # Panics
/// With fewer than 2 classes, if there isn't a uniform a variable, or M doesn't divide N.
pub fn sample_categorical<B: Backend>(
    logits: Tensor<B, 2>,
    uniforms: Tensor<B, 2>,
    classes: usize,
) -> Tensor<B, 2> {
    assert_eq!(
        variables(logits.dims()[1], classes),
        uniforms.dims()[1],
        "logits and uniforms differ in variables"
    );
    assert!(
        uniforms.dims()[0].is_multiple_of(logits.dims()[0]),
        "fewer uniforms than logits"
    );
    wrap(B::sample_categorical(
        logits.into_primitive().tensor(),
        uniforms.into_primitive().tensor(),
        classes,
    ))
}

/// Moves from classes z to drawn classes z', one variable a row, with both log-probabilities. For all logits φ `[N, C]`, uniforms
/// u ∈ [0, 1) `[N]` and one-hot z `[N, C]`: z' `[N, C]`, drawn as by [`sample_categorical`]; z'·ln softmax(φ) `[N]`, differentiable
/// in φ; and z·ln softmax(φ) `[N]`, a constant.
///
/// # Panics
/// With fewer than 2 classes, or if the sizes differ.
pub fn categorical_move<B: Backend>(
    logits: Tensor<B, 2>,
    uniforms: Tensor<B, 1>,
    from: Tensor<B, 2>,
) -> (Tensor<B, 2>, Tensor<B, 1>, Tensor<B, 1>) {
    let [rows, classes] = logits.dims();
    assert!(classes >= 2, "a variable has at least 2 classes");
    assert_eq!([rows], uniforms.dims(), "a uniform for each row");
    assert_eq!([rows, classes], from.dims(), "a class for each row");
    let [drawn, log_prob, reverse] = B::categorical_move(
        logits.into_primitive().tensor(),
        uniforms.into_primitive().tensor(),
        from.into_primitive().tensor(),
    );
    (wrap(drawn), wrap(log_prob), wrap(reverse))
}

/// [`sample_categorical`], the one-hot values packed where the backend [multiplies bits so](Backend::PACKS_BITS).
///
/// # Panics
/// As [`sample_categorical`].
pub fn draw_categorical<B: Backend>(
    logits: Tensor<B, 2>,
    uniforms: Tensor<B, 2>,
    classes: usize,
) -> Values<B> {
    Values::binary(sample_categorical(logits, uniforms, classes))
}

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

/// Asserts that `few` groups can be repeated cyclically to `many`.
fn assert_groups(few: usize, many: usize) {
    assert!(
        few > 0 && many.is_multiple_of(few),
        "{few} groups cannot meet {many} groups cyclically"
    );
}

/// Sums over data, weighted by a softmax: Σ_n γ_nm (1, v_n) with γ_nm = e^{a_nm} / Σ_k e^{a_nk}.
///
/// Logits a `[G, N, M]`, values v `[G, N, D]`: `[G, M, 1 + D]`, the sum of the weights first. Differentiable in both.
///
/// # Panics
/// If the numbers of groups or of data differ, or M or D is 0.
pub fn softmax_sums<B: Backend>(logits: Tensor<B, 3>, values: Tensor<B, 3>) -> Tensor<B, 3> {
    assert_eq!(
        logits.dims()[..2],
        values.dims()[..2],
        "logits and values differ in groups or data"
    );
    let widths = [logits.dims()[2], values.dims()[2]];
    assert!(!widths.contains(&0), "no weights or no values");
    wrap(B::softmax_sums(
        logits.into_primitive().tensor(),
        values.into_primitive().tensor(),
    ))
}

/// Moments of candidates, weighted by a softmax and summed over those that are present: Σ_p w_lp γ_pm (1, t_p, t_p²) with
/// γ_pm = e^{a_pm} / Σ_k e^{a_pk}.
///
/// Logits a `[B, P, M]`, values t `[B, P, D]`, weights w `[L, B, P]`, which carry no gradient: `[L, B, M, 1 + 2 D]`, of each cluster
/// the sum of the weights, of the values, and of their squares. Differentiable in logits and values. What a candidate adds is made
/// once, however many of L particles have it.
///
/// # Panics
/// If the numbers of instances or of candidates differ, or M or D is 0.
pub fn softmax_moments<B: Backend>(
    logits: Tensor<B, 3>,
    values: Tensor<B, 3>,
    present: Tensor<B, 3>,
) -> Tensor<B, 4> {
    let candidates = [values.dims()[0], values.dims()[1]];
    assert_eq!(
        logits.dims()[..2],
        candidates,
        "logits and values differ in instances or candidates"
    );
    assert_eq!(
        present.dims()[1..],
        candidates,
        "weights and values differ in instances or candidates"
    );
    let widths = [logits.dims()[2], values.dims()[2]];
    assert!(!widths.contains(&0), "no weights or no values");
    wrap(B::softmax_moments(
        logits.into_primitive().tensor(),
        values.into_primitive().tensor(),
        present.into_primitive().tensor(),
    ))
}

/// Σ_m z_nm Σ_d log N(x_nd; μ_md, 1/τ_md) of each datum x_n under its own of M normals with independent coordinates, in nats.
///
/// Values x `[R, N, D]`, one-hot classes z `[G, N, M]`, means μ and precisions τ > 0 `[G, M, D]`; group g of the normals meets the
/// values g mod R: `[G, N]`. Differentiable in values and normals. A class that is 0 counts for nothing, whatever its density.
///
/// # Panics
/// If the sizes do not belong together, or R doesn't divide G.
pub fn own_normal_log_probs<B: Backend>(
    values: Tensor<B, 3>,
    classes: Tensor<B, 3>,
    means: Tensor<B, 3>,
    precisions: Tensor<B, 3>,
) -> Tensor<B, 2> {
    assert_eq!(means.dims(), precisions.dims(), "a precision for each mean");
    let ([r, n, d], [g, m, dimensions]) = (values.dims(), means.dims());
    assert_eq!(d, dimensions, "values and means differ in dimensions");
    assert_eq!([g, n, m], classes.dims(), "a class for each datum");
    assert_groups(r, g);
    wrap(B::own_normal_log_probs(
        values.into_primitive().tensor(),
        classes.into_primitive().tensor(),
        means.into_primitive().tensor(),
        precisions.into_primitive().tensor(),
    ))
}

/// Rows `[R, S]` with weight · pieces of sources `[T, P]` added to them. Group g of the pieces takes those of source g mod T, and adds
/// them to row g mod R: `[G, S]`. Differentiable in rows and sources.
///
/// # Panics
/// If R or T doesn't divide G, or a piece reaches beyond a row or a source.
pub fn add_pieces<B: Backend>(
    rows: Tensor<B, 2>,
    sources: Tensor<B, 2>,
    pieces: &Pieces,
    weight: f64,
) -> Tensor<B, 2> {
    let ([r, width], [t, own]) = (rows.dims(), sources.dims());
    assert_groups(r, pieces.groups());
    assert_groups(t, pieces.groups());
    let inside = |piece: &Piece| {
        let Piece { to, from, length } = *piece;
        to + length <= width && from + length <= own
    };
    assert!(
        pieces.by_group().flatten().all(inside),
        "a piece reaches beyond its row of {width} or its source of {own}"
    );
    let (rows, sources) = (
        rows.into_primitive().tensor(),
        sources.into_primitive().tensor(),
    );
    wrap(B::add_pieces(rows, sources, pieces, weight))
}

/// The softmax of each row of x `[N, D]`. Differentiable.
pub fn softmax_rows<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    wrap(B::softmax_rows(x.into_primitive().tensor()))
}

/// 1 / (1 + e⁻ˣ), elementwise. Differentiable.
pub fn sigmoid<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    elementwise(x, B::fused_sigmoid)
}

/// The columns of all parts `[N_i, D_i]`, one part after the other: `[N, Σ D_i]` of N = max N_i rows, those of the others repeated
/// cyclically. Differentiable.
///
/// # Panics
/// If there are no parts, or a number of rows doesn't divide N.
pub fn side_by_side<B: Backend>(parts: Vec<Tensor<B, 2>>) -> Tensor<B, 2> {
    let rows = parts.iter().map(|part| part.dims()[0]);
    let most = rows.clone().max().expect("at least one part");
    rows.for_each(|rows| assert_cyclic(rows, most));
    let parts = parts.into_iter().map(|part| part.into_primitive().tensor());
    wrap(B::side_by_side(parts.collect()))
}

/// x_n − μ_{z_n}, each datum's difference from its own of M centres, for values x `[R, N, D]`, one-hot classes z `[G, N, M]` and
/// centres μ `[G, M, D]`; group g of the centres meets the values g mod R: `[G, N, D]`. Differentiable in all of them.
///
/// # Panics
/// If the sizes do not belong together, or R doesn't divide G.
pub fn own_differences<B: Backend>(
    values: Tensor<B, 3>,
    classes: Tensor<B, 3>,
    centres: Tensor<B, 3>,
) -> Tensor<B, 3> {
    let ([r, n, d], [g, m, dimensions]) = (values.dims(), centres.dims());
    assert_eq!(d, dimensions, "values and centres differ in dimensions");
    assert_eq!([g, n, m], classes.dims(), "a class for each datum");
    assert_groups(r, g);
    wrap(B::own_differences(
        values.into_primitive().tensor(),
        classes.into_primitive().tensor(),
        centres.into_primitive().tensor(),
    ))
}

/// exp(min(max(x, −bound), bound)), elementwise: a positive number of a net's output, whose gradient outside is 0.
///
/// # Panics
/// If the bound is not between 0 and 87, where the exponential is a normal number in f32.
pub fn bounded_exp<B: Backend, const D: usize>(x: Tensor<B, D>, bound: f64) -> Tensor<B, D> {
    assert!(bound > 0.0 && bound <= 87.0, "the bound is {bound}");
    elementwise(x, |x| B::bounded_exp(x, bound))
}

/// ln Gamma(τ; α, β) + ln N(μ; μ₀, 1 / (ν τ)), the log-density of a normal-gamma law in nats, elementwise. Parameters are
/// (μ₀, ν, α, β), of which the last three are positive, and values (μ, τ) with τ > 0. Differentiable in all of them; without a
/// positive number where one is due it is no number.
///
/// # Panics
/// If the shapes differ.
pub fn normal_gamma_log_prob<B: Backend, const D: usize>(
    parameters: [Tensor<B, D>; 4],
    value: [Tensor<B, D>; 2],
) -> Tensor<B, D> {
    let shape = value[0].shape();
    let all = parameters.iter().chain(&value);
    assert!(
        all.map(Tensor::shape).all(|own| own == shape),
        "parameters and values differ in shape"
    );
    let flat = |tensor: Tensor<B, D>| tensor.flatten::<1>(0, D - 1).into_primitive().tensor();
    let log_prob = B::normal_gamma_log_prob(parameters.map(flat), value.map(flat));
    wrap::<B, 1>(log_prob).reshape(shape)
}

/// Σ_d log N(x_nd; μ_md, 1/τ_md) of each datum x_n under each of M normals with independent coordinates, in nats.
///
/// Values x `[R, N, D]`, means μ and precisions τ > 0 `[G, M, D]`; group g of the normals meets the values g mod R:
/// `[G, N, M]`. Differentiable in all of them.
///
/// # Panics
/// If the numbers of dimensions differ, or R doesn't divide G.
pub fn normal_log_probs<B: Backend>(
    values: Tensor<B, 3>,
    means: Tensor<B, 3>,
    precisions: Tensor<B, 3>,
) -> Tensor<B, 3> {
    assert_eq!(means.dims(), precisions.dims(), "a precision for each mean");
    assert_eq!(
        values.dims()[2],
        means.dims()[2],
        "values and means differ in dimensions"
    );
    assert_groups(values.dims()[0], means.dims()[0]);
    wrap(B::normal_log_probs(
        values.into_primitive().tensor(),
        means.into_primitive().tensor(),
        precisions.into_primitive().tensor(),
    ))
}

/// The valid cross-correlation, without a flip, of each image e with its template k: where the template fits,
///
/// > response[r, c] = Σ_ij k[i, j] e[r + i, c + j].
///
/// Images `[R, H, W]`, templates `[S, P, Q]`, the fewer repeated cyclically to G = max(R, S) pairs: `[G, H − P + 1, W − Q + 1]`.
/// The responses carry no gradient.
///
/// # Panics
/// If one number doesn't divide the other, or templates are empty or larger than images.
pub fn cross_correlation<B: Backend>(
    images: Tensor<B, 3>,
    templates: Tensor<B, 3>,
) -> Tensor<B, 3> {
    let ([r, h, w], [s, p, q]) = (images.dims(), templates.dims());
    assert_groups(r.min(s), r.max(s));
    assert!(
        (1..=h).contains(&p) && (1..=w).contains(&q),
        "templates of {p} x {q} do not fit into images of {h} x {w}"
    );
    wrap(B::cross_correlation(
        images.into_primitive().tensor(),
        templates.into_primitive().tensor(),
    ))
}

/// max(x, 0) + slope · min(x, 0), elementwise, for a slope ≥ 0; 0 is the rectifier, whose derivative at 0 is 0.
///
/// # Panics
/// If the slope is negative: its sign could not be told from the output's.
pub fn leaky_relu<B: Backend>(x: Tensor<B, 2>, slope: f64) -> Tensor<B, 2> {
    assert!(slope >= 0.0, "the slope must not be negative");
    wrap(B::fused_leaky_relu(x.into_primitive().tensor(), slope))
}

/// (a − 1) ln x + (b − 1) ln(1 − x) − ln B(a, b), the log-density of Beta(a, b) in nats, elementwise, for a, b > 0 and 0 < x < 1. Outside
/// it is no number, or infinite. Differentiable in all of them.
///
/// The error is bounded in f32 on the CPU, for a and b from e⁻¹⁰ to e¹⁰ and x from 1e-6 to 1 − 1e-6. There the value errs by at
/// most 8 (a + b + far + 40) 2⁻²⁴ nats. Here far = a |ln(x / x̄)| + b |ln((1 − x) / (1 − x̄))| and x̄ = a / (a + b).
///
/// # Panics
/// If the shapes differ.
pub fn beta_log_prob<B: Backend, const D: usize>(
    a: Tensor<B, D>,
    b: Tensor<B, D>,
    x: Tensor<B, D>,
) -> Tensor<B, D> {
    let shape = x.shape();
    assert!(
        a.shape() == shape && b.shape() == shape,
        "parameters and values differ in shape"
    );
    let [a, b, x] = [a, b, x].map(|t| t.flatten::<1>(0, D - 1).into_primitive().tensor());
    wrap::<B, 1>(B::beta_log_prob(a, b, x)).reshape(shape)
}

/// ‖x_n‖² of each row of x `[N, D]`: `[N]`. Differentiable.
pub fn squared_norms<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 1> {
    wrap(B::squared_norms(x.into_primitive().tensor()))
}

/// x_n / √(‖x_n‖² + ε) of each row of x `[N, D]`, its direction. Differentiable; an ε > 0 keeps the gradient finite at 0.
pub fn directions<B: Backend>(x: Tensor<B, 2>, epsilon: f64) -> Tensor<B, 2> {
    wrap(B::directions(x.into_primitive().tensor(), epsilon))
}

/// `function`, which knows vectors, of each element.
fn elementwise<B: Backend, const D: usize>(
    x: Tensor<B, D>,
    function: impl Fn(FloatTensor<B>) -> FloatTensor<B>,
) -> Tensor<B, D> {
    let shape = x.shape();
    let flat = x.flatten::<1>(0, D - 1).into_primitive().tensor();
    wrap::<B, 1>(function(flat)).reshape(shape)
}

/// ln Γ(x), elementwise, for x > 0: +∞ at 0, NaN below.
///
/// For x from 10⁻³ to 10⁶ the error is below 10⁻⁶ max(|ln Γ(x)|, ½) in f32 and 4 · 10⁻¹⁵ of that maximum in f64. So it is
/// absolute near the zeros at 1 and 2, else relative. Differentiable any number of times.
pub fn log_gamma<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    elementwise(x, B::log_gamma)
}

/// The digamma function ψ(x) = d ln Γ(x) / dx, elementwise, for x > 0: −∞ at 0, NaN below.
///
/// Errors as of [`log_gamma`], absolute near the zero at 1.4616. Differentiable any number of times.
pub fn digamma<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    elementwise(x, B::digamma)
}

/// The trigamma function ψ'(x), elementwise, for x > 0: +∞ at 0, NaN below.
///
/// Relative errors below 10⁻⁶ in f32 and 4 · 10⁻¹⁵ in f64, for x from 10⁻³ to 10⁶. Differentiable any number of times.
pub fn trigamma<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    elementwise(x, B::trigamma)
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
