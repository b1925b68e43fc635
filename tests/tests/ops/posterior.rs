//! Normal laws' log-densities, and normal-gamma laws given moments: the fast paths in f32 against the portable definitions in f64, and
//! both against formulas written out.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{normal_gamma_posterior, normal_log_prob};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// μ₀, ν, α, β.
const PRIOR: [f64; 4] = [0.3, 0.1, 2.0, 1.5];

/// Moments of R clusters with as many sums as `values`, and coefficients of the 4 R D parameters.
fn moments([rows, values, dimensions]: [usize; 3], seed: u64) -> [Matrix; 2] {
    let mut moments = Matrix::symmetric([rows, 1 + 2 * values], 3.0, seed);
    // A number of data is no less than 0.
    let counts = moments.elements.iter_mut().step_by(1 + 2 * values);
    counts.for_each(|count| *count = count.abs());
    let coefficients = Matrix::symmetric([4 * rows, dimensions], 1.0, seed.wrapping_add(1));
    [moments, coefficients]
}

/// The parameters, and the gradient of Σ c ∘ parameters in the moments.
fn posterior(prior: [f64; 4], [moments, c]: &[Matrix; 2], dtype: DType) -> [Vec<f64>; 2] {
    let moments = moments.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let (rows, dimensions) = (moments.dims()[0], c.columns);
    let found = normal_gamma_posterior(prior, moments.clone(), dimensions);
    let c = c.tensor(dtype).reshape([4, rows, dimensions]);
    let gradients = (found.clone() * c).sum().backward();
    [
        read(found),
        read(moments.grad(&gradients).expect("a gradient")),
    ]
}

/// The conjugate update, datum by datum, of the first D sums for the mean and of the last D for the rest.
fn written_out(prior: [f64; 4], moments: &Matrix, dimensions: usize) -> Vec<f64> {
    let [mean, nu, alpha, beta] = prior;
    let (rows, columns) = (moments.rows, moments.columns);
    let last = columns / 2 - dimensions;
    let of = |parameter: usize, row: usize, d: usize| {
        let own = |at: usize| f64::from(moments.elements[row * columns + at]);
        let count = own(0);
        let [located, sum, squares] = [1 + d, 1 + last + d, 1 + 2 * last + dimensions + d].map(own);
        let average = |sum: f64| (nu * mean + sum) / (nu + count);
        match parameter {
            0 => average(located),
            1 => nu + count,
            2 => alpha + count / 2.0,
            _ => beta + 0.5 * (squares + nu * mean * mean - (nu + count) * average(sum).powi(2)),
        }
    };
    let all = (0..4).flat_map(|p| (0..rows).map(move |row| (p, row)));
    let all = all.flat_map(|(p, row)| (0..dimensions).map(move |d| (p, row, d)));
    all.map(|(p, row, d)| of(p, row, d)).collect()
}

/// The largest difference.
fn furthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(cases(200))]

    /// Sixteen roundings of the largest terms: counts and sums are at most 3, and so ν' ≥ 0.1 divides no sum by more than 0.1.
    #[test]
    fn posteriors_agree_with_those_in_f64(
        rows in 1usize..9,
        dimensions in 1usize..4,
        twice in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let values = if twice { 2 * dimensions } else { dimensions };
        let case = moments([rows, values, dimensions], seed);
        let [found, expected] = [DType::F32, DType::F64].map(|dtype| posterior(PRIOR, &case, dtype));
        // |x̄| ≤ 40, its square 1,600; D of them are added in the gradient of the count.
        let terms = 1600.0 * (1 + dimensions) as f64;
        for (found, expected) in found.iter().zip(&expected) {
            assert_within("parameters and gradients", found, expected, |_| {
                16.0 * terms * ROUNDING
            });
        }
    }
}

#[test]
fn posteriors_are_the_conjugate_updates() {
    for values in [2, 4] {
        let case = moments([5, values, 2], 3);
        let [found, _] = posterior(PRIOR, &case, DType::F64);
        assert!(furthest(&found, &written_out(PRIOR, &case[0], 2)) < 1e-12);
    }
}

/// The sums for the mean and for the rest exchanged, and another prior mean.
#[test]
fn posteriors_that_are_wrong_are_caught() {
    let case = moments([5, 4, 2], 3);
    let [found, _] = posterior(PRIOR, &case, DType::F64);
    let [mut exchanged, _] = case.clone();
    exchanged.elements.chunks_exact_mut(9).for_each(|row| {
        row.swap(1, 3);
        row.swap(2, 4);
    });
    assert!(furthest(&found, &written_out(PRIOR, &exchanged, 2)) > 0.1);
    let other = [PRIOR[0] + 0.5, PRIOR[1], PRIOR[2], PRIOR[3]];
    assert!(furthest(&found, &written_out(other, &case[0], 2)) > 0.01);
}

