//! Independent draws.

use helmholtz_random::Draws;

use super::sorted_uniforms::SortedUniforms;
use super::weights::Weights;
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// M independent draws from the weights, in ascending order (Gordon, Salmond and Smith, 1993).
///
/// Sorted uniforms are made one after the other (Bentley and Saxe, 1980) and meet the cumulative sums in one walk. The
/// cost is O(N + M), where a binary search for each draw would be O(M log N). Uses M uniforms.
///
/// Given one slot's ancestor, the other draws are independent as before; they are shuffled, as their order has a
/// meaning there (2 M - 3 uniforms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multinomial;

/// Fills the slots with ascending independent draws.
fn fill(weights: Weights<'_>, draws: &mut (impl Draws + ?Sized), ancestors: &mut [u32]) {
    let mut sorted = SortedUniforms::new(ancestors.len());
    let mut cursor = weights.cursor(1);
    for ancestor in ancestors {
        *ancestor = cursor.seek(0.0, sorted.next(draws));
    }
}

impl<C: Draws + ?Sized> Resampler<C> for Multinomial {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        fill(Weights::new(log_weights)?, draws, ancestors);
        Ok(())
    }
}

impl<C: Draws + ?Sized> ConditionalResampler<C> for Multinomial {
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        weights.check_pinned(slot, ancestors.len(), ancestor)?;
        let (pinned, others) = ancestors
            .split_first_mut()
            .expect("the slot exists, so there is one");
        fill(weights, draws, others);
        // Durstenfeld's shuffle (1964).
        for end in (1..others.len()).rev() {
            let pick = (draws.uniform() * (end + 1) as f64) as usize;
            others.swap(end, pick);
        }
        *pinned = ancestor;
        ancestors.swap(0, slot);
        Ok(())
    }
}
