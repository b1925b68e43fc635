//! Calibration of the probabilities of a discrete parameter.

use helmholtz_random::Stream;

use crate::InvarianceError;
use crate::statistical::deviation::significant_deviation;
use crate::statistical::{Comparison, POWER, Report, Share};

/// A test of whether posterior probabilities of a discrete parameter are calibrated. A replicate has θ ~ p(θ), x
/// ~ p(x | θ), and claimed probabilities p_k(x) of the classes k of θ. These are exact ones, that is, from an
/// enumeration or a recursion.
///
/// If they are right, the classes c_1, c_2, ... of independent replicates are independent given the data, with
///
/// > P(c_i = k | x_i) = p_k(x_i).
///
/// So in any group of replicates that is formed by the data, the number of those of class k has the Poisson binomial
/// law. It is the law of a sum of independent coins of probabilities p_k(x_i), and its tails are computed. This looks
/// at what a rank of a parameter with few values hardly sees, and needs no draws. (Dawid, 1982, "The well-calibrated
/// Bayesian"; the groups by probability are a reliability diagram, Bröcker and Smith, 2007.)
///
/// Replicates are put in ten groups of equal sizes by their p_k, and in ten by each of the functions of the data. In
/// addition all are counted together, against Hoeffding's (1963) bound. Groups by p_k alone cannot tell the prior from
/// the posterior; a function that says what the data are about can. Each class and way of counting is one comparison
/// with an equal part of the share, split further over its groups: the rate is exact at every number of replicates.
///
/// Probabilities that are estimated by a chain are not exact, and fail where they are coarse; test the chain itself by
/// [`Calibration::test_kernel`](crate::Calibration::test_kernel).
///
/// ```
/// use helmholtz_invariance::{ProbabilityCalibration, Suite};
/// use helmholtz_invariance::random::{Chance, Draws};
///
/// let suite = Suite::new(7, 2);
/// // A coin θ of probability 0.3, and x | θ ~ N(θ, 1).
/// let test = ProbabilityCalibration::new(
///     |rng| usize::from(rng.accept(0.3f64.ln())),
///     |theta, rng| *theta as f64 + rng.normal(),
///     |theta| *theta,
///     |x| vec![*x],
/// );
/// let posterior = |x: &f64| {
///     let odds = 0.3 / 0.7 * (x - 0.5).exp();
///     vec![1.0 / (1.0 + odds), odds / (1.0 + odds)]
/// };
/// test.test(posterior, suite.share("Bayes")?)?.assert_passed();
/// // The prior is calibrated in the groups of its probabilities, and not in those of x.
/// let report = test.test(|_| vec![0.7, 0.3], suite.share("prior")?)?;
/// assert!(report.comparisons[0].passed() && !report.comparisons[1].passed());
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProbabilityCalibration<P, D, C, F> {
    prior: P,
    data: D,
    class: C,
    functions: F,
    replicates: usize,
}

/// Groups of a grouping.
const GROUPS: usize = 10;

/// How far probabilities may sum from one.
const ROUNDING: f64 = 1e-9;

/// What is kept of a replicate.
struct Replicate {
    class: usize,
    probabilities: Vec<f64>,
    functions: Vec<f64>,
}

