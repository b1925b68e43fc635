//! Kolmogorov-Smirnov tests whose false-alarm rates hold at every sample size.

use crate::InvarianceError;
use crate::statistical::{Comparison, POWER, Report, Share};

/// Whether `values` have the continuous or discrete law with distribution function `cdf`: Kolmogorov's test.
///
/// The statistic is `D = sup_x |F_n(x) - F(x)|`, the threshold √(ln(2/α) / 2n): P(D > λ) <= 2 exp(-2nλ²) for every n and F
/// (Dvoretzky, Kiefer and Wolfowitz, 1956, with the constant of Massart, 1990). `cdf(x)` is P(X <= x); for a law with
/// atoms the test is the more conservative.
///
/// It sees a law G with sup|F - G| = threshold + √(ln(1/(1 - power)) / 2n), by Hoeffding's inequality at the place of
/// the largest difference.
///
/// # Errors
/// [`InvarianceError::NotFinite`] on a value that is not; [`InvarianceError::TooFewSamples`] if no discrepancy at all
/// could be seen.
///
/// ```
/// use helmholtz_invariance::{Suite, ks_one_sample};
/// use helmholtz_invariance::random::{Purpose, Stream};
///
/// let suite = Suite::new(7, 1);
/// let mut stream = Stream::new(7, Purpose::new("demo"), [0, 0]);
/// let values: Vec<f64> = (0..2000).map(|_| stream.uniform_f64().sqrt()).collect();
/// ks_one_sample(&values, |x| x * x, suite.share("the root of a uniform")?)?.assert_passed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
pub fn ks_one_sample(
    values: &[f64],
    cdf: impl Fn(f64) -> f64,
    share: Share,
) -> Result<Report, InvarianceError> {
    let comparison = one_sample("the value", values, cdf, share.name(), share.rate())?;
    Ok(Report {
        name: share.name().to_owned(),
        comparisons: vec![comparison],
        ranks: Vec::new(),
    })
}

/// Whether two samples of the same size come from the same law: Smirnov's test, in its exact form.
///
/// The statistic is `D = sup_x |F_n(x) - G_n(x)|`; the threshold k/n, with the smallest k for which
/// 2 C(2n, n - k) / C(2n, n) <= α. That is the first term of the exact law of D by the reflection principle (Gnedenko
/// and Korolyuk, 1951), and an upper bound, at every n. Ties make the test more conservative. The two samples must be
/// independent of each other, and each of independent values.
///
/// It sees laws with sup|F - G| = threshold + √(ln(1/(1 - power)) / n), by Hoeffding's inequality.
///
/// # Errors
/// [`InvarianceError::Length`] if the samples differ in size, [`InvarianceError::NotFinite`] on a value that is not,
/// [`InvarianceError::TooFewSamples`] if no discrepancy at all could be seen.
pub fn ks_two_sample(a: &[f64], b: &[f64], share: Share) -> Result<Report, InvarianceError> {
    let comparison = two_sample("the value", a, b, share.name(), share.rate())?;
    Ok(Report {
        name: share.name().to_owned(),
        comparisons: vec![comparison],
        ranks: Vec::new(),
    })
}

const UNIT: &str = "sup|F - G|";

/// See [`ks_one_sample`]; at false-alarm rate `rate`.
pub(crate) fn one_sample(
    name: &str,
    values: &[f64],
    cdf: impl Fn(f64) -> f64,
    test: &str,
    rate: f64,
) -> Result<Comparison, InvarianceError> {
    let sorted = sorted(name, values, test)?;
    let n = values.len() as f64;
    let (ln_rate, ln_miss) = ((2.0 / rate).ln(), -(1.0 - POWER).ln());
    let threshold = (ln_rate / (2.0 * n)).sqrt();
    let sees = threshold + (ln_miss / (2.0 * n)).sqrt();
    sees_anything(values.len(), sees, test, || {
        (0.5 * (ln_rate.sqrt() + ln_miss.sqrt()).powi(2)).ceil() as usize + 1
    })?;
    // Between values the difference is largest at their ends: from the left with the count before, at the value itself
    // with the count up to and including all that are equal to it.
    let mut statistic = 0.0;
    let mut before = 0;
    for equal in sorted.chunk_by(|a, b| a == b) {
        let upto = before + equal.len();
        let at = cdf(equal[0]);
        let below = cdf(equal[0].next_down());
        statistic = f64::max(statistic, (upto as f64 / n - at).abs());
        statistic = f64::max(statistic, (below - before as f64 / n).abs());
        before = upto;
    }
    Ok(Comparison {
        name: name.to_owned(),
        statistic,
        threshold,
        false_alarm: rate,
        samples: values.len(),
        sees,
        unit: UNIT,
    })
}

