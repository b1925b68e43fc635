//! Rows of bits and of grey values.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, activation};

use crate::Backend;

use super::{align, cycle, unwrap, wrap};

pub fn bernoulli_log_prob<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> FloatTensor<B> {
    let (logits, values) = align::<B>(logits, values);
    // v·a − softplus(a), in an order that cancels nothing: of a bit that is as its logit likes, the bracket is exactly zero.
    let tail = logits.clone().abs().neg().exp().log1p();
    let rows = (values * logits.clone() - logits.clamp_min(0.0)) - tail;
    unwrap(rows.sum_dim(1).squeeze_dim::<1>(1))
}

pub fn bernoulli_log_prob_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = B::bernoulli_log_prob(logits.clone(), values.clone());
    let (logits, values) = align::<B>(logits, values);
    (log_prob, unwrap(values - activation::sigmoid(logits)))
}

pub fn sample_bernoulli<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
) -> FloatTensor<B> {
    let (logits, uniforms) = (wrap::<B, 2>(logits), wrap::<B, 2>(uniforms));
    let probabilities = cycle(activation::sigmoid(logits), uniforms.dims()[0]);
    let ones = uniforms.clone().ones_like();
    unwrap(
        uniforms
            .zeros_like()
            .mask_where(uniforms.lower(probabilities), ones),
    )
}

/// ln(ρ + ε) and ln(1 − ρ + ε) of means ρ, cut off at 0 and 1. Added to 1 the floor would round away.
fn log_means<B: Backend>(means: Tensor<B, 2>, floor: f64) -> [Tensor<B, 2>; 2] {
    let means = means.clamp(0.0, 1.0);
    let rest = means.clone().neg() + 1.0;
    [means + floor, rest + floor].map(Tensor::log)
}

/// What the log-probability grows by when a value grows by 1: `[M, D]`.
pub fn mean_logits<B: Backend>(means: FloatTensor<B>, floor: f64) -> FloatTensor<B> {
    let [light, dark] = log_means::<B>(wrap(means), floor);
    unwrap(light - dark)
}

pub fn bernoulli_mean_log_prob<B: Backend>(
    means: FloatTensor<B>,
    values: FloatTensor<B>,
    floor: f64,
) -> FloatTensor<B> {
    let (means, values) = align::<B>(means, values);
    let [light, dark] = log_means(means, floor);
    let terms = values.clone() * light + (values.neg() + 1.0) * dark;
    unwrap(terms.sum_dim(1).squeeze_dim::<1>(1))
}

pub fn bernoulli_mean_log_prob_and_slope<B: Backend>(
    means: FloatTensor<B>,
    values: FloatTensor<B>,
    floor: f64,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = bernoulli_mean_log_prob::<B>(means.clone(), values.clone(), floor);
    let (means, values) = align::<B>(means, values);
    let beyond = means
        .clone()
        .lower_elem(0.0)
        .bool_or(means.clone().greater_elem(1.0));
    let light = values.clone() / (means.clone() + floor);
    let dark = (values.neg() + 1.0) / (means.neg() + 1.0 + floor);
    (log_prob, unwrap((light - dark).mask_fill(beyond, 0.0)))
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::TensorData;
    use burn_flex::Flex;

    use super::*;

    /// In f32, of single bits that are as their logits like, relative to a value as small as e^−80.
    #[test]
    fn a_likely_bit_has_its_small_log_probability_in_f32() {
        let logits: Vec<f32> = (0..=140).map(|i| 0.5 * i as f32 + 10.0).collect();
        let shape = [logits.len(), 1];
        let column = |of: Vec<f32>| -> Tensor<Flex, 2> {
            Tensor::from_data(TensorData::new(of, shape), &Default::default())
        };
        for (sign, bit) in [(1.0, 1.0), (-1.0, 0.0)] {
            let a = column(logits.iter().map(|a| sign * a).collect());
            let v = column(vec![bit; logits.len()]);
            // b a - softplus(a) as it is written: nothing is left of it.
            let naive = v.clone() * a.clone() - activation::softplus(a.clone(), 1.0);
            let naive: Vec<f32> = naive.into_data().to_vec().expect("f32");
            let found = bernoulli_log_prob::<Flex>(unwrap(a), unwrap(v));
            let found: Vec<f32> = wrap::<Flex, 1>(found).into_data().to_vec().expect("f32");
            let error = |found: f32, a: f32| {
                let expected = -(-f64::from(a)).exp().ln_1p();
                (f64::from(found) / expected - 1.0).abs()
            };
            for (i, &a) in logits.iter().enumerate() {
                assert!(error(found[i], a) < 1e-6, "{a}: {}", found[i]);
            }
            assert!(
                sign < 0.0 || error(naive[20], logits[20]) > 0.1,
                "{naive:?}"
            );
        }
    }
}