impl<T, X, P, D, C, F> ProbabilityCalibration<P, D, C, F>
where
    P: Fn(&mut Stream) -> T,
    D: Fn(&T, &mut Stream) -> X,
    C: Fn(&T) -> usize,
    F: Fn(&X) -> Vec<f64>,
{
    /// `prior` draws θ, `data` draws x given θ, `class` is the class of θ, `functions` are what replicates are grouped by,
    /// the same number always. 1000 replicates.
    pub fn new(prior: P, data: D, class: C, functions: F) -> Self {
        Self {
            prior,
            data,
            class,
            functions,
            replicates: 1000,
        }
    }

    /// With this many replicates.
    pub fn replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }

    /// Tests `probabilities`, which gives what is claimed to be p(class k | x) for each k, and spends the share.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`] on a function or probability that is not, [`InvarianceError::OutOfBounds`] on
    /// probabilities outside \[0, 1\] or whose sum is not one. [`InvarianceError::Length`] if the number of either
    /// varies or there is none for the class of θ, [`InvarianceError::TooFewSamples`] where no group could be refused.
    pub fn test(
        &self,
        probabilities: impl Fn(&X) -> Vec<f64>,
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let test = share.name();
        let replicates = (0..self.replicates).map(|i| {
            let mut rng = share.stream(0, i);
            let theta = (self.prior)(&mut rng);
            let x = (self.data)(&theta, &mut rng);
            let replicate = Replicate {
                class: (self.class)(&theta),
                probabilities: probabilities(&x),
                functions: (self.functions)(&x),
            };
            replicate.check(i, test).map(|()| replicate)
        });
        let replicates: Vec<Replicate> = replicates.collect::<Result<_, _>>()?;
        let (classes, functions) = replicates
            .first()
            .map_or((0, 0), |r| (r.probabilities.len(), r.functions.len()));
        for replicate in &replicates {
            let length = |what, found: usize, expected| match found == expected {
                true => Ok(()),
                false => Err(InvarianceError::Length {
                    what,
                    found,
                    expected,
                }),
            };
            length(
                "the vector of probabilities",
                replicate.probabilities.len(),
                classes,
            )?;
            length(
                "the vector of functions",
                replicate.functions.len(),
                functions,
            )?;
        }
        // With two classes the second says the same as the first.
        let told = if classes == 2 { 1 } else { classes };
        let rate = share.rate() / (told * (2 + functions)).max(1) as f64;
        let mut comparisons = Vec::new();
        for class in 0..told {
            for by in 0..=functions {
                let key = |r: &Replicate| match by.checked_sub(1) {
                    None => r.probabilities[class],
                    Some(function) => r.functions[function],
                };
                let groups = groups(&replicates, class, key);
                let by = match by.checked_sub(1) {
                    None => "its probability".to_owned(),
                    Some(function) => format!("function {function}"),
                };
                let name = format!("class {class} by {by}");
                comparisons.push(compare(&groups, name, test, replicates.len(), rate)?);
            }
            comparisons.push(in_all(&replicates, class, rate));
        }
        Ok(Report {
            name: test.to_owned(),
            comparisons,
            ranks: Vec::new(),
        })
    }
}

impl Replicate {
    fn check(&self, sample: usize, test: &str) -> Result<(), InvarianceError> {
        let both = [
            ("probability", &self.probabilities),
            ("function", &self.functions),
        ];
        for (what, values) in both {
            if let Some(i) = values.iter().position(|v| !v.is_finite()) {
                return Err(InvarianceError::NotFinite {
                    test: test.to_owned(),
                    what: format!("{what} {i}"),
                    sample,
                    value: values[i],
                });
            }
        }
        let out_of_bounds = |what: String, value, low, high| InvarianceError::OutOfBounds {
            test: test.to_owned(),
            what,
            sample,
            value,
            low,
            high,
        };
        for (k, &p) in self.probabilities.iter().enumerate() {
            if !(0.0..=1.0 + ROUNDING).contains(&p) {
                return Err(out_of_bounds(format!("probability {k}"), p, 0.0, 1.0));
            }
        }
        let sum: f64 = self.probabilities.iter().sum();
        if (sum - 1.0).abs() > ROUNDING {
            return Err(out_of_bounds(
                "the sum of probabilities".into(),
                sum,
                1.0,
                1.0,
            ));
        }
        match self.class < self.probabilities.len() {
            true => Ok(()),
            false => Err(InvarianceError::Length {
                what: "the vector of probabilities",
                found: self.probabilities.len(),
                expected: self.class + 1,
            }),
        }
    }
}

/// The coins of a group, and how many of them fell.
struct Group {
    probabilities: Vec<f64>,
    count: usize,
}

/// Groups of sizes that differ by one at most, in ascending order of `key`.
fn groups(replicates: &[Replicate], class: usize, key: impl Fn(&Replicate) -> f64) -> Vec<Group> {
    let mut order: Vec<&Replicate> = replicates.iter().collect();
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let n = order.len();
    let cut = |g: usize| g * n / GROUPS;
    (0..GROUPS)
        .map(|g| &order[cut(g)..cut(g + 1)])
        .map(|group| Group {
            probabilities: (group.iter())
                .map(|r| r.probabilities[class].min(1.0))
                .collect(),
            count: group.iter().filter(|r| r.class == class).count(),
        })
        .collect()
}

