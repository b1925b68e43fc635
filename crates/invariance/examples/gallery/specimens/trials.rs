//! Kernels over log-weights of independent proposals, and resampling.

use helmholtz_invariance::{InvarianceError, Law, TransitionMatrix, on_grid};
use helmholtz_random::{Chance, Draws, Enumerator, enumerate};
use helmholtz_samplers::coupling::CoupledIndexKernel;
use helmholtz_samplers::{Cis, FrozenReferenceMis, IndexKernel, Info, Mis, Mtmis, log_sum_exp};

use super::{Check, Specimen};

pub fn specimens() -> Vec<Specimen> {
    let invariance = |defect, check| Specimen {
        defect,
        found_by: "invariance",
        check: Check::Exact(check),
    };
    vec![
        invariance("prior counted twice in the log-weight", prior_twice),
        invariance("proposal density left out of the log-weight", no_proposal),
        invariance(
            "accept test against a frozen reference weight",
            frozen_reference,
        ),
        invariance(
            "multiple trials, wrong trial taken out of the denominator",
            wrong_denominator,
        ),
        invariance("resampling without the retained particle", without_retained),
        invariance(
            "coupled chains: the second moves only with the first",
            moves_with_the_first,
        ),
        invariance("weights smoothed by 1e-9 before resampling", smoothed),
        Specimen {
            defect: "systematic resampling picks weight zero at u = 0",
            found_by: "grid of uniforms",
            check: Check::Exact(zero_weight),
        },
    ]
}

/// Prior and likelihood of four hidden states; the last is impossible.
const LOG_PRIOR: [f64; 4] = [-1.0, -1.6, -0.9, -1.7];
const LOG_LIKELIHOOD: [f64; 4] = [0.4, 1.9, -0.8, f64::NEG_INFINITY];
const Q: [f64; 4] = [0.4, 0.1, 0.2, 0.3];

/// max |πP - π| for the posterior, with log-weights that may be wrong.
fn error(
    kernel: &impl IndexKernel,
    log_w: impl Fn(usize) -> f64,
    proposals: usize,
) -> Result<f64, InvarianceError> {
    let posterior = Law::of(&[0, 1, 2, 3], |&h| LOG_PRIOR[h] + LOG_LIKELIHOOD[h])?;
    let (q, log_w) = (Law::from_weights(&Q)?, [0, 1, 2, 3].map(log_w));
    TransitionMatrix::of_index_kernel(kernel, &q, &log_w, proposals)?.invariance_error(&posterior)
}

fn log_w(h: usize) -> f64 {
    LOG_PRIOR[h] + LOG_LIKELIHOOD[h] - Q[h].ln()
}

fn prior_twice(repaired: bool) -> Result<f64, InvarianceError> {
    let again = if repaired { 0.0 } else { 1.0 };
    error(&Mis, |h| log_w(h) + again * LOG_PRIOR[h], 1)
}

fn no_proposal(repaired: bool) -> Result<f64, InvarianceError> {
    let excluded = if repaired { 0.0 } else { 1.0 };
    error(&Mis, |h| log_w(h) + excluded * Q[h].ln(), 1)
}

fn frozen_reference(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        error(&Mis, log_w, 3)
    } else {
        error(&FrozenReferenceMis, log_w, 3)
    }
}

/// Takes the first trial out of the denominator, not the chosen one.
struct WrongDenominator;

impl IndexKernel for WrongDenominator {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let backward = proposals[1..].iter().copied().chain([current]);
        let log_ratio = log_sum_exp(proposals.iter().copied()) - log_sum_exp(backward);
        let chosen = chance
            .choose(proposals)
            .filter(|_| chance.accept(log_ratio));
        *visits = vec![chosen.map_or(0, |j| j as u32 + 1)];
        Info::default()
    }
}

fn wrong_denominator(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        error(&Mtmis, log_w, 2)
    } else {
        error(&WrongDenominator, log_w, 2)
    }
}

/// Sampling importance resampling, taken for a kernel.
struct WithoutRetained;

impl IndexKernel for WithoutRetained {
    fn run(
        &self,
        _: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        *visits = vec![chance.choose(proposals).map_or(0, |j| j as u32 + 1)];
        Info::default()
    }
}

fn without_retained(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        error(&Cis, log_w, 3)
    } else {
        error(&WithoutRetained, log_w, 3)
    }
}

/// Conditional importance sampling with 1e-9 added to every weight, so that none is zero.
struct Smoothed;

impl IndexKernel for Smoothed {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let smoothed: Vec<f64> = ([current].iter().chain(proposals))
            .map(|l| (l.exp() + 1e-9).ln())
            .collect();
        *visits = vec![chance.choose(&smoothed).map_or(0, |j| j as u32)];
        Info::default()
    }
}

fn smoothed(repaired: bool) -> Result<f64, InvarianceError> {
    if repaired {
        error(&Cis, log_w, 2)
    } else {
        error(&Smoothed, log_w, 2)
    }
}

/// The error of the law of the second of two coupled chains, from independent draws of the posterior.
fn moves_with_the_first(repaired: bool) -> Result<f64, InvarianceError> {
    let posterior = Law::of(&[0, 1, 2], |&h| LOG_PRIOR[h] + LOG_LIKELIHOOD[h])?;
    let p = posterior.probabilities();
    let log_w = [0, 1, 2].map(log_w);
    let mut after = [0.0; 3];
    for (x, y) in (0..9).map(|pair| (pair / 3, pair % 3)) {
        for (proposal, q) in Q[..3].iter().enumerate() {
            let ends = enumerate(|chance: &mut Enumerator| {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                let (current, proposals) = ([log_w[x], log_w[y]], [log_w[proposal]]);
                if repaired {
                    Mis.run_both(current, &proposals, chance, [&mut a, &mut b]);
                } else {
                    Mis.run(current[0], &proposals, chance, &mut a);
                    b = vec![0];
                    if a == [1] {
                        Mis.run(current[1], &proposals, chance, &mut b);
                    }
                }
                if b == [1] { proposal } else { y }
            });
            let total: f64 = Q[..3].iter().sum();
            for (branch, end) in ends {
                after[end] += p[x] * p[y] * q / total * branch;
            }
        }
    }
    let errors = after.iter().zip(p).map(|(a, b)| (a - b).abs());
    Ok(errors.fold(0.0, f64::max))
}

/// Ancestors at positions (i + u) / n of the cumulative weights; the first sum that reaches, or rather exceeds, it.
fn systematic(weights: &[f64], chance: &mut impl Draws, strictly: bool) -> Vec<usize> {
    let (u, n) = (chance.uniform(), weights.len());
    (0..n)
        .map(|i| {
            let position = (i as f64 + u) / n as f64;
            let mut sum = 0.0;
            let reached = |w: &f64| {
                sum += w;
                if strictly {
                    sum > position
                } else {
                    sum >= position
                }
            };
            weights.iter().position(reached).unwrap_or(n - 1)
        })
        .collect()
}

/// The share of uniforms on a grid with its ends at which a particle without weight is picked.
fn zero_weight(repaired: bool) -> Result<f64, InvarianceError> {
    let weights = [0.0, 0.5, 0.25, 0.25];
    let picked = on_grid(100, |chance| {
        systematic(&weights, chance, repaired).contains(&0)
    });
    Ok(picked.iter().filter(|p| **p).count() as f64 / picked.len() as f64)
}
