//! The times of locks.

use std::time::Duration;

/// How often a lock is renewed, and how long one on another machine is watched before it counts as stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From one renewal to the next.
    pub renewal: Duration,
    /// Without a renewal for this long, a lock is stale.
    pub patience: Duration,
}

impl Default for Timing {
    /// 10 and 60 seconds.
    fn default() -> Self {
        Self {
            renewal: Duration::from_secs(10),
            patience: Duration::from_secs(60),
        }
    }
}