/// The deviation of the share of a class among all replicates from its mean: P(it is d or more) <= 2 exp(-2 n d²).
fn in_all(replicates: &[Replicate], class: usize, rate: f64) -> Comparison {
    let n = replicates.len() as f64;
    let excess = |r: &Replicate| f64::from(u8::from(r.class == class)) - r.probabilities[class];
    let threshold = (0.5 * (2.0 / rate).ln() / n).sqrt();
    Comparison {
        name: format!("class {class} in all"),
        statistic: (replicates.iter().map(excess).sum::<f64>() / n).abs(),
        threshold,
        false_alarm: rate,
        samples: replicates.len(),
        sees: threshold + (-0.5 * (1.0 - POWER).ln() / n).sqrt(),
        unit: "excess of the mean probability",
    }
}

/// The largest deviation of a group's count from its mean, as a share of what is significant there.
fn compare(
    groups: &[Group],
    name: String,
    test: &str,
    samples: usize,
    rate: f64,
) -> Result<Comparison, InvarianceError> {
    let (mut statistic, mut sees) = (0.0f64, 0.0f64);
    for group in groups {
        let law = poisson_binomial(&group.probabilities);
        let mean: f64 = group.probabilities.iter().sum();
        let threshold = significant_deviation(mean, &law, rate / groups.len() as f64);
        statistic = statistic.max((group.count as f64 - mean).abs() / threshold);
        // All coins of the group shifted, in the direction that has more room.
        let up = mean <= 0.5 * group.probabilities.len() as f64;
        let found = |shift: f64| {
            let shift = if up { shift } else { -shift };
            let shifted = group
                .probabilities
                .iter()
                .map(|p| (p + shift).clamp(0.0, 1.0));
            let law = poisson_binomial(&shifted.collect::<Vec<_>>());
            let far = law.iter().enumerate();
            far.filter(|(k, _)| (*k as f64 - mean).abs() >= threshold)
                .map(|(_, mass)| mass)
                .sum::<f64>()
        };
        if found(1.0) < POWER {
            return Err(InvarianceError::TooFewSamples {
                test: test.to_owned(),
                found: samples,
                needed: 2 * samples.max(GROUPS),
                why: "no group of probabilities could be refused",
            });
        }
        sees = sees.max(smallest(|shift| found(shift) >= POWER));
    }
    Ok(Comparison {
        name,
        statistic,
        threshold: 1.0,
        false_alarm: rate,
        samples,
        sees,
        unit: "excess of a group's probability",
    })
}

