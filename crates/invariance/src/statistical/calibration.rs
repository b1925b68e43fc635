//! Simulation-based calibration.

use helmholtz_random::Stream;

use crate::InvarianceError;
use crate::special::{binomial_upper, bisect, ln_binomial_mass};
use crate::statistical::deviation::significant_deviation;
use crate::statistical::{Comparison, POWER, Ranks, Report, Share, ks};

/// A test of whether posterior draws are calibrated (Talts, Betancourt, Simpson, Vehtari and Gelman, 2018; Cook, Gelman
/// and Rubin, 2006). A replicate has θ ~ p(θ), x ~ p(x | θ) and L draws from p(θ | x). Then θ and the draws are
/// exchangeable given x, so the rank of f(θ) among the f(draws) is uniform on 0..=L, for every function f.
///
/// Ties are broken at random, so f may be discrete. Functions may look at the data, and should. Some wrong posteriors,
/// the prior first among them, cannot be detected by any function of θ alone (Modrák, Moon, Kim, Bürkner, Huurre,
/// Faltejsková, Gelman and Vehtari, 2023). Take the log joint density, ln p(θ) + ln p(x | θ), as one of them.
///
/// For each function, with half of its part of the share each, both exact at every number of replicates:
/// * the *distribution function* of the ranks, by Kolmogorov's test with Massart's constant;
/// * the *histogram* in up to 20 bins: the largest deviation of a count against the exact binomial law, split over
///   bins. The bins are of equal numbers of ranks or of numbers one apart.
///
/// Two kinds of posterior:
/// * [`test_sampler`](Self::test_sampler): independent draws from (what claims to be) p(θ | x), for example of a
///   variational or conjugate posterior;
/// * [`test_kernel`](Self::test_kernel): a reversible kernel. Its draws are dependent, but calibration needs neither
///   burn-in nor thinning. The chain starts *at θ*, which is an exact posterior draw, and goes U steps one way and
///   L - U the other, with U uniform on 0..=L. The L + 1 states are a stationary stretch of a chain in which θ has a
///   uniform place. So its rank is exactly uniform (the serial test of Besag and Clifford, 1989).
///
/// ```
/// use helmholtz_invariance::{Calibration, Suite};
/// use helmholtz_invariance::random::Draws;
///
/// let suite = Suite::new(7, 2);
/// // θ ~ N(0, 1), x | θ ~ N(θ, 1), so θ | x ~ N(x / 2, 1 / 2).
/// let test = Calibration::new(
///     |rng| rng.normal(),
///     |theta, rng| theta + rng.normal(),
///     |theta, x| vec![*theta, -0.5 * theta * theta - 0.5 * (theta - x).powi(2)],
/// );
/// test.test_sampler(|x, rng| x / 2.0 + 0.5f64.sqrt() * rng.normal(), suite.share("conjugate")?)?.assert_passed();
/// // The prior passes for a posterior with f = θ, but not with the joint density.
/// let report = test.test_sampler(|_, rng| rng.normal(), suite.share("prior")?)?;
/// assert!(report.comparisons[0].passed());
/// report.assert_failed();
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Calibration<P, D, F> {
    prior: P,
    data: D,
    functions: F,
    replicates: usize,
    draws: usize,
}

