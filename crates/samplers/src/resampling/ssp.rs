//! The Srinivasan sampling process.

use helmholtz_random::Chance;

use super::turned::turn;
use super::weights::Weights;
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// ⌊M W_j⌋ copies of j for certain, and its fraction M W_j - ⌊M W_j⌋ rounded to 0 or 1, pair by pair. (Srinivasan,
/// 2001; as a resampling scheme Gerber, Chopin and Whiteley, 2019.)
///
/// Of two particles with fractions p and q, one coin settles one, and the other goes on to meet the next:
///
/// * p + q < 1: one is rounded down and the other keeps p + q, the first with probability p / (p + q);
/// * p + q ≥ 1: one is rounded up and the other keeps p + q - 1, the first is up with probability (1 - q) / (2 - p - q).
///
/// Both keep the means. The fractions sum to a whole number, so the last particle ends with 0 or 1. Fewer than N coins;
/// the copies are negatively associated.
///
/// Given one slot's ancestor j, the counts are drawn with probability proportional to #j times their own. With
/// n = ⌊M W_j⌋ and φ the fraction, j is rounded up with probability φ (n + 1) / (n + φ). The coins that settle j are
/// turned to what they are given its end (Doob's transform: the chance that a particle with fraction p ends up is p).
/// Then the slots are shuffled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ssp;

/// The end of one particle that is known: which, and whether it is rounded up.
type Known = Option<(u32, bool)>;

/// How much likelier it is that particle `j` with fraction `p` has its known end than it was before.
fn support(known: Known, j: u32, p: f64) -> f64 {
    match known {
        Some((k, true)) if k == j => p,
        Some((k, false)) if k == j => 1.0 - p,
        _ => 1.0,
    }
}

/// Writes the copies of all particles; whether `known` is rounded up is given.
fn settle(
    weights: Weights<'_>,
    slots: usize,
    known: Known,
    chance: &mut (impl Chance + ?Sized),
    write: &mut impl FnMut(u32, usize),
) {
    // The particle that is not settled yet, and its fraction.
    let (mut open, mut p) = (weights.largest(), 0.0);
    // ln of the probability of the first of two outcomes, with probabilities a and b before their support is known.
    let log_first = |[a, b]: [f64; 2], first: f64, second: f64| -> f64 {
        (a * first / (a * first + b * second)).ln()
    };
    for j in 0..weights.len() {
        let (certain, q) = weights.copies(j, slots);
        let j = j as u32;
        write(j, certain);
        if q == 0.0 {
            continue;
        }
        let sum = p + q;
        if p == 0.0 {
            (open, p) = (j, q);
        } else if sum < 1.0 {
            // The first keeps the sum and the second is down, or the other way round.
            let keeps = support(known, open, sum) * support(known, j, 0.0);
            let gives = support(known, open, 0.0) * support(known, j, sum);
            if !chance.accept(log_first([p / sum, q / sum], keeps, gives)) {
                open = j;
            }
            p = sum;
        } else {
            let rest = sum - 1.0;
            let up = support(known, open, 1.0) * support(known, j, rest);
            let stays = support(known, open, rest) * support(known, j, 1.0);
            let shares = [(1.0 - q) / (2.0 - sum), (1.0 - p) / (2.0 - sum)];
            if chance.accept(log_first(shares, up, stays)) {
                write(open, 1);
                open = j;
            } else {
                write(j, 1);
            }
            p = rest;
        }
    }
    // Nothing is left, or one slot: for the open particle, whose fraction is 1 but for rounding.
    write(open, slots);
}

impl<C: Chance + ?Sized> Resampler<C> for Ssp {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        let slots = ancestors.len();
        let mut filled = 0;
        let mut write = |ancestor: u32, copies: usize| {
            let end = slots.min(filled + copies);
            ancestors[filled..end].fill(ancestor);
            filled = end;
        };
        settle(weights, slots, None, chance, &mut write);
        Ok(())
    }
}

impl<C: Chance + ?Sized> ConditionalResampler<C> for Ssp {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        let slots = ancestors.len();
        weights.check_pinned(slot, slots, ancestor)?;
        let (certain, fraction) = weights.copies(ancestor as usize, slots);
        let n = certain as f64;
        let up = chance.accept((fraction * (n + 1.0) / (n + fraction)).ln());
        // The pinned copy is the first; one of the same particle, of which there is one or more, is not written again.
        ancestors[0] = ancestor;
        let (mut filled, mut pinned) = (1, true);
        let mut write = |j: u32, copies: usize| {
            let taken = usize::from(pinned && j == ancestor && copies > 0);
            pinned &= taken == 0;
            let end = slots.min(filled + copies - taken);
            ancestors[filled..end].fill(j);
            filled = end;
        };
        let known = (fraction > 0.0).then_some((ancestor, up));
        settle(weights, slots, known, chance, &mut write);
        turn(ancestors, slot, chance);
        Ok(())
    }
}
