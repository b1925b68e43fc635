//! Sums over data, weighted by softmaxes.

use burn::tensor::Tensor;

use super::wrap;
use crate::Backend;

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
