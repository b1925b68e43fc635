//! Measures of a tracker: reconstruction, density and tracking, after each sweep.

use burn::module::{AutodiffModule, Module};
use helmholtz_apg::Streams;
use helmholtz_ops::AutodiffBackend;
use helmholtz_tracker::{Bounce, Canvas, Identities, Sampling, Scheme, Sequence, Tracker};
use serde::{Deserialize, Serialize};

use super::hamiltonian::chains;
use super::watched::{Frame, Watched, watch};
use super::{Digits, Settings};
use crate::error::HarnessError;
use crate::framework::failed;
use crate::population::Measured;
use crate::population::TABLE;
use crate::population::batches::Batch;
use crate::population::hamiltonian::Moves;
use crate::population::populations::{learned_sweeps, mean, sampler};
use crate::population::stepwise::Measuring;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The sampler.
    pub sampler: String,
    /// T.
    pub frames: usize,
    /// D.
    pub digits: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// Reconstruction, summed over pixels.
    pub mse: Measured,
    /// Nats a sequence.
    pub log_joint: Measured,
    /// Tracking, pixels.
    pub error: Measured,
    /// Amount by which the last row of its setting is better on the row's own sequences, pairwise: in reconstruction and in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<[Measured; 2]>,
    /// The share of moves that were accepted, and the step size, of Hamiltonian Monte Carlo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<[f64; 2]>,
}

/// Measurements at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Each setting: the one-shot proposal alone with as many particles as the last sweep has used in all. Then block population Gibbs;
    /// Hamiltonian Monte Carlo, and the sampler after the one-shot proposal and after each sweep that the table shows.
    pub rows: Vec<Row>,
    /// The mean reconstruction error after each sweep, setting by setting.
    pub curves: Vec<Vec<f64>>,
}

/// A sequence with what is seen of it.
pub struct Pictured {
    /// The canvas.
    pub canvas: Canvas,
    /// Rows of frames, each with the digits' positions: the data with the true ones, then reconstructions after one shot and after the
    /// sweeps of the table.
    pub rows: Vec<Vec<Frame>>,
}

/// Measures a trained model on sequences of test images, and keeps one of each setting to be shown.
///
/// # Errors
/// Sequences that cannot be made, weights that are none, and what `on_progress` says.
pub fn evaluate<B: AutodiffBackend>(
    settings: &Settings,
    model: &Tracker<B>,
    test: &Digits,
    device: &B::Device,
    measuring: &Measuring<'_>,
) -> Result<(Evaluation, Vec<Pictured>), HarnessError> {
    let e = &settings.evaluation;
    let (mut evaluation, mut shown) = (Evaluation::default(), Vec::new());
    for &[frames, digits] in &e.settings {
        let bounce = settings.bounce(frames, digits);
        let setting = Setting {
            settings,
            model,
            inner: model.valid(),
            test,
            identities: test.identities(&bounce, TABLE).map_err(failed)?,
            bounce,
            device,
            measuring,
        };
        let budget = e.particles * e.sweeps;
        let wide = setting.population("RWS", Scheme::Apg, budget, 1)?;
        let learned = learned_sweeps(settings.training.sweeps, e.sweeps);
        let sweeps = setting.population("APG", Scheme::Apg, e.particles, learned)?;
        let mut rows = vec![setting.row("RWS", &wide[0], budget, 1)];
        let mut all = vec![wide[0].clone()];
        if e.prior_particles > 0 {
            let prior = setting.population("BPG", Scheme::Bpg, e.prior_particles, e.sweeps)?;
            rows.push(setting.row("BPG", &prior[e.sweeps - 1], e.prior_particles, e.sweeps));
            all.push(prior[e.sweeps - 1].clone());
        }
        for sampling in [Sampling::Nearest, Sampling::Bilinear] {
            for &leapfrog in &e.hmc.moves.leapfrog {
                let (row, watched) = setting.hamiltonian(sampling, leapfrog)?;
                rows.push(row);
                all.push(watched);
            }
        }
        let shown_sweeps = e.shown_sweeps.iter().copied();
        let asked = std::iter::once(1).chain(shown_sweeps.filter(|k| (2..=learned).contains(k)));
        let asked: Vec<usize> = asked.collect();
        let shown_sweeps = asked.iter();
        rows.extend(shown_sweeps.map(|&k| setting.row("APG", &sweeps[k - 1], e.particles, k)));
        all.extend(asked.iter().map(|&k| sweeps[k - 1].clone()));
        if let Some((last, others)) = all.split_last() {
            let pairs = rows.iter_mut().zip(others);
            pairs.for_each(|(row, own)| row.behind = Some(behind(own, last)));
        }
        evaluation.rows.extend(rows);
        let curve = sweeps.iter().map(|watched| mean(&watched.mse));
        evaluation.curves.push(curve.collect());
        let truth = setting.sequences(&[0]).remove(0);
        let data = truth.frames.into_iter().enumerate();
        let data = data.map(|(t, frame)| {
            let positions = truth.positions.iter().map(|path| path[t]).collect();
            (frame, positions)
        });
        let found = asked.iter().map(|&k| sweeps[k - 1].shown.clone());
        shown.push(Pictured {
            canvas: setting.bounce.canvas,
            rows: std::iter::once(data.collect()).chain(found).collect(),
        });
    }
    Ok((evaluation, shown))
}

