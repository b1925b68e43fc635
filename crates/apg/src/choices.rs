//! A choice of one cluster for each datum.

use burn::tensor::{Tensor, TensorData};
use helmholtz_distributions::{Categorical, LogProb, Noise, Sample};
use helmholtz_ops::Backend;

/// Independent classes of N data for each particle of each instance, by logits `[L, B, N, M]`.
#[derive(Clone, Debug)]
pub struct Choices<B: Backend> {
    logits: Tensor<B, 4>,
    /// A row for each datum, its first logit taken off the others.
    rows: Categorical<B>,
}

impl<B: Backend> Choices<B> {
    /// With these logits `[L, B, N, M]`, up to a constant for each datum.
    pub fn new(logits: Tensor<B, 4>) -> Self {
        let m = logits.dims()[3];
        // A product is faster than slices and a broadcast difference, and rounds the same.
        let signs = (0..m).flat_map(|row| {
            (1..m).map(move |column| {
                f64::from(u8::from(row == column)) - f64::from(u8::from(row == 0))
            })
        });
        let signs = TensorData::new(signs.collect::<Vec<f64>>(), [m, m - 1]);
        let signs = Tensor::from_data(signs, (&logits.device(), logits.dtype()));
        let rows = logits.clone().reshape([-1, m as i32]).matmul(signs);
        Self {
            rows: Categorical::new(rows, m),
            logits,
        }
    }

    /// The logits `[L, B, N, M]`.
    pub fn logits(&self) -> &Tensor<B, 4> {
        &self.logits
    }

    /// The same law, known to no tape.
    pub fn detach(&self) -> Self {
        Self {
            logits: self.logits.clone().detach(),
            rows: Categorical::new(self.rows.logits().clone().detach(), self.rows.classes()),
        }
    }

    /// One-hot classes `[L, B, N, M]`.
    pub fn sample(&self, noise: &mut impl Noise) -> Tensor<B, 4> {
        self.rows.sample(1, noise).reshape(self.logits.dims())
    }

    /// The log-probability of each datum's one-hot class, nats: `[L, B, N]`.
    pub fn log_prob(&self, classes: &Tensor<B, 4>) -> Tensor<B, 3> {
        let [particles, instances, data, m] = self.logits.dims();
        let classes = classes.clone().reshape([-1, m as i32]);
        let log_prob = self.rows.log_prob(classes);
        log_prob.reshape([particles, instances, data])
    }
}
