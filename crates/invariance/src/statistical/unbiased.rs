//! The mean of an estimator against its exact value.

use helmholtz_random::Stream;

use crate::InvarianceError;
use crate::special::{chi_square_quantile, normal_quantile};
use crate::statistical::moments::Moments;
use crate::statistical::{Comparison, POWER, Report, Share};

/// Whether a vector-valued estimator is unbiased: E\[f\] = the exact value, coordinate by coordinate.
///
/// `z_i` = (mean_i - exact_i) / (sd_i / √n) over n independent draws. A coordinate fails if |z_i| reaches the two-sided
/// normal quantile for its part of the false-alarm rate (Bonferroni). Draws that are all one value must equal the exact
/// one to 1e-12.
///
/// **At finite n** the z-test rests on the central limit theorem, and in the far tail that is the weak spot. The ratio
/// of the true tail of a studentised mean to the normal one is about exp(-γ z³ / (3 √n)). Here γ is the skewness of the
/// draws (Jing, Shao and Wang, 2003; Wang, 2005). So n < 1000 is refused. The threshold is widened until the normal
/// tail times exp(|γ| z³ / (3 √n)) is the rate, with the skewness of the sample. An n for which that has no solution is
/// refused with the n that would do. What remains unprotected are tails so rare that no draw has met them, an infinite
/// variance above all: know a reason why it is finite. Two tests are exact instead:
/// * [`bounded`](Self::bounded), for estimators between known bounds;
/// * [`expectation`](crate::expectation), for those with discrete randomness: enumerate, and compare to 1e-12.
///
/// It sees a bias of (threshold + normal quantile of the power) · sd / √n.
///
/// ```
/// use helmholtz_invariance::{Suite, Unbiased};
/// use helmholtz_invariance::random::Draws;
///
/// let suite = Suite::new(7, 2);
/// // A normal's first two moments, and a variance with the wrong divisor as a negative control.
/// let moments = Unbiased::new(&[0.0, 1.0]);
/// moments.test(|rng, out| {
///     let x = rng.normal();
///     out.copy_from_slice(&[x, x * x]);
/// }, suite.share("moments")?)?.assert_passed();
///
/// let biased = Unbiased::new(&[1.0]).samples(20_000).test(|rng, out| {
///     let (x, y) = (rng.normal(), rng.normal());
///     out[0] = ((x - y) / 2.0).powi(2); // sample variance with divisor n
/// }, suite.share("divisor n")?)?;
/// biased.assert_failed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Unbiased {
    exact: Vec<f64>,
    samples: usize,
    bounds: Option<(f64, f64)>,
    independent: bool,
}

impl Unbiased {
    /// A test against these exact values, with 10,000 draws.
    pub fn new(exact: &[f64]) -> Self {
        Self {
            exact: exact.to_vec(),
            samples: 10_000,
            bounds: None,
            independent: false,
        }
    }

