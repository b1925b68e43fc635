//! What is measured of a tracker: reconstruction, density and tracking, after each sweep.

use burn::tensor::Tensor;
use helmholtz_apg::{ApgError, Model, Population, Sampler, Streams};
use helmholtz_ops::Backend;
use helmholtz_samplers::resampling::Systematic;
use helmholtz_tracker::{Bounce, Canvas, Scheme, Sequence, Tracker, TrackerState, tracking_error};
use serde::{Deserialize, Serialize};

use super::digits::video;
use super::training::borrowed;
use super::{Digits, Settings, TABLE};
use crate::apg_gmm::training::{mean, sampler};
use crate::error::HarnessError;
use crate::runner::failed;
use crate::stepwise::Measured;

/// Frames of a sequence that are shown.
const SHOWN_FRAMES: usize = 10;

/// A frame's pixels, and the positions of the digits in it.
pub type Frame = (Vec<f32>, Vec<[f64; 2]>);

/// What a population is worth, for each sequence.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Σ over pixels of (x − E ρ)², mean over frames.
    pub mse: Vec<f64>,
    /// Σ_l W_l log p(x, z_l), nats.
    pub log_joint: Vec<f64>,
    /// The mean distance of the posterior means of positions from the true ones, pixels.
    pub error: Vec<f64>,
    /// ESS / L after the one-shot proposal or the last sweep, mean over sequences, and over frames.
    pub ess: Vec<(String, f64)>,
    /// The first sequence: reconstructed frames, and the digits' positions in each.
    pub shown: Vec<Frame>,
}

/// Runs the sampler on these sequences and watches its population after the one-shot proposal and after each sweep.
///
/// # Errors
/// Weights that are none.
pub fn watch<B: Backend>(
    model: &Tracker<B>,
    sampler: &Sampler<Systematic>,
    bounce: &Bounce,
    sequences: &[Sequence],
    streams: &mut Streams,
    device: &B::Device,
) -> Result<Vec<Watched>, ApgError> {
    let x = video::<B>(bounce, sequences, device);
    let blocks = Scheme::Apg.blocks(bounce.frames);
    let mut all = Vec::new();
    let run = sampler.run(
        model,
        &x,
        &borrowed(&blocks),
        streams,
        |place, population, _| {
            if place.sweep == 0 || place.block + 1 == blocks.len() {
                let log_joint = population.mean(model.log_joint(&x, population.state()));
                let mut watched = look(model, bounce, sequences, &x.frames, population);
                watched.log_joint = log_joint;
                all.push(watched);
            }
        },
    )?;
    let last = run.records.len().saturating_sub(blocks.len()).max(1);
    let share = |ess: &[f64]| mean(ess) / sampler.particles() as f64;
    let (frames, what) = run.records[last..].split_at(bounce.frames.min(run.records.len() - last));
    if let Some(watched) = all.last_mut() {
        watched.ess = vec![("one_shot".into(), share(&run.records[0].ess))];
        let shares: Vec<f64> = frames.iter().map(|record| share(&record.ess)).collect();
        if !shares.is_empty() {
            watched.ess.push(("where".into(), mean(&shares)));
        }
        if let Some(record) = what.first() {
            watched.ess.push(("what".into(), share(&record.ess)));
        }
    }
    Ok(all)
}

fn look<B: Backend>(
    model: &Tracker<B>,
    bounce: &Bounce,
    sequences: &[Sequence],
    frames: &Tensor<B, 3>,
    population: &Population<TrackerState<B>>,
) -> Watched {
    let (state, count) = (population.state(), sequences.len());
    let weights = population.log_weight_tensor(frames.dtype(), &frames.device());
    let weights = weights.exp();
    let digits = model.decode(&state.appearance);
    let mut watched = Watched {
        mse: vec![0.0; count],
        ..Watched::default()
    };
    let mut paths = vec![vec![Vec::new(); bounce.digits]; count];
    for t in 0..bounce.frames {
        let positions = state.positions(t);
        let expected = model.render(&digits, &positions) * weights.clone();
        let expected: Tensor<B, 2> = expected.sum_dim(0).squeeze_dim(0);
        let x: Tensor<B, 2> = frames.clone().narrow(1, t, 1).squeeze_dim(1);
        let squares = (x - expected.clone()).square().sum_dim(1);
        for (sum, square) in watched
            .mse
            .iter_mut()
            .zip(squares.into_data().iter::<f64>())
        {
            *sum += square / bounce.frames as f64;
        }
        let means: Tensor<B, 4> = positions * weights.clone().unsqueeze_dim(3);
        let means: Vec<f64> = means.sum_dim(0).into_data().iter().collect();
        let points: Vec<[f64; 2]> = means.chunks(2).map(|z| [z[0], z[1]]).collect();
        for (own, points) in paths.iter_mut().zip(points.chunks(bounce.digits)) {
            let pairs = own.iter_mut().zip(points);
            pairs.for_each(|(path, &point)| path.push(point));
        }
        if t < SHOWN_FRAMES {
            let first = expected.narrow(0, 0, 1).into_data().iter().collect();
            watched
                .shown
                .push((first, points[..bounce.digits].to_vec()));
        }
    }
    let pixels = bounce.canvas.room() as f64 / 2.0;
    let pairs = paths.iter().zip(sequences);
    watched.error = pairs
        .map(|(found, truth)| tracking_error(found, &truth.positions) * pixels)
        .collect();
    watched
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
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
}

