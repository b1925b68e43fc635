//! The importance-sampled negative log-likelihood.

use std::ops::Range;
use std::thread;

use helmholtz_datasets::Images;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Joint, Propose};
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

use crate::accumulate::{LogMean, mean_and_error};
use crate::batch_of;

/// Data evaluated together, and samples of each at a time: 250 rows keep the matrix products at full speed and their
/// output in the cache. Fixed, because they name the streams: the result depends on neither threads nor memory.
const GROUP: usize = 10;
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogWeights {
    /// ln (1/S) Σ_s p(x, h_s) / q(h_s | x), nats.
    pub log_mean: f64,
    /// (1/S) Σ_s ln p(x, h_s) / q(h_s | x), nats.
    pub mean_log: f64,
}

impl Nll {
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

/// −ln (1/S) Σ_s p(x, h_s) / q(h_s | x), h_s ~ q, over `images` (Burda, Grosse & Salakhutdinov 2016). An upper bound in
/// expectation, tighter with S.
///
/// `progress` is called with the number of data just finished, from any thread; if it answers false the evaluation
/// stops and gives `None`. There is nothing to evaluate in no images or with no samples: `None` too.
pub fn nll<B, M>(
    model: &M,
    images: &Images,
    evaluation: &Evaluation,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Nll>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Clone + Send,
{
    if images.is_empty() {
        return None;
    }
    let all = 0..images.len();
    let data = log_weights::<B, M>(model, images, all, evaluation, device, progress)?;
    Some(Nll::of(&data, evaluation.samples))
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
    images: &Images,
    data: Range<usize>,
    evaluation: &Evaluation,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<LogWeights>>
where
    B: Backend,
    M: Propose<B> + Joint<B> + Clone + Send,
{
    if evaluation.samples == 0 {
        return None;
    }
    let mut sums = vec![LogMean::EMPTY; data.len()];
    let groups = data.len().div_ceil(GROUP);
    let share = groups.div_ceil(evaluation.threads.max(1)).max(1) * GROUP;
    let finished = thread::scope(|scope| {
        let workers: Vec<_> = sums
            .chunks_mut(share)
            .enumerate()
            .map(|(worker, sums)| {
                let model = model.clone();
                let device = device.clone();
                scope.spawn(move || {
                    for (index, sums) in sums.chunks_mut(GROUP).enumerate() {
                        let first = data.start + worker * share + index * GROUP;
                        let data = first..first + sums.len();
                        group::<B, M>(&model, images, data, evaluation, &device, sums);
                        if !progress(sums.len()) {
                            return false;
                        }
                    }
                    true
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.fold(true, |all, one| match one {
            Ok(finished) => all & finished,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    let weights = |datum: &LogMean| LogWeights {
        log_mean: datum.log_mean(),
        mean_log: datum.mean_log(),
    };
    finished.then(|| sums.iter().map(weights).collect())
}

/// Evaluates a few data together.
fn group<B, M>(
    model: &M,
    images: &Images,
    data: Range<usize>,
    evaluation: &Evaluation,
    device: &B::Device,
    sums: &mut [LogMean],
) where
    B: Backend,
    M: Propose<B> + Joint<B>,
{
    let batch = data.len();
    let x = batch_of::<B>(images, data.clone(), device);
    let encoded = model.encode(x.clone());
    for (block, first) in (0..evaluation.samples).step_by(BLOCK).enumerate() {
        let particles = BLOCK.min(evaluation.samples - first);
        let stream = |datum: usize| {
            Stream::new(
                evaluation.seed,
                evaluation.purpose,
                [datum as u64, block as u64],
            )
        };
        let mut noise = Interleaved {
            streams: data.clone().map(stream).collect(),
            rows: particles * batch,
        };
        let proposals = model.propose(&encoded, None, particles, &mut noise);
        let log_p = model.log_joint(x.clone(), &proposals.particles);
        let log_w = (log_p - proposals.log_q).into_data();
        for (row, log_w) in log_w.iter::<f64>().enumerate() {
            sums[row % batch].push(log_w);
        }
    }
}

/// One stream a datum: row n of a draw comes from the stream of datum `n mod batch`.
struct Interleaved {
    streams: Vec<Stream>,
    rows: usize,
}

impl Noise for Interleaved {
    fn fill(&mut self, out: &mut [f32]) {
        let width = out.len() / self.rows;
        let batch = self.streams.len();
        for (n, row) in out.chunks_exact_mut(width).enumerate() {
            self.streams[n % batch].fill_uniform_f32(row);
        }
    }
}
