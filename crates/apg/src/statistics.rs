//! Neural sufficient statistics.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use helmholtz_nets::Net;
use helmholtz_ops::{cat, softmax_moments, softmax_sums};

/// Sums over data n of weighted statistics, for M clusters: what stands for the data in a conjugate update, or goes on into
/// a net. They do not depend on the order of the data, nor their form on how many there are.
#[derive(Clone, Debug)]
pub struct Sums<B: Backend> {
    /// Σ_n γ_nm (1, t_n, t_n²) `[L, B, M, 1 + 2 D]`.
    pub moments: Tensor<B, 4>,
}

impl<B: Backend> Sums<B> {
    /// Of values t `[L, B, N, D]` with weights γ `[L, B, N, M]`; L or B of one of them may be 1, and is repeated.
    pub fn new(weights: Tensor<B, 4>, values: Tensor<B, 4>) -> Self {
        let by_cluster = weights.swap_dims(2, 3);
        let count = by_cluster.clone().sum_dim(3);
        let sum = by_cluster.clone().matmul(values.clone());
        let squares = by_cluster.matmul(values.square());
        let [particles, instances, ..] = sum.dims();
        let count = count.expand([particles as i64, instances as i64, -1, -1]);
        Self {
            moments: cat(vec![count, sum, squares], 3),
        }
    }

    /// D.
    fn width(&self) -> usize {
        self.moments.dims()[3] / 2
    }

    /// Σ_n γ_nm `[L, B, M, 1]`.
    pub fn count(&self) -> Tensor<B, 4> {
        self.moments.clone().narrow(3, 0, 1)
    }

    /// Σ_n γ_nm t_n `[L, B, M, D]`.
    pub fn sum(&self) -> Tensor<B, 4> {
        self.moments.clone().narrow(3, 1, self.width())
    }

    /// Σ_n γ_nm t_n² `[L, B, M, D]`.
    pub fn squares(&self) -> Tensor<B, 4> {
        let d = self.width();
        self.moments.clone().narrow(3, 1 + d, d)
    }
}

/// Learned pointwise statistics of data with features u_n (Wu et al. 2020): values t(u_n) and cluster weights
/// γ(u_n), a softmax. Exact statistics of a mixture have t = x and γ = the indicator of the cluster.
#[derive(Module, Debug)]
pub struct Statistics<B: Backend> {
    values: Net<B>,
    weights: Net<B>,
}

impl<B: Backend> Statistics<B> {
    /// From these nets: of t `[.., D]`, and of the logits of γ `[.., M]`.
    pub fn new(values: Net<B>, weights: Net<B>) -> Self {
        Self { values, weights }
    }

    /// The net of t.
    pub fn values(&self) -> &Net<B> {
        &self.values
    }
}

impl<B: helmholtz_ops::Backend> Statistics<B> {
    /// Of data with features `[L, B, N, F]`, Σ_n γ_nm (1, v(t_n)) `[L, B, M, 1 + ..]`.
    fn weighted(
        &self,
        features: Tensor<B, 4>,
        of: fn(Tensor<B, 4>) -> Tensor<B, 4>,
    ) -> Tensor<B, 4> {
        let [particles, instances, ..] = features.dims();
        let logits = self.weights.forward(features.clone());
        let values = of(self.values.forward(features));
        let sums = softmax_sums(logits.flatten(0, 1), values.flatten(0, 1));
        let [_, m, columns] = sums.dims();
        sums.reshape([particles, instances, m, columns])
    }

    /// The sums over data with features `[L, B, N, F]`.
    pub fn sums(&self, features: Tensor<B, 4>) -> Sums<B> {
        let moments = self.weighted(features, |t| cat(vec![t.clone(), t.square()], 3));
        Sums { moments }
    }

    /// Σ_n γ_nm t_n / (Σ_n γ_nm + ε) `[L, B, M, D]`, over data with features `[L, B, N, F]`.
    pub fn averages(&self, features: Tensor<B, 4>, epsilon: f64) -> Tensor<B, 4> {
        let sums = self.weighted(features, |t| t);
        let d = sums.dims()[3] - 1;
        sums.clone().narrow(3, 1, d) / (sums.narrow(3, 0, 1) + epsilon)
    }

    /// The sums over those of P candidate data, with features `[1, B, P, F]`, that are `present` `[L, B, P]` in a particle. Where
    /// the features of a datum depend on a latent with few values, there is a candidate for each value.
    pub fn sums_of(&self, features: Tensor<B, 4>, present: Tensor<B, 3>) -> Sums<B> {
        let logits = self.weights.forward(features.clone());
        let values = self.values.forward(features);
        Sums {
            moments: softmax_moments(logits.squeeze_dim(0), values.squeeze_dim(0), present),
        }
    }
}
