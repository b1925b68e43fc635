//! What is certain first, then draws for the rest.

use helmholtz_random::Draws;

use super::Resampler;
use super::sorted_uniforms::SortedUniforms;
use super::weights::{Cursor, Weights};
use crate::SamplerError;

/// ⌊M W_j⌋ copies of j for certain, and the remaining R = M - Σ⌊M W_j⌋ by independent draws with probabilities
/// proportional to M W_j - ⌊M W_j⌋ (Liu and Chen, 1998). Uses R uniforms.
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
