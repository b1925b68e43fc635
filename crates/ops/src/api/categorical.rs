//! Rows of classes.

use burn::tensor::Tensor;

use super::{assert_cyclic, wrap};
use crate::backend::portable;
use crate::{Backend, Values};

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

/// Asserts that there are classes, and entries for all of each of a number of variables.
fn assert_one_hot(columns: usize, classes: usize) {
    assert!(classes >= 2, "{classes} classes: give at least 2");
    assert!(
        columns.is_multiple_of(classes),
        "{columns} columns are not {classes} a variable"
    );
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

/// ln softmax(φ) of V variables of C classes `[N, V C]`, variable by variable, from logits that are not pinned `[N, V (C − 1)]`.
/// Differentiable.
///
/// # Panics
/// With fewer than 2 classes, or if C − 1 doesn't divide the columns.
pub fn categorical_log_probabilities<B: Backend>(
    logits: Tensor<B, 2>,
    classes: usize,
) -> Tensor<B, 2> {
    variables(logits.dims()[1], classes);
    wrap(B::categorical_log_probabilities(
        logits.into_primitive().tensor(),
        classes,
    ))
}

/// The one-hot value of the largest of each variable's entries `[N, V C]`, the first of several. No gradient.
///
/// # Panics
/// With fewer than 2 classes, or if C doesn't divide the columns.
pub fn largest_classes<B: Backend>(entries: Tensor<B, 2>, classes: usize) -> Tensor<B, 2> {
    assert_one_hot(entries.dims()[1], classes);
    wrap(B::largest_classes(
        entries.into_primitive().tensor(),
        classes,
    ))
}

/// The one-hot class of the largest φ_c − ln π_c of each variable, the first of several, with two entries of ln π swapped in every
/// variable: for each of P pairs of classes. A pair of equal classes swaps nothing. No gradient.
///
/// Logits φ `[M, V C]`, repeated cyclically, and logarithms ln π `[N, V C]`, both variable by variable: `[P N, V C]`, one pair after the
/// other. With π ~ Dirichlet(1, …, 1) these are the races z^{c⇆j} of Yin, Yue & Zhou (2019), equation 6.
///
/// # Panics
/// With fewer than 2 classes, if a pair names a class that there isn't, C doesn't divide the columns, the columns differ, or M doesn't
/// divide N.
pub fn swapped_classes<B: Backend>(
    logits: Tensor<B, 2>,
    logarithms: Tensor<B, 2>,
    classes: usize,
    pairs: &[(usize, usize)],
) -> Tensor<B, 2> {
    assert_one_hot(logarithms.dims()[1], classes);
    let [[few, columns], [rows, same]] = [logits.dims(), logarithms.dims()];
    assert_eq!(columns, same, "a logarithm for each logit");
    assert!(
        few > 0 && rows.is_multiple_of(few),
        "{few} rows of logits cannot be repeated to {rows}"
    );
    for &(c, j) in pairs {
        assert!(c.max(j) < classes, "there are no classes {c} and {j}");
    }
    let [logits, logarithms] = [logits, logarithms].map(|all| all.into_primitive().tensor());
    wrap(B::swapped_classes(logits, logarithms, classes, pairs))
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