impl<T: Clone, X, P, D, F> Calibration<P, D, F>
where
    P: Fn(&mut Stream) -> T,
    D: Fn(&T, &mut Stream) -> X,
    F: Fn(&T, &X) -> Vec<f64>,
{
    /// `prior` draws θ, `data` draws x given θ, `functions` are what is ranked, the same number always. 1000 replicates
    /// of L = 19 draws.
    pub fn new(prior: P, data: D, functions: F) -> Self {
        Self {
            prior,
            data,
            functions,
            replicates: 1000,
            draws: 19,
        }
    }

    /// With this many replicates.
    pub fn replicates(self, replicates: usize) -> Self {
        Self { replicates, ..self }
    }

    /// With this many draws L a replicate, 1 at least; L + 1 is best a multiple of 20.
    pub fn draws(self, draws: usize) -> Self {
        Self { draws, ..self }
    }

    /// Tests `posterior`, which draws from p(θ | x) independently each time, and spends the share.
    ///
    /// # Errors
    /// [`InvarianceError::NotFinite`] on a function that is not, [`InvarianceError::TooFewSamples`] of replicates or of
    /// draws, [`InvarianceError::Length`] if the number of functions varies.
    pub fn test_sampler(
        &self,
        posterior: impl Fn(&X, &mut Stream) -> T,
        share: Share,
    ) -> Result<Report, InvarianceError> {
        self.test(
            |_, x, rng, keep| (0..self.draws).for_each(|_| keep(&posterior(x, rng))),
            share,
        )
    }

    /// Tests `step`, one transition of a kernel that is reversible with respect to p(θ | x), and spends the share. (A
    /// kernel that is only invariant, a systematic sweep for one, may fail though it is right: give its steps in random
    /// order, or use [`Geweke`](crate::Geweke).)
    ///
    /// # Errors
    /// As [`test_sampler`](Self::test_sampler).
    pub fn test_kernel(
        &self,
        step: impl Fn(&mut T, &X, &mut Stream),
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let chain = |theta: &T, x: &X, rng: &mut Stream, keep: &mut dyn FnMut(&T)| {
            let place = rng.below(self.draws as u32 + 1) as usize;
            for steps in [place, self.draws - place] {
                let mut state = theta.clone();
                for _ in 0..steps {
                    step(&mut state, x, rng);
                    keep(&state);
                }
            }
        };
        self.test(chain, share)
    }

    /// `draw` gives the draws for (θ, x) to its last argument, one after the other.
    fn test(
        &self,
        draw: impl Fn(&T, &X, &mut Stream, &mut dyn FnMut(&T)),
        share: Share,
    ) -> Result<Report, InvarianceError> {
        let test = share.name();
        if self.draws == 0 {
            return Err(InvarianceError::TooFewSamples {
                test: test.to_owned(),
                found: 0,
                needed: 1,
                why: "among no draws every rank is 0",
            });
        }
        let mut ranks: Vec<Vec<usize>> = Vec::new();
        for replicate in 0..self.replicates {
            let mut rng = share.stream(0, replicate);
            let theta = (self.prior)(&mut rng);
            let x = (self.data)(&theta, &mut rng);
            let own = self.values(&theta, &x, replicate, test)?;
            if replicate == 0 {
                ranks.resize(own.len(), Vec::new());
            }
            let (mut below, mut ties) = (vec![0; ranks.len()], vec![0; ranks.len()]);
            let mut outcome = length(&own, ranks.len());
            draw(&theta, &x, &mut rng, &mut |draw| {
                let values = self.values(draw, &x, replicate, test);
                match values.and_then(|v| length(&v, below.len()).map(|()| v)) {
                    Ok(values) => {
                        for (i, (value, own)) in values.iter().zip(&own).enumerate() {
                            below[i] += usize::from(value < own);
                            ties[i] += usize::from(value == own);
                        }
                    }
                    Err(error) if outcome.is_ok() => outcome = Err(error),
                    Err(_) => {}
                }
            });
            outcome?;
            for (i, ranks) in ranks.iter_mut().enumerate() {
                ranks.push(below[i] + rng.below(ties[i] as u32 + 1) as usize);
            }
        }
        let rate = share.rate() / (2 * ranks.len()) as f64;
        let ranks = ranks.into_iter().map(|ranks| Ranks {
            ranks,
            draws: self.draws,
        });
        let ranks: Vec<Ranks> = ranks.collect();
        let mut comparisons = Vec::new();
        for (i, ranks) in ranks.iter().enumerate() {
            let values: Vec<f64> = ranks.ranks.iter().map(|&r| r as f64).collect();
            let states = (self.draws + 1) as f64;
            let cdf = |r: f64| ((r.floor() + 1.0) / states).clamp(0.0, 1.0);
            let name = format!("ranks of function {i}");
            comparisons.push(ks::one_sample(&name, &values, cdf, test, rate)?);
            comparisons.push(histogram(i, ranks, test, rate)?);
        }
        Ok(Report {
            name: test.to_owned(),
            comparisons,
            ranks,
        })
    }

    fn values(
        &self,
        theta: &T,
        x: &X,
        sample: usize,
        test: &str,
    ) -> Result<Vec<f64>, InvarianceError> {
        let values = (self.functions)(theta, x);
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(values),
            Some(i) => Err(InvarianceError::NotFinite {
                test: test.to_owned(),
                what: format!("function {i}"),
                sample,
                value: values[i],
            }),
        }
    }
}