#[test]
#[should_panic(expected = "moments in 2 dimensions")]
fn moments_of_other_dimensions_are_refused() {
    let moments = Matrix::uniform([3, 7], 1).tensor::<Flex>(DType::F32);
    normal_gamma_posterior(PRIOR, moments, 2);
}

/// log p of μ, σ and x, and the gradients of Σ c ∘ log p in all three.
fn normal(laws: &[Matrix; 3], c: &Matrix, dtype: DType) -> Vec<Vec<f64>> {
    let own = |matrix: &Matrix| matrix.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let all = laws.each_ref().map(own);
    let [mean, deviation, x] = all.clone();
    let log_p = normal_log_prob(mean, deviation, x);
    let gradients = (log_p.clone() * c.tensor(dtype)).sum().backward();
    let gradient = |tensor| read(Tensor::grad(tensor, &gradients).expect("a gradient"));
    std::iter::once(read(log_p))
        .chain(all.iter().map(gradient))
        .collect()
}

fn normal_laws(shape: [usize; 2], seed: u64) -> [Matrix; 3] {
    let matrix = |own| Matrix::symmetric(shape, 3.0, seed.wrapping_add(own));
    [matrix(0), matrix(1).map(f32::exp), matrix(2)]
}

proptest! {
    #![proptest_config(cases(200))]

    /// Sixteen roundings of the terms.
    #[test]
    fn normal_log_densities_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..40],
        seed in any::<u64>(),
    ) {
        let (laws, c) = (normal_laws(shape, seed), Matrix::symmetric(shape, 1.0, seed.wrapping_add(3)));
        let [found, expected] = [DType::F32, DType::F64].map(|dtype| normal(&laws, &c, dtype));
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_within("log p and gradients", found, expected, |n| {
                let [mean, deviation, x] = laws.each_ref().map(|m| f64::from(m.elements[n]));
                let z = (mean.abs() + x.abs()) / deviation;
                let size = match i {
                    0 => z * z + deviation.ln().abs() + 1.0,
                    2 => (z * z + 1.0) / deviation,
                    _ => z / deviation,
                };
                16.0 * size * ROUNDING
            });
        }
    }
}

#[test]
fn normal_log_densities_are_the_formula_and_wrong_ones_are_caught() {
    let shape = [3, 7];
    let laws = normal_laws(shape, 9);
    let found = normal(&laws, &Matrix::uniform(shape, 1), DType::F64);
    let formula = |by_variance: bool| -> Vec<f64> {
        let of = |n: usize| {
            let [mean, deviation, x] = laws.each_ref().map(|m| f64::from(m.elements[n]));
            let scale = if by_variance {
                deviation.sqrt()
            } else {
                deviation
            };
            let density = (-0.5 * ((x - mean) / scale).powi(2)).exp();
            (density / (scale * (2.0 * std::f64::consts::PI).sqrt())).ln()
        };
        (0..21).map(of).collect()
    };
    let near = |a: &[f64], b: &[f64]| {
        let pairs = a.iter().zip(b);
        pairs
            .map(|(a, b)| (a - b).abs() / (1.0 + b.abs()))
            .fold(0.0, f64::max)
    };
    let finite: Vec<usize> = (0..21).filter(|&n| formula(false)[n].is_finite()).collect();
    assert!(finite.len() > 10);
    let chosen = |all: &[f64]| -> Vec<f64> { finite.iter().map(|&n| all[n]).collect() };
    assert!(near(&chosen(&found[0]), &chosen(&formula(false))) < 1e-12);
    assert!(near(&chosen(&found[0]), &chosen(&formula(true))) > 0.01);
}

/// Without a coefficient there is no gradient, whatever the law holds.
#[test]
fn normal_laws_that_are_none_have_no_gradient_without_a_coefficient() {
    let one = |value: f32| Matrix::uniform([1, 1], 0).map(|_| value);
    for dtype in [DType::F32, DType::F64] {
        let laws = [0.5, 0.0, 0.7].map(one);
        let without = normal(&laws, &one(0.0), dtype);
        assert!(without[1..].iter().all(|gradient| gradient == &[0.0]));
        assert!(!normal(&laws, &one(1.0), dtype)[2][0].is_finite());
    }
}