/// What was measured at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Each setting after the one-shot proposal, after each sweep that the table shows, and the one-shot proposal with as many
    /// particles as the last has in all.
    pub rows: Vec<Row>,
    /// The mean reconstruction error after each sweep, setting by setting.
    pub curves: Vec<Vec<f64>>,
}

/// A sequence with what is seen of it.
pub struct Shown {
    /// The canvas.
    pub canvas: Canvas,
    /// Rows of frames, each with the digits' positions: the data with the true ones, then reconstructions after one shot and after the
    /// sweeps of the table.
    pub rows: Vec<Vec<Frame>>,
}

/// Measures a trained model on sequences of test images, and keeps one of each setting to be shown.
///
/// # Errors
/// Sequences that cannot be made, weights that are none, and what `going_on` says.
pub fn evaluate<B: Backend>(
    settings: &Settings,
    model: &Tracker<B>,
    test: &Digits,
    device: &B::Device,
    going_on: &dyn Fn(&str) -> Result<(), HarnessError>,
) -> Result<(Evaluation, Vec<Shown>), HarnessError> {
    let e = &settings.evaluation;
    let (mut evaluation, mut shown) = (Evaluation::default(), Vec::new());
    for &[frames, digits] in &e.settings {
        let bounce = settings.bounce(frames, digits);
        let identities = test.identities(&bounce, TABLE).map_err(failed)?;
        let of = |particles: usize, sweeps: usize| -> Result<Vec<Watched>, HarnessError> {
            let sampler = sampler(particles, sweeps);
            let mut all: Vec<Watched> = Vec::new();
            for from in (0..e.sequences).step_by(e.batch as usize) {
                let to = (from + e.batch).min(e.sequences);
                going_on(&format!(
                    "T = {frames}, D = {digits}, L = {particles}: sequence {to} of {}",
                    e.sequences
                ))?;
                let numbers = from..to;
                let sequences: Vec<Sequence> = numbers
                    .map(|number| test.sequence(&bounce, TABLE, number, &identities))
                    .collect();
                let mut streams = Streams::new(TABLE, from);
                let part = watch(model, &sampler, &bounce, &sequences, &mut streams, device);
                let part = part.map_err(failed)?;
                if all.is_empty() {
                    all = part;
                } else {
                    for (all, part) in all.iter_mut().zip(part) {
                        all.mse.extend(part.mse);
                        all.log_joint.extend(part.log_joint);
                        all.error.extend(part.error);
                    }
                }
            }
            Ok(all)
        };
        let row = |watched: &Watched, particles, sweeps| Row {
            frames,
            digits,
            sweeps,
            particles,
            mse: Measured::of(&watched.mse),
            log_joint: Measured::of(&watched.log_joint),
            error: Measured::of(&watched.error),
        };
        let wide = of(e.particles * e.sweeps, 1)?;
        let sweeps = of(e.particles, e.sweeps)?;
        evaluation
            .rows
            .push(row(&wide[0], e.particles * e.sweeps, 1));
        let asked = std::iter::once(1).chain(e.shown_sweeps.iter().copied().filter(|&k| k > 1));
        let asked: Vec<usize> = asked.collect();
        let rows = asked.iter().map(|&k| row(&sweeps[k - 1], e.particles, k));
        evaluation.rows.extend(rows);
        let curve = sweeps.iter().map(|watched| mean(&watched.mse));
        evaluation.curves.push(curve.collect());
        let truth = test.sequence(&bounce, TABLE, 0, &identities);
        let data = truth.frames.into_iter().enumerate().take(SHOWN_FRAMES);
        let data = data.map(|(t, frame)| {
            let positions = truth.positions.iter().map(|path| path[t]).collect();
            (frame, positions)
        });
        let found = asked.iter().map(|&k| sweeps[k - 1].shown.clone());
        shown.push(Shown {
            canvas: bounce.canvas,
            rows: std::iter::once(data.collect()).chain(found).collect(),
        });
    }
    Ok((evaluation, shown))
}
