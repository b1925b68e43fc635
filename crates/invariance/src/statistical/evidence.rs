//! Unbiasedness of an estimate of a normalising constant.

use helmholtz_random::Stream;

use crate::InvarianceError;
use crate::statistical::moments::Moments;
use crate::statistical::{Report, Share};

/// Whether an estimator of evidence is unbiased: E\[Ẑ\] = Z, tested on Ẑ / Z, for importance sampling, annealed
/// importance sampling and SMC.
///
/// The estimator gives ln Ẑ, and that is never averaged: ln Ẑ is biased downwards for every correct estimator (Jensen's
/// inequality). A ln Ẑ of -inf is an estimate of zero, as when every particle died. The test is the z-test of
/// [`Unbiased`](crate::Unbiased), with its precautions against skewness, which is large for Ẑ / Z. For a test make the
/// proposals good or the particles many, so that the variance of Ẑ / Z is around one or less, and *know why it is
/// finite*. If the randomness is discrete, [`expectation`](crate::expectation) is exact.
///
/// Correct at one place is not correct at all: SMC has an estimate after every step. Test each.
///
/// ```
/// use helmholtz_invariance::{Evidence, Suite};
/// use helmholtz_invariance::random::Draws;
///
/// let suite = Suite::new(7, 1);
/// // Z = ∫ exp(-x²/2) dx = √(2π) from eight draws of q = N(0, 1.5²).
/// let ln_z = 0.5 * (2.0 * std::f64::consts::PI).ln();
/// Evidence::new(ln_z).test(|rng| {
///     let weights = (0..8).map(|_| {
///         let x = 1.5 * rng.normal();
///         let ln_q = -0.5 * (x / 1.5).powi(2) - 1.5f64.ln() - ln_z;
///         (-0.5 * x * x - ln_q).exp()
///     });
///     (weights.sum::<f64>() / 8.0).ln()
/// }, suite.share("importance sampling")?)?.assert_passed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    ln_z: f64,
    samples: usize,
}

impl Evidence {
    /// A test against the exact ln Z (nats), with 10,000 runs.
    pub fn new(ln_z: f64) -> Self {
        Self {
            ln_z,
            samples: 10_000,
        }
    }

    /// With this many runs.
    pub fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// Runs `ln_z_hat`, which gives one ln Ẑ, and spends the share. The bias it sees is that of Ẑ / Z.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`] on a NaN or +inf, [`InvarianceError::TooFewSamples`].
    pub fn test(
        &self,
        mut ln_z_hat: impl FnMut(&mut Stream) -> f64,
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let mut moments = Moments::default();
        for sample in 0..self.samples {
            let ratio = (ln_z_hat(&mut share.stream(0, sample)) - self.ln_z).exp();
            if !ratio.is_finite() {
                return Err(InvarianceError::NotFinite {
                    test: share.name().to_owned(),
                    what: "Ẑ / Z".to_owned(),
                    sample,
                    value: ratio,
                });
            }
            moments.push(ratio);
        }
        Ok(Report {
            name: share.name().to_owned(),
            comparisons: vec![moments.z_test("Ẑ / Z", 1.0, share.name(), share.rate())?],
            ranks: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;

    static SUITE: Suite = Suite::new(5, 3);

    #[test]
    fn an_estimate_of_zero_counts_and_its_logarithm_is_not_averaged() {
        // Ẑ is 0 or 2, each half of the time.
        Evidence::new(0.0)
            .test(
                |rng| (2.0 * f64::from(rng.below(2))).ln(),
                SUITE.share("zero or two").unwrap(),
            )
            .unwrap()
            .assert_passed();
        Evidence::new(0.0)
            .test(
                |rng| (1.8 * f64::from(rng.below(2))).ln(),
                SUITE.share("too small").unwrap(),
            )
            .unwrap()
            .assert_failed();
    }

    #[test]
    fn nan_is_refused() {
        assert!(matches!(
            Evidence::new(0.0).test(|_| f64::NAN, SUITE.share("nan").unwrap()),
            Err(InvarianceError::NotFinite { sample: 0, .. })
        ));
    }
}
