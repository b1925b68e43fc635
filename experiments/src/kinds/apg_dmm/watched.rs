//! A population watched: density and clustering, after each sweep.

use burn::tensor::Tensor;
use helmholtz_apg::{ApgError, Model, Sampler, Streams};
use helmholtz_dmm::{Dmm, DmmState, Scheme, Simulated, clustering_accuracy};
use helmholtz_ops::Backend;
use helmholtz_samplers::resampling::Systematic;
use serde::{Deserialize, Serialize};

use crate::population::batches::Join;
use crate::population::populations::{mean, numbers};

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