/// The smallest share, to one part in 4096 and from above, for which `enough` holds, as it does for one.
fn smallest(enough: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        match enough(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// P(k of the coins fall), k = 0, ..., n, by adding one coin after the other.
fn poisson_binomial(probabilities: &[f64]) -> Vec<f64> {
    let mut law = vec![1.0];
    for p in probabilities {
        law.push(0.0);
        for k in (1..law.len()).rev() {
            law[k] = law[k] * (1.0 - p) + law[k - 1] * p;
        }
        law[0] *= 1.0 - p;
    }
    law
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Draws};

    use super::*;
    use crate::Suite;
    use crate::special::ln_binomial_mass;

    fn share(rate: f64, name: &str) -> Share {
        Suite::with_rate(rate, 3, 1).share(name).unwrap()
    }

    #[test]
    fn equal_coins_are_binomial_and_unequal_ones_are_convolved() {
        let law = poisson_binomial(&[0.3; 12]);
        for (k, mass) in law.iter().enumerate() {
            let expected = ln_binomial_mass(k as u64, 12, 0.3).exp();
            assert!((mass - expected).abs() < 1e-13);
        }
        let expected = [0.5 * 0.9, 0.5 * 0.9 + 0.5 * 0.1, 0.5 * 0.1, 0.0];
        let law = poisson_binomial(&[0.5, 0.1, 0.0]);
        assert!(law.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

    type Test = ProbabilityCalibration<
        fn(&mut Stream) -> usize,
        fn(&usize, &mut Stream) -> f64,
        fn(&usize) -> usize,
        fn(&f64) -> Vec<f64>,
    >;

    /// Three classes, x | θ ~ N(1.2 θ, 1).
    fn model() -> Test {
        Test::new(
            |rng| rng.choose(&WEIGHTS.map(f64::ln)).unwrap_or(0),
            |theta, rng| 1.2 * *theta as f64 + rng.normal(),
            |theta| *theta,
            |x| vec![*x],
        )
    }

    /// p(θ | x) with these weights, to a power.
    fn posterior(weights: [f64; 3], power: f64, x: f64) -> Vec<f64> {
        let of =
            |k: usize| weights[k].powf(power) * (-0.5 * power * (x - 1.2 * k as f64).powi(2)).exp();
        let sum: f64 = (0..3).map(of).sum();
        (0..3).map(|k| of(k) / sum).collect()
    }

    /// Correct code fails at the stated rate: at most 0.1 + 5 sd of 300 tests.
    #[test]
    fn the_false_alarm_rate_holds() {
        let failed = (0..300)
            .filter(|i| {
                let share = share(0.1, &format!("test {i}"));
                let test = model().replicates(300);
                !test
                    .test(|x| posterior(WEIGHTS, 1.0, *x), share)
                    .unwrap()
                    .passed()
            })
            .count();
        assert!(failed <= 56, "{failed}");
    }

    #[test]
    fn wrong_posteriors_are_found() {
        let found = |name: &str, probabilities: &dyn Fn(&f64) -> Vec<f64>| {
            let report = model()
                .replicates(4000)
                .test(probabilities, share(1e-8, name));
            report.unwrap()
        };
        found("right", &|x| posterior(WEIGHTS, 1.0, *x)).assert_passed();
        found("too sure", &|x| posterior(WEIGHTS, 2.0, *x)).assert_failed();
        found("no prior", &|x| posterior([1.0; 3], 1.0, *x)).assert_failed();
        found("exchanged", &|x| {
            let mut p = posterior(WEIGHTS, 1.0, *x);
            p.swap(0, 2);
            p
        })
        .assert_failed();
        let prior = found("prior", &|_| WEIGHTS.to_vec());
        let (by_data, others): (Vec<_>, Vec<_>) =
            (prior.comparisons.iter()).partition(|c| c.name.contains("by function"));
        assert!(others.iter().all(|c| c.passed()));
        assert!(by_data.iter().all(|c| !c.passed()));
    }

    /// An excess of the size that is said to be seen is seen: in 300 tests all but 1 % + 5 sd of them.
    #[test]
    fn what_is_said_to_be_seen_is_seen() {
        let group = |rng: &mut Stream, excess: f64| {
            let probabilities = vec![0.3; 40];
            let fell = |p: &&f64| rng.uniform() < **p + excess;
            Group {
                count: probabilities.iter().filter(fell).count(),
                probabilities,
            }
        };
        let of = |group| compare(&[group], "c".into(), "t", 40, 1e-4).unwrap();
        let mut rng = share(0.1, "seen").stream(0, 0);
        let sees = of(group(&mut rng, 0.0)).sees;
        let missed = (0..300)
            .filter(|_| of(group(&mut rng, sees)).passed())
            .count();
        assert!(missed <= 11, "missed {missed} of 300, excess {sees}");
    }

    #[test]
    fn what_are_no_probabilities_is_refused() {
        let of = |p: Vec<f64>| {
            let report = model().test(|_| p.clone(), share(0.1, "p"));
            report.expect_err("refused")
        };
        assert!(matches!(
            of(vec![0.5, 0.4, 0.2]),
            InvarianceError::OutOfBounds { .. }
        ));
        assert!(matches!(
            of(vec![1.1, 0.1, -0.2]),
            InvarianceError::OutOfBounds { .. }
        ));
        assert!(matches!(
            of(vec![f64::NAN; 3]),
            InvarianceError::NotFinite { .. }
        ));
        assert!(matches!(of(vec![1.0]), InvarianceError::Length { .. }));
        let few = model().replicates(20);
        assert!(matches!(
            few.test(|_| WEIGHTS.to_vec(), share(1e-8, "few")),
            Err(InvarianceError::TooFewSamples { .. })
        ));
    }
}
