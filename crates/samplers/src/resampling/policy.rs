//! When to resample.

use crate::{SamplerError, effective_sample_size};
use std::fmt;
use std::sync::Arc;

/// When to resample.
#[derive(Clone)]
pub enum Policy {
    /// Never: the weights multiply on (sequential importance sampling).
    Never,
    /// At every step.
    Always,
    /// When (Σ w)² / Σ w² is below this share of the number of particles, in (0, 1] (Liu and Chen, 1998); 1/2 is
    /// customary. The choice looks at the present weights only, so estimates of evidence stay unbiased.
    EssBelow(f64),
    /// When this says so of the logarithms of the weights (nats); made by [`Policy::when`].
    When(Rule),
}

/// A rule of one's own: whether weights with these logarithms (nats) should be resampled.
pub type Rule = Arc<dyn Fn(&[f64]) -> bool + Send + Sync>;

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("Never"),
            Self::Always => f.write_str("Always"),
            Self::EssBelow(share) => f.debug_tuple("EssBelow").field(share).finish(),
            Self::When(_) => f.write_str("When(..)"),
        }
    }
}

impl PartialEq for Policy {
    /// Rules of one's own are equal where one is a clone of the other.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Never, Self::Never) | (Self::Always, Self::Always) => true,
            (Self::EssBelow(share), Self::EssBelow(other)) => share == other,
            (Self::When(rule), Self::When(other)) => Arc::ptr_eq(rule, other),
            _ => false,
        }
    }
}

impl Policy {
    /// A rule of one's own, which may keep numbers of its own: a threshold, say. It must look at the weights alone, or
    /// estimates of evidence are no longer unbiased.
    pub fn when(rule: impl Fn(&[f64]) -> bool + Send + Sync + 'static) -> Self {
        Self::When(Arc::new(rule))
    }

    /// Whether weights with these logarithms (nats) should be resampled.
    ///
    /// Log-weights that are not finite count as zero weights. A share above 1 asks for resampling always, and NaN never.
    pub fn wants(&self, log_weights: &[f64]) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::EssBelow(share) => {
                effective_sample_size(log_weights) < *share * log_weights.len() as f64
            }
            Self::When(rule) => rule(log_weights),
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
    fn a_rule_of_ones_own_decides() {
        for limit in [2.0, 3.0] {
            let uneven = move |log_weights: &[f64]| {
                let (first, rest) = log_weights.split_first().expect("a weight");
                rest.iter().any(|l| (l - first).abs() > limit)
            };
            let policy = Policy::when(uneven);
            assert_eq!(policy.wants(&[0.0, 1.0, -2.5]), limit == 2.0);
            assert!(!policy.wants(&[0.0, 1.0, -1.5]));
            assert_eq!(policy, policy.clone());
            assert_ne!(policy, Policy::when(uneven));
            assert_ne!(policy, Policy::Never);
            assert_eq!(format!("{policy:?}"), "When(..)");
        }
        assert_eq!(Policy::EssBelow(0.5), Policy::EssBelow(0.5));
        assert_ne!(Policy::EssBelow(0.5), Policy::Always);
        assert_eq!(format!("{:?}", Policy::EssBelow(0.5)), "EssBelow(0.5)");
    }

    #[test]
    fn a_share_that_is_none_is_refused() {
        for share in [0.0, -1.0, 1.01, f64::NAN] {
            assert!(Policy::EssBelow(share).check().is_err());
        }
        assert!(Policy::EssBelow(1.0).check().is_ok());
    }
}
