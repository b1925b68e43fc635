//! One uniform a stratum.

use helmholtz_random::Draws;

use super::weights::Weights;
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// Slot i takes the first j with W_0 + … + W_j > (i + u_i) / M, u_i independent (Kitagawa, 1996). Uses M uniforms.
///
/// Given one slot's ancestor (M uniforms), the slots are turned at random. Then the position i + u_i of a slot is
/// uniform on [0, M), and no other slot's uniform depends on it. So the pinned position is uniform where its ancestor
/// lies, and the others are as before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stratified;

impl<C: Draws + ?Sized> Resampler<C> for Stratified {
    fn resample(
        &self,
        log_weights: &[f64],
        draws: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let mut cursor = Weights::new(log_weights)?.cursor(ancestors.len());
        for (i, ancestor) in ancestors.iter_mut().enumerate() {
            *ancestor = cursor.seek(i as f64, draws.uniform());
        }
        Ok(())
    }
}

impl<C: Draws + ?Sized> ConditionalResampler<C> for Stratified {
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
        let (stratum, _) = weights.position_of(ancestor, slots, draws.uniform());
        let mut cursor = weights.cursor(slots);
        for i in 0..slots {
            let to = (i + slots - stratum + slot) % slots;
            ancestors[to] = if i == stratum {
                ancestor
            } else {
                cursor.seek(i as f64, draws.uniform())
            };
        }
        Ok(())
    }
}
