//! The Srinivasan sampling process.

use helmholtz_random::Chance;

use super::Resampler;
use super::weights::Weights;
use crate::SamplerError;

/// ⌊M W_j⌋ copies of j for certain, and its fraction M W_j - ⌊M W_j⌋ rounded to 0 or 1, pair by pair (Srinivasan, 2001;
/// as a resampling scheme Gerber, Chopin and Whiteley, 2019).
///
/// Of two particles with fractions p and q, one coin settles one, and the other goes on to meet the next:
///
/// * p + q < 1: one is rounded down and the other keeps p + q, the first with probability p / (p + q);
/// * p + q ≥ 1: one is rounded up and the other keeps p + q - 1, the first is up with probability (1 - q) / (2 - p - q).
///
/// Both keep the means. The fractions sum to a whole number, so the last particle ends with 0 or 1. Fewer than N coins;
/// the copies are negatively associated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ssp;

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
        // The particle that is not settled yet, and its fraction.
        let (mut open, mut p) = (weights.largest(), 0.0);
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
                if !chance.accept((p / sum).ln()) {
                    open = j;
                }
                p = sum;
            } else {
                if chance.accept(((1.0 - q) / (2.0 - sum)).ln()) {
                    write(open, 1);
                    open = j;
                } else {
                    write(j, 1);
                }
                p = sum - 1.0;
            }
        }
        // Nothing is left, or one slot: for the open particle, whose fraction is 1 but for rounding.
        write(open, slots);
        Ok(())
    }
}
