//! A population watched: reconstruction, density and tracking, after each sweep.

use burn::tensor::Tensor;
use helmholtz_apg::{ApgError, Block, Model, Sampler, Streams};
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::Systematic;
use helmholtz_tracker::{Bounce, Scheme, Sequence, Tracker, TrackerState, tracking_error};
use serde::{Deserialize, Serialize};

use super::digits::video;
use crate::population::batches::Join;
use crate::population::populations::mean;

/// A frame's pixels, and the positions of the digits in it.
pub type Frame = (Vec<f32>, Vec<[f64; 2]>);

/// Measures of a population, for each sequence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Watched {
    /// Σ over pixels of (x − E ρ)², mean over frames.
    pub mse: Vec<f64>,
    /// Σ_l W_l log p(x, z_l), nats.
    pub log_joint: Vec<f64>,
    /// log Ẑ, nats.
    #[serde(default)]
    pub log_evidence: Vec<f64>,
    /// The mean distance of the posterior means of positions from the true ones, pixels.
    pub error: Vec<f64>,
    /// ESS / L after the one-shot proposal or the last sweep, mean over sequences, and over frames.
    pub ess: Vec<(String, f64)>,
    /// The first sequence: reconstructed frames, and the digits' positions in each.
    pub shown: Vec<Frame>,
}

impl Join for Watched {
    fn join(&mut self, other: Self) {
        self.mse.extend(other.mse);
        self.log_joint.extend(other.log_joint);
        self.log_evidence.extend(other.log_evidence);
        self.error.extend(other.error);
    }
}

/// Runs the sampler on these sequences and watches its population after the one-shot proposal and after each sweep.
///
/// # Errors
/// Weights that are none.
pub fn watch<B: Backend>(
    model: &Tracker<B>,
    scheme: Scheme,
    sampler: &Sampler<Systematic>,
    bounce: &Bounce,
    sequences: &[Sequence],
    streams: &mut Streams,
    device: &B::Device,
) -> Result<Vec<Watched>, ApgError> {
    let x = video::<B>(bounce, sequences, device);
    let blocks = scheme.blocks(bounce.frames);
    let mut all = Vec::new();
    let run = sampler.run(
        model,
        &x,
        &borrowed(&blocks),
        streams,
        |place, population, _| {
            if place.sweep == 0 || place.block + 1 == blocks.len() {
                let log_joint = population.mean(model.log_joint(&x, population.state()));
                let weights = population.log_weight_tensor(x.frames.dtype(), device).exp();
                let state = population.state();
                let mut watched = score(model, bounce, sequences, &x.frames, state, weights);
                watched.log_joint = log_joint;
                watched.log_evidence = population.log_evidence();
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

/// Measures particles with these weights `[L, B, 1]`, but for their density.
pub(crate) fn score<B: Backend>(
    model: &Tracker<B>,
    bounce: &Bounce,
    sequences: &[Sequence],
    frames: &Tensor<B, 3>,
    state: &TrackerState<B>,
    weights: Tensor<B, 3>,
) -> Watched {
    let count = sequences.len();
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
        let first = expected.narrow(0, 0, 1).into_data().iter().collect();
        watched
            .shown
            .push((first, points[..bounce.digits].to_vec()));
    }
    let pixels = bounce.canvas.room() as f64 / 2.0;
    let pairs = paths.iter().zip(sequences);
    watched.error = pairs
        .map(|(found, truth)| tracking_error(found, &truth.positions) * pixels)
        .collect();
    watched
}

/// The blocks, as the sampler takes them.
pub(crate) fn borrowed<B: Backend>(
    blocks: &[Box<dyn Block<B, Tracker<B>, Stream>>],
) -> Vec<&dyn Block<B, Tracker<B>, Stream>> {
    blocks.iter().map(|block| &**block).collect()
}
