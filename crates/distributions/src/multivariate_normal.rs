//! The multivariate normal distribution.

use std::f64::consts::PI;

use burn::tensor::{Tensor, TensorData};
use helmholtz_ops::{Backend, cat};
use helmholtz_random::Draws;

use crate::{Entropy, LogProb, Mean, SampleReal};

/// N(μ, L Lᵀ) of vectors of K numbers, one a row, by the lower triangle L of the covariance's Cholesky factor. Rows of size
/// 1 are broadcast.
///
/// L is never inverted: L z = x − μ is solved by forward substitution, K steps on whole columns.
#[derive(Clone, Debug)]
pub struct MultivariateNormal<B: Backend> {
    /// The means μ, `[rows, K]`.
    pub mean: Tensor<B, 2>,
    /// The factors L, `[rows, K, K]`, positive on the diagonal. What is above the diagonal is not looked at.
    pub factor: Tensor<B, 3>,
}

impl<B: Backend> MultivariateNormal<B> {
    /// L_ij of each row, `[rows, 1]`.
    fn entry(&self, i: usize, j: usize) -> Tensor<B, 2> {
        let rows = self.factor.dims()[0];
        let entry = self.factor.clone().slice([0..rows, i..i + 1, j..j + 1]);
        entry.reshape([rows, 1])
    }

    /// Σ_i ln L_ii, `[rows, 1]`.
    fn log_determinant(&self) -> Tensor<B, 2> {
        let diagonal = (0..self.size()).map(|i| self.entry(i, i)).collect();
        cat(diagonal, 1).log().sum_dim(1)
    }

    /// K.
    fn size(&self) -> usize {
        self.mean.dims()[1]
    }
}

impl<B: Backend> LogProb<B, 2> for MultivariateNormal<B> {
    type Value = Tensor<B, 2>;

    /// −½ Σ_i z_i² − Σ_i ln L_ii − K/2 ln 2π with L z = x − μ, `[rows, 1]`.
    fn log_prob(&self, value: Tensor<B, 2>) -> Tensor<B, 2> {
        let rest = value - self.mean.clone();
        let rows = rest.dims()[0];
        let mut solved: Vec<Tensor<B, 2>> = Vec::with_capacity(self.size());
        for i in 0..self.size() {
            let own = rest.clone().slice([0..rows, i..i + 1]);
            let known = solved.iter().enumerate();
            let rest = known.fold(own, |rest, (j, z)| rest - z.clone() * self.entry(i, j));
            solved.push(rest / self.entry(i, i));
        }
        let squares = cat(solved, 1).square().sum_dim(1);
        squares * -0.5 - self.log_determinant() - 0.5 * self.size() as f64 * (2.0 * PI).ln()
    }
}

impl<B: Backend> SampleReal<B, 2> for MultivariateNormal<B> {
    type Value = Tensor<B, 2>;

    /// μ + L z of standard normal z, `[rows, K]`.
    ///
    /// # Panics
    /// If `shape` does not end in K.
    fn sample(&self, shape: [usize; 2], draws: &mut impl Draws) -> Tensor<B, 2> {
        let ([rows, size], own) = (shape, self.size());
        assert_eq!(size, own, "the numbers of a vector");
        let like = (&self.mean.device(), self.mean.dtype());
        let mean = self.mean.clone().expand(shape).into_data();
        let factor = self.factor.clone().expand([rows, size, size]).into_data();
        let mut values: Vec<f64> = mean.iter().collect();
        let factor: Vec<f64> = factor.iter().collect();
        let factors = factor.chunks((size * size).max(1));
        for (row, factor) in values.chunks_mut(size.max(1)).zip(factors) {
            let z: Vec<f64> = (0..size).map(|_| draws.normal()).collect();
            for (i, x) in row.iter_mut().enumerate() {
                let products = factor[i * size..=i * size + i].iter().zip(&z);
                *x += products.map(|(l, z)| l * z).sum::<f64>();
            }
        }
        Tensor::from_data(TensorData::new(values, shape), like)
    }
}

impl<B: Backend> Mean<B> for MultivariateNormal<B> {
    /// μ, `[rows, K]`.
    fn mean(&self) -> Tensor<B, 2> {
        self.mean.clone()
    }
}

impl<B: Backend> Entropy<B, 2> for MultivariateNormal<B> {
    /// K/2 (1 + ln 2π) + Σ_i ln L_ii, `[rows, 1]`.
    fn entropy(&self) -> Tensor<B, 2> {
        self.log_determinant() + 0.5 * self.size() as f64 * (1.0 + (2.0 * PI).ln())
    }
}
