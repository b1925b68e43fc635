//! A choice of one cluster for each datum.

use burn::tensor::Tensor;
use helmholtz_distributions::{Categorical, LogProb, Noise, Sample};
use helmholtz_ops::Backend;

/// Independent classes of N data for each particle of each instance, by logits `[L, B, N, M]`.
#[derive(Clone, Debug)]
pub struct Choices<B: Backend> {
    logits: Tensor<B, 4>,
}

impl<B: Backend> Choices<B> {
    /// With these logits `[L, B, N, M]`, up to a constant for each datum.
    pub fn new(logits: Tensor<B, 4>) -> Self {
        Self { logits }
    }

    /// The logits `[L, B, N, M]`.
    pub fn logits(&self) -> &Tensor<B, 4> {
        &self.logits
    }

    /// A row for each datum, its first logit taken off the others.
    fn rows(&self) -> Categorical<B> {
        let [particles, instances, data, m] = self.logits.dims();
        let rows = [particles * instances * data, m];
        let logits = self.logits.clone().reshape(rows);
        let first = logits.clone().narrow(1, 0, 1);
        Categorical::new(logits.narrow(1, 1, m - 1) - first, m)
    }

    /// One-hot classes `[L, B, N, M]`.
    pub fn sample(&self, noise: &mut impl Noise) -> Tensor<B, 4> {
        self.rows().sample(1, noise).reshape(self.logits.dims())
    }

    /// The log-probability of each datum's one-hot class, nats: `[L, B, N]`.
    pub fn log_prob(&self, classes: &Tensor<B, 4>) -> Tensor<B, 3> {
        let [particles, instances, data, m] = self.logits.dims();
        let rows = [particles * instances * data, m];
        let log_prob = self.rows().log_prob(classes.clone().reshape(rows));
        log_prob.reshape([particles, instances, data])
    }
}
