//! All states, one after the other.

use std::collections::HashSet;

use crate::disk::Disk;
use crate::image::Image;
use crate::log::Log;

/// Every different state that a crash could leave during or right after the recorded run, with what was promised before
/// it. A state that can come from several moments is given with each promise that differs, the greatest last.
pub struct States<'a> {
    log: &'a Log,
    disk: Disk,
    next: usize,
    /// The states at the present moment that are still to come.
    waiting: Vec<(Image, u64)>,
    seen: HashSet<([u64; 2], u64)>,
    limit: usize,
    /// Combinations of fates that were made, equal states included.
    pub combinations: u64,
    /// Moments at which there were more combinations than the limit; of these only a part was made.
    pub cut_short: u64,
}

impl<'a> States<'a> {
    /// Of `log`, with at most `limit` combinations at each moment.
    pub fn new(log: &'a Log, limit: usize) -> Self {
        let mut states = Self {
            log,
            disk: Disk::new(&log.start),
            next: 0,
            waiting: Vec::new(),
            seen: HashSet::new(),
            limit,
            combinations: 0,
            cut_short: 0,
        };
        states.here();
        states
    }

    fn here(&mut self) {
        let open = self.disk.open(&self.log.volatile);
        let ways: Vec<usize> = open.iter().map(|open| open.ways()).collect();
        let total = ways
            .iter()
            .try_fold(1usize, |total, &ways| total.checked_mul(ways))
            .unwrap_or(usize::MAX);
        // Beyond the limit every so-many-th, with a stride that is no multiple of any number of ways.
        let stride = (total / self.limit.max(1)) | 1;
        if stride > 1 {
            self.cut_short += 1;
        }
        for number in (0..total).step_by(stride) {
            let mut rest = number;
            let chosen: Vec<usize> = ways
                .iter()
                .map(|&ways| {
                    let way = rest % ways;
                    rest /= ways;
                    way
                })
                .collect();
            let image = self.disk.crashed(&open, &chosen);
            self.combinations += 1;
            if self.seen.insert((image.digest(), self.disk.promised)) {
                self.waiting.push((image, self.disk.promised));
            }
        }
    }
}

impl Iterator for States<'_> {
    type Item = (Image, u64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(state) = self.waiting.pop() {
                return Some(state);
            }
            let (change, _) = self.log.changes.get(self.next)?;
            self.disk.apply(change);
            self.next += 1;
            self.here();
        }
    }
}
