//! Measurements of many instances, some at a time.

use super::stepwise::Measuring;
use crate::error::HarnessError;
use helmholtz_apg::on_threads;

/// What is watched of a sampler at one place of its course, with numbers for each instance.
pub trait Join {
    /// Adds the instances of another batch.
    fn join(&mut self, other: Self);
}

/// What is watched in the course of a batch, and what else there is to say of the batch.
pub type Batch<W, T> = Result<(Vec<W>, T), HarnessError>;

impl Measuring<'_> {
    /// What is watched on all instances, and what else there is to say of each batch. `of` takes the number of a batch and its instances;
    /// `what` names these to the listener.
    ///
    /// # Errors
    /// Those of `of` and of the listener.
    pub fn in_batches<W: Join + Send, T: Send>(
        &self,
        what: &str,
        instances: &[u64],
        batch: usize,
        of: impl Fn(usize, &[u64]) -> Batch<W, T> + Sync,
    ) -> Batch<W, Vec<T>> {
        let batches: Vec<&[u64]> = instances.chunks(batch).collect();
        let parts = on_threads(batches.len(), self.threads, |index| {
            let (own, all) = (batches[index], instances.len());
            let done = index * batch + own.len();
            (self.on_progress)(&format!("{what} {done} of {all}"))?;
            of(index, own)
        });
        let (mut all, mut others) = (Vec::<W>::new(), Vec::new());
        for part in parts {
            let (part, other) = part?;
            others.push(other);
            match all.is_empty() {
                true => all = part,
                false => all
                    .iter_mut()
                    .zip(part)
                    .for_each(|(all, part)| all.join(part)),
            }
        }
        Ok((all, others))
    }
}
