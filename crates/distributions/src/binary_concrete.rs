//! Relaxed bits with a density.

use burn::tensor::Tensor;
use helmholtz_ops::{Backend, bernoulli_log_prob};

use crate::LogProb;

/// Rows of independent binary Concrete variables before their sigmoid: y = (a + ℓ) / τ with logistic ℓ, whose σ(y) is a relaxed
/// bit (Maddison, Mnih & Teh 2017).
///
/// The density is that of y, not of σ(y). In a ratio of two such densities at the same y the Jacobian of the sigmoid cancels, and
/// nothing overflows where σ(y) rounds to 0 or 1.
#[derive(Clone, Debug)]
pub struct BinaryConcrete<B: Backend> {
    logits: Tensor<B, 2>,
    temperature: f64,
}

impl<B: Backend> BinaryConcrete<B> {
    /// Variables with these logits a `[rows, bits]` at this temperature τ > 0.
    pub fn new(logits: Tensor<B, 2>, temperature: f64) -> Self {
        Self {
            logits,
            temperature,
        }
    }
}

impl<B: Backend> LogProb<B> for BinaryConcrete<B> {
    type Value = Tensor<B, 2>;

    /// Σ_d \[ln τ + δ_d − 2 softplus(δ_d)\] `[rows]` in nats, δ = a − τ y, for y `[rows, bits]`; differentiable in a and y.
    ///
    /// # Panics
    /// If the rows of y are no multiple of those of the logits.
    fn log_prob(&self, value: Tensor<B, 2>) -> Tensor<B, 1> {
        let [rows, bits] = value.dims();
        let few = self.logits.dims()[0];
        let scaled = (value * self.temperature).reshape([rows / few, few, bits]);
        let difference = self.logits.clone().reshape([1, few, bits]) - scaled;
        let difference = difference.reshape([rows, bits]);
        // Half a bit has the log-probability ½ d − softplus(d).
        let halves = difference.full_like(0.5);
        let constant = bits as f64 * self.temperature.ln();
        bernoulli_log_prob(difference, halves) * 2.0 + constant
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;

    use super::*;

    fn rows(values: Vec<f64>, columns: usize) -> Tensor<Flex, 2> {
        let shape = [values.len() / columns, columns];
        let data = TensorData::new(values, shape);
        Tensor::from_data(data, (&Default::default(), DType::F64))
    }

    #[test]
    fn particles_meet_the_logits_of_their_row() {
        let (logits, temperature) = ([0.3, -2.0, 5.0, 0.7], 0.5);
        let y: Vec<f64> = (0..8).map(|i| 0.9 * f64::from(i) - 3.0).collect();
        let concrete = BinaryConcrete::new(rows(logits.to_vec(), 2), temperature);
        let found = concrete.log_prob(rows(y.clone(), 2)).into_data();
        for (row, found) in found.iter::<f64>().enumerate() {
            // d/dy of the distribution function σ(τ y − a).
            let density = |column: usize| {
                let d: f64 = temperature * y[2 * row + column] - logits[2 * (row % 2) + column];
                temperature / ((1.0 + d.exp()) * (1.0 + (-d).exp()))
            };
            let expected = (density(0) * density(1)).ln();
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
    }
}
