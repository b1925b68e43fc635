//! The likelihood by tempered sequential Monte Carlo from q, and a bracket around it.

mod moves;
#[cfg(test)]
mod tests;

use std::ops::Range;

use burn::tensor::Tensor;
use helmholtz_datasets::Data;
use helmholtz_distributions::Noise;
use helmholtz_estimators::{Dream, Joint, Layered, Particles};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::{Chance, Purpose, Stream};
use helmholtz_samplers::log_sum_exp;
use helmholtz_samplers::resampling::{Policy, Resampler, Systematic};

use crate::batch_of;
use crate::groups::by_groups;
use crate::interleaved::Interleaved;
use moves::{Moves, State};
use serde::{Deserialize, Serialize};

/// A population that is taken from q(h | x) to p(h | x) on the ladder β_t = t / T, of the densities
///
/// > π_β(h) ∝ q(h | x)^{1 − β} p(x, h)^β.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tempering {
    /// L, particles a datum.
    pub particles: usize,
    /// T, steps from q to p; with 1 it is importance sampling with L samples.
    pub steps: usize,
    /// Names the streams, with `purpose` and datum.
    pub seed: u64,
    /// Keeps the streams of different splits apart.
    pub purpose: Purpose,
    /// Threads to spread the data over; 1 on a GPU.
    pub threads: usize,
}

impl Tempering {
    /// Evaluations of p(x, h) for a datum, in a model of so many layers: L (1 + (T − 1) layers).
    pub fn evaluations(&self, layers: usize) -> usize {
        self.particles * (1 + self.steps.saturating_sub(1) * layers)
    }
}

/// Log-evidence of a datum drawn from the model, nats: below ln p(x) in expectation, and above.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// As [`tempered_log_evidence`] gives it.
    pub lower: f64,
    /// From the reverse chains.
    pub upper: f64,
}

