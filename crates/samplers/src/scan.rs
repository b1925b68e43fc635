//! In which order data are visited.

use helmholtz_random::{Purpose, Stream};

use crate::SamplerError;

/// How the rows of a batch are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// A fresh permutation each epoch, cut into batches; a last partial batch is dropped. What released code does.
    Shuffled,
    /// Every row of every batch uniform and independent: the random scan of Algorithm 2 (Ou and Song, 2020). A row may
    /// come twice in a batch, and an epoch is as many steps as for [`Shuffled`](Self::Shuffled).
    WithReplacement,
}

/// The random scan over data: which rows step `step` of epoch `epoch` visits.
///
/// A pure function of (seed, epoch, step), so a run resumed at any step sees the rows it would have seen. The
/// permutation of the epoch last asked for is kept.
///
/// ```
/// use helmholtz_samplers::{Scan, ScanOrder};
///
/// let mut scan = Scan::new(ScanOrder::Shuffled, 7, 103, 25)?;
/// assert_eq!(scan.steps_per_epoch(), 4);
/// let batch = scan.batch(12, 3)?;
/// assert_eq!(batch.len(), 25);
/// assert_eq!(batch, Scan::new(ScanOrder::Shuffled, 7, 103, 25)?.batch(12, 3)?);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scan {
    order: ScanOrder,
    seed: u64,
    rows: u32,
    batch: usize,
    /// The epoch and its permutation.
    shuffled: Option<(u64, Vec<u32>)>,
}

const PERMUTATION: Purpose = Purpose::new("scan");
const REPLACEMENT: Purpose = Purpose::new("scan-iid");

impl Scan {
    /// A scan over `rows` rows in batches of `batch`.
    ///
    /// # Errors
    /// [`SamplerError::Batch`] unless 1 <= `batch` <= `rows`.
    pub fn new(order: ScanOrder, seed: u64, rows: u32, batch: usize) -> Result<Self, SamplerError> {
        if batch == 0 || batch > rows as usize {
            return Err(SamplerError::Batch { batch, rows });
        }
        Ok(Self {
            order,
            seed,
            rows,
            batch,
            shuffled: None,
        })
    }

    /// Whole batches in the data.
    pub fn steps_per_epoch(&self) -> u64 {
        u64::from(self.rows) / self.batch as u64
    }

    /// The rows of one step, `[batch]`.
    ///
    /// # Errors
    /// [`SamplerError::Step`] if `step` >= [`steps_per_epoch`](Self::steps_per_epoch).
    pub fn batch(&mut self, epoch: u64, step: u64) -> Result<Vec<u32>, SamplerError> {
        let steps = self.steps_per_epoch();
        if step >= steps {
            return Err(SamplerError::Step { step, steps });
        }
        Ok(match self.order {
            ScanOrder::Shuffled => {
                let (first, batch) = (step as usize * self.batch, self.batch);
                self.permutation(epoch)[first..first + batch].to_vec()
            }
            ScanOrder::WithReplacement => {
                let mut stream = Stream::new(self.seed, REPLACEMENT, [epoch, step]);
                (0..self.batch).map(|_| stream.below(self.rows)).collect()
            }
        })
    }

    fn permutation(&mut self, epoch: u64) -> &[u32] {
        let (seed, rows) = (self.seed, self.rows);
        let permutation = || {
            (
                epoch,
                Stream::new(seed, PERMUTATION, [epoch, 0]).permutation(rows),
            )
        };
        if self.shuffled.as_ref().is_some_and(|(of, _)| *of != epoch) {
            self.shuffled = None;
        }
        &self.shuffled.get_or_insert_with(permutation).1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_shuffled_epoch_visits_rows_once_and_drops_the_last_partial_batch(rows in 1u32..200, batch in 1usize..50, seed: u64) {
            prop_assume!(batch <= rows as usize);
            let mut scan = Scan::new(ScanOrder::Shuffled, seed, rows, batch).unwrap();
            let mut seen = std::collections::HashSet::new();
            for step in 0..scan.steps_per_epoch() {
                let visited = scan.batch(5, step).unwrap();
                prop_assert_eq!(visited.len(), batch);
                prop_assert!(visited.iter().all(|&row| row < rows && seen.insert(row)));
            }
            prop_assert!(seen.len() + batch > rows as usize);
        }

        #[test]
        fn a_batch_depends_on_its_epoch_and_step_only(seed: u64, shuffled: bool) {
            let order = if shuffled { ScanOrder::Shuffled } else { ScanOrder::WithReplacement };
            let new = || Scan::new(order, seed, 40, 7).unwrap();
            let mut used = new();
            for (epoch, step) in [(0, 0), (3, 4), (0, 1), (3, 0), (2, 2)] {
                prop_assert_eq!(used.batch(epoch, step).unwrap(), new().batch(epoch, step).unwrap());
            }
            prop_assert_ne!(used.batch(0, 0).unwrap(), used.batch(1, 0).unwrap());
        }
    }

    #[test]
    fn replacement_repeats_rows_and_reaches_all() {
        let mut scan = Scan::new(ScanOrder::WithReplacement, 1, 10, 10).unwrap();
        let first = scan.batch(0, 0).unwrap();
        assert!(first.iter().collect::<std::collections::HashSet<_>>().len() < 10);
        let mut seen = [false; 10];
        (0..30).for_each(|epoch| {
            scan.batch(epoch, 0)
                .unwrap()
                .iter()
                .for_each(|&row| seen[row as usize] = true)
        });
        assert_eq!(seen, [true; 10]);
    }

    #[test]
    fn values_are_stable() {
        let mut scan = Scan::new(ScanOrder::Shuffled, 1, 9, 4).unwrap();
        let mut replaced = Scan::new(ScanOrder::WithReplacement, 1, 9, 4).unwrap();
        assert_eq!(
            [scan.batch(2, 1).unwrap(), replaced.batch(2, 1).unwrap()],
            GOLDEN
        );
    }
    const GOLDEN: [[u32; 4]; 2] = [[6, 0, 3, 2], [7, 0, 8, 1]];

    #[test]
    fn what_cannot_be_scanned_is_refused() {
        assert!(matches!(
            Scan::new(ScanOrder::Shuffled, 1, 9, 10),
            Err(SamplerError::Batch { batch: 10, rows: 9 })
        ));
        assert!(matches!(
            Scan::new(ScanOrder::Shuffled, 1, 9, 0),
            Err(SamplerError::Batch { .. })
        ));
        let mut scan = Scan::new(ScanOrder::Shuffled, 1, 9, 4).unwrap();
        assert!(matches!(
            scan.batch(0, 2),
            Err(SamplerError::Step { step: 2, steps: 2 })
        ));
    }
}
