//! log p(t | c) of a model small enough to enumerate, and what importance sampling makes of it.

use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_estimators::{Joint, Propose};

use crate::written_out::WrittenOut;
use crate::{built, data, numbers, small, stream, tensor};

/// Every vector of so many bits.
pub fn all_bits(count: usize) -> Vec<Vec<f64>> {
    let row = |index: usize| (0..count).map(|i| (index >> i & 1) as f64).collect();
    (0..1 << count).map(row).collect()
}

fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + values.iter().map(|l| (l - largest).exp()).sum::<f64>().ln()
}

/// The mean weight is p(t | c), not p(c, t): its t-statistic stays below 6 (two-sided 2e-9, of a few data), while p(t) averaged over
/// other contexts is far away.
#[test]
fn importance_sampling_estimates_the_enumerated_likelihood_of_the_target_given_the_context() {
    const SAMPLES: usize = 20_000;
    let config = small();
    let model = built(&config, DType::F64);
    let written_out = WrittenOut::new(&config, &model);
    for x in data(3, &config) {
        let log_p: Vec<f64> = all_bits(config.latent)
            .iter()
            .map(|h| written_out.log_p(&x, h))
            .collect();
        let exact = log_sum_exp(&log_p).exp();
        let one = || tensor::<Flex>(std::slice::from_ref(&x), DType::F64);
        let proposals = model.propose(&model.encode(one()), None, SAMPLES, &mut stream(8));
        let log_w = numbers(model.log_joint(one(), &proposals.particles) - proposals.log_q);
        let weights: Vec<f64> = log_w.iter().map(|l| l.exp()).collect();
        let n = SAMPLES as f64;
        let mean = weights.iter().sum::<f64>() / n;
        let variance = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = (mean - exact) / (variance / n).sqrt();
        assert!(t.abs() < 6.0, "t = {t}, {mean} for {exact}");
        let mut elsewhere = x.clone();
        elsewhere[..config.context]
            .iter_mut()
            .for_each(|bit| *bit = 1.0 - *bit);
        let log_p: Vec<f64> = all_bits(config.latent)
            .iter()
            .map(|h| written_out.log_p(&elsewhere, h))
            .collect();
        let wrong = (mean - log_sum_exp(&log_p).exp()) / (variance / n).sqrt();
        assert!(wrong.abs() > 6.0, "of another context: t = {wrong}");
    }
}

#[test]
fn the_enumerated_likelihoods_of_all_targets_sum_to_one() {
    let config = small();
    let written_out = WrittenOut::new(&config, &built(&config, DType::F64));
    let context = &data(1, &config)[0][..config.context];
    let mut total = 0.0;
    for target in all_bits(config.target) {
        let x = [context, &target].concat();
        for h in all_bits(config.latent) {
            total += written_out.log_p(&x, &h).exp();
        }
    }
    assert!((total - 1.0).abs() < 1e-12);
}
