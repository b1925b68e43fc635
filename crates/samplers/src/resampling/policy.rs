//! When to resample.

use crate::{SamplerError, effective_sample_size};

/// When to resample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Never: the weights multiply on (sequential importance sampling).
    Never,
    /// At every step.
    Always,
    /// When (Σ w)² / Σ w² is below this share of the number of particles, in (0, 1] (Liu and Chen, 1998); 1/2 is
    /// customary. The choice looks at the present weights only, so estimates of evidence stay unbiased.
    EssBelow(f64),
}

impl Policy {
    /// Whether weights with these logarithms (nats) should be resampled.
    ///
    /// Log-weights that are not finite count as zero weights. A share above 1 asks for resampling always, and NaN never.
    pub fn wants(self, log_weights: &[f64]) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::EssBelow(share) => {
                effective_sample_size(log_weights) < share * log_weights.len() as f64
            }
        }
    }

    /// # Errors
    /// [`SamplerError::RelativeEss`] for a share outside (0, 1].
    pub(crate) fn check(self) -> Result<Self, SamplerError> {
        match self {
            Self::EssBelow(value) if !(value > 0.0 && value <= 1.0) => {
                Err(SamplerError::RelativeEss { value })
            }
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_relative_and_does_not_see_scale() {
        for shift in [-1000.0, 0.0, 1000.0] {
            let two_of_four = [shift, shift, f64::NEG_INFINITY, f64::NEG_INFINITY];
            assert!(Policy::EssBelow(0.51).wants(&two_of_four));
            assert!(!Policy::EssBelow(0.5).wants(&two_of_four));
            assert!(!Policy::EssBelow(1.0).wants(&[shift; 4]));
            assert!(Policy::Always.wants(&[shift; 4]));
            assert!(!Policy::Never.wants(&two_of_four));
        }
    }

    #[test]
    fn a_share_that_is_none_is_refused() {
        for share in [0.0, -1.0, 1.01, f64::NAN] {
            assert!(Policy::EssBelow(share).check().is_err());
        }
        assert!(Policy::EssBelow(1.0).check().is_ok());
    }
}
