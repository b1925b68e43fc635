//! Log-densities of normal-gamma laws and their gradients: the fast path in f32 against the portable definition in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::normal_gamma_log_prob;
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// μ₀, ν, α, β, μ, τ.
type Laws = [Matrix; 6];

/// log p, and the gradients of Σ c ∘ log p in all six.
fn outcome(laws: &Laws, c: &Matrix, dtype: DType) -> Vec<Vec<f64>> {
    let own = |matrix: &Matrix| matrix.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let all = laws.each_ref().map(own);
    let [mean, nu, alpha, beta, mu, tau] = all.clone();
    let log_p = normal_gamma_log_prob([mean, nu, alpha, beta], [mu, tau]);
    let gradients = (log_p.clone() * c.tensor(dtype)).sum().backward();
    let gradient = |tensor| read(Tensor::grad(tensor, &gradients).expect("a gradient"));
    std::iter::once(read(log_p))
        .chain(all.iter().map(gradient))
        .collect()
}
fn laws(shape: [usize; 2], seed: u64) -> Laws {
    let matrix = |scale, own| Matrix::symmetric(shape, scale, seed.wrapping_add(own));
    let positive = |own| matrix(3.0, own).map(f32::exp);
    let (mean, mu) = (matrix(3.0, 0), matrix(3.0, 1));
    [mean, positive(2), positive(3), positive(4), mu, positive(5)]
}

/// The sizes of what log p and its gradients are sums of, in their order.
fn sizes([mean, nu, alpha, beta, mu, tau]: [f64; 6]) -> [f64; 7] {
    let away = (mu - mean).abs();
    let logarithms = 10.0 + nu.ln().abs() + beta.ln().abs() + tau.ln().abs();
    let of_alpha = logarithms + alpha.ln().abs() + 1.0 / alpha;
    let pull = nu * tau * (mu.abs() + mean.abs());
    [
        (1.0 + alpha) * of_alpha + beta * tau + nu * tau * away * away + pull * away,
        pull,
        1.0 / nu + tau * away * away + tau * away * (mu.abs() + mean.abs()),
        of_alpha,
        alpha / beta + tau,
        pull,
        (alpha + 1.0) / tau + beta + nu * away * away + nu * away * (mu.abs() + mean.abs()),
    ]
}

proptest! {
    #![proptest_config(cases(200))]

    /// Sixteen roundings of the terms, each of a few operations.
    #[test]
    fn log_densities_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..40],
        seed in any::<u64>(),
    ) {
        let (laws, c) = (laws(shape, seed), Matrix::symmetric(shape, 1.0, seed.wrapping_add(6)));
        let [found, expected] = [DType::F32, DType::F64].map(|dtype| outcome(&laws, &c, dtype));
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let at = |at: usize| laws.each_ref().map(|matrix| f64::from(matrix.elements[at]));
            assert_within("log p and gradients", found, expected, |n| {
                16.0 * sizes(at(n))[i] * ROUNDING
            });
        }
    }
}

/// The gamma density of τ and the normal one of μ given τ, by other code.
#[test]
fn log_densities_are_those_of_gamma_and_normal() {
    let shape = [3, 7];
    let laws = laws(shape, 9);
    let found = outcome(&laws, &Matrix::uniform(shape, 1), DType::F64);
    for (n, found) in found[0].iter().enumerate() {
        let at = laws.each_ref().map(|m| f64::from(m.elements[n]));
        let [mean, nu, alpha, beta, mu, tau] = at;
        let one = Tensor::<Flex, 1>::from_data(
            TensorData::new(vec![alpha], [1]),
            (&Default::default(), DType::F64),
        );
        let log_gamma = read(helmholtz_ops::log_gamma(one))[0];
        let gamma = alpha * beta.ln() - log_gamma + (alpha - 1.0) * tau.ln() - beta * tau;
        let precision = nu * tau;
        let normal = 0.5 * (precision / (2.0 * std::f64::consts::PI)).ln()
            - 0.5 * precision * (mu - mean).powi(2);
        assert!((found - gamma - normal).abs() < 1e-12 * sizes(at)[0]);
    }
}

fn one(value: f32) -> Matrix {
    Matrix::uniform([1, 1], 0).map(|_| value)
}

/// One number each, of which one is not positive that must be.
fn outside() -> [Laws; 4] {
    [1, 2, 3, 5].map(|wrong| {
        let mut laws = [0.5, 1.0, 2.0, 3.0, 0.7, 1.5].map(one);
        laws[wrong] = one(-1.0);
        laws
    })
}

/// Where a number is not positive there is no density, and without a coefficient no gradient.
#[test]
fn outside_there_is_no_density() {
    for laws in outside() {
        for dtype in [DType::F32, DType::F64] {
            assert!(!outcome(&laws, &one(1.0), dtype)[0][0].is_finite());
            let without = outcome(&laws, &one(0.0), dtype);
            assert!(without[1..].iter().all(|gradient| gradient == &[0.0]));
        }
    }
}

/// Nor is any gradient of the fast path a number there.
#[test]
fn outside_no_gradient_is_a_number() {
    for laws in outside() {
        let found = outcome(&laws, &one(1.0), DType::F32);
        assert!(found[1..].iter().all(|gradient| gradient[0].is_nan()));
    }
}

/// The shape and the rate exchanged.
#[test]
fn log_densities_that_are_wrong_are_caught() {
    let shape = [2, 20];
    let mut laws = laws(shape, 5);
    let c = Matrix::symmetric(shape, 1.0, 6);
    let right = outcome(&laws, &c, DType::F32);
    laws.swap(2, 3);
    let wrong = outcome(&laws, &c, DType::F64);
    let errors = wrong[0].iter().zip(&right[0]).map(|(a, b)| (a - b).abs());
    assert!(errors.fold(0.0, f64::max) > 1.0);
}
