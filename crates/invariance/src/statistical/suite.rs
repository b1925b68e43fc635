//! The false-alarm rate of a whole suite, and how it is spent.

use std::sync::{Mutex, PoisonError};

use helmholtz_random::{Purpose, Stream};

use crate::InvarianceError;

/// The rate at which a whole suite of correct code fails, split evenly over a declared number of shares.
///
/// If no test of the suite has anything to find, the probability that *one or more* fails is at most this rate
/// (Bonferroni's inequality; no independence is needed). Each test takes a [`Share`] and spends it. A share cannot be
/// copied, so the compiler enforces the accounting within a test, and the suite refuses to give more shares than it
/// declared.
///
/// Randomness is keyed by the suite's seed and the share's name. A result does not depend on the order or number of
/// tests that are run, and the same run fails again until the code changes. Choose the seed without looking at results,
/// once, and never retry.
///
/// ```
/// use helmholtz_invariance::Suite;
///
/// static SUITE: Suite = Suite::new(2024, 3); // 1e-6 over three tests
///
/// let share = SUITE.share("hmc on a funnel")?;
/// assert_eq!(share.rate(), 1e-6 / 3.0);
/// assert!(SUITE.share("hmc on a funnel").is_err()); // a name is a key
/// # Ok::<(), helmholtz_invariance::InvarianceError>(())
/// ```
#[derive(Debug)]
pub struct Suite {
    seed: u64,
    rate: f64,
    shares: usize,
    given: Mutex<Vec<String>>,
}

impl Suite {
    /// The false-alarm rate of a suite unless said otherwise: one in a million.
    pub const FALSE_ALARM_RATE: f64 = 1e-6;

    /// A suite of `shares` tests with a false-alarm rate of 1e-6 in all.
    pub const fn new(seed: u64, shares: usize) -> Self {
        Self::with_rate(Self::FALSE_ALARM_RATE, seed, shares)
    }

    /// A suite of `shares` tests with a false-alarm rate of `rate` in all.
    pub const fn with_rate(rate: f64, seed: u64, shares: usize) -> Self {
        Self {
            seed,
            rate,
            shares,
            given: Mutex::new(Vec::new()),
        }
    }

    /// The share of the test called `name`, without a slash: those are names of [parts](Share::split).
    ///
    /// # Errors
    /// [`InvarianceError::SuiteSpent`] when all are given, [`InvarianceError::SameShare`] if this name has had one,
    /// [`InvarianceError::ShareName`] if it has a slash, [`InvarianceError::NoSuite`] if the suite was made with a rate
    /// outside (0, 1).
    pub fn share(&self, name: &str) -> Result<Share, InvarianceError> {
        if !(self.rate > 0.0 && self.rate < 1.0) || self.shares == 0 {
            return Err(InvarianceError::NoSuite {
                rate: self.rate,
                shares: self.shares,
            });
        }
        if name.contains('/') {
            return Err(InvarianceError::ShareName {
                name: name.to_owned(),
            });
        }
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.iter().any(|n| n == name) {
            return Err(InvarianceError::SameShare {
                name: name.to_owned(),
            });
        }
        if given.len() == self.shares {
            return Err(InvarianceError::SuiteSpent {
                shares: self.shares,
                name: name.to_owned(),
            });
        }
        given.push(name.to_owned());
        Ok(Share {
            name: name.to_owned(),
            rate: self.rate / self.shares as f64,
            seed: self.seed,
        })
    }
}

/// A part of a suite's false-alarm rate, for one test. It is spent by the test it is given to.
#[derive(Debug, PartialEq)]
pub struct Share {
    name: String,
    rate: f64,
    seed: u64,
}

impl Share {
    /// What the test is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The largest probability with which the test may fail if there is nothing to find.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// `parts` equal shares that sum to this one, called `name/0`, `name/1` and so on.
    ///
    /// ```
    /// # let suite = helmholtz_invariance::Suite::new(1, 1);
    /// let (mut failed, shares) = (0, suite.share("random targets")?.split(20));
    /// for share in shares {
    ///     // one test of one target each
    /// #   assert_eq!(share.rate(), 1e-6 / 20.0); failed += 0;
    /// }
    /// # Ok::<(), helmholtz_invariance::InvarianceError>(())
    /// ```
    pub fn split(self, parts: usize) -> Vec<Self> {
        (0..parts)
            .map(|i| Self {
                name: format!("{}/{i}", self.name),
                rate: self.rate / parts as f64,
                seed: self.seed,
            })
            .collect()
    }

    /// The `i`-th stream of this test's `part`. Streams of different names, parts and numbers differ.
    pub(crate) fn stream(&self, part: u8, i: usize) -> Stream {
        const KIT: Purpose = Purpose::new("kit");
        // FNV-1a (Fowler, Noll and Vo, 1991) of name and part; a collision would only correlate two tests.
        let key = (self.name.bytes().chain([part])).fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Stream::new(self.seed, KIT, [key, i as u64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_sum_to_the_rate_and_no_more_are_given() {
        let suite = Suite::with_rate(0.01, 1, 4);
        let mut sum = 0.0;
        for name in ["a", "b", "c"] {
            sum += suite.share(name).unwrap().rate();
        }
        sum += suite
            .share("d")
            .unwrap()
            .split(7)
            .iter()
            .map(Share::rate)
            .sum::<f64>();
        assert!((sum - 0.01).abs() < 1e-16);
        let text = suite.share("e").unwrap_err().to_string();
        assert!(
            text.contains("4 shares") && text.contains("\"e\""),
            "{text}"
        );
        assert!(matches!(
            suite.share("b"),
            Err(InvarianceError::SameShare { .. })
        ));
    }

    #[test]
    fn a_suite_without_a_rate_gives_nothing() {
        for (rate, shares) in [(0.0, 1), (1.0, 1), (f64::NAN, 1), (0.5, 0)] {
            assert!(matches!(
                Suite::with_rate(rate, 1, shares).share("a"),
                Err(InvarianceError::NoSuite { .. })
            ));
        }
    }

    #[test]
    fn the_name_of_a_part_is_given_to_nothing_else() {
        let suite = Suite::new(1, 3);
        let parts = suite.share("a").unwrap().split(2);
        assert_eq!(parts[0].name(), "a/0");
        for name in ["a/0", "/", "a/0/1"] {
            assert!(matches!(
                suite.share(name),
                Err(InvarianceError::ShareName { .. })
            ));
        }
    }

    #[test]
    fn randomness_depends_on_the_name_alone() {
        let first =
            |suite: &Suite, name: &str| suite.share(name).unwrap().stream(0, 0).uniform_f64();
        let (one, other) = (Suite::new(1, 2), Suite::new(1, 9));
        let (a, b) = (first(&one, "a"), first(&one, "b"));
        assert_eq!((first(&other, "b"), first(&other, "a")), (b, a));
        assert_ne!(a, b);
        let share = Suite::new(1, 1).share("a").unwrap();
        assert_ne!(share.stream(1, 0).uniform_f64(), a);
        assert_ne!(share.stream(0, 1).uniform_f64(), a);
    }
}
