//! K1: sampling counted exactly over a grid of uniforms, and samplers that are wrong on purpose.

use burn::tensor::{DType, Tensor, activation};
use burn_flex::Flex;
use helmholtz_ops::sample_bernoulli;

use crate::counted::{LOGITS, allowed, check_sampler};
use crate::data::{Matrix, read};

const COARSE: i32 = 12;
/// All the uniforms that there are.
const FINE: i32 = 24;

#[test]
fn sampling_counts_exactly_on_a_grid() {
    for dtype in [DType::F32, DType::F64] {
        for a in LOGITS {
            let allowed = allowed(a, COARSE, dtype);
            assert_eq!(allowed.start(), allowed.end(), "logit {a}: an exact count");
        }
        check_sampler::<Flex>(sample_bernoulli, &LOGITS, COARSE, dtype).unwrap();
    }
}

#[test]
fn sampling_counts_on_all_uniforms() {
    for dtype in [DType::F32, DType::F64] {
        check_sampler::<Flex>(sample_bernoulli, &[-1.0], FINE, dtype).unwrap();
    }
}

/// The number of ones on the grid 2⁻²⁴, found by bisection, which [`check_sampler`] makes legitimate.
#[test]
fn thresholds_on_all_uniforms_are_right_for_many_logits() {
    let logits = Matrix::symmetric([1, 2000], 20.0, 1);
    for dtype in [DType::F32, DType::F64] {
        let (mut low, mut high) = (vec![-1i64; 2000], vec![1i64 << FINE; 2000]);
        while high.iter().zip(&low).any(|(high, low)| high - low > 1) {
            let middle: Vec<i64> = low.iter().zip(&high).map(|(l, h)| (l + h) / 2).collect();
            let uniforms = Matrix {
                rows: 1,
                columns: 2000,
                elements: middle
                    .iter()
                    .map(|&k| k as f32 / (1 << FINE) as f32)
                    .collect(),
            };
            let bits = read(sample_bernoulli::<Flex>(
                logits.tensor(dtype),
                uniforms.tensor(dtype),
            ));
            for (i, bit) in bits.into_iter().enumerate() {
                let end = if bit == 1.0 { &mut low } else { &mut high };
                end[i] = middle[i];
            }
        }
        for (&a, &count) in logits.elements.iter().zip(&high) {
            let allowed = allowed(a, FINE, dtype);
            assert!(
                allowed.contains(&(count as u64)),
                "{a}: {count}, not {allowed:?}"
            );
        }
    }
}

#[test]
fn ties_and_ends_are_right() {
    let largest = 1.0 - 2f32.powi(-24);
    let below_half = 0.5 - 2f32.powi(-25);
    for dtype in [DType::F32, DType::F64] {
        for (a, u, expected) in [
            (0.0, 0.5, 0.0),
            (0.0, below_half, 1.0),
            (0.0, 0.0, 1.0),
            (0.0, largest, 0.0),
            (-80.0, 0.0, 1.0),
            (-80.0, 2f32.powi(-24), 0.0),
            (f32::NEG_INFINITY, 0.0, 0.0),
            (80.0, largest, 1.0),
            (f32::INFINITY, largest, 1.0),
            (f32::NAN, 0.0, 0.0),
        ] {
            // Narrow and wide: with and without full registers.
            for columns in [1, 33] {
                let row = |x: f32| Matrix::uniform([1, columns], 0).map(|_| x).tensor(dtype);
                let bits = read(sample_bernoulli::<Flex>(row(a), row(u)));
                assert_eq!(
                    bits,
                    vec![expected; columns],
                    "logit {a}, u = {u}, {dtype:?}"
                );
            }
        }
    }
}

/// Samples with the probabilities of `sigma`, a one where `hit(u, σ)`.
fn twin(
    sigma: fn(Tensor<Flex, 2>) -> Tensor<Flex, 2>,
    one: fn(Tensor<Flex, 2>, Tensor<Flex, 2>) -> burn::tensor::Tensor<Flex, 2, burn::tensor::Bool>,
    grouped: bool,
) -> Result<(), String> {
    let sample = |logits: Tensor<Flex, 2>, uniforms: Tensor<Flex, 2>| {
        let [rows, columns] = logits.dims();
        let particles = uniforms.dims()[0] / rows;
        let sigma = match grouped {
            false => sigma(logits).repeat_dim(0, particles),
            true => sigma(logits)
                .reshape([rows, 1, columns])
                .repeat_dim(1, particles)
                .reshape([rows * particles, columns]),
        };
        let zeros = uniforms.zeros_like();
        zeros.clone().mask_where(one(uniforms, sigma), zeros + 1.0)
    };
    check_sampler::<Flex>(sample, &LOGITS, COARSE, DType::F64)
}

#[test]
fn samplers_that_are_wrong_are_caught() {
    let sigma: fn(Tensor<Flex, 2>) -> Tensor<Flex, 2> = activation::sigmoid;
    twin(sigma, |u, sigma| u.lower(sigma), false).unwrap();
    let wrong = [
        (
            "the other side",
            twin(sigma, |u, sigma| u.greater(sigma), false),
        ),
        (
            "a one at the tie",
            twin(sigma, |u, sigma| u.lower_equal(sigma), false),
        ),
        (
            "1 − u",
            twin(sigma, |u, sigma| (-u + 1.0).lower_equal(sigma), false),
        ),
        (
            "particles beside each other",
            twin(sigma, |u, sigma| u.lower(sigma), true),
        ),
        (
            "probabilities kept from the ends",
            twin(
                |a| activation::sigmoid(a).clamp(1e-3, 1.0 - 1e-3),
                |u, sigma| u.lower(sigma),
                false,
            ),
        ),
        (
            "the logit scaled",
            twin(
                |a| activation::sigmoid(a * 1.001),
                |u, sigma| u.lower(sigma),
                false,
            ),
        ),
    ];
    for (name, outcome) in wrong {
        assert!(outcome.is_err(), "{name}");
    }
}
