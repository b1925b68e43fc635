//! The importance-sampled negative log-likelihood.

use std::ops::Range;

use helmholtz_datasets::Data;
use helmholtz_estimators::{Joint, Propose};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::accumulate::{LogMean, mean_and_error};
use crate::batch_of;
use crate::groups::by_groups;
use crate::interleaved::Interleaved;

/// Samples of a datum at a time: with a group of data 250 rows, which keep the matrix products at full speed and their output in
/// the cache. Fixed, because they name the streams.
const BLOCK: usize = 25;

/// What to evaluate with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// S, samples a datum.
    pub samples: usize,
    /// Names the streams, with `purpose`, datum and block of samples.
    pub seed: u64,
    /// Keeps the streams of different splits apart.
    pub purpose: Purpose,
    /// Threads to spread the data over; 1 on a GPU.
    pub threads: usize,
}

/// A negative log-likelihood, in nats a datum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nll {
    /// The mean over data of −ln (1/S) Σ_s p(x, h_s) / q(h_s | x).
    pub mean: f64,
    /// Its standard error over data: the spread of data, not of seeds.
    pub standard_error: f64,
    /// The evidence lower bound from the same samples, mean over data and samples of ln p(x, h_s) / q(h_s | x).
    pub elbo: f64,
    /// Data.
    pub images: usize,
    /// S.
    pub samples: usize,
}

/// The log-weights of one datum's samples, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogWeights {
    /// ln (1/S) Σ_s p(x, h_s) / q(h_s | x), nats.
    pub log_mean: f64,
    /// (1/S) Σ_s ln p(x, h_s) / q(h_s | x), nats.
    pub mean_log: f64,
}

impl Nll {
    /// Of `weights`, `[data, samples]`, as [`log_weights_at`] gives them: an NLL for each number of samples.
    pub fn each(weights: &[LogWeights], samples: &[usize]) -> Vec<Self> {
        let column = |(column, &count): (usize, &usize)| {
            let own = weights.iter().skip(column).step_by(samples.len());
            Self::of(&own.copied().collect::<Vec<_>>(), count)
        };
        samples.iter().enumerate().map(column).collect()
    }

    /// Of these data, with S samples each.
    pub fn of(data: &[LogWeights], samples: usize) -> Self {
        let (mean, standard_error) = mean_and_error(data.iter().map(|datum| -datum.log_mean));
        let (elbo, _) = mean_and_error(data.iter().map(|datum| datum.mean_log));
        Self {
            mean,
            standard_error,
            elbo,
            images: data.len(),
            samples,
        }
    }
}

