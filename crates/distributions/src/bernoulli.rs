//! Independent Bernoulli variables, parameterised by logits.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{Backend, bernoulli_log_prob, sample_bernoulli};

use crate::noise::uniforms;
use crate::{Entropy, LogProb, Mean, Noise, Sample};

/// Rows of independent bits b_d with P(b_d = 1) = σ(a_d).
#[derive(Clone, Debug)]
pub struct Bernoulli<B: Backend> {
    logits: Tensor<B, 2>,
}

impl<B: Backend> Bernoulli<B> {
    /// Bits with these logits a: `[rows, bits]`.
    pub fn new(logits: Tensor<B, 2>) -> Self {
        Self { logits }
    }

    /// The logits `[rows, bits]`.
    pub fn logits(&self) -> &Tensor<B, 2> {
        &self.logits
    }
}

impl<B: Backend> LogProb<B> for Bernoulli<B> {
    type Value = Tensor<B, 2>;

    /// Σ_d b·a − softplus(a); the bits may be relaxed.
    fn log_prob(&self, value: Tensor<B, 2>) -> Tensor<B, 1> {
        bernoulli_log_prob(self.logits.clone(), value)
    }
}

impl<B: Backend> Sample<B> for Bernoulli<B> {
    type Value = Tensor<B, 2>;

    /// b = 1 iff u < σ(a): one uniform a bit, in row order.
    fn sample(&self, particles: usize, noise: &mut impl Noise) -> Tensor<B, 2> {
        let [rows, bits] = self.logits.dims();
        let shape = [particles * rows, bits];
        let noise = uniforms(shape, self.logits.dtype(), &self.logits.device(), noise);
        sample_bernoulli(self.logits.clone(), noise)
    }
}

impl<B: Backend> Mean<B> for Bernoulli<B> {
    /// σ(a).
    fn mean(&self) -> Tensor<B, 2> {
        activation::sigmoid(self.logits.clone())
    }
}

impl<B: Backend> Entropy<B> for Bernoulli<B> {
    /// Σ_d softplus(a) − a σ(a), as ln(1 + e^−|a|) + |a| σ(−|a|): two positive terms, so that none of the few digits of a
    /// small entropy in f32 are lost.
    fn entropy(&self) -> Tensor<B, 1> {
        let a = self.logits.clone().abs();
        let tail = a.clone().neg().exp().log1p();
        let each = tail + a.clone() * activation::sigmoid(a.neg());
        each.sum_dim(1).squeeze_dim(1)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;

    use super::*;
    use crate::noise::List;

    fn logits() -> Bernoulli<Flex> {
        let data = TensorData::from([[0.3f64, -2.0, 5.0], [0.0, 1.0, -40.0]]);
        Bernoulli::new(Tensor::from_data(data, (&Default::default(), DType::F64)))
    }

    /// All eight rows of three bits, each for both rows of logits.
    fn all_rows() -> Tensor<Flex, 2> {
        let bit = |n: usize, d: usize| f64::from(u8::from(n >> d & 1 == 1));
        let rows: Vec<f64> = (0..8)
            .flat_map(|n| (0..2).flat_map(move |_| (0..3).map(move |d| bit(n, d))))
            .collect();
        Tensor::from_data(
            TensorData::new(rows, [16, 3]),
            (&Default::default(), DType::F64),
        )
    }

    #[test]
    fn probabilities_sum_to_one_and_give_mean_and_entropy() {
        let q = logits();
        let values = all_rows().into_data().to_vec::<f64>().unwrap();
        let log_prob = q.log_prob(all_rows()).into_data().to_vec::<f64>().unwrap();
        let mean = q.mean().into_data().to_vec::<f64>().unwrap();
        let entropy = q.entropy().into_data().to_vec::<f64>().unwrap();
        for row in 0..2 {
            let rows = || (row..16).step_by(2);
            let total: f64 = rows().map(|n| log_prob[n].exp()).sum();
            assert!((total - 1.0).abs() < 1e-14);
            let expected: f64 = rows().map(|n| -log_prob[n].exp() * log_prob[n]).sum();
            assert!((entropy[row] - expected).abs() < 1e-13);
            for d in 0..3 {
                let expected: f64 = rows().map(|n| log_prob[n].exp() * values[3 * n + d]).sum();
                assert!((mean[3 * row + d] - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn each_particle_of_a_row_takes_its_own_uniforms_in_row_order() {
        // Uniforms just below and at σ(0.3), σ(−2), σ(5); then 0 and the largest.
        let below = [0.574_442, 0.119_202, 0.993_307];
        let above = [0.574_443, 0.119_203, 0.993_308];
        let row_2 = [0.4999, 0.0, 0.0, 0.5, 0.999_999_94, 0.5];
        let list = [below.as_slice(), &row_2[..3], above.as_slice(), &row_2[3..]].concat();
        let bits = logits().sample(2, &mut List(list.into_iter()));
        let bits = bits.into_data().to_vec::<f64>().unwrap();
        assert_eq!(
            bits,
            [1., 1., 1., 1., 1., 1., 0., 0., 0., 0., 0., 0.],
            "particle-major rows"
        );
    }
}
