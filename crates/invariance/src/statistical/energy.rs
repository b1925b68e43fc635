//! The energy distance of two samples in many dimensions, by permutation.

use crate::InvarianceError;
use crate::special::{chi_square_quantile, ln_chi_square_tail, normal_quantile};
use crate::statistical::{Comparison, POWER, Report, Share};

/// Permutations of a group, at most.
const PERMUTATIONS: usize = 999;
/// Permutations as extreme as the data after which a group is given up as harmless.
const ENOUGH: usize = 10;

/// A test of whether two samples of vectors, of the same size, come from the same law. It is the energy test (Székely
/// and Rizzo, 2004, 2013), with false-alarm rates that hold at every sample size.
///
/// The energy distance D, with D² = 2 E|X - Y| - E|X - X'| - E|Y - Y'|, is zero only for equal laws. So the test sees
/// any difference of the joint law, also where every marginal is right. Coordinates are first divided by their pooled
/// standard deviations.
///
/// The samples are cut into G groups. In each the energy statistic is compared with those of random relabellings, which
/// are as likely if the laws are equal. The comparison gives a p-value of at least 1/1000, in steps of the sequential
/// test of Besag and Clifford (1991), which stops as soon as the data look harmless. The statistic is Fisher's -2 Σ
/// ln p, which then is at most χ² with 2G degrees of freedom. G is chosen so that a rate as small as the share's can be
/// reached, which one permutation test could do only with 1/rate permutations.
///
/// The test sees an energy distance, in pooled standard deviations, that is computed from the mean and spread of
/// relabelled statistics. This figure, unlike the rate, is an approximation for large samples, on the safe side.
///
/// The cost is that of (n/G)² distances a group and permutation: n = 1000 takes a fraction of a second.
///
/// # Errors
/// [`InvarianceError::Length`] if sizes differ or points have no coordinates, [`InvarianceError::NotFinite`] on a value
/// that is not, [`InvarianceError::TooFewSamples`] with less than 20 a group.
pub fn energy_distance(
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    share: Share,
) -> Result<Report, InvarianceError> {
    let comparison = energy("the joint law", a, b, &share, share.rate())?;
    Ok(Report {
        name: share.name().to_owned(),
        comparisons: vec![comparison],
        ranks: Vec::new(),
    })
}

/// See [`energy_distance`]; at false-alarm rate `rate`, with permutations from `share`.
pub(crate) fn energy(
    name: &str,
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    share: &Share,
    rate: f64,
) -> Result<Comparison, InvarianceError> {
    let (n, groups) = (a.len(), groups(rate));
    let m = n / groups;
    if b.len() != n {
        return Err(InvarianceError::Length {
            what: "the second sample",
            found: b.len(),
            expected: n,
        });
    }
    if m < 20 {
        return Err(InvarianceError::TooFewSamples {
            test: share.name().to_owned(),
            found: n,
            needed: 20 * groups,
            why: "permutations need 20 a group",
        });
    }
    let scaled = pooled(name, a, b, share.name())?;
    let (a, b) = scaled.split_at(n);
    let threshold = chi_square_quantile(rate, 2.0 * groups as f64);
    let (mut statistic, mut mean, mut sd) = (0.0, 0.0, 0.0);
    for group in 0..groups {
        let range = group * m..(group + 1) * m;
        let points: Vec<&Vec<f64>> = a[range.clone()].iter().chain(&b[range]).collect();
        let distances = Distances::new(&points);
        statistic += -2.0 * distances.permutation_test(share, group).ln();
        let (m, s) = distances.relabelled_moments();
        mean += m / groups as f64;
        sd += s / groups as f64;
    }
    Ok(Comparison {
        name: name.to_owned(),
        statistic,
        threshold,
        false_alarm: rate,
        samples: n,
        sees: seen(mean, sd, groups, threshold),
        unit: "energy distance",
    })
}