/// See [`ks_two_sample`]; at false-alarm rate `rate`.
pub(crate) fn two_sample(
    name: &str,
    a: &[f64],
    b: &[f64],
    test: &str,
    rate: f64,
) -> Result<Comparison, InvarianceError> {
    if b.len() != a.len() {
        return Err(InvarianceError::Length {
            what: "the second sample",
            found: b.len(),
            expected: a.len(),
        });
    }
    let n = a.len();
    let (a, b) = (sorted(name, a, test)?, sorted(name, b, test)?);
    let threshold = smallest_significant(n, rate) as f64 / n as f64;
    let ln_miss = -(1.0 - POWER).ln();
    let sees = threshold + (ln_miss / n as f64).sqrt();
    sees_anything(n, sees, test, || {
        let roots = (2.0 / rate).ln().sqrt() + ln_miss.sqrt();
        roots.powi(2).ceil() as usize + 3
    })?;
    let (mut i, mut j, mut largest) = (0, 0, 0);
    while i < n && j < n {
        let x = a[i].min(b[j]);
        i += a[i..].iter().take_while(|&&v| v <= x).count();
        j += b[j..].iter().take_while(|&&v| v <= x).count();
        largest = largest.max(i.abs_diff(j));
    }
    Ok(Comparison {
        name: name.to_owned(),
        statistic: largest as f64 / n as f64,
        threshold,
        false_alarm: rate,
        samples: n,
        sees,
        unit: UNIT,
    })
}

/// [`two_sample`] for every coordinate of two samples of vectors, which split `rate`.
pub(crate) fn columns(
    name: &str,
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    test: &str,
    rate: f64,
) -> Result<Vec<Comparison>, InvarianceError> {
    let dimension = a.first().map_or(0, Vec::len);
    if let Some(point) = a.iter().chain(b).find(|p| p.len() != dimension) {
        return Err(InvarianceError::Length {
            what: "the vector of coordinates of a state",
            found: point.len(),
            expected: dimension,
        });
    }
    let column = |sample: &[Vec<f64>], d: usize| sample.iter().map(|p| p[d]).collect::<Vec<_>>();
    (0..dimension)
        .map(|d| {
            let name = format!("{name} {d}");
            let rate = rate / dimension as f64;
            two_sample(&name, &column(a, d), &column(b, d), test, rate)
        })
        .collect()
}

/// The smallest k with 2 C(2n, n - k) / C(2n, n) <= `rate`; n + 1 if there is none.
fn smallest_significant(n: usize, rate: f64) -> usize {
    // C(2n, n - k) / C(2n, n) is the product of (n - i) / (n + i + 1) over i < k.
    let mut ln_bound = 2f64.ln();
    for k in 1..=n {
        ln_bound += ((n - k + 1) as f64 / (n + k) as f64).ln();
        if ln_bound <= rate.ln() {
            return k;
        }
    }
    n + 1
}

fn sees_anything(
    n: usize,
    sees: f64,
    test: &str,
    needed: impl Fn() -> usize,
) -> Result<(), InvarianceError> {
    if sees < 1.0 {
        return Ok(());
    }
    Err(InvarianceError::TooFewSamples {
        test: test.to_owned(),
        found: n,
        needed: needed(),
        why: "no difference of two laws could be seen",
    })
}

