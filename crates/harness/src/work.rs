//! How long a unit takes: its work in planned seconds, split as a run goes through it.

use serde::{Deserialize, Serialize};

/// What a unit's progress is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// `epoch`, `step`, `piece`.
    pub name: &'static str,
    /// How many a whole run has.
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
}
