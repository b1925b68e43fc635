//! Tests that look several times.

use crate::InvarianceError;
use crate::statistical::{Report, Share};

/// Runs a test with n, 2 n, 4 n, ... samples, in `looks` looks, and ends at the first that fails. A gross defect costs
/// few samples, and a small one still gets the most. The report is that of the last look made.
///
/// Each look has an equal part of the share, and random numbers of its own. So the probability that any of them fails
/// though all is right is at most the share's rate, whatever the dependence between the looks (Bonferroni). To look on
/// until a test fails, each time at the full rate, would be certain to fail in the end. A look that has too few samples
/// for its test is passed over, and its part of the rate is not spent; so the last look must have enough.
///
/// ```
/// use helmholtz_invariance::{OneStep, Suite, sequential, step_fn};
/// use helmholtz_invariance::random::{Draws, Stream};
///
/// let suite = Suite::new(7, 1);
/// let too_narrow = step_fn(|x: &mut f64, rng: &mut Stream| *x = 0.6 * *x + 0.5 * rng.normal());
/// let report = sequential(suite.share("autoregression")?, 250, 8, |samples, share| {
///     OneStep::new(|rng| rng.normal(), |x| vec![*x])
///         .samples(samples)
///         .marginals(&too_narrow, share)
/// })?;
/// report.assert_failed();
/// assert!(report.comparisons[0].samples < 8000); // of at most 32,000
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
///
/// # Errors
/// Those of `test`, but for [`InvarianceError::TooFewSamples`] before the last look; that too without looks.
pub fn sequential(
    share: Share,
    samples: usize,
    looks: usize,
    mut test: impl FnMut(usize, Share) -> Result<Report, InvarianceError>,
) -> Result<Report, InvarianceError> {
    let name = share.name().to_owned();
    let mut last = Err(InvarianceError::TooFewSamples {
        test: name,
        found: 0,
        needed: samples,
        why: "there is no look",
    });
    for (look, share) in share.split(looks).into_iter().enumerate() {
        last = test(samples.saturating_mul(1usize << look.min(40)), share);
        match &last {
            Ok(report) if report.passed() => {}
            Err(InvarianceError::TooFewSamples { .. }) => {}
            _ => return last,
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Draws;

    use super::*;
    use crate::{Suite, ks_one_sample};

    /// Uniforms to a power, looked at by Kolmogorov's test; the samples of each look.
    fn looks(power: f64, rate: f64, seed: u64) -> (Result<Report, InvarianceError>, Vec<usize>) {
        let share = Suite::with_rate(rate, seed, 1).share("looks").unwrap();
        let mut seen = Vec::new();
        let report = sequential(share, 100, 5, |samples, share| {
            seen.push(samples);
            let mut rng = share.stream(0, 0);
            let draws: Vec<f64> = (0..samples).map(|_| rng.uniform().powf(power)).collect();
            ks_one_sample(&draws, |x| x.clamp(0.0, 1.0), share)
        });
        (report, seen)
    }

    #[test]
    fn a_gross_defect_ends_the_test_early_and_a_right_one_is_looked_at_to_the_end() {
        let (report, seen) = looks(3.0, 1e-6, 1);
        assert!(!report.unwrap().passed() && seen == [100]);
        let (report, seen) = looks(1.0, 1e-6, 1);
        let report = report.unwrap();
        assert!(report.passed() && seen == [100, 200, 400, 800, 1600]);
        assert_eq!(
            (report.comparisons[0].samples, report.name.as_str()),
            (1600, "looks/4")
        );
        assert!((report.comparisons[0].false_alarm - 1e-6 / 5.0).abs() < 1e-18);
    }

    /// At most 0.2 + 5 sd of 300 right tests fail in one of their five looks.
    #[test]
    fn all_looks_together_keep_the_rate() {
        let failed = (0..300)
            .filter(|&seed| !looks(1.0, 0.2, seed).0.unwrap().passed())
            .count();
        assert!(failed <= 94, "{failed}");
    }

    #[test]
    fn looks_with_too_few_samples_are_passed_over_but_not_the_last() {
        let too_few = |from: usize| {
            let share = Suite::new(1, 1).share("few").unwrap();
            sequential(share, 10, 3, |samples, share| match samples < from {
                true => Err(InvarianceError::TooFewSamples {
                    test: "few".to_owned(),
                    found: samples,
                    needed: from,
                    why: "of a test",
                }),
                false => {
                    let even: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
                    ks_one_sample(&even, |x| x, share)
                }
            })
        };
        assert!(too_few(40).unwrap().passed());
        assert!(matches!(
            too_few(41),
            Err(InvarianceError::TooFewSamples { needed: 41, .. })
        ));
        let share = Suite::new(1, 1).share("none").unwrap();
        assert!(sequential(share, 10, 0, |_, _| unreachable!()).is_err());
    }
}
