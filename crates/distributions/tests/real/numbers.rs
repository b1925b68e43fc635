//! Numbers to tensors and back, streams, and two distribution functions by their series.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::{Backend, log_gamma};
use helmholtz_random::{Purpose, Stream};

/// f64 of any shape.
pub fn tensor<B: Backend, const D: usize>(x: &[f64], shape: [usize; D]) -> Tensor<B, D> {
    let data = TensorData::new(x.to_vec(), shape);
    Tensor::from_data(data, (&Device::<B>::default(), DType::F64))
}

pub fn vector(x: &[f64]) -> Tensor<Flex, 1> {
    tensor(x, [x.len()])
}

pub fn read<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Column `column` of a matrix.
pub fn column(matrix: &Tensor<Flex, 2>, column: usize) -> Vec<f64> {
    read(matrix.clone().narrow(1, column, 1))
}

/// The stream of test `test`.
pub fn stream(test: u64) -> Stream {
    Stream::new(1911, Purpose::new("real"), [test, 0])
}

/// Asserts |found − expected| ≤ `relative` (|expected| + `floor`) for each.
#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], relative: f64, floor: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = relative * (expected.abs() + floor);
        assert!(
            (found - expected).abs() <= bound,
            "element {i}: {found}, not {expected}"
        );
    }
}

fn ln_gamma(x: f64) -> f64 {
    read(log_gamma(vector(&[x])))[0]
}

/// P(X ≤ x) of a gamma variable of rate 1: x^α e^−x Σ_n xⁿ / Γ(α + n + 1).
pub fn gamma_cdf(shape: f64) -> impl Fn(f64) -> f64 {
    let norm = ln_gamma(shape + 1.0);
    move |x| {
        let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
        while term > 1e-16 * sum {
            n += 1.0;
            term *= x / (shape + n);
            sum += term;
        }
        (shape * x.ln() - x - norm + f64::ln(sum)).exp()
    }
}

/// P(X ≤ x) of a beta variable: x^a / B(a, b) Σ_n (1 − b)_n xⁿ / (n! (a + n)) for x ≤ ½, else by symmetry.
pub fn beta_cdf(a: f64, b: f64) -> impl Fn(f64) -> f64 {
    let norm = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let lower = move |x: f64, a: f64, b: f64| {
        let (mut term, mut sum) = (1.0, 1.0 / a);
        for n in 1..200 {
            let n = f64::from(n);
            term *= x * (n - b) / n;
            sum += term / (a + n);
        }
        (a * x.ln() - norm).exp() * sum
    };
    move |x| match x <= 0.5 {
        true => lower(x, a, b),
        false => 1.0 - lower(1.0 - x, b, a),
    }
}
