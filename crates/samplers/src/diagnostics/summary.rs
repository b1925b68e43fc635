//! All diagnostics of a quantity at once.

use super::autocovariance::mean;
use super::chains::{Halves, variance};
use super::{ess, r_hat};
use crate::SamplerError;

/// What chains say about one real quantity, and how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean of all draws.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// See [`monte_carlo_error`](super::monte_carlo_error()).
    pub monte_carlo_error: f64,
    /// See [`bulk_ess`](super::bulk_ess()).
    pub bulk_ess: f64,
    /// See [`tail_ess`](super::tail_ess()).
    pub tail_ess: f64,
    /// See [`r_hat`](super::r_hat()).
    pub r_hat: f64,
}

/// The [`Summary`] of one quantity, one slice of draws a chain. Mean and standard deviation are those of all
/// draws; the other numbers compare halves of chains, between which an odd draw in the middle is left out.
///
/// # Errors
/// See the [module](super).
pub fn summary(chains: &[impl AsRef<[f64]>]) -> Result<Summary, SamplerError> {
    let halves = Halves::new(chains)?;
    let draws = halves.all();
    Ok(Summary {
        mean: halves.origin + halves.scale * mean(&draws),
        sd: halves.scale * variance(&draws).sqrt(),
        monte_carlo_error: ess::error_of_mean(&halves),
        bulk_ess: ess::bulk(&halves),
        tail_ess: ess::tail(&halves)?,
        r_hat: r_hat::rank_normalised(&halves),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_deviation_are_those_of_the_draws() {
        let summary = summary(&[[3.0, 5.0, 4.0, 8.0]]).unwrap();
        assert!((summary.mean - 5.0).abs() < 1e-14);
        assert!((summary.sd - (14f64 / 3.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn an_odd_draw_in_the_middle_counts_in_mean_and_standard_deviation() {
        let summary = summary(&[[3.0, 5.0, 100.0, 4.0, 8.0]]).unwrap();
        assert!((summary.mean - 24.0).abs() < 1e-13);
        assert!((summary.sd - 1808.5f64.sqrt()).abs() < 1e-12);
    }
}
