//! Rows of bits and of grey values.

use burn::tensor::Tensor;

use super::{assert_cyclic, wrap};
use crate::{Backend, PackedBits, Values};

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
