//! Functions of each element.

use burn::tensor::Tensor;
use burn::tensor::ops::FloatTensor;

use super::wrap;
use crate::Backend;

/// 1 / (1 + e⁻ˣ), elementwise. Differentiable.
pub fn sigmoid<B: Backend, const D: usize>(x: Tensor<B, D>) -> Tensor<B, D> {
    elementwise(x, B::fused_sigmoid)
}

/// exp(min(max(x, −bound), bound)), elementwise: a positive number of a net's output, whose gradient outside is 0.
///
/// # Panics
/// If the bound is not between 0 and 87, where the exponential is a normal number in f32.
pub fn bounded_exp<B: Backend, const D: usize>(x: Tensor<B, D>, bound: f64) -> Tensor<B, D> {
    assert!(bound > 0.0 && bound <= 87.0, "the bound is {bound}");
    elementwise(x, |x| B::bounded_exp(x, bound))
}

/// ln(min(max(x, low), high)), elementwise: of a number that may be 0, or round to it. The gradient outside is 0.
///
/// # Panics
/// If the bounds are not 1.2·10⁻³⁸ ≤ low ≤ high, from where a number is normal in f32.
pub fn bounded_log<B: Backend, const D: usize>(
    x: Tensor<B, D>,
    low: f64,
    high: f64,
) -> Tensor<B, D> {
    assert!(
        low >= f64::from(f32::MIN_POSITIVE) && low <= high,
        "the bounds are {low} and {high}"
    );
    elementwise(x, |x| B::bounded_log(x, low, high))
}

/// `values` with the gradient of `carrier` beside their own, elementwise: a straight-through estimate (Bengio, Léonard & Courville
/// 2013). As values + (carrier − carrier), the second a constant.
///
/// # Panics
/// If the shapes are not the same.
pub fn with_gradient_of<B: Backend, const D: usize>(
    values: Tensor<B, D>,
    carrier: Tensor<B, D>,
) -> Tensor<B, D> {
    assert_eq!(
        values.dims(),
        carrier.dims(),
        "values and what carries their gradient must be of one shape"
    );
    let [values, carrier] = [values, carrier].map(|tensor| tensor.into_primitive().tensor());
    wrap(B::with_gradient_of(values, carrier))
}

/// `function`, which knows vectors, of each element.
pub(super) fn elementwise<B: Backend, const D: usize>(
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