fn sorted(name: &str, values: &[f64], test: &str) -> Result<Vec<f64>, InvarianceError> {
    if let Some(sample) = values.iter().position(|v| !v.is_finite()) {
        return Err(InvarianceError::NotFinite {
            test: test.to_owned(),
            what: name.to_owned(),
            sample,
            value: values[sample],
        });
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;

    fn share(rate: f64, name: &str) -> Share {
        Suite::with_rate(rate, 3, 1).share(name).unwrap()
    }

    /// P(D >= k/n) by counting lattice paths: orders of 2n values in which the counts never part by k.
    fn exact_tail(n: usize, k: usize) -> f64 {
        let mut paths = vec![vec![0.0; n + 1]; n + 1];
        let mut all = paths.clone();
        for i in 0..=n {
            for j in 0..=n {
                let sum = |p: &[Vec<f64>]| {
                    if i + j == 0 {
                        return 1.0;
                    }
                    (if i > 0 { p[i - 1][j] } else { 0.0 }) + if j > 0 { p[i][j - 1] } else { 0.0 }
                };
                all[i][j] = sum(&all);
                paths[i][j] = if i.abs_diff(j) < k { sum(&paths) } else { 0.0 };
            }
        }
        1.0 - paths[n][n] / all[n][n]
    }

    #[test]
    fn the_two_sample_threshold_keeps_its_rate_exactly_and_is_nearly_the_best() {
        for n in [3, 10, 40, 100] {
            for rate in [0.2, 1e-2, 1e-4] {
                let k = smallest_significant(n, rate);
                if k <= n {
                    assert!(exact_tail(n, k) <= rate * (1.0 + 1e-9), "n = {n}");
                }
                if k > 1 {
                    // One less would be too much; the bound's slack is its later terms.
                    let slack = if rate > 0.1 { 0.95 } else { 1.0 - 1e-6 };
                    assert!(exact_tail(n, k - 1) > rate * slack, "n = {n}, rate {rate}");
                }
            }
        }
    }

    #[test]
    fn the_statistic_is_the_largest_difference_also_with_ties() {
        let tenfold = |values: &[f64]| values.repeat(10);
        let identity = |x: f64| x.clamp(0.0, 1.0);
        let c = one_sample("x", &tenfold(&[0.1, 0.2, 0.2, 0.9]), identity, "t", 0.9).unwrap();
        assert!((c.statistic - 0.55).abs() < 1e-12, "3/4 at 0.2");
        // A coin: F_n(0) = 1/4 against F(0) = 1/2; left of 0 and at 1 they agree.
        let coin = |x: f64| {
            if x < 0.0 {
                0.0
            } else if x < 1.0 {
                0.5
            } else {
                1.0
            }
        };
        let c = one_sample("x", &tenfold(&[0.0, 1.0, 1.0, 1.0]), coin, "t", 0.9).unwrap();
        assert_eq!(c.statistic, 0.25);
        let (a, b) = (tenfold(&[1.0, 2.0, 2.0, 5.0]), tenfold(&[2.0; 4]));
        let c = two_sample("x", &a, &b, "t", 0.9).unwrap();
        assert_eq!(c.statistic, 0.25);
        let c = two_sample("x", &[1.0; 40], &[2.0; 40], "t", 0.9).unwrap();
        assert_eq!(c.statistic, 1.0);
    }

    /// Correct code fails at the stated rate: 2000 tests of rate 0.1, at most 0.1 + 5 sd of them.
    #[test]
    fn the_false_alarm_rate_holds() {
        let (mut one, mut two) = (0, 0);
        for i in 0..2000 {
            let share = share(0.1, &format!("rate {i}"));
            let mut stream = share.stream(0, 0);
            let a: Vec<f64> = (0..50).map(|_| stream.uniform_f64()).collect();
            let b: Vec<f64> = (0..50).map(|_| stream.uniform_f64()).collect();
            one += u32::from(!one_sample("x", &a, |x| x, "t", 0.1).unwrap().passed());
            two += u32::from(!two_sample("x", &a, &b, "t", 0.1).unwrap().passed());
        }
        // Not so conservative that it never fails, either.
        assert!((100..=267).contains(&one), "{one}");
        assert!((80..=267).contains(&two), "{two}");
    }

    /// A discrepancy of the size that is said to be seen is seen: 300 tests, all but 1 % + 5 sd of them.
    #[test]
    fn what_is_said_to_be_seen_is_seen() {
        let n = 400;
        let (mut one, mut two) = (0, 0);
        for i in 0..300 {
            let share = share(1e-3, &format!("power {i}"));
            let mut stream = share.stream(0, 0);
            // Uniform on [0, 1], but a part delta of it moved from below 1/2 to just above: sup|F - G| = delta.
            let shifted = |u: f64, v: f64, delta: f64| {
                if u < 0.5 && v < 2.0 * delta { 0.5 } else { u }
            };
            let mut sample = |delta: f64| -> Vec<f64> {
                (0..n)
                    .map(|_| shifted(stream.uniform_f64(), stream.uniform_f64(), delta))
                    .collect()
            };
            let blank: Vec<f64> = (0..n).map(|i| i as f64).collect();
            let sees = |c: Comparison| c.sees;
            let delta = sees(one_sample("x", &blank, |_| 0.0, "t", 1e-3).unwrap());
            let c = one_sample("x", &sample(delta), |x| x.clamp(0.0, 1.0), "t", 1e-3).unwrap();
            one += u32::from(c.passed());
            let delta = sees(two_sample("x", &blank, &blank, "t", 1e-3).unwrap());
            let (a, b) = (sample(delta), sample(0.0));
            two += u32::from(two_sample("x", &a, &b, "t", 1e-3).unwrap().passed());
        }
        assert!(one <= 11 && two <= 11, "missed {one} and {two} of 300");
    }

    #[test]
    fn samples_that_will_not_do_are_refused() {
        let text = two_sample("x", &[0.0; 20], &[0.0; 20], "the test", 1e-9)
            .unwrap_err()
            .to_string();
        assert!(text.contains("20 samples are too few"), "{text}");
        let Err(InvarianceError::TooFewSamples { needed, .. }) =
            two_sample("x", &[0.0; 20], &[0.0; 20], "t", 1e-9)
        else {
            panic!("too few")
        };
        two_sample("x", &vec![0.0; needed], &vec![0.0; needed], "t", 1e-9).unwrap();
        let Err(InvarianceError::TooFewSamples { needed, .. }) =
            one_sample("x", &[0.0; 5], |_| 0.0, "t", 1e-9)
        else {
            panic!("too few")
        };
        one_sample("x", &vec![0.0; needed], |_| 0.0, "t", 1e-9).unwrap();
        assert!(two_sample("x", &[0.0; 90], &[0.0; 91], "t", 0.1).is_err());
        let mut values = vec![0.0; 90];
        values[7] = f64::NAN;
        assert!(matches!(
            one_sample("x", &values, |_| 0.0, "t", 0.1),
            Err(InvarianceError::NotFinite { sample: 7, .. })
        ));
    }
}
