//! All diagnostics of a quantity at once.

use super::autocovariance::mean;
use super::chains::{Halves, variance};
use super::{bulk_ess, monte_carlo_error, r_hat, tail_ess};
use crate::SamplerError;

/// What chains say about one real quantity, and how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean of all draws.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// See [`monte_carlo_error`].
    pub monte_carlo_error: f64,
    /// See [`bulk_ess`].
    pub bulk_ess: f64,
    /// See [`tail_ess`].
    pub tail_ess: f64,
    /// See [`r_hat`].
    pub r_hat: f64,
}

/// The [`Summary`] of one quantity, one slice of draws a chain. An odd draw in the middle of a chain is left out.
///
/// # Errors
/// See the [module](super).
pub fn summary(chains: &[impl AsRef<[f64]>]) -> Result<Summary, SamplerError> {
    let halves = Halves::new(chains)?;
    let draws = halves.chains.concat();
    Ok(Summary {
        mean: halves.origin + halves.scale * mean(&draws),
        sd: halves.scale * variance(&draws).sqrt(),
        monte_carlo_error: monte_carlo_error(chains)?,
        bulk_ess: bulk_ess(chains)?,
        tail_ess: tail_ess(chains)?,
        r_hat: r_hat(chains)?,
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
}