/// ln p̂(x) of some of the data, nats, by sequential Monte Carlo from q (Neal 2001; Del Moral, Doucet & Jasra 2006): p̂(x) is unbiased for
/// p(x). So ln p̂(x) is below ln p(x) in expectation, and closer to it than importance sampling with as many
/// evaluations where q is far from the posterior.
///
/// A step to β_t weighs a particle by (p(x, h) / q(h | x))^{β_t − β_{t−1}}. A datum's particles are resampled (systematic) where
/// their effective number falls below a half. Then a move in each layer: some variables are drawn anew from q, and the change is
/// accepted by the Metropolis-Hastings test for π_β.
///
/// `progress` is as for [`nll`](crate::nll()). With no particles or no steps: `None` too. Parts that start at multiples of 10 give the same
/// bits together as the whole.
///
/// # Panics
/// If there are no such data.
pub fn tempered_log_evidence<B, M>(
    model: &M,
    data: &(impl Data + ?Sized),
    rows: Range<usize>,
    tempering: &Tempering,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<f64>>
where
    B: Backend,
    M: Layered<B> + Joint<B> + Clone + Send,
{
    tempering.is_some_work().then_some(())?;
    by_groups(rows, 1, tempering.threads, f64::NAN, || {
        let (model, device) = (model.clone(), device.clone());
        move |group, found| {
            let moves = Moves::new(&model, batch_of::<B>(data, group.clone(), &device));
            let mut streams = tempering.streams(&group, 0);
            let goes_on = &|| progress(0);
            let log_evidence = forward(&moves, tempering, &Systematic, &mut streams, goes_on);
            log_evidence.is_some_and(|log_evidence| {
                found.copy_from_slice(&log_evidence);
                progress(group.len())
            })
        }
    })
}

/// Both bounds on data drawn from the model, in place of these rows: bidirectional Monte Carlo (Grosse, Ghahramani & Adams 2015).
///
/// A draw (x, h) ~ p has an exact sample of the posterior. From it L chains go the ladder down, by the same moves in reverse order. The
/// mean over chains of the inverse weights, (1/L) Σ_l Π_t (p(x, h_lt) / q(h_lt | x))^{β_{t−1} − β_t}, is unbiased for 1 / p(x). So minus its
/// logarithm is above ln p(x) in expectation, as `lower` ([`tempered_log_evidence`]) is below. Means over data hold the mean of ln p(x)
/// between them, in nats.
///
/// A model of a part of x given the rest takes the rest from the rows. `None` without particles or steps, or if `progress` says no.
///
/// # Panics
/// If there are no such data.
pub fn bounds<B, M>(
    model: &M,
    data: &(impl Data + ?Sized),
    rows: Range<usize>,
    tempering: &Tempering,
    device: &B::Device,
    progress: &(dyn Fn(usize) -> bool + Sync),
) -> Option<Vec<Bounds>>
where
    B: Backend,
    M: Layered<B> + Joint<B> + Dream<B> + Clone + Send,
{
    tempering.is_some_work().then_some(())?;
    let none = Bounds {
        lower: f64::NAN,
        upper: f64::NAN,
    };
    by_groups(rows, 1, tempering.threads, none, || {
        let (model, device) = (model.clone(), device.clone());
        move |group, found| {
            let mut streams = tempering.streams(&group, 1);
            let mut noise = Interleaved {
                streams: &mut streams,
                rows: group.len(),
            };
            let x = batch_of::<B>(data, group.clone(), &device);
            let (x, h) = model.dream(x, &mut noise);
            let moves = Moves::new(&model, x);
            let goes_on = &|| progress(0);
            let Some(lower) = forward(&moves, tempering, &Systematic, &mut streams, goes_on) else {
                return false;
            };
            let Some(upper) = backward(&moves, h, tempering, &mut streams, goes_on) else {
                return false;
            };
            for ((found, lower), upper) in found.iter_mut().zip(lower).zip(upper) {
                *found = Bounds { lower, upper };
            }
            progress(group.len())
        }
    })
}

impl Tempering {
    fn is_some_work(&self) -> bool {
        self.particles > 0 && self.steps > 0
    }

    fn streams(&self, data: &Range<usize>, use_of: u64) -> Vec<Stream> {
        let stream = |datum| Stream::new(self.seed, self.purpose, [datum as u64, use_of]);
        data.clone().map(stream).collect()
    }

    /// β_t.
    fn beta(&self, step: usize) -> f64 {
        step as f64 / self.steps as f64
    }
}

/// ln p̂(x) of each datum; none once it no longer `goes_on`.
fn forward<B, M, C>(
    moves: &Moves<B, M>,
    tempering: &Tempering,
    resampler: &impl Resampler<C>,
    chance: &mut [C],
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<f64>>
where
    B: Backend,
    M: Layered<B> + Joint<B>,
    C: Noise + Chance,
{
    let (particles, batch) = (tempering.particles, moves.batch());
    let mut state = moves.draw(particles, chance);
    let mut log_weights = vec![vec![0.0; particles]; batch];
    let mut log_evidence = vec![0.0; batch];
    for step in 1..=tempering.steps {
        goes_on().then_some(())?;
        let by = tempering.beta(step) - tempering.beta(step - 1);
        for (row, log_ratio) in state.log_ratios().enumerate() {
            log_weights[row % batch][row / batch] += by * log_ratio;
        }
        if step < tempering.steps {
            let evidence = (&mut log_weights[..], &mut log_evidence[..]);
            resample(&mut state, evidence, resampler, chance);
            for level in 0..moves.levels() {
                moves.refresh(level, tempering.beta(step), &mut state, chance);
            }
        }
    }
    let last = log_weights.iter().map(|own| log_mean(own));
    let both = log_evidence.into_iter().zip(last);
    Some(both.map(|(sum, last)| sum + last).collect())
}

/// Resamples the particles of data whose weights have become uneven, and adds the means of those weights to the evidence.
fn resample<B: Backend, C>(
    state: &mut State<B>,
    (log_weights, log_evidence): (&mut [Vec<f64>], &mut [f64]),
    resampler: &impl Resampler<C>,
    chance: &mut [C],
) {
    let batch = log_weights.len();
    let mut from: Vec<usize> = (0..state.rows()).collect();
    for (datum, own) in log_weights.iter_mut().enumerate() {
        if !Policy::EssBelow(0.5).wants(own) {
            continue;
        }
        let mut ancestors = vec![0; own.len()];
        // Without a weight above zero there is nothing to choose among: the evidence is zero, and stays so.
        if resampler
            .resample(own, &mut chance[datum], &mut ancestors)
            .is_err()
        {
            continue;
        }
        log_evidence[datum] += log_mean(own);
        own.fill(0.0);
        for (particle, ancestor) in ancestors.into_iter().enumerate() {
            from[particle * batch + datum] = ancestor as usize * batch + datum;
        }
    }
    state.take(&from);
}

/// A stochastic upper bound of ln p(x) of each datum, from exact samples h of its posterior; none once it no longer `goes_on`.
fn backward<B, M, C>(
    moves: &Moves<B, M>,
    h: Particles<B>,
    tempering: &Tempering,
    chance: &mut [C],
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<f64>>
where
    B: Backend,
    M: Layered<B> + Joint<B>,
    C: Noise + Chance,
{
    let (particles, batch) = (tempering.particles, moves.batch());
    let rows = particles * batch;
    let copies = h.layers().iter().map(|layer| layer.cycle(rows)).collect();
    let mut state = moves.state(Particles::new::<Values<B>>(copies));
    let mut log_weights = vec![vec![0.0; particles]; batch];
    for step in (1..=tempering.steps).rev() {
        goes_on().then_some(())?;
        let by = tempering.beta(step) - tempering.beta(step - 1);
        for (row, log_ratio) in state.log_ratios().enumerate() {
            log_weights[row % batch][row / batch] -= by * log_ratio;
        }
        if step > 1 {
            for level in (0..moves.levels()).rev() {
                moves.refresh(level, tempering.beta(step - 1), &mut state, chance);
            }
        }
    }
    Some(log_weights.iter().map(|own| -log_mean(own)).collect())
}

fn log_mean(log_weights: &[f64]) -> f64 {
    log_sum_exp(log_weights) - (log_weights.len() as f64).ln()
}

/// The numbers of a tensor on the host.
fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}
