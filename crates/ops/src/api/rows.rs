//! Rows of numbers.

use burn::tensor::Tensor;

use super::{assert_cyclic, assert_groups, wrap};
use crate::Backend;

/// The softmax of each row of x `[N, D]`. Differentiable.
pub fn softmax_rows<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    let temperature = Tensor::ones([1, 1], (&x.device(), x.dtype()));
    tempered_softmax_rows(x, temperature)
}

/// softmax(x / τ) of each row of x `[N, D]`, at a temperature τ > 0 `[1, 1]`. Differentiable in both.
///
/// # Panics
/// If the temperature is not one number.
pub fn tempered_softmax_rows<B: Backend>(
    x: Tensor<B, 2>,
    temperature: Tensor<B, 2>,
) -> Tensor<B, 2> {
    assert_eq!(
        temperature.dims(),
        [1, 1],
        "the temperature must be one number"
    );
    let [x, temperature] = [x, temperature].map(|tensor| tensor.into_primitive().tensor());
    wrap(B::softmax_rows(x, temperature))
}

/// The rows repeated cyclically up to `count`, `[N, D]` to `[count, D]`. Differentiable.
///
/// # Panics
/// If N doesn't divide the count.
pub fn repeat_rows<B: Backend>(rows: Tensor<B, 2>, count: usize) -> Tensor<B, 2> {
    let [few, columns] = rows.dims();
    if few == count {
        return rows;
    }
    assert_cyclic(few, count);
    rows.reshape([1, few, columns])
        .repeat_dim(0, count / few)
        .reshape([count, columns])
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

/// ‖x_n‖² of each row of x `[N, D]`: `[N]`. Differentiable.
pub fn squared_norms<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 1> {
    wrap(B::squared_norms(x.into_primitive().tensor()))
}

/// x_n / √(‖x_n‖² + ε) of each row of x `[N, D]`, its direction. Differentiable; an ε > 0 keeps the gradient finite at 0.
pub fn directions<B: Backend>(x: Tensor<B, 2>, epsilon: f64) -> Tensor<B, 2> {
    wrap(B::directions(x.into_primitive().tensor(), epsilon))
}