/// −ln (1/S) Σ_s p(x, h_s) / q(h_s | x), h_s ~ q, over the data (Burda, Grosse & Salakhutdinov 2016). An upper bound in
/// expectation, tighter with S.
///
/// `progress` is called with the number of data just finished, from any thread, and with 0 in between; if it answers false the
/// evaluation stops and gives `None`. There is nothing to evaluate in no data or with no samples: `None` too.
pub fn nll<B, M>(
    model: &M,
    data: &(impl Data + ?Sized),
    evaluation: &Evaluation,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Nll>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Clone + Send,
{
    if data.is_empty() {
        return None;
    }
    let all = 0..data.len();
    let weights = log_weights::<B, M>(model, data, all, evaluation, device, progress)?;
    Some(Nll::of(&weights, evaluation.samples))
}

/// What [`nll`] takes the mean of, for some of the data: of a long evaluation that is to survive an interruption, a part. Parts
/// that start at multiples of 10 give the same bits together as the whole.
///
/// `progress` is as for [`nll`]. With no samples there is nothing to take a mean of: `None` too.
///
/// # Panics
/// If there are no such data.
pub fn log_weights<B, M>(
    model: &M,
    data: &(impl Data + ?Sized),
    rows: Range<usize>,
    evaluation: &Evaluation,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<LogWeights>>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Clone + Send,
{
    let samples = [evaluation.samples];
    log_weights_at::<B, M>(model, data, rows, evaluation, &samples, device, progress)
}

/// [`log_weights`] for several numbers of samples in one pass of the largest, `[data, samples]`: the first S samples give what an
/// evaluation with S alone gives, bit for bit. `evaluation.samples` is not looked at.
///
/// Samples are drawn in blocks of 25, each from a stream of its own, so running sums are read off at the end of a
/// block. An S that ends within a block has that block drawn once more with as many samples as it has there. From the
/// second layer on, the size of a block decides which numbers of the stream are whose.
///
/// # Panics
/// If there are no such data.
pub fn log_weights_at<B, M>(
    model: &M,
    data: &(impl Data + ?Sized),
    rows: Range<usize>,
    evaluation: &Evaluation,
    samples: &[usize],
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<LogWeights>>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Clone + Send,
{
    if samples.is_empty() || samples.contains(&0) {
        return None;
    }
    let none = LogWeights {
        log_mean: f64::NAN,
        mean_log: f64::NAN,
    };
    by_groups(rows, samples.len(), evaluation.threads, none, || {
        let (model, device) = (model.clone(), device.clone());
        move |group, found| {
            let count = group.len();
            let group = Group {
                model: &model,
                x: batch_of::<B>(data, group.clone(), &device),
                data: group,
                evaluation,
            };
            group.log_weights(samples, found, &|| progress(0)) && progress(count)
        }
    })
}

/// A few data that are evaluated together.
struct Group<'a, B: Backend, M> {
    model: &'a M,
    x: Values<B>,
    data: Range<usize>,
    evaluation: &'a Evaluation,
}

impl<B, M> Group<'_, B, M>
where
    B: Backend,
    M: Propose<B> + Joint<B>,
{
    /// Fills `found`, `[data, samples]`, as long as `goes_on`; whether it is filled.
    fn log_weights(
        &self,
        samples: &[usize],
        found: &mut [LogWeights],
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        let encoded = self.model.encode(self.x.clone());
        let mut sums = vec![LogMean::EMPTY; self.data.len()];
        let largest = samples.iter().copied().max().unwrap_or(0);
        for (block, first) in (0..largest).step_by(BLOCK).enumerate() {
            if !goes_on() {
                return false;
            }
            let end = first + BLOCK;
            for (column, &count) in samples.iter().enumerate() {
                if first < count && count < end {
                    let mut within = sums.clone();
                    self.add(&encoded, block, count - first, &mut within);
                    read_off(&within, column, samples.len(), found);
                }
            }
            if end <= largest {
                self.add(&encoded, block, BLOCK, &mut sums);
            }
            for (column, &count) in samples.iter().enumerate() {
                if count == end {
                    read_off(&sums, column, samples.len(), found);
                }
            }
        }
        true
    }

    /// Adds the log-weights of `particles` samples a datum, from the streams of this block.
    fn add(&self, encoded: &M::Encoded, block: usize, particles: usize, sums: &mut [LogMean]) {
        let Evaluation { seed, purpose, .. } = *self.evaluation;
        let stream = |datum: usize| Stream::new(seed, purpose, [datum as u64, block as u64]);
        let batch = self.data.len();
        let mut streams: Vec<Stream> = self.data.clone().map(stream).collect();
        let mut noise = Interleaved {
            streams: &mut streams,
            rows: particles * batch,
        };
        let proposals = self.model.propose(encoded, None, particles, &mut noise);
        let log_p = self.model.log_joint(self.x.clone(), &proposals.particles);
        let log_w = (log_p - proposals.log_q).into_data();
        for (row, log_w) in log_w.iter::<f64>().enumerate() {
            sums[row % batch].push(log_w);
        }
    }
}

/// Writes what the sums of some data give into a column of `found`.
fn read_off(sums: &[LogMean], column: usize, columns: usize, found: &mut [LogWeights]) {
    for (datum, found) in sums.iter().zip(found.chunks_mut(columns)) {
        found[column] = LogWeights {
            log_mean: datum.log_mean(),
            mean_log: datum.mean_log(),
        };
    }
}
