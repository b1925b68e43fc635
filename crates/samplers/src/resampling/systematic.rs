//! One uniform for all.

use helmholtz_random::Draws;

use super::weights::Weights;
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// Slot i takes the first j with W_0 + … + W_j > (i + u) / M, the same u for all (Carpenter, Clifford and Fearnhead,
/// 1999). Uses one uniform; particle j gets ⌊M W_j⌋ or ⌈M W_j⌉ copies, and equal weights with M = N leave each
/// particle one copy, in its own slot.
///
/// Given one slot's ancestor (one uniform), the slots are turned at random. Then the position i + u of the pinned slot
/// is uniform where its ancestor lies, and determines all others. (Chopin and Singh, 2015, who draw u and then the
/// rotation.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Systematic;

impl<C: Draws + ?Sized> Resampler<C> for Systematic {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let mut cursor = Weights::new(log_weights)?.cursor(ancestors.len());
        let u = draws.uniform();
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            *ancestor = cursor.seek(i as f64, u);
        }
        Ok(())
    }
}

impl<C: Draws + ?Sized> ConditionalResampler<C> for Systematic {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        let slots = ancestors.len();
        weights.check_pinned(slot, slots, ancestor)?;
        let (stratum, u) = weights.position_of(ancestor, slots, draws.uniform());
        let mut cursor = weights.cursor(slots);
        for i in 0..slots {
            ancestors[(i + slots - stratum + slot) % slots] = cursor.seek(i as f64, u);
        }
        // The cursor says so too, but for rounding at the very ends.
        ancestors[slot] = ancestor;
        Ok(())
    }
}
