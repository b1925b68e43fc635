//! The variance of an estimate for one bit, sampled at many logits.

use super::{Estimator, OneBit, VarianceSettings, law, sigmoid, table};
use crate::error::HarnessError;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

const NOISE: Purpose = Purpose::new("toy-law");

/// The variance at one logit, in units of Δ².
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variance {
    /// Whose.
    pub estimator: Estimator,
    /// a.
    pub logit: f64,
    /// The sample variance, K = 1 or the least that the estimator is defined for.
    pub sampled: f64,
    /// Variance in closed form, where that is known.
    pub law: Option<f64>,
}

/// The logit, on the positive side, at which ARM's variance is largest: 3 ln((1 + √5)/2).
pub fn peak_logit() -> f64 {
    let sigma = 0.5 + law::arm_peak();
    (sigma / (1.0 - sigma)).ln()
}

/// The logits at which variances are sampled, ascending.
pub fn logits(settings: &VarianceSettings) -> Vec<f64> {
    let largest = f64::from(settings.largest_logit);
    let whole = (0..=2 * settings.largest_logit).map(|i| f64::from(i) - largest);
    let mut logits: Vec<f64> = whole.chain([-peak_logit(), peak_logit()]).collect();
    logits.sort_by(f64::total_cmp);
    logits
}

/// The variances of every estimator at every logit.
///
/// # Errors
/// If `go_on` says no.
pub fn sample<B: AutodiffBackend>(
    settings: &VarianceSettings,
    seed: u64,
    device: &B::Device,
    go_on: &dyn Fn() -> Result<(), HarnessError>,
) -> Result<Vec<Variance>, HarnessError> {
    let f = table(settings.target);
    let unit = (f[1] - f[0]).powi(2);
    let mut variances = Vec::new();
    for (index, &estimator) in settings.estimators.iter().enumerate() {
        for (place, logit) in logits(settings).into_iter().enumerate() {
            go_on()?;
            let copies = settings.replicates;
            let model = OneBit::<B>::new(&vec![logit; copies], &vec![f; copies], device);
            let mut noise = Stream::new(seed, NOISE, [index as u64, place as u64]);
            let samples = estimator.entry().least_particles();
            let estimates = estimator.estimate(&model, samples, &mut noise)?;
            let (_, variance) = mean_and_variance(&estimates);
            variances.push(Variance {
                estimator,
                logit,
                sampled: variance / unit,
                law: estimator.law().map(|law| law(sigmoid(logit), f) / unit),
            });
        }
    }
    Ok(variances)
}

/// The mean and the sample variance of at least two numbers; exactly zero where they are equal.
pub fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    // From the first, so that equal numbers leave no rounding.
    let shift = values[0];
    let mean = values.iter().map(|v| v - shift).sum::<f64>() / count;
    let squares = values.iter().map(|v| (v - shift - mean).powi(2));
    (shift + mean, squares.sum::<f64>() / (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_are_those_of_the_sample() {
        assert_eq!(mean_and_variance(&[1.0, 2.0, 6.0]), (3.0, 7.0));
        assert_eq!(mean_and_variance(&[0.1; 1001]), (0.1, 0.0));
    }

    #[test]
    fn logits_hold_both_maxima() {
        let settings = crate::kinds::arm_toy::settings::tests::arm_toy().variance;
        let logits = logits(&settings);
        assert_eq!(logits.len(), 17 + 2);
        assert!(logits.contains(&peak_logit()) && logits.contains(&-peak_logit()));
        assert!((peak_logit() - 3.0 * (0.5 * (1.0 + 5f64.sqrt())).ln()).abs() < 1e-14);
    }
}
