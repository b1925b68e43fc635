//! Independent draws, for proofs.

use helmholtz_random::Chance;

use super::weights::Weights;
use super::{ConditionalResampler, Resampler};
use crate::SamplerError;

/// M independent choices among the weights, one after the other: [`Multinomial`](super::Multinomial) as it is defined.
///
/// The draws come in no order, so every slot has ancestor j with probability W_j. O(N M): this is the reference, which
/// an [`Enumerator`](crate::random::Enumerator) can walk through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MultinomialByChoice;

impl<C: Chance + ?Sized> Resampler<C> for MultinomialByChoice {
    fn resample(
        &self,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        let weights = Weights::new(log_weights)?;
        for ancestor in ancestors {
            *ancestor = chance
                .choose(log_weights)
                .map_or(weights.largest(), |j| j as u32);
        }
        Ok(())
    }
}

impl<C: Chance + ?Sized> ConditionalResampler<C> for MultinomialByChoice {
    /// The other slots do not depend on the pinned one.
    fn resample_given(
        &self,
        slot: usize,
        ancestor: u32,
        log_weights: &[f64],
        chance: &mut C,
        ancestors: &mut [u32],
    ) -> Result<(), SamplerError> {
        Weights::new(log_weights)?.check_pinned(slot, ancestors.len(), ancestor)?;
        self.resample(log_weights, chance, ancestors)?;
        ancestors[slot] = ancestor;
        Ok(())
    }
}