/// Returns by how much `best` is better on the sequences of `own`, which are the first of its: in reconstruction and in nats.
fn behind(own: &Watched, best: &Watched) -> [Measured; 2] {
    let less = |more: &[f64], less: &[f64]| {
        let pairs = more.iter().zip(less);
        Measured::of(&pairs.map(|(more, less)| more - less).collect::<Vec<_>>())
    };
    let count = own.log_joint.len();
    [
        less(&own.mse, &best.mse),
        less(&best.log_joint[..count], &own.log_joint),
    ]
}

/// One T and D.
struct Setting<'a, B: AutodiffBackend> {
    settings: &'a Settings,
    model: &'a Tracker<B>,
    inner: Tracker<B::InnerBackend>,
    test: &'a Digits,
    bounce: Bounce,
    identities: Identities,
    device: &'a B::Device,
    measuring: &'a Measuring<'a>,
}

impl<B: AutodiffBackend> Setting<'_, B> {
    fn sequences(&self, numbers: &[u64]) -> Vec<Sequence> {
        let of = |&number| {
            self.test
                .sequence(&self.bounce, TABLE, number, &self.identities)
        };
        numbers.iter().map(of).collect()
    }

    /// Watches the first sequences, some at a time.
    fn each<T: Send>(
        &self,
        label: &str,
        [count, batch]: [u64; 2],
        watch: impl Fn(&[Sequence], u64) -> Batch<Watched, T> + Sync,
    ) -> Batch<Watched, Vec<T>> {
        let Bounce { frames, digits, .. } = self.bounce;
        let what = format!("{label}, T = {frames}, D = {digits}: sequence");
        let all: Vec<u64> = (0..count).collect();
        self.measuring
            .in_batches(&what, &all, batch as usize, |_, numbers| {
                watch(&self.sequences(numbers), numbers[0])
            })
    }

    fn population(
        &self,
        label: &str,
        scheme: Scheme,
        particles: usize,
        sweeps: usize,
    ) -> Result<Vec<Watched>, HarnessError> {
        let e = &self.settings.evaluation;
        let sampler = sampler(particles, sweeps);
        let watched = self.each(label, [e.sequences, e.batch], |sequences, from| {
            let seed = self.settings.seed;
            let name = format!("{label}, sequences from {from} of the table, seed {seed}");
            let mut streams = Streams::new(TABLE, from).named(name);
            let (model, bounce) = (&self.inner, &self.bounce);
            let piece = format!("{bounce:?}, {label}, {scheme:?}, {particles}, {sweeps}, {from}");
            let watched = self.measuring.pieces.get(&piece, || {
                watch(
                    model,
                    scheme,
                    &sampler,
                    bounce,
                    sequences,
                    &mut streams,
                    self.device,
                )
                .map_err(failed)
            })?;
            Ok((watched, ()))
        })?;
        Ok(watched.0)
    }

    /// HMC-RWS after as many moves as the sampler makes sweeps.
    fn hamiltonian(
        &self,
        sampling: Sampling,
        leapfrog: usize,
    ) -> Result<(Row, Watched), HarnessError> {
        let e = &self.settings.evaluation;
        let placement = match sampling {
            Sampling::Nearest => "nearest",
            Sampling::Bilinear => "bilinear",
        };
        let label = format!("HMC-RWS, LF = {leapfrog}, {placement}");
        let model = self.model.clone().no_grad();
        let counts = [e.hmc.sequences.min(e.sequences), e.hmc.batch];
        let (mut watched, moves) = self.each(&label, counts, |sequences, from| {
            let hmc = (&e.hmc.moves, leapfrog, sampling);
            let lengths = [e.particles, e.sweeps - 1];
            let models = (&model, &self.inner);
            let piece = format!("{:?}, {label}, {lengths:?}, {from}", self.bounce);
            let measured = || {
                let bounce = &self.bounce;
                chains(models, hmc, bounce, sequences, lengths, from, self.device)
            };
            let (watched, own) = self.measuring.pieces.get(&piece, measured)?;
            Ok((vec![watched], own))
        })?;
        let watched = watched.remove(0);
        let mut row = self.row(&label, &watched, e.particles, e.sweeps);
        row.accepted = Some(Moves::mean(&moves));
        Ok((row, watched))
    }

    fn row(&self, sampler: &str, watched: &Watched, particles: usize, sweeps: usize) -> Row {
        Row {
            sampler: sampler.into(),
            frames: self.bounce.frames,
            digits: self.bounce.digits,
            sweeps,
            particles,
            mse: Measured::of(&watched.mse),
            log_joint: Measured::of(&watched.log_joint),
            error: Measured::of(&watched.error),
            behind: None,
            accepted: None,
        }
    }
}
