//! Log-densities.

use burn::tensor::Tensor;

use super::{assert_groups, wrap};
use crate::Backend;

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

/// −½ ((x − μ) / σ)² − ln σ − ½ ln 2π, the log-density of N(μ, σ²) in nats, elementwise, for σ > 0. Differentiable in all of them.
///
/// # Panics
/// If the shapes differ.
pub fn normal_log_prob<B: Backend, const D: usize>(
    mean: Tensor<B, D>,
    deviation: Tensor<B, D>,
    x: Tensor<B, D>,
) -> Tensor<B, D> {
    let shape = x.shape();
    assert!(
        mean.shape() == shape && deviation.shape() == shape,
        "parameters and values differ in shape"
    );
    let all = [mean, deviation, x];
    let [mean, deviation, x] = all.map(|t| t.flatten::<1>(0, D - 1).into_primitive().tensor());
    wrap::<B, 1>(B::normal_log_prob(mean, deviation, x)).reshape(shape)
}

/// The parameters (μ₀', ν', α', β') of the normal-gamma law of (μ, τ) after observations of N(μ, 1/τ), for R clusters in D dimensions.
///
/// The prior is (μ₀, ν, α, β). Moments `[R, 1 + 2 V]` are S₁ = Σ w, then V sums of w t, then V sums of w t², with V = D or V = 2 D.
/// The first D sums, S₂, give the mean; the last D sums and squares, S₃ and S₄, give β':
///
/// > ν' = ν + S₁, α' = α + S₁/2, μ₀' = μ₀ + (S₂ − S₁ μ₀)/ν', β' = β + ½ (S₄ − 2 μ₀ S₃ + μ₀² S₁ − (S₃ − S₁ μ₀)²/ν').
///
/// With V = D that is the conjugate update (Bernardo and Smith 1994, appendix A). The result is `[4, R, D]`, differentiable in the
/// moments.
///
/// # Panics
/// If the number of columns is neither 1 + 2 D nor 1 + 4 D.
pub fn normal_gamma_posterior<B: Backend>(
    prior: [f64; 4],
    moments: Tensor<B, 2>,
    dimensions: usize,
) -> Tensor<B, 3> {
    let columns = moments.dims()[1];
    assert!(
        [1 + 2 * dimensions, 1 + 4 * dimensions].contains(&columns),
        "{columns} moments in {dimensions} dimensions"
    );
    let moments = moments.into_primitive().tensor();
    wrap(B::normal_gamma_posterior(prior, moments, dimensions))
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
