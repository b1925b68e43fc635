//! Work of a unit in planned seconds, split as a run goes through it.

use serde::{Deserialize, Serialize};

/// Count that measures a unit's progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// `epoch`, `step`, `piece`.
    pub name: &'static str,
    /// Number of counts of a whole run.
    pub all: u64,
}

/// The work of a unit on this machine, in seconds of one thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Seconds for each count: an epoch, a step.
    pub each: f64,
    /// Seconds of a check.
    pub check: f64,
    /// Counts from one check to the next; the last count has one, too. None without checks.
    pub check_every: Option<u64>,
    /// Seconds of what follows the last count.
    pub last: f64,
}

impl Work {
    /// Seconds that remain of a run of `all` counts once `done` are done.
    pub fn remaining(&self, all: u64, done: u64) -> f64 {
        let checks = self
            .check_every
            .map_or(0, |every| checks_left(every, all, done));
        all.saturating_sub(done) as f64 * self.each + checks as f64 * self.check + self.last
    }

    /// Seconds of a whole run of `all` counts.
    pub fn total(&self, all: u64) -> f64 {
        self.remaining(all, 0)
    }
}

/// The checks that are left after `done` of `all` counts, one every `every` and one at the end.
pub fn checks_left(every: u64, all: u64, done: u64) -> u64 {
    if done >= all {
        return 0;
    }
    let every = every.max(1);
    let last = u64::from(!all.is_multiple_of(every));
    all / every - done / every + last
}

/// Multiplications, about, of the longest step that a plan measures: seconds of one thread.
const LONGEST: u64 = 1 << 33;

/// Returns smaller sizes at which to measure a step that would take long, and the ratio of the whole step's time to such a step's.
/// The time is taken to be in proportion to the product of the sizes, each unit of which is `each` multiplications. The first sizes
/// are cut first, none below the least that stands beside it, and none of a step that takes no more than seconds.
pub fn shortened<const N: usize>(each: u64, sizes: [(u64, u64); N]) -> ([u64; N], f64) {
    let mut short = sizes.map(|(size, _)| size);
    for (index, (size, least)) in sizes.into_iter().enumerate() {
        let others = short
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index);
        let others = others.fold(each.max(1), |product, (_, &n)| {
            product.saturating_mul(n.max(1))
        });
        short[index] = size.min((LONGEST / others).max(least));
    }
    let ratios = sizes.iter().zip(short);
    let times = ratios.map(|(&(size, _), short)| size as f64 / short.max(1) as f64);
    (short, times.product())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counts_and_checks_and_the_end() {
        let work = Work {
            each: 2.0,
            check: 5.0,
            check_every: Some(4),
            last: 10.0,
        };
        // Checks after 4, 8 and 10.
        assert_eq!(work.total(10), 20.0 + 15.0 + 10.0);
        assert_eq!(work.remaining(10, 4), 12.0 + 10.0 + 10.0);
        assert_eq!(work.remaining(10, 10), 10.0);
        assert_eq!(work.remaining(10, 99), 10.0);
        let unchecked = Work {
            check_every: None,
            ..work
        };
        assert_eq!(unchecked.total(10), 30.0);
    }

    #[test]
    fn a_step_of_seconds_is_measured_whole_and_a_long_one_in_part() {
        assert_eq!(shortened(400_000, [(200, 1), (20, 2)]), ([200, 20], 1.0));
        // A thousandth part, by the first size.
        assert_eq!(
            shortened(1 << 20, [(8_192_000, 1), (1, 1)]),
            ([8192, 1], 1000.0)
        );
        // By the second too, but not below its least.
        let (short, times) = shortened(1 << 30, [(1 << 20, 1), (1 << 16, 16)]);
        assert_eq!((short, times), ([1, 16], f64::from(1u32 << 20) * 4096.0));
        assert_eq!(shortened(u64::MAX, [(u64::MAX, 1), (0, 0)]).0, [1, 0]);
    }
}