/// Enough groups that the smallest p-values are far beyond the rate, by a factor of 1000.
fn groups(rate: f64) -> usize {
    (1..)
        .find(|&g| {
            let smallest = 2.0 * g as f64 * ((PERMUTATIONS + 1) as f64).ln();
            ln_chi_square_tail(smallest, 2.0 * g as f64) <= rate.ln() - 1000f64.ln()
        })
        .unwrap_or(1)
}

/// The energy distance that is found with probability [`POWER`], if the squared distance of relabelled samples has this
/// mean and standard deviation in each group.
///
/// It is enough that the groups have p-values of exp(-threshold / 2G) on average over their logarithms; half of it is
/// asked for, as no p-value is below 1/1000. Relabelled, the squared distance is a weighted sum of χ² variables, nearly
/// a gamma variable of the same moments (Satterthwaite, 1946). This gives the excess e over its mean at that p-value.
/// At distance D it has mean + D² and a standard deviation of at most s D, s = √(2√2 sd), by the Cauchy-Schwarz
/// inequality and λ_max <= √(Σ λ²). As -ln p is convex in the distance, D² - z s D / √G - e = 0 is on the safe side.
fn seen(mean: f64, sd: f64, groups: usize, threshold: f64) -> f64 {
    if sd <= 0.0 {
        return 0.0;
    }
    let p = 0.5 * (-threshold / (2.0 * groups as f64)).exp();
    let degrees = 2.0 * (mean / sd).powi(2);
    let excess = (chi_square_quantile(p, degrees) / degrees - 1.0) * mean;
    let z = normal_quantile(1.0 - POWER) / (groups as f64).sqrt();
    let half = 0.5 * z * (8f64.sqrt() * sd).sqrt();
    half + (half * half + excess).sqrt()
}