    /// With this many draws.
    pub fn samples(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// For an estimator whose coordinates all lie in [`low`, `high`]: the test then is exact at every n. The
    /// deviation |mean - exact| must stay below √(2 V ln(4/α) / n) + 7 (high - low) ln(4/α) / (3 (n - 1)). Here V is
    /// the sample's variance. (The empirical Bernstein inequality of Maurer and Pontil, 2009, on both sides.)
    pub fn bounded(self, low: f64, high: f64) -> Self {
        Self {
            bounds: Some((low, high)),
            ..self
        }
    }

    /// For an estimator whose coordinates are independent of each other: half of the rate goes to Σ z_i², which is χ²
    /// and sees a small bias of many coordinates together. It has no correction for skewness, so let n be large against
    /// the square of it. It sees a vector bias / sd of length (√threshold + normal quantile of the power) / √n.
    pub fn independent_coordinates(self) -> Self {
        Self {
            independent: true,
            ..self
        }
    }

    /// Draws from `estimate`, which is given zeros to write one estimate to, and spends the share.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`] on an estimate that is not; [`InvarianceError::OutOfBounds`] on one that breaks
    /// the bounds claimed; [`InvarianceError::TooFewSamples`].
    pub fn test(
        &self,
        mut estimate: impl FnMut(&mut Stream, &mut [f64]),
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let test = share.name();
        let mut moments = vec![Moments::default(); self.exact.len()];
        let mut draw = vec![0.0; self.exact.len()];
        for sample in 0..self.samples {
            draw.fill(0.0);
            estimate(&mut share.stream(0, sample), &mut draw);
            for (i, (moments, &value)) in moments.iter_mut().zip(&draw).enumerate() {
                check(value, self.bounds, i, sample, test)?;
                moments.push(value);
            }
        }
        let tails = if self.independent { 0.5 } else { 1.0 };
        let rate = tails * share.rate();
        let each = rate / self.exact.len() as f64;
        let mut comparisons = Vec::with_capacity(self.exact.len() + 1);
        for (i, (moments, &exact)) in moments.iter().zip(&self.exact).enumerate() {
            let name = name(i);
            comparisons.push(match self.bounds {
                Some((low, high)) => {
                    moments.bernstein_test(&name, exact, high - low, test, each)?
                }
                None => moments.z_test(&name, exact, test, each)?,
            });
        }
        if self.independent {
            let degrees = self.exact.len() as f64;
            let threshold = chi_square_quantile(rate, degrees);
            comparisons.push(Comparison {
                name: "all together".to_owned(),
                statistic: (moments.iter().zip(&self.exact))
                    .map(|(m, &e)| m.z(e).powi(2))
                    .sum(),
                threshold,
                false_alarm: rate,
                samples: self.samples,
                sees: (threshold.sqrt() + normal_quantile(1.0 - POWER))
                    / (self.samples as f64).sqrt(),
                unit: "|bias / sd|",
            });
        }
        Ok(Report {
            name: test.to_owned(),
            comparisons,
            ranks: Vec::new(),
        })
    }
}

fn name(coordinate: usize) -> String {
    format!("coordinate {coordinate}")
}

fn check(
    value: f64,
    bounds: Option<(f64, f64)>,
    coordinate: usize,
    sample: usize,
    test: &str,
) -> Result<(), InvarianceError> {
    if !value.is_finite() {
        return Err(InvarianceError::NotFinite {
            test: test.to_owned(),
            what: name(coordinate),
            sample,
            value,
        });
    }
    match bounds {
        Some((low, high)) if !(low..=high).contains(&value) => Err(InvarianceError::OutOfBounds {
            test: test.to_owned(),
            what: name(coordinate),
            sample,
            value,
            low,
            high,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::Draws;

    use super::*;
    use crate::Suite;

    fn share(rate: f64, name: &str) -> Share {
        Suite::with_rate(rate, 3, 1).share(name).unwrap()
    }

    fn failures(tests: usize, rate: f64, test: impl Fn(Share) -> Report) -> usize {
        (0..tests)
            .filter(|i| !test(share(rate, &format!("test {i}"))).passed())
            .count()
    }

    /// Correct code fails at the stated rate: at most 0.05 + 5 sd of 600 tests, with skewed draws (γ = 2).
    #[test]
    fn the_false_alarm_rates_hold() {
        let exponential = |rng: &mut Stream, out: &mut [f64]| {
            out.fill_with(|| -(1.0 - rng.uniform()).ln());
        };
        let z = failures(600, 0.05, |share| {
            Unbiased::new(&[1.0, 1.0])
                .samples(1000)
                .independent_coordinates()
                .test(exponential, share)
                .unwrap()
        });
        assert!((3..=57).contains(&z), "{z}");
        let bounded = failures(600, 0.05, |share| {
            Unbiased::new(&[0.5])
                .samples(200)
                .bounded(0.0, 1.0)
                .test(|rng, out| out[0] = rng.uniform(), share)
                .unwrap()
        });
        assert!(bounded <= 57, "{bounded}");
    }

    /// A bias of the size that is said to be seen is seen: 200 tests each, all but 1 % + 5 sd of them.
    #[test]
    fn what_is_said_to_be_seen_is_seen() {
        let normal = |rng: &mut Stream, out: &mut [f64]| out.fill_with(|| rng.normal());
        for bounded in [false, true] {
            let test = |bias: f64, share| {
                let unbiased = Unbiased::new(&[bias]).samples(1000);
                let unbiased = if bounded {
                    unbiased.bounded(-9.0, 9.0)
                } else {
                    unbiased
                };
                unbiased.test(normal, share).unwrap()
            };
            let sees = test(0.0, share(1e-4, "blank")).comparisons[0].sees;
            // The sample's sd varies by 2 %.
            let missed = 200 - failures(200, 1e-4, |share| test(1.05 * sees, share));
            assert!(missed <= 9, "missed {missed} of 200");
        }
        let together = |bias: f64, share| {
            Unbiased::new(&[bias; 30])
                .samples(1000)
                .independent_coordinates()
                .test(normal, share)
                .unwrap()
        };
        let report = together(0.0, share(1e-4, "blank"));
        let sees = |i: usize| report.comparisons[i].sees;
        let bias = sees(30) / 30f64.sqrt();
        assert!(bias < 0.6 * sees(0), "smaller than one coordinate shows");
        let missed = 200 - failures(200, 1e-4, |share| together(bias, share));
        assert!(missed <= 9, "missed {missed} of 200");
    }

    #[test]
    fn bounds_that_leave_one_value_are_met_by_that_value_alone() {
        for constant in [0.1, 0.0, -1e6] {
            let passes = |exact: f64| {
                let test = Unbiased::new(&[exact])
                    .samples(100)
                    .bounded(constant, constant);
                let draw = |_: &mut Stream, out: &mut [f64]| out[0] = constant;
                test.test(draw, share(1e-6, "constant")).unwrap().passed()
            };
            assert!(passes(constant));
            assert!(!passes(constant + 1e-6 * constant.abs().max(1.0)));
        }
        let one = Unbiased::new(&[1.0]).samples(1).bounded(1.0, 1.0);
        let refused = one.test(|_, out| out[0] = 1.0, share(1e-6, "one"));
        assert!(matches!(
            refused,
            Err(InvarianceError::TooFewSamples { needed: 2, .. })
        ));
    }

    #[test]
    fn estimates_and_samples_that_will_not_do_are_refused() {
        let refused = |test: Unbiased, value: f64| {
            test.test(|_, out| out[1] = value, share(0.1, "a"))
                .unwrap_err()
                .to_string()
        };
        let test = || Unbiased::new(&[0.0, 0.0]);
        let text = refused(test(), f64::NAN);
        assert!(text.contains("coordinate 1 of sample 0 is NaN"), "{text}");
        let text = refused(test().bounded(0.0, 1.0), 1.5);
        assert!(text.contains("outside the bounds 0 to 1"), "{text}");
        let text = refused(test().bounded(-9.0, 9.0).samples(9), 0.5);
        assert!(text.contains("no bias within the bounds"), "{text}");
        let text = refused(test().samples(999), 0.0);
        assert!(text.contains("take 1000 or more"), "{text}");
        // One draw in 500 is 500: skewness 22.
        let text = Unbiased::new(&[1.0])
            .samples(2000)
            .test(
                |rng, out| out[0] = if rng.below(500) == 0 { 500.0 } else { 0.0 },
                share(1e-8, "rare"),
            )
            .unwrap_err()
            .to_string();
        assert!(text.contains("so skewed"), "{text}");
    }
}
