//! Estimators that should be unbiased.

use helmholtz_invariance::{Evidence, InvarianceError, Report, Share, Unbiased, expectation};
use helmholtz_random::{Chance, Draws, Stream};

use super::{Check, Specimen};

pub fn specimens() -> Vec<Specimen> {
    vec![
        Specimen {
            defect: "score function with a baseline that knows the sample",
            found_by: "exact mean",
            check: Check::Exact(baseline),
        },
        Specimen {
            defect: "variance estimated with the divisor n",
            found_by: "unbiasedness",
            check: Check::Sampled(divisor),
        },
        Specimen {
            defect: "particle filter: weights kept after resampling",
            found_by: "evidence",
            check: Check::Sampled(weights_kept),
        },
        Specimen {
            defect: "particle filter: mean of log-weights for log of the mean",
            found_by: "evidence",
            check: Check::Sampled(mean_of_logs),
        },
    ]
}

/// The error of E[(f(b) - baseline) d ln q(b) / da] over K = 3 draws of a bit with logit a = 0.7, f = (1.3, -0.4): the
/// gradient is (f(1) - f(0)) σ(a) σ(-a).
fn baseline(repaired: bool) -> Result<f64, InvarianceError> {
    let (a, f, k) = (0.7f64, [1.3, -0.4], 3);
    let sigma = 1.0 / (1.0 + (-a).exp());
    let mean = expectation(|chance| {
        let bits: Vec<usize> = (0..k)
            .map(|_| usize::from(chance.accept(sigma.ln())))
            .collect();
        let sum: f64 = bits.iter().map(|&b| f[b]).sum();
        let gradient = (bits.iter())
            .map(|&b| {
                let baseline = if repaired {
                    (sum - f[b]) / (k - 1) as f64
                } else {
                    sum / k as f64
                };
                (f[b] - baseline) * (b as f64 - sigma) / k as f64
            })
            .sum();
        vec![gradient]
    });
    Ok((mean[0] - (f[1] - f[0]) * sigma * (1.0 - sigma)).abs())
}

fn divisor(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    let n = 5;
    Unbiased::new(&[1.0]).samples(samples).test(
        |rng, out| {
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mean = x.iter().sum::<f64>() / n as f64;
            let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
            out[0] = squares / if repaired { n - 1 } else { n } as f64;
        },
        share,
    )
}

/// What may be wrong in a particle filter.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    Right,
    WeightsKept,
    MeanOfLogs,
}

const SEEN: [f64; 3] = [0.4, -0.9, 0.6];

/// x_t = x_{t-1} + e, y_t = x_t + e', all normal of variance 1, with ten particles resampled at every step.
fn filter(version: Filter, rng: &mut Stream) -> f64 {
    let mut particles = [0.0; 10];
    let mut kept = [0.0; 10];
    let mut log_z = 0.0;
    for y in SEEN {
        particles.iter_mut().for_each(|x| *x += rng.normal());
        let log_w: Vec<f64> = (particles.iter().zip(&kept))
            .map(|(x, kept)| kept - 0.5 * (y - x).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln())
            .collect();
        log_z += if version == Filter::MeanOfLogs {
            log_w.iter().sum::<f64>() / 10.0
        } else {
            (log_w.iter().map(|l| l.exp()).sum::<f64>() / 10.0).ln()
        };
        let ancestors = [(); 10].map(|()| rng.choose(&log_w).unwrap_or(0));
        particles = ancestors.map(|a| particles[a]);
        if version == Filter::WeightsKept {
            // Normalised, as they usually are; the resampled particles should have equal ones again.
            let max = log_w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = log_w.iter().map(|l| (l - max).exp()).sum::<f64>() / 10.0;
            kept = ancestors.map(|a| log_w[a] - max - mean.ln());
        }
    }
    log_z
}

/// ln p(y) by Kalman's filter.
fn exact_log_evidence() -> f64 {
    let (mut mean, mut variance, mut log_z) = (0.0, 0.0, 0.0);
    for y in SEEN {
        let predicted = variance + 1.0;
        let total: f64 = predicted + 1.0;
        log_z -=
            0.5 * ((y - mean) * (y - mean) / total + (2.0 * std::f64::consts::PI * total).ln());
        mean += predicted / total * (y - mean);
        variance = predicted / total;
    }
    log_z
}

fn evidence(version: Filter, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    Evidence::new(exact_log_evidence())
        .samples(samples)
        .test(|rng| filter(version, rng), share)
}

fn weights_kept(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    evidence(
        if repaired {
            Filter::Right
        } else {
            Filter::WeightsKept
        },
        samples,
        share,
    )
}

fn mean_of_logs(repaired: bool, samples: usize, share: Share) -> Result<Report, InvarianceError> {
    evidence(
        if repaired {
            Filter::Right
        } else {
            Filter::MeanOfLogs
        },
        samples,
        share,
    )
}
