//! Negative controls: resampling as it is often written, and the certificates that fail on it.

use std::panic::catch_unwind;

use helmholtz_random::{Chance, Draws};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::Resampler;

use crate::check::answer;
use crate::law::*;

const NINF: f64 = f64::NEG_INFINITY;

/// The normalised weights.
fn normalise(log_weights: &[f64]) -> Vec<f64> {
    let max = log_weights.iter().copied().fold(NINF, f64::max);
    let total: f64 = log_weights.iter().map(|l| (l - max).exp()).sum();
    log_weights
        .iter()
        .map(|l| (l - max).exp() / total)
        .collect()
}

/// Systematic resampling that takes the first j with C_j ≥ position: at u = 0 that is particle 0, whatever its weight.
struct AtLeast;

impl<C: Draws> Resampler<C> for AtLeast {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let (u, slots) = (draws.uniform(), ancestors.len() as f64);
        let weights = normalise(log_weights);
        let (mut j, mut sum) = (0, weights[0]);
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            while sum < (i as f64 + u) / slots && j + 1 < weights.len() {
                j += 1;
                sum += weights[j];
            }
            *ancestor = j as u32;
        }
        Ok(())
    }
}

/// Systematic resampling whose last cumulative sum is not forced to 1.
struct SumAsItComes;

impl<C: Draws> Resampler<C> for SumAsItComes {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let (u, slots) = (draws.uniform(), ancestors.len() as f64);
        let sums: Vec<f64> = normalise(log_weights)
            .iter()
            .scan(0.0, |sum, w| {
                *sum += w;
                Some(*sum)
            })
            .collect();
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            *ancestor = sums.partition_point(|&c| c <= (i as f64 + u) / slots) as u32;
        }
        Ok(())
    }
}

/// Multinomial resampling in proportion to the *log*-weights, shifted to be above zero.
struct ProportionalToLogWeights;

impl<C: Chance> Resampler<C> for ProportionalToLogWeights {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let min = log_weights.iter().copied().fold(f64::INFINITY, f64::min);
        let wrong: Vec<f64> = log_weights.iter().map(|l| (l - min + 1.0).ln()).collect();
        for ancestor in ancestors {
            *ancestor = chance.choose(&wrong).expect("finite") as u32;
        }
        Ok(())
    }
}

/// Residual resampling that draws the remainder from the weights themselves.
struct RemainderFromTheWeights;

impl<C: Chance> Resampler<C> for RemainderFromTheWeights {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let slots = ancestors.len();
        let certain = normalise(log_weights)
            .into_iter()
            .enumerate()
            .flat_map(|(j, w)| std::iter::repeat_n(j, (w * slots as f64 + 1e-9) as usize));
        let drawn: Vec<usize> = certain.collect();
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            *ancestor = drawn
                .get(i)
                .copied()
                .or_else(|| chance.choose(log_weights))
                .expect("finite") as u32;
        }
        Ok(())
    }
}

/// The Srinivasan process with the rule for p + q < 1 also where p + q ≥ 1.
struct OneRuleForBoth;

impl<C: Chance> Resampler<C> for OneRuleForBoth {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let slots = ancestors.len();
        let mut drawn = Vec::new();
        let (mut open, mut p) = (0, 0.0);
        for (j, w) in (0..).zip(normalise(log_weights)) {
            let expected = w * slots as f64;
            drawn.extend(std::iter::repeat_n(j, expected as usize));
            let sum = p + expected.fract();
            let (winner, loser) = if chance.accept((p / sum).ln()) {
                (open, j)
            } else {
                (j, open)
            };
            if sum < 1.0 {
                (open, p) = (winner, sum);
            } else {
                drawn.push(winner);
                (open, p) = (loser, sum - 1.0);
            }
        }
        drawn.resize(slots, open);
        ancestors.copy_from_slice(&drawn);
        Ok(())
    }
}

/// Whether the check of ancestors passes at one uniform.
fn passes(
    scheme: impl Resampler<Uniforms> + std::panic::UnwindSafe,
    log_weights: &[f64],
    slots: usize,
    k: u64,
) -> bool {
    let log_weights = log_weights.to_vec();
    catch_unwind(move || {
        answer(
            &scheme,
            &log_weights,
            slots,
            &mut Uniforms::on_lattice(vec![k]),
        );
    })
    .is_ok()
}

#[test]
fn at_least_instead_of_more_than_picks_a_particle_of_weight_zero_at_uniform_zero() {
    let log_weights = [NINF, 0.0, 0.0];
    assert!(!passes(AtLeast, &log_weights, 3, 0));
    assert!(
        passes(AtLeast, &log_weights, 3, 1),
        "and only there: no mean shows it"
    );
    let law = law_of_steps(&AtLeast, &log_weights, 3);
    assert!(mean_error(&law, &[0.0, 1.0, 1.0], 3) < TOLERANCE);
}

#[test]
fn a_cumulative_sum_that_ends_below_one_runs_past_the_last_particle() {
    let tenths = [0.1f64.ln(); 10];
    assert!(!passes(SumAsItComes, &tenths, 10, (1 << 53) - 1));
    assert!(passes(SumAsItComes, &tenths, 10, 1 << 52));
    let ends_in_zero = [tenths.as_slice(), &[NINF]].concat();
    assert!(
        !passes(SumAsItComes, &ends_in_zero, 10, (1 << 53) - 1),
        "or picks a weight of zero"
    );
}

#[test]
fn resampling_in_proportion_to_log_weights_has_other_means() {
    let case = &CASES[1];
    let law = law_of_coins(&ProportionalToLogWeights, &case.log_weights(), case.slots);
    assert!(mean_error(&law, &case.weights(), case.slots) > 0.1);
}

#[test]
fn a_remainder_drawn_from_the_weights_has_other_means() {
    let case = &CASES[5];
    let law = law_of_coins(&RemainderFromTheWeights, &case.log_weights(), case.slots);
    assert!(mean_error(&law, &case.weights(), case.slots) > 0.1);
}

#[test]
fn the_srinivasan_process_with_one_rule_for_both_cases_has_other_means() {
    let case = &CASES[1];
    let law = law_of_coins(&OneRuleForBoth, &case.log_weights(), case.slots);
    assert!(mean_error(&law, &case.weights(), case.slots) > 0.01);
}
