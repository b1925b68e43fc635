//! Negative controls: the certificates fail on kernels that are almost right.

use helmholtz_random::Chance;
use helmholtz_samplers::{IndexKernel, Info, Mtmis, log_sum_exp};

use crate::exact::*;

/// MTMIS whose denominator takes the first trial out in place of the chosen one.
struct TakesTheWrongTrialOut;

impl IndexKernel for TakesTheWrongTrialOut {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let backward = proposals[1..].iter().copied().chain([current]);
        let log_ratio = log_sum_exp(proposals.iter().copied()) - log_sum_exp(backward);
        let accepted = chance
            .choose(proposals)
            .filter(|_| chance.accept(log_ratio));
        *visits = vec![accepted.map_or(0, |j| j as u32 + 1)];
        Info::default()
    }
}

/// MTMIS whose denominator leaves the chosen trial in: W / (W + ω(current)).
struct LeavesTheTrialIn;

impl IndexKernel for LeavesTheTrialIn {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let all = proposals.iter().copied();
        let log_ratio = log_sum_exp(all.clone()) - log_sum_exp(all.chain([current]));
        let accepted = chance
            .choose(proposals)
            .filter(|_| chance.accept(log_ratio));
        *visits = vec![accepted.map_or(0, |j| j as u32 + 1)];
        Info::default()
    }
}

/// Importance resampling without an accept test: the chosen trial is always taken.
struct AlwaysAccepts;

impl IndexKernel for AlwaysAccepts {
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

/// A Metropolis test with the ratio upside down.
struct PrefersTheWorse;

impl IndexKernel for PrefersTheWorse {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        *visits = vec![u32::from(chance.accept(current - proposals[0]))];
        Info::default()
    }
}

#[test]
fn mtmis_with_a_wrong_denominator_is_not_invariant() {
    for problem in Problem::several() {
        for k in 2..=3 {
            assert!(
                invariance_error(&problem.p, &problem.transition(&TakesTheWrongTrialOut, k)) > 1e-4
            );
        }
    }
}

/// No defect of this kind is caught by invariance: choosing J by ω_J / W and accepting by W / (W + ω) is resampling
/// from the trials and the current state, conditional importance sampling. It is only the slower kernel (M4).
#[test]
fn mtmis_that_leaves_the_trial_in_is_conditional_importance_sampling_and_moves_less() {
    for problem in Problem::several() {
        for k in 1..=3 {
            let (left_in, mtmis) = (
                problem.transition(&LeavesTheTrialIn, k),
                problem.transition(&Mtmis, k),
            );
            assert!(invariance_error(&problem.p, &left_in) < TOLERANCE);
            for (x, (slower, faster)) in left_in.iter().zip(&mtmis).enumerate() {
                assert!(
                    (0..problem.states()).all(|y| y == x || slower[y] < faster[y]),
                    "Peskun's order, K = {k}"
                );
            }
        }
    }
}

#[test]
fn resampling_without_an_accept_test_is_not_invariant() {
    for problem in Problem::several() {
        for k in 1..=3 {
            assert!(invariance_error(&problem.p, &problem.transition(&AlwaysAccepts, k)) > 1e-4);
        }
    }
}

#[test]
fn a_ratio_upside_down_is_not_invariant() {
    for problem in Problem::several() {
        assert!(invariance_error(&problem.p, &problem.transition(&PrefersTheWorse, 1)) > 1e-4);
    }
}