fn length(values: &[f64], expected: usize) -> Result<(), InvarianceError> {
    if values.len() == expected {
        return Ok(());
    }
    Err(InvarianceError::Length {
        what: "the vector of test functions",
        found: values.len(),
        expected,
    })
}

/// The largest deviation of a bin's count from its mean.
fn histogram(
    function: usize,
    ranks: &Ranks,
    test: &str,
    rate: f64,
) -> Result<Comparison, InvarianceError> {
    let (counts, sizes) = ranks.bins();
    let (states, bins) = (ranks.draws + 1, counts.len());
    let n = ranks.ranks.len() as u64;
    let share = |size: usize| size as f64 / states as f64;
    // One threshold for bins of both sizes, the larger of theirs.
    let both = [states / bins, states.div_ceil(bins)].map(share);
    let deviation = both
        .map(|p| {
            let law: Vec<f64> = (0..=n).map(|k| ln_binomial_mass(k, n, p).exp()).collect();
            significant_deviation(n as f64 * p, &law, rate / bins as f64)
        })
        .into_iter()
        .fold(0.0, f64::max);
    let mut sees = 0.0f64;
    for p in both {
        let count = (n as f64 * p + deviation).ceil() as u64;
        if count > n {
            return Err(InvarianceError::TooFewSamples {
                test: test.to_owned(),
                found: ranks.ranks.len(),
                needed: 2 * ranks.ranks.len(),
                why: "no histogram of ranks could be refused",
            });
        }
        // The bin probability at which a count this large is missed with probability 1 - power.
        let seen = bisect(p, 1.0, |q| q < 1.0 && binomial_upper(count, n, q) < POWER);
        sees = sees.max(seen - p);
    }
    Ok(Comparison {
        name: format!("histogram of function {function}"),
        statistic: (counts.iter().zip(sizes))
            .map(|(&c, size)| (c as f64 - n as f64 * share(size)).abs())
            .fold(0.0, f64::max),
        threshold: deviation,
        false_alarm: rate,
        samples: ranks.ranks.len(),
        sees,
        unit: "excess of a bin's probability",
    })
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Draws};

    use super::*;
    use crate::Suite;

    fn share(rate: f64, name: &str) -> Share {
        Suite::with_rate(rate, 3, 1).share(name).unwrap()
    }

    type Draw = fn(&mut Stream) -> f64;
    type Data = fn(&f64, &mut Stream) -> f64;
    type Functions = fn(&f64, &f64) -> Vec<f64>;

    /// θ ~ N(0, 1), x | θ ~ N(θ, 1); θ and, with many ties, its sign.
    fn model() -> Calibration<Draw, Data, Functions> {
        Calibration::new(
            |rng: &mut Stream| rng.normal(),
            |theta: &f64, rng: &mut Stream| theta + rng.normal(),
            |theta: &f64, _: &f64| vec![*theta, theta.signum()],
        )
    }

    fn metropolis(theta: &mut f64, x: &f64, rng: &mut Stream) {
        let log_p = |t: f64| -0.5 * t * t - 0.5 * (x - t).powi(2);
        let to = *theta + 0.3 * rng.normal();
        if rng.accept(log_p(to) - log_p(*theta)) {
            *theta = to;
        }
    }

    /// Correct code fails at the stated rate: at most 0.1 + 5 sd of 300 tests, though the chain hardly moves.
    #[test]
    fn the_false_alarm_rate_holds_for_a_chain_that_mixes_slowly() {
        let failed = (0..300)
            .filter(|i| {
                let test = model().replicates(100);
                let share = share(0.1, &format!("test {i}"));
                !test.test_kernel(metropolis, share).unwrap().passed()
            })
            .count();
        assert!(failed <= 56, "{failed}");
    }

    #[test]
    fn a_posterior_that_is_too_narrow_or_shifted_is_found() {
        let narrow = |x: &f64, rng: &mut Stream| x / 2.0 + 0.5 * rng.normal();
        let shifted = |x: &f64, rng: &mut Stream| x / 2.0 + 0.3 + 0.5f64.sqrt() * rng.normal();
        model()
            .test_sampler(narrow, share(1e-8, "narrow"))
            .unwrap()
            .assert_failed();
        model()
            .test_sampler(shifted, share(1e-8, "shifted"))
            .unwrap()
            .assert_failed();
    }

    /// A posterior without the prior is N(x, 1), and θ - x does have that law, on average over the data: neither θ nor
    /// the likelihood can tell. The joint density can.
    #[test]
    fn a_posterior_that_forgot_the_prior_is_seen_by_the_joint_density_only() {
        let no_prior = |theta: &mut f64, x: &f64, rng: &mut Stream| {
            let to = *theta + rng.normal();
            if rng.accept(-0.5 * (x - to).powi(2) + 0.5 * (x - *theta).powi(2)) {
                *theta = to;
            }
        };
        let mut test = model();
        test.functions = |theta, x| vec![*theta, (x - theta).powi(2)];
        test.test_kernel(no_prior, share(1e-8, "blind"))
            .unwrap()
            .assert_passed();
        test.functions = |theta, x| vec![-0.5 * (theta * theta + (x - theta).powi(2))];
        test.test_kernel(no_prior, share(1e-8, "seeing"))
            .unwrap()
            .assert_failed();
        test.test_kernel(metropolis, share(1e-8, "right"))
            .unwrap()
            .assert_passed();
    }

    fn of(draws: usize, ranks: Vec<usize>) -> Ranks {
        Ranks { ranks, draws }
    }

    /// An excess of the size that is said to be seen in a bin is seen: 300 tests, all but 1 % + 5 sd of them. In bins of
    /// one rank each, and in those of a prime number of ranks: 17 of one, 3 of two.
    #[test]
    fn what_is_said_to_be_seen_in_a_bin_is_seen() {
        let mut rng = share(0.1, "bins").stream(0, 0);
        for (states, size) in [(20, 1.0), (23, 1.0), (23, 2.0)] {
            let c = histogram(0, &of(states - 1, vec![0; 500]), "t", 1e-4).unwrap();
            let excess = c.sees / (1.0 - size / states as f64);
            let excessive = if size == 1.0 { 2 } else { 7 };
            let missed = (0..300)
                .filter(|_| {
                    let ranks: Vec<usize> = (0..500)
                        .map(|_| {
                            if rng.uniform() < excess {
                                excessive
                            } else {
                                rng.below(states as u32) as usize
                            }
                        })
                        .collect();
                    histogram(0, &of(states - 1, ranks), "t", 1e-4)
                        .unwrap()
                        .passed()
                })
                .count();
            assert!(missed <= 11, "missed {missed} of 300, excess {excess}");
        }
    }

    #[test]
    fn any_number_of_ranks_is_looked_at_in_bins_and_a_single_one_is_refused() {
        for draws in [1, 2, 22, 30, 36] {
            let ranks: Vec<usize> = (0..=draws).cycle().take(2000).collect();
            let even = histogram(0, &of(draws, ranks), "t", 1e-4).unwrap();
            assert!(even.passed() && even.sees > 0.01, "{even:?}");
            assert!(
                !histogram(0, &of(draws, vec![0; 2000]), "t", 1e-4)
                    .unwrap()
                    .passed()
            );
        }
        let nonsense = |_: &f64, _: &mut Stream| 1e9;
        assert!(matches!(
            model().draws(0).test_sampler(nonsense, share(0.1, "none")),
            Err(InvarianceError::TooFewSamples {
                found: 0,
                needed: 1,
                ..
            })
        ));
    }
}
