//! Measures of a deep mixture: density and clustering, after each sweep.

use burn::module::{AutodiffModule, Module};
use burn::tensor::Tensor;
use helmholtz_apg::{ApgError, Model, Sampler, Streams};
use helmholtz_dmm::{Dmm, DmmState, Scheme, Simulated, clustering_accuracy};
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_samplers::resampling::Systematic;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::of_size::OfSize;
use crate::error::HarnessError;
use crate::population::batches::Join;
use crate::population::populations::{mean, numbers};
use crate::population::stepwise::{Measured, Measuring};

/// Measures of a population, for each instance.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Watched {
    /// Σ_l W_l log p(x, z_l), nats.
    pub log_joint: Vec<f64>,
    /// The share of data that the likeliest particle puts on their own rings.
    pub accuracy: Vec<f64>,
    /// The rings of the first instance's data in that particle.
    pub first: Vec<usize>,
}

impl Join for Watched {
    fn join(&mut self, other: Self) {
        self.log_joint.extend(other.log_joint);
        self.accuracy.extend(other.accuracy);
    }
}

/// ESS / L by block.
pub type Shares = Vec<(String, f64)>;

/// Runs a sampler on these instances and watches its population after the one-shot proposal and after each sweep. Also the ESS / L
/// of the one-shot proposal and of each block of the last sweep.
///
/// # Errors
/// Weights that are none.
pub fn watch<B: Backend>(
    model: &Dmm<B>,
    sampler: &Sampler<Systematic>,
    scheme: Scheme,
    data: &Simulated<B>,
    streams: &mut Streams,
) -> Result<(Vec<Watched>, Shares), ApgError> {
    let blocks = scheme.blocks();
    let mut all = Vec::new();
    let run = sampler.run(model, &data.x, &blocks, streams, |place, population, _| {
        if place.sweep > 0 && place.block + 1 < blocks.len() {
            return;
        }
        let state = population.state();
        let log_joint = population.mean(model.log_joint(&data.x, state));
        let log_weights: Vec<&[f64]> = population.log_weights().collect();
        // Of each particle, as a tensor [L, B] has them.
        let particles = 0..sampler.particles();
        let scores = particles.flat_map(|l| log_weights.iter().map(move |own| own[l]));
        let scores: Vec<f64> = scores.collect();
        all.push(score(model, data, state, log_joint, &scores));
    })?;
    let last = run.records.len().saturating_sub(blocks.len()).max(1);
    let shown = run.records[..1].iter().chain(&run.records[last..]);
    let ess = shown.map(|record| {
        let share = mean(&record.ess) / sampler.particles() as f64;
        (record.block.clone(), share)
    });
    Ok((all, ess.collect()))
}

/// Particles with this log joint, of which the one with the highest of the scores `[L, B]` is the likeliest.
pub(super) fn score<B: Backend>(
    model: &Dmm<B>,
    data: &Simulated<B>,
    state: &DmmState<B>,
    log_joint: Vec<f64>,
    scores: &[f64],
) -> Watched {
    let (found, truth) = (labels(&state.assignment), labels(&data.truth.assignment));
    let (count, particles) = (truth.len(), found.len() / truth.len());
    let score = |l: usize, b: usize| scores[l * count + b];
    let likeliest = |b: usize| {
        let best = (0..particles).max_by(|&i, &j| score(i, b).total_cmp(&score(j, b)));
        &found[best.unwrap_or(0) * count + b]
    };
    let best: Vec<&Vec<usize>> = (0..count).map(likeliest).collect();
    let pairs = best.iter().zip(&truth);
    let accuracy = pairs.map(|(found, truth)| clustering_accuracy(found, truth, model.clusters()));
    Watched {
        log_joint,
        accuracy: accuracy.collect(),
        first: best[0].clone(),
    }
}

/// The rings of the data of each particle and instance, of one-hot assignments `[L, B, N, M]`.
fn labels<B: Backend>(assignment: &Tensor<B, 4>) -> Vec<Vec<usize>> {
    let [_, _, points, m] = assignment.dims();
    let values = numbers(assignment.clone());
    let label = |one_hot: &[f64]| one_hot.iter().position(|&v| v > 0.5).unwrap_or(0);
    let groups = values.chunks(points * m);
    groups
        .map(|own| own.chunks(m).map(label).collect())
        .collect()
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// N.
    pub points: usize,
    /// Name of the sampler.
    pub label: String,
    /// L.
    pub particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Accuracy of the likeliest particle.
    pub accuracy: Measured,
    /// The same over other instances, whose rings do not touch.
    pub separated: Option<Measured>,
    /// Share of moves that were accepted, and step size, of Hamiltonian Monte Carlo: means over batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<[f64; 2]>,
}

/// An instance and the rings that its data are put on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// K.
    pub sweeps: usize,
    /// Data with their rings.
    pub data: Vec<([f64; 2], usize)>,
}

/// Measurements at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// R.
    pub radius: f64,
    /// Each setting: samplers side by side.
    pub rows: Vec<Row>,
    /// The mean log joint of amortized population Gibbs after each sweep, over that of the one-shot proposal, by setting.
    pub curves: Vec<Vec<f64>>,
    /// The first instance of the last setting.
    pub snapshots: Vec<Snapshot>,
}

/// Measures the trained model.
///
/// # Errors
/// Weights that are none, and what `on_progress` says.
pub fn evaluate<B: AutodiffBackend>(
    settings: &Settings,
    model: &Dmm<B>,
    device: &B::Device,
    measuring: &Measuring<'_>,
) -> Result<Evaluation, HarnessError> {
    let (taped, model) = (&model.clone().no_grad(), &model.valid());
    let mut evaluation = Evaluation {
        radius: model.radius(),
        ..Evaluation::default()
    };
    for &points in &settings.evaluation.points {
        let of_size = OfSize {
            settings,
            taped,
            model,
            device,
            points,
            measuring,
        };
        let watched = of_size.rows(&mut evaluation.rows)?;
        let start = mean(&watched[0].log_joint);
        let curve = watched.iter().map(|w| mean(&w.log_joint) - start);
        evaluation.curves.push(curve.collect());
        evaluation.snapshots = of_size.snapshots(&watched);
    }
    Ok(evaluation)
}
