//! The Dirichlet distribution.

use burn::tensor::{Tensor, TensorData};
use helmholtz_ops::{Backend, digamma, log_gamma};
use helmholtz_random::Draws;

use crate::{Entropy, LogProb, Mean, SampleReal};

/// Dirichlet(α_1, …, α_K) along the last dimension: density Π_k x_k^(α_k − 1) / B(α) of shares x_k > 0 that sum to 1, with
/// respect to Lebesgue measure on all of them but one.
///
/// What is one number for each variable, log-density or entropy, has a last dimension of size 1.
#[derive(Clone, Debug)]
pub struct Dirichlet<B: Backend, const D: usize> {
    /// The concentrations α_k > 0, `[.., K]`.
    pub concentration: Tensor<B, D>,
}

impl<B: Backend, const D: usize> Dirichlet<B, D> {
    /// Draws are not below this, so that their logarithms are finite in f32.
    pub const LEAST: f64 = 1e-30;

    /// α_0 = Σ_k α_k, `[.., 1]`.
    fn total(&self) -> Tensor<B, D> {
        self.concentration.clone().sum_dim(D - 1)
    }

    /// ln B(α) = Σ_k ln Γ(α_k) − ln Γ(α_0).
    fn log_norm(&self) -> Tensor<B, D> {
        log_gamma(self.concentration.clone()).sum_dim(D - 1) - log_gamma(self.total())
    }
}

impl<B: Backend, const D: usize> LogProb<B, D> for Dirichlet<B, D> {
    type Value = Tensor<B, D>;

    /// Σ_k (α_k − 1) ln x_k − ln B(α), `[.., 1]`, for shares x `[.., K]` above 0. That they sum to 1 is not looked at.
    fn log_prob(&self, value: Tensor<B, D>) -> Tensor<B, D> {
        let powers = self.concentration.clone() - 1.0;
        (value.log() * powers).sum_dim(D - 1) - self.log_norm()
    }
}

impl<B: Backend, const D: usize> SampleReal<B, D> for Dirichlet<B, D> {
    type Value = Tensor<B, D>;

    /// Gamma variates over their sum, in logarithms: g_k = G(α_k + 1) u^(1/α_k), so that small concentrations do not give
    /// 0 / 0. Shares below [`LEAST`](Dirichlet::LEAST) are raised to it.
    ///
    /// # Panics
    /// If `shape` does not end in K.
    fn sample(&self, shape: [usize; D], draws: &mut impl Draws) -> Tensor<B, D> {
        let classes = self.concentration.dims()[D - 1];
        assert_eq!(shape[D - 1], classes, "the shares of a variable");
        let like = (&self.concentration.device(), self.concentration.dtype());
        let concentration = self.concentration.clone().expand(shape).into_data();
        let mut values: Vec<f64> = concentration.iter().collect();
        for row in values.chunks_mut(classes.max(1)) {
            for x in row.iter_mut() {
                let alpha = *x;
                // 1 - u is not 0.
                *x = draws.gamma(alpha + 1.0).ln() + (-draws.uniform()).ln_1p() / alpha;
            }
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|x| *x = (*x - largest).exp());
            let sum: f64 = row.iter().sum();
            for x in row.iter_mut() {
                let share = *x / sum;
                // A NaN, of impossible parameters, stays.
                *x = if share < Self::LEAST {
                    Self::LEAST
                } else {
                    share
                };
            }
        }
        Tensor::from_data(TensorData::new(values, shape), like)
    }
}

impl<B: Backend, const D: usize> Mean<B, D> for Dirichlet<B, D> {
    /// α_k / α_0, `[.., K]`.
    fn mean(&self) -> Tensor<B, D> {
        self.concentration.clone() / self.total()
    }
}

impl<B: Backend, const D: usize> Entropy<B, D> for Dirichlet<B, D> {
    /// ln B(α) + (α_0 − K) ψ(α_0) − Σ_k (α_k − 1) ψ(α_k), `[.., 1]`.
    fn entropy(&self) -> Tensor<B, D> {
        let (alpha, total) = (self.concentration.clone(), self.total());
        let classes = alpha.dims()[D - 1] as f64;
        let each = (alpha.clone() - 1.0) * digamma(alpha);
        self.log_norm() + (total.clone() - classes) * digamma(total) - each.sum_dim(D - 1)
    }
}