/// The points of both samples, one after the other, each coordinate in units of its pooled standard deviation.
fn pooled(
    name: &str,
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    test: &str,
) -> Result<Vec<Vec<f64>>, InvarianceError> {
    let mut points: Vec<Vec<f64>> = a.iter().chain(b).cloned().collect();
    let dimension = points[0].len();
    if dimension == 0 {
        return Err(InvarianceError::Length {
            what: "a point of the sample",
            found: 0,
            expected: 1,
        });
    }
    for (sample, point) in points.iter().enumerate() {
        if point.len() != dimension {
            return Err(InvarianceError::Length {
                what: "a point of the sample",
                found: point.len(),
                expected: dimension,
            });
        }
        if let Some(value) = point.iter().copied().find(|v| !v.is_finite()) {
            return Err(InvarianceError::NotFinite {
                test: test.to_owned(),
                what: name.to_owned(),
                sample: sample % a.len(),
                value,
            });
        }
    }
    for d in 0..dimension {
        let n = points.len() as f64;
        let mean = points.iter().map(|p| p[d]).sum::<f64>() / n;
        let sd = (points.iter().map(|p| (p[d] - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if sd > 0.0 && sd.is_finite() { sd } else { 1.0 };
        points.iter_mut().for_each(|p| p[d] = (p[d] - mean) / scale);
    }
    Ok(points)
}

/// |x - y| for the points of two samples of equal size, centred.
struct Distances {
    /// Row after row; rows and columns sum to zero, which no statistic of a relabelling notices.
    centred: Vec<f64>,
    points: usize,
}

impl Distances {
    fn new(points: &[&Vec<f64>]) -> Self {
        let n = points.len();
        let mut d = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i {
                let square: f64 = (points[i].iter().zip(points[j]))
                    .map(|(x, y)| (x - y) * (x - y))
                    .sum();
                (d[n * i + j], d[n * j + i]) = (square.sqrt(), square.sqrt());
            }
        }
        let means: Vec<f64> = d
            .chunks_exact(n)
            .map(|row| row.iter().sum::<f64>() / n as f64)
            .collect();
        let mean = means.iter().sum::<f64>() / n as f64;
        for i in 0..n {
            for j in 0..n {
                d[n * i + j] += mean - means[i] - means[j];
            }
        }
        Self {
            centred: d,
            points: n,
        }
    }

    /// -Σ s_i s_j d_ij over pairs i > j: for labels s = ±1 that sum to zero, m²/2 times the squared energy distance of
    /// the two samples plus a constant.
    fn statistic(&self, labels: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (i, row) in self.centred.chunks_exact(self.points).enumerate() {
            let dot: f64 = row[..i].iter().zip(labels).map(|(d, s)| d * s).sum();
            sum -= labels[i] * dot;
        }
        sum
    }

    /// The mean and the standard deviation of the squared energy distance over relabellings, as for independent labels.
    fn relabelled_moments(&self) -> (f64, f64) {
        let n = self.points;
        let trace: f64 = (0..n).map(|i| self.centred[(n + 1) * i]).sum();
        let squares: f64 = (self.centred.chunks_exact(n).enumerate())
            .flat_map(|(i, row)| &row[..i])
            .map(|d| d * d)
            .sum();
        let m = (n / 2) as f64;
        (-trace / (m * m), 2.0 / (m * m) * squares.sqrt())
    }

    /// The sequential p-value of the labelling first half, second half.
    fn permutation_test(&self, share: &Share, group: usize) -> f64 {
        let n = self.points;
        let label = |i: usize| if i < n / 2 { 1.0 } else { -1.0 };
        let mut labels: Vec<f64> = (0..n).map(label).collect();
        // What rounding may hide counts as equal.
        let observed = self.statistic(&labels) - 1e-9 * n as f64;
        let mut stream = share.stream(255, group);
        let mut as_extreme = 0;
        for drawn in 1..=PERMUTATIONS {
            let order = stream.permutation(n as u32);
            for (to, from) in labels.iter_mut().zip(order) {
                *to = label(from as usize);
            }
            if self.statistic(&labels) >= observed {
                as_extreme += 1;
                if as_extreme == ENOUGH {
                    return ENOUGH as f64 / drawn as f64;
                }
            }
        }
        (as_extreme + 1) as f64 / (PERMUTATIONS + 1) as f64
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

    /// n normal pairs with this correlation and this mean of the first.
    fn pairs(share: &Share, part: u8, n: usize, correlation: f64, mean: f64) -> Vec<Vec<f64>> {
        let mut rng = share.stream(part, 0);
        (0..n)
            .map(|_| {
                let (x, y) = (rng.normal(), rng.normal());
                vec![
                    mean + x,
                    correlation * x + (1.0 - correlation * correlation).sqrt() * y,
                ]
            })
            .collect()
    }

    #[test]
    fn the_statistic_is_the_energy_distance() {
        let share = share(0.1, "identity");
        let (a, b) = (pairs(&share, 0, 9, 0.0, 0.0), pairs(&share, 1, 9, 0.0, 1.0));
        let mean = |p: &[Vec<f64>], q: &[Vec<f64>]| {
            let sum: f64 = (p.iter())
                .flat_map(|x| q.iter().map(move |y| (x[0] - y[0]).hypot(x[1] - y[1])))
                .sum();
            sum / 81.0
        };
        let squared = 2.0 * mean(&a, &b) - mean(&a, &a) - mean(&b, &b);
        let points: Vec<&Vec<f64>> = a.iter().chain(&b).collect();
        let distances = Distances::new(&points);
        let labels: Vec<f64> = (0..18).map(|i| if i < 9 { 1.0 } else { -1.0 }).collect();
        // What the centring added is on the diagonal, and the same for all labels.
        let trace: f64 = (0..18).map(|i| distances.centred[19 * i]).sum();
        let found = (2.0 * distances.statistic(&labels) - trace) / 81.0;
        assert!((found - squared).abs() < 1e-12, "{found} {squared}");
    }

    #[test]
    fn a_wrong_correlation_is_seen_where_the_marginals_are_right() {
        let share = share(1e-8, "correlation");
        let (a, b) = (
            pairs(&share, 0, 1200, 0.8, 0.0),
            pairs(&share, 1, 1200, -0.8, 0.0),
        );
        let report = energy_distance(&a, &b, share).unwrap();
        report.assert_failed();
    }

    /// Correct code fails at the stated rate: 600 tests of rate 0.1, at most 0.1 + 5 sd of them.
    #[test]
    fn the_false_alarm_rate_holds() {
        let failed = (0..600)
            .filter(|i| {
                let share = share(0.1, &format!("rate {i}"));
                let (a, b) = (
                    pairs(&share, 0, 40, 0.5, 0.0),
                    pairs(&share, 1, 40, 0.5, 0.0),
                );
                !energy_distance(&a, &b, share).unwrap().passed()
            })
            .count();
        assert!((20..=97).contains(&failed), "{failed}");
    }

    /// A shift of the size that is said to be seen is seen: 60 tests, all but 1 % + 5 sd of them.
    #[test]
    fn what_is_said_to_be_seen_is_seen() {
        let rate = 1e-6;
        let blank = share(rate, "blank");
        let n = 300;
        let (a, b) = (pairs(&blank, 0, n, 0.0, 0.0), pairs(&blank, 1, n, 0.0, 0.0));
        let sees = energy_distance(&a, &b, blank).unwrap().comparisons[0].sees;
        // The squared distance of a shift, from a large sample.
        let distance = |shift: f64| {
            let big = share(0.1, "big");
            let (a, b) = (
                pairs(&big, 0, 700, 0.0, 0.0),
                pairs(&big, 1, 700, 0.0, shift),
            );
            let scaled = pooled("x", &a, &b, "t").unwrap();
            let points: Vec<&Vec<f64>> = scaled.iter().collect();
            let d = Distances::new(&points);
            let labels: Vec<f64> = (0..1400)
                .map(|i| if i < 700 { 1.0 } else { -1.0 })
                .collect();
            let trace: f64 = (0..1400).map(|i| d.centred[1401 * i]).sum();
            ((2.0 * d.statistic(&labels) - trace) / 490_000.0).sqrt()
        };
        let shift = crate::special::bisect(0.0, 4.0, |shift| distance(shift.max(1e-9)) < sees);
        let missed = (0..60)
            .filter(|i| {
                let share = share(rate, &format!("power {i}"));
                let (a, b) = (
                    pairs(&share, 0, n, 0.0, 0.0),
                    pairs(&share, 1, n, 0.0, shift),
                );
                energy_distance(&a, &b, share).unwrap().passed()
            })
            .count();
        assert!(missed <= 4, "missed {missed} of 60 shifts by {shift}");
        assert!(shift < 2.0, "the figure is not idle: {shift}");
    }

    #[test]
    fn samples_that_will_not_do_are_refused() {
        let a = vec![vec![0.0]; 100];
        let mut bad = a.clone();
        bad[3][0] = f64::INFINITY;
        assert!(matches!(
            energy_distance(&bad, &a, share(0.1, "a")),
            Err(InvarianceError::NotFinite { sample: 3, .. })
        ));
        assert!(energy_distance(&a, &a[..99], share(0.1, "b")).is_err());
        assert!(matches!(
            energy_distance(&a, &a, share(1e-9, "c")),
            Err(InvarianceError::TooFewSamples { .. })
        ));
        bad[3] = vec![0.0, 1.0];
        assert!(energy_distance(&bad, &a, share(0.1, "d")).is_err());
        energy_distance(&a, &a, share(0.1, "e"))
            .unwrap()
            .assert_passed();
        let nowhere = vec![vec![]; 100];
        assert!(matches!(
            energy_distance(&nowhere, &nowhere, share(0.1, "f")),
            Err(InvarianceError::Length { found: 0, .. })
        ));
    }
}
