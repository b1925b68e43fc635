//! A layer of bits.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{Backend, bernoulli_log_prob, sample_bernoulli};

use crate::{Relaxable, Variables};

/// Clipping of uniforms before logarithms.
pub(crate) const CLIP: f64 = 1e-7;

/// Independent bits b with P(b = 1) = σ(a), a logit, a value and a uniform each. b = 1 iff u < σ(a).
///
/// As a relaxation z = a + ln u − ln(1 − u), b = 1\[z > 0\], relaxed to σ(z/τ): binary Concrete (Maddison, Mnih & Teh 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(pub usize);

impl Variables for Bits {
    fn logits(&self) -> usize {
        self.0
    }

    fn values(&self) -> usize {
        self.0
    }

    fn uniforms(&self) -> usize {
        self.0
    }

    fn sample<B: Backend>(&self, logits: Tensor<B, 2>, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        sample_bernoulli(logits, uniforms)
    }

    fn log_prob<B: Backend>(&self, logits: Tensor<B, 2>, values: Tensor<B, 2>) -> Tensor<B, 1> {
        bernoulli_log_prob(logits, values)
    }

    /// b − σ(a).
    fn score<B: Backend>(&self, logits: Tensor<B, 2>, values: Tensor<B, 2>) -> Tensor<B, 2> {
        values - activation::sigmoid(logits)
    }

    /// σ(a).
    fn mean<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        activation::sigmoid(logits)
    }
}

impl Relaxable for Bits {
    fn noisy(&self) -> usize {
        self.0
    }

    /// Logistic: ln u − ln(1 − u).
    fn noise<B: Backend>(&self, uniforms: Tensor<B, 2>) -> Tensor<B, 2> {
        let u = uniforms.clamp(CLIP, 1.0 - CLIP);
        u.clone().log() - u.neg().log1p()
    }

    fn perturb<B: Backend>(&self, logits: Tensor<B, 2>, noise: Tensor<B, 2>) -> Tensor<B, 2> {
        logits + noise
    }

    fn harden<B: Backend>(&self, z: Tensor<B, 2>) -> Tensor<B, 2> {
        let dtype = z.dtype();
        z.greater_elem(0.0).float().cast(dtype)
    }

    fn relax<B: Backend>(&self, z: Tensor<B, 2>, temperature: Tensor<B, 2>) -> Tensor<B, 2> {
        activation::sigmoid(z / temperature)
    }

    /// With logistic noise ℓ: softplus(ℓ + softplus(a)) given a one, −softplus(−ℓ + softplus(−a)) given a zero.
    fn perturb_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        noise: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let sign = values * 2.0 - 1.0;
        softplus(sign.clone() * noise + softplus(sign.clone() * logits)) * sign
    }

    fn noise_given<B: Backend>(
        &self,
        logits: Tensor<B, 2>,
        values: Tensor<B, 2>,
        z: Tensor<B, 2>,
    ) -> Tensor<B, 2> {
        let sign = values * 2.0 - 1.0;
        // softplus⁻¹(y) = y + ln(1 − e^−y).
        let y = (sign.clone() * z).clamp_min(CLIP);
        let inverse = y.clone() + (y.neg().exp().neg()).log1p();
        (inverse - softplus(sign.clone() * logits)) * sign
    }
}

/// ln(1 + e^x).
fn softplus<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    activation::log_sigmoid(x.neg()).neg()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};
    use burn_flex::Flex;
    use helmholtz_random::{Purpose, Stream};

    use super::*;
    use crate::uniforms;

    fn noise(seed: u64, rows: usize) -> Tensor<Flex, 2> {
        let mut stream = Stream::new(seed, Purpose::new("bits"), [0, 0]);
        let u = uniforms([rows, 3], DType::F64, &Default::default(), &mut stream);
        Bits(3).noise(u)
    }

    fn logits(rows: usize) -> Tensor<Flex, 2> {
        let data = TensorData::from([[0.3f64, -2.0, 1.5]]);
        let tensor = Tensor::<Flex, 2>::from_data(data, (&Default::default(), DType::F64));
        tensor.expand([rows, 3])
    }

    fn numbers(tensor: Tensor<Flex, 2>) -> Vec<f64> {
        tensor.into_data().to_vec().unwrap()
    }

    #[test]
    fn the_noise_given_a_value_brings_back_z() {
        let (bits, rows) = (Bits(3), 200);
        let z = bits.perturb(logits(rows), noise(1, rows));
        let values = bits.harden(z.clone());
        let given = bits.noise_given(logits(rows), values.clone(), z.clone());
        let back = bits.perturb_given(logits(rows), values, given);
        for (z, back) in numbers(z).into_iter().zip(numbers(back)) {
            assert!((z - back).abs() < 1e-9 * (1.0 + z.abs()), "{z} {back}");
        }
    }

    #[test]
    fn z_given_its_value_has_the_law_of_z() {
        // The same law: the empirical distribution functions of z and of z drawn given z's value, at a point, differ by less
        // than 5.7 standard deviations of a difference of two proportions, at 30 points: a false alarm in 10⁶ tests or fewer.
        let (bits, rows) = (Bits(3), 40_000);
        let z = bits.perturb(logits(rows), noise(2, rows));
        let again = bits.perturb_given(logits(rows), bits.harden(z.clone()), noise(3, rows));
        let (z, again) = (numbers(z), numbers(again));
        for column in 0..3 {
            let below = |values: &[f64], point: f64| {
                let column = values.iter().skip(column).step_by(3);
                column.filter(|&&value| value < point).count() as f64 / rows as f64
            };
            for tenth in 0..10 {
                let point = tenth as f64 - 4.5;
                let (a, b) = (below(&z, point), below(&again, point));
                let p = 0.5 * (a + b);
                let deviation = (2.0 * p * (1.0 - p) / rows as f64).sqrt();
                assert!(
                    (a - b).abs() <= 5.7 * deviation,
                    "{column} {point}: {a} {b}"
                );
            }
        }
    }
}
