//! What is certain first, then draws for the rest.

use helmholtz_random::{Chance, Draws};

use super::sorted_uniforms::SortedUniforms;
use super::turned::turn;
use super::weights::{Cursor, Weights};
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// ⌊M W_j⌋ copies of j for certain, and the remaining R = M - Σ⌊M W_j⌋ by independent draws with probabilities
/// proportional to M W_j - ⌊M W_j⌋ (Liu and Chen, 1998). Uses R uniforms.
///
/// Given one slot's ancestor j, that copy is one of the certain ones with probability ⌊M W_j⌋ / (M W_j), and else one
/// of the R draws. The other draws are as before, and the slots are shuffled. Uses R weighted choices at most, O(N R).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residual;

impl<C: Draws + ?Sized> Resampler<C> for Residual {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        let slots = ancestors.len();
        let (mut filled, mut total, mut last) = (0, 0.0, None);
        for j in 0..weights.len() {
            let (certain, rest) = weights.copies(j, slots);
            let end = slots.min(filled + certain);
            ancestors[filled..end].fill(j as u32);
            filled = end;
            total += rest;
            if rest > 0.0 {
                last = Some(j);
            }
        }
        let open = &mut ancestors[filled..];
        let Some(last) = last else {
            // All is certain. Were rounding ever to leave a slot, the heaviest particle can be in it.
            open.fill(weights.largest());
            return Ok(());
        };
        let mut sorted = SortedUniforms::new(open.len());
        let mut cursor = Cursor::new(|j| weights.copies(j, slots).1, last, total, 1);
        for ancestor in open {
            *ancestor = cursor.seek(0.0, sorted.next(draws));
        }
        Ok(())
    }
}

impl<C: Chance + ?Sized> ConditionalResampler<C> for Residual {
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
        let (certain, rest) = weights.copies(ancestor as usize, slots);
        let n = certain as f64;
        let of_certain = chance.accept((n / (n + rest)).ln());
        ancestors[0] = ancestor;
        let mut filled = 1;
        for j in 0..weights.len() {
            let (mut copies, _) = weights.copies(j, slots);
            if of_certain && j == ancestor as usize {
                copies -= 1;
            }
            let end = slots.min(filled + copies);
            ancestors[filled..end].fill(j as u32);
            filled = end;
        }
        let log_rests: Vec<f64> = (0..weights.len())
            .map(|j| weights.copies(j, slots).1.ln())
            .collect();
        for open in &mut ancestors[filled..] {
            *open = chance
                .choose(&log_rests)
                .map_or(weights.largest(), |j| j as u32);
        }
        turn(ancestors, slot, chance);
        Ok(())
    }
}
