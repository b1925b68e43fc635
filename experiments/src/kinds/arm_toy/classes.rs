//! Gradient ascent on the logits of one categorical variable, and the variance of its estimates on the way.

use super::variance::mean_and_variance;
use super::{ClassesSettings, Estimator, OneClass};
use crate::error::HarnessError;
use helmholtz_ops::AutodiffBackend;
use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

const NOISE: Purpose = Purpose::new("toy-cls");
const MEASURED: Purpose = Purpose::new("toy-clsv");

/// An ascent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Climb {
    /// Who estimated; none of the exact gradient.
    pub estimator: Option<Estimator>,
    /// Points on the way, the start and the end among them.
    pub points: Vec<Point>,
}

/// A point of an ascent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Steps made.
    pub iteration: usize,
    /// E f.
    pub value: f64,
    /// The probability of the class with the largest f.
    pub best: f64,
    /// The sample variance of one estimate, summed over the logits.
    pub variance: f64,
}

/// f of each class: ½ + (c + 1)/(30 C), c = 0, …, C − 1, as in ARSM's released code.
pub fn values(classes: usize) -> Vec<f64> {
    let of = |c: usize| 0.5 + (c + 1) as f64 / (classes * 30) as f64;
    (0..classes).map(of).collect()
}

/// softmax(φ).
fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logits.iter().map(|a| (a - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// E f.
fn expectation(p: &[f64], f: &[f64]) -> f64 {
    p.iter().zip(f).map(|(p, f)| p * f).sum()
}

/// ∂ E f / ∂φ_c = p_c (f_c − E f).
pub fn gradient(logits: &[f64], f: &[f64]) -> Vec<f64> {
    let p = softmax(logits);
    let mean = expectation(&p, f);
    p.iter().zip(f).map(|(p, f)| p * (f - mean)).collect()
}

/// The ascent of the exact gradient, or by the estimates of `estimator`, K = 1; `index` names its random streams.
///
/// # Errors
/// If `go_on` says no.
pub fn climb<B: AutodiffBackend>(
    settings: &ClassesSettings,
    estimator: Option<Estimator>,
    (seed, index): (u64, u64),
    device: &B::Device,
    go_on: &dyn Fn() -> Result<(), HarnessError>,
) -> Result<Climb, HarnessError> {
    let f = values(settings.classes);
    let mut logits = vec![settings.start; settings.classes];
    let mut points = Vec::new();
    for iteration in 0..=settings.iterations {
        go_on()?;
        let estimate = |copies, purpose| match estimator {
            None => Ok(gradient(&logits, &f)),
            Some(estimator) => {
                let model = OneClass::<B>::new(&logits, &f, copies, device);
                let mut noise = Stream::new(seed, purpose, [index, iteration as u64]);
                estimator.estimate(&model, 1, &mut noise)
            }
        };
        if iteration % settings.measure_every == 0 || iteration == settings.iterations {
            let estimates = estimate(settings.replicates, MEASURED)?;
            points.push(Point {
                iteration,
                value: expectation(&softmax(&logits), &f),
                best: *softmax(&logits).last().expect("there are classes"),
                variance: summed_variance(&estimates, settings.classes),
            });
        }
        if iteration < settings.iterations {
            let estimate = estimate(1, NOISE)?;
            for (a, estimate) in logits.iter_mut().zip(estimate) {
                *a += settings.step * estimate;
            }
        }
    }
    Ok(Climb { estimator, points })
}

/// The sample variances of each logit's estimates, summed; nothing varies of a single one.
fn summed_variance(estimates: &[f64], classes: usize) -> f64 {
    if estimates.len() <= classes {
        return 0.0;
    }
    let of_logit = |c: usize| {
        let own: Vec<f64> = estimates.iter().skip(c).step_by(classes).copied().collect();
        mean_and_variance(&own).1
    };
    (0..classes).map(of_logit).sum()
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use super::*;
    use crate::kinds::arm_toy::settings::tests::arm_toy;
    use burn::backend::Autodiff;
    use burn_flex::Flex;

    type Ad = Autodiff<Flex>;

    #[test]
    fn f_rises_with_the_class_and_the_gradient_is_that_of_its_expectation() {
        let f = values(30);
        assert!((f[0] - (0.5 + 1.0 / 900.0)).abs() < 1e-15 && (f[29] - 16.0 / 30.0).abs() < 1e-15);
        let logits = [0.3, -1.0, 0.8];
        let f = values(3);
        for c in 0..3 {
            let at = |by: f64| {
                let mut moved = logits;
                moved[c] += by;
                expectation(&softmax(&moved), &f)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient(&logits, &f)[c] - difference).abs() < 1e-10);
        }
    }

    /// Four estimators of five logits, each mean within 4.9 standard errors: a false alarm in one of 50,000 seeds.
    #[test]
    fn estimates_are_of_the_exact_gradient_and_differ_from_anothers() {
        let (logits, f) = ([0.5, -0.5, 0.2, 1.0, -1.2], values(5));
        let copies = 20_000;
        for estimator in arm_toy().classes.estimators {
            let model = OneClass::<Ad>::new(&logits, &f, copies, &Default::default());
            let mut noise = Stream::new(1, NOISE, [0, 0]);
            let estimates = estimator.estimate(&model, 1, &mut noise).unwrap();
            let z = |exact: &[f64]| {
                let of_logit = |c: usize| {
                    let own: Vec<f64> = estimates.iter().skip(c).step_by(5).copied().collect();
                    let (mean, variance) = mean_and_variance(&own);
                    (mean - exact[c]).abs() / (variance / copies as f64).sqrt()
                };
                (0..5).map(of_logit).fold(0.0, f64::max)
            };
            let label = estimator.label();
            let exact = gradient(&logits, &f);
            assert!(z(&exact) < 4.9, "{label}: {}", z(&exact));
            if estimator == Estimator::Arsm {
                // Of the least variance, so that it can tell: the gradient without its baseline E f is another.
                let p = softmax(&logits);
                let twin: Vec<f64> = p.iter().zip(&f).map(|(p, f)| p * (f - 0.5)).collect();
                assert!(z(&twin) > 4.9, "{label}: {}", z(&twin));
            }
        }
    }

    #[test]
    fn the_exact_ascent_rises_and_estimates_follow_it() {
        let settings = ClassesSettings {
            classes: 4,
            step: 5.0,
            iterations: 400,
            ..arm_toy().classes
        };
        let run = |estimator| {
            let go_on = || Ok(());
            climb::<Ad>(&settings, estimator, (1, 2), &Default::default(), &go_on).unwrap()
        };
        let exact = run(None).points;
        assert_eq!(exact.len(), 400 / settings.measure_every + 1);
        assert_eq!((exact[0].best, exact[0].variance), (0.25, 0.0));
        assert!(exact.windows(2).all(|pair| pair[0].value < pair[1].value));
        let arsm = run(Some(Estimator::Arsm)).points;
        assert!((arsm[4].best - exact[4].best).abs() < 0.05, "{arsm:?}");
        assert!(arsm[0].variance > 0.0);
    }
}
