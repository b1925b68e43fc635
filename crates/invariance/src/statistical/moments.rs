//! The mean of independent draws against a known value.

use crate::InvarianceError;
use crate::special::{bisect, ln_normal_tail, normal_quantile};
use crate::statistical::{Comparison, POWER};

/// Fewer draws than this are never given to the central limit theorem.
pub(crate) const MINIMUM: usize = 1000;

/// Running central moments (Welford, 1962; the third by Pébay, 2008).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    n: usize,
    mean: f64,
    second: f64,
    third: f64,
    largest: f64,
}

impl Moments {
    pub(crate) fn push(&mut self, value: f64) {
        let before = self.n as f64;
        self.n += 1;
        let n = self.n as f64;
        let delta = value - self.mean;
        let step = delta / n;
        let term = delta * step * before;
        self.mean += step;
        self.third += term * step * (n - 2.0) - 3.0 * step * self.second;
        self.second += term;
        self.largest = self.largest.max(value.abs());
    }

    /// With the divisor n - 1.
    fn variance(&self) -> f64 {
        self.second / (self.n.max(2) - 1) as f64
    }

    fn sd(&self) -> f64 {
        self.variance().sqrt()
    }

    fn skewness(&self) -> f64 {
        let n = self.n as f64;
        if self.second > 0.0 {
            self.third / n / (self.second / n).powf(1.5)
        } else {
            0.0
        }
    }

    /// Whether all draws are one value, up to rounding.
    fn is_constant(&self) -> bool {
        self.sd() <= 1e-14 * self.largest
    }

    /// (mean - `exact`) / (sd / √n). Draws that are all one value are compared with `exact` to a relative 1e-12.
    pub(crate) fn z(&self, exact: f64) -> f64 {
        if self.is_constant() {
            let close = (self.mean - exact).abs() <= 1e-12 * self.largest.max(exact.abs());
            return if close { 0.0 } else { f64::INFINITY };
        }
        (self.mean - exact) / (self.sd() / (self.n as f64).sqrt())
    }

    /// The two-sided z-test at false-alarm rate `rate`. See [`Unbiased`](crate::Unbiased).
    pub(crate) fn z_test(
        &self,
        name: &str,
        exact: f64,
        test: &str,
        rate: f64,
    ) -> Result<Comparison, InvarianceError> {
        let root = (self.n as f64).sqrt();
        let skewness = if self.is_constant() {
            0.0
        } else {
            self.skewness().abs()
        };
        let too_few = |needed: usize, why| InvarianceError::TooFewSamples {
            test: format!("{test}, {name}"),
            found: self.n,
            needed,
            why,
        };
        if self.n < MINIMUM {
            return Err(too_few(
                MINIMUM,
                "a z-test stands on the central limit theorem",
            ));
        }
        let threshold = skew_quantile(0.5 * rate, skewness / (3.0 * root)).ok_or_else(|| {
            let needed = 6.5 * skewness * skewness * (2.0 / rate).ln();
            too_few(
                needed.ceil() as usize,
                "the draws are so skewed that the normal tail is no guide at this rate",
            )
        })?;
        Ok(Comparison {
            name: name.to_owned(),
            statistic: self.z(exact).abs(),
            threshold,
            false_alarm: rate,
            samples: self.n,
            sees: (threshold + normal_quantile(1.0 - POWER)) * self.sd() / root,
            unit: "bias",
        })
    }

    /// The test for draws between bounds `range` apart, by the empirical Bernstein inequality. See
    /// [`Unbiased::bounded`](crate::Unbiased::bounded).
    pub(crate) fn bernstein_test(
        &self,
        name: &str,
        exact: f64,
        range: f64,
        test: &str,
        rate: f64,
    ) -> Result<Comparison, InvarianceError> {
        let radius = |n: usize, ln: f64| {
            let n = n as f64;
            (2.0 * self.variance() * ln / n).sqrt() + 7.0 * range * ln / (3.0 * (n - 1.0))
        };
        let sees = |n: usize| radius(n, (4.0 / rate).ln()) + radius(n, (2.0 / (1.0 - POWER)).ln());
        // Without a range there is nothing that could be missed.
        let blind = |n: usize| n < 2 || (range > 0.0 && sees(n) >= range);
        if blind(self.n) {
            let mut doubled = std::iter::successors(Some(self.n.max(2)), |n| n.checked_mul(2));
            return Err(InvarianceError::TooFewSamples {
                test: format!("{test}, {name}"),
                found: self.n,
                needed: doubled.find(|&n| !blind(n)).unwrap_or(usize::MAX),
                why: "no bias within the bounds could be seen",
            });
        }
        // Draws that are all one value have a radius of zero without a range, and are compared as in `z`.
        let rounding = if range > 0.0 {
            0.0
        } else {
            1e-12 * self.largest.max(exact.abs()) + f64::MIN_POSITIVE
        };
        Ok(Comparison {
            name: name.to_owned(),
            statistic: (self.mean - exact).abs(),
            threshold: radius(self.n, (4.0 / rate).ln()) + rounding,
            false_alarm: rate,
            samples: self.n,
            sees: sees(self.n),
            unit: "bias",
        })
    }
}

/// The z at which the normal tail, made heavier by the factor exp(`cubic` z³), is `tail`; `None` if the factor
/// overtakes the tail before that.
fn skew_quantile(tail: f64, cubic: f64) -> Option<f64> {
    let excess = |z: f64| ln_normal_tail(z) + cubic * z.powi(3) - tail.ln();
    // Where -z²/2 + cubic z³ has its minimum the normal tail has turned back.
    let end = if cubic > 0.0 {
        1.0 / (3.0 * cubic)
    } else {
        f64::INFINITY
    };
    let end = end.min(2.0 * normal_quantile(tail) + 1.0);
    (excess(end) <= 0.0).then(|| bisect(0.0, end, |z| excess(z) > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_values() {
        let values = [3.0f64, -1.0, 4.5, 0.25, 9.0, -2.0];
        let mut moments = Moments::default();
        values.iter().for_each(|&v| moments.push(v + 1e4));
        let n = 6.0;
        let mean = values.iter().sum::<f64>() / n;
        let central = |k| values.iter().map(|v| (v - mean).powi(k)).sum::<f64>() / n;
        assert!((moments.mean - 1e4 - mean).abs() < 1e-11);
        assert!((moments.variance() - central(2) * n / (n - 1.0)).abs() < 1e-8);
        assert!((moments.skewness() - central(3) / central(2).powf(1.5)).abs() < 1e-8);
    }

    #[test]
    fn without_skewness_the_threshold_is_the_normal_quantile() {
        for tail in [0.025, 1e-7, 1e-12] {
            assert!((skew_quantile(tail, 0.0).unwrap() - normal_quantile(tail)).abs() < 1e-12);
            let wider = skew_quantile(tail, 1e-3).unwrap();
            assert!(wider > normal_quantile(tail));
        }
        assert_eq!(skew_quantile(1e-8, 0.1), None);
    }

    #[test]
    fn draws_that_do_not_vary_must_be_right() {
        let mut moments = Moments::default();
        (0..1000).for_each(|_| moments.push(0.1));
        let c = |exact| moments.z_test("x", exact, "t", 1e-6).unwrap();
        assert!(c(0.1).passed());
        assert!(!c(0.1001).passed());
    }
}
