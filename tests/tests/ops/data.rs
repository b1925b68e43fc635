//! Reproducible inputs, and comparison with a bound for every element.

use burn::tensor::{DType, Device, Tensor, TensorData};
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use proptest::test_runner::{Config, RngSeed};

/// Half a unit in the last place of 1 in f32: the relative error of one rounding.
pub const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

/// The same cases in every run.
pub fn cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(20_231_007),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A matrix of f32, which f64 holds exactly.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub elements: Vec<f32>,
}

impl Matrix {
    /// Uniforms in `[0, 1)`.
    pub fn uniform([rows, columns]: [usize; 2], seed: u64) -> Self {
        let mut elements = vec![0.0; rows * columns];
        Stream::new(seed, Purpose::new("tests"), [0, 0]).fill_uniform_f32(&mut elements);
        Self {
            rows,
            columns,
            elements,
        }
    }

    /// Uniforms in `[-scale, scale)`.
    pub fn symmetric(shape: [usize; 2], scale: f32, seed: u64) -> Self {
        Self::uniform(shape, seed).map(|u| (2.0 * u - 1.0) * scale)
    }

    /// Fair bits.
    pub fn bits(shape: [usize; 2], seed: u64) -> Self {
        Self::uniform(shape, seed).map(|u| f32::from(u8::from(u < 0.5)))
    }

    pub fn map(mut self, function: impl Fn(f32) -> f32) -> Self {
        self.elements.iter_mut().for_each(|x| *x = function(*x));
        self
    }

    /// Row `n mod rows`.
    pub fn row(&self, n: usize) -> &[f32] {
        &self.elements[n % self.rows * self.columns..][..self.columns]
    }

    pub fn row_mut(&mut self, n: usize) -> &mut [f32] {
        &mut self.elements[n * self.columns..][..self.columns]
    }

    pub fn at(&self, n: usize, d: usize) -> f64 {
        f64::from(self.row(n)[d])
    }

    pub fn tensor<B: Backend>(&self, dtype: DType) -> Tensor<B, 2> {
        let data = TensorData::new(self.elements.clone(), [self.rows, self.columns]);
        Tensor::from_data(data, (&Device::<B>::default(), dtype))
    }

    /// The first row as a vector.
    pub fn vector<B: Backend>(&self, dtype: DType) -> Tensor<B, 1> {
        let data = TensorData::new(self.row(0).to_vec(), [self.columns]);
        Tensor::from_data(data, (&Device::<B>::default(), dtype))
    }
}

/// The elements of a tensor, in f64.
pub fn read<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Asserts |found − expected| ≤ bound for every element.
#[track_caller]
pub fn assert_within(what: &str, found: &[f64], expected: &[f64], bound: impl Fn(usize) -> f64) {
    assert_eq!(
        found.len(),
        expected.len(),
        "{what}: the number of elements"
    );
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let bound = bound(i);
        assert!(
            (found - expected).abs() <= bound,
            "{what}, element {i}: {found} against {expected}, bound {bound:e}"
        );
    }
}
