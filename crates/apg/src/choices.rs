//! A choice of one cluster for each datum.

use burn::tensor::{Tensor, TensorData};
use helmholtz_distributions::{Categorical, LogProb, Noise, Sample, uniforms};
use helmholtz_ops::{Backend, categorical_move};

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

    /// A row for each datum, its first logit taken off the others.
    fn rows(&self) -> Categorical<B> {
        let m = self.logits.dims()[3];
        // A product is faster than slices and a broadcast difference, and rounds the same.
        let signs = (0..m).flat_map(|row| {
            (1..m).map(move |column| {
                f64::from(u8::from(row == column)) - f64::from(u8::from(row == 0))
            })
        });
        let signs = TensorData::new(signs.collect::<Vec<f64>>(), [m, m - 1]);
        let signs = Tensor::from_data(signs, (&self.logits.device(), self.logits.dtype()));
        let rows = self.logits.clone().reshape([-1, m as i32]).matmul(signs);
        Categorical::new(rows, m)
    }

    /// The logits `[L, B, N, M]`.
    pub fn logits(&self) -> &Tensor<B, 4> {
        &self.logits
    }

    /// The same law, detached from the tape.
    pub fn detach(&self) -> Self {
        Self {
            logits: self.logits.clone().detach(),
        }
    }

    /// One-hot classes `[L, B, N, M]`.
    pub fn sample(&self, noise: &mut impl Noise) -> Tensor<B, 4> {
        self.rows().sample(1, noise).reshape(self.logits.dims())
    }

    /// The log-probability of each datum's one-hot class, nats: `[L, B, N]`.
    pub fn log_prob(&self, classes: &Tensor<B, 4>) -> Tensor<B, 3> {
        let [particles, instances, data, m] = self.logits.dims();
        let classes = classes.clone().reshape([-1, m as i32]);
        let log_prob = self.rows().log_prob(classes);
        log_prob.reshape([particles, instances, data])
    }

    /// One-hot classes `[L, B, N, M]`, as [`sample`](Self::sample) draws them, with their log-probability and that of the classes
    /// `from`, a constant: `[L, B, N]`, nats. One softmax gives all three.
    pub fn propose(
        &self,
        from: &Tensor<B, 4>,
        noise: &mut impl Noise,
    ) -> (Tensor<B, 4>, Tensor<B, 3>, Tensor<B, 3>) {
        let [particles, instances, data, m] = self.logits.dims();
        let rows = |of: &Tensor<B, 4>| of.clone().reshape([-1, m as i32]);
        let (device, count) = (self.logits.device(), particles * instances * data);
        let noise = uniforms([count, 1], self.logits.dtype(), &device, noise).squeeze_dim(1);
        let (drawn, log_prob, reverse) = categorical_move(rows(&self.logits), noise, rows(from));
        let each = |of: Tensor<B, 1>| of.reshape([particles, instances, data]);
        let drawn = drawn.reshape([particles, instances, data, m]);
        (drawn, each(log_prob), each(reverse))
    }
}
