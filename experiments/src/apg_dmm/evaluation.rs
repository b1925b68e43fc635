//! What is measured of a deep mixture: density and clustering, after each sweep.

use burn::module::{AutodiffModule, Module};
use burn::tensor::Tensor;
use helmholtz_apg::{ApgError, Model, Sampler, Streams};
use helmholtz_dmm::{Dmm, DmmState, Scheme, Simulated, clustering_accuracy};
use helmholtz_ops::{AutodiffBackend, Backend};
use helmholtz_runs::Pieces;
use helmholtz_samplers::resampling::Systematic;
use serde::{Deserialize, Serialize};

use super::hamiltonian::chains;
use super::training::rings;
use super::{Settings, TABLE};
use crate::error::HarnessError;
use crate::likelihood::runner::failed;
use crate::population::hamiltonian::Moves;
use crate::population::populations::{learned_sweeps, mean, numbers, sampler};
use crate::population::stepwise::Measured;

/// What a population is worth, for each instance.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Watched {
    /// Σ_l W_l log p(x, z_l), nats.
    pub log_joint: Vec<f64>,
    /// The share of data that the likeliest particle puts on their own rings.
    pub accuracy: Vec<f64>,
    /// The rings of the first instance's data in that particle.
    pub first: Vec<usize>,
}

/// ESS / L by block.
pub type Shares = Vec<(String, f64)>;

/// Runs a sampler on these instances and watches its population after the one-shot proposal and after each sweep; and the ESS / L
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
        all.push(look(model, data, state, log_joint, &scores));
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
pub(super) fn look<B: Backend>(
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
    /// Which sampler.
    pub label: String,
    /// L.
    pub particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// Nats an instance.
    pub log_joint: Measured,
    /// Of the likeliest particle.
    pub accuracy: Measured,
    /// The same over other instances, whose rings do not touch.
    pub separated: Option<Measured>,
    /// Of Hamiltonian Monte Carlo: the share of moves that were accepted, and the step size, means over batches.
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

/// What was measured at the end.
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

/// A sampler on the instances from this number on: what it watched, place by place.
type Runner<'a, B> = dyn FnMut(&Simulated<B>, u64) -> Result<Vec<Watched>, HarnessError> + 'a;

/// Measures a trained model.
///
/// # Errors
/// Weights that are none, and what `going_on` says.
pub fn evaluate<B: AutodiffBackend>(
    settings: &Settings,
    model: &Dmm<B>,
    device: &B::Device,
    going_on: &dyn Fn(&str) -> Result<(), HarnessError>,
    pieces: &Pieces,
) -> Result<Evaluation, HarnessError> {
    let e = &settings.evaluation;
    let (taped, model) = (model.clone().no_grad(), &model.valid());
    let mut evaluation = Evaluation {
        radius: model.radius(),
        ..Evaluation::default()
    };
    let ordinary: Vec<u64> = (0..e.instances).collect();
    for &points in &e.points {
        let apart = separated::<B::InnerBackend>(settings, points, device);
        let each = |label: &str, chosen: &[u64], run: &mut Runner<'_, B::InnerBackend>| {
            let mut all: Vec<Watched> = Vec::new();
            for (batch, numbers) in chosen.chunks(e.batch as usize).enumerate() {
                let done = batch * e.batch as usize + numbers.len();
                let of = chosen.len();
                going_on(&format!("N = {points}, {label}: instance {done} of {of}"))?;
                let data = rings::<B::InnerBackend>(settings, TABLE, numbers, points, device);
                let part = run(&data, numbers[0])?;
                if all.is_empty() {
                    all = part;
                } else {
                    for (all, part) in all.iter_mut().zip(part) {
                        all.log_joint.extend(part.log_joint);
                        all.accuracy.extend(part.accuracy);
                    }
                }
            }
            Ok::<_, HarnessError>(all)
        };
        let of = |label: &str, chosen: &[u64], scheme: Scheme, [particles, sweeps]: [usize; 2]| {
            let sampler = sampler(particles, sweeps);
            each(label, chosen, &mut |data, from| {
                let name = format!(
                    "{label}, instances from {from} of the table, seed {}",
                    settings.seed
                );
                let mut streams = Streams::new(TABLE, from).named(name);
                let piece =
                    format!("N = {points}, {label}, {scheme:?}, {particles}, {sweeps}, {from}");
                pieces.get(&piece, || {
                    let watched = watch(model, &sampler, scheme, data, &mut streams);
                    Ok(watched.map_err(failed)?.0)
                })
            })
        };
        let mut rows = vec![];
        let row = |label: &str, watched: &Watched, [l, k]: [usize; 2]| Row {
            points,
            label: label.into(),
            particles: l,
            sweeps: k,
            log_joint: Measured::of(&watched.log_joint),
            accuracy: Measured::of(&watched.accuracy),
            separated: None,
            accepted: None,
        };
        let on_separated = |watched: Option<&Watched>| {
            let accuracy = watched.map(|watched| &watched.accuracy);
            accuracy
                .filter(|of| of.len() > 1)
                .map(|of| Measured::of(of))
        };
        let wide = [e.particles * e.sweeps, 1];
        let watched = of("RWS", &ordinary, Scheme::Apg, wide)?;
        let own = of("RWS, rings apart", &apart, Scheme::Apg, wide)?;
        rows.push(Row {
            separated: on_separated(own.first()),
            ..row("RWS", &watched[0], wide)
        });
        let sizes = [e.prior_particles, e.sweeps];
        let watched = of("BPG", &ordinary, Scheme::Bpg, sizes)?;
        rows.push(row("BPG", &watched[e.sweeps - 1], sizes));
        let sizes = [e.particles, e.sweeps];
        let learned = learned_sweeps(settings.training.sweeps, e.sweeps);
        let watched = of("APG", &ordinary, Scheme::Apg, [e.particles, learned])?;
        let own = of(
            "APG, rings apart",
            &apart,
            Scheme::Apg,
            [e.particles, learned],
        )?;
        let shown = || e.shown_sweeps.iter().copied().filter(|&k| k <= learned);
        let sweeps = shown().map(|k| Row {
            separated: on_separated(own.get(k - 1)),
            ..row("APG", &watched[k - 1], [e.particles, k])
        });
        let sweeps: Vec<Row> = sweeps.collect();
        for &leapfrog in &e.hmc.leapfrog {
            let label = format!("HMC-RWS, LF = {leapfrog}");
            let mut moves = vec![];
            let watched = each(&label, &ordinary, &mut |data, from| {
                let lengths = [e.particles, e.sweeps - 1];
                let hmc = (&e.hmc, leapfrog);
                let piece = format!("N = {points}, {label}, {lengths:?}, {from}");
                let measured = || chains((&taped, model), hmc, data, lengths, from);
                let (watched, own) = pieces.get(&piece, measured)?;
                moves.push(own);
                Ok(vec![watched])
            })?;
            rows.push(Row {
                accepted: Some(Moves::mean(&moves)),
                ..row(&label, &watched[0], sizes)
            });
        }
        rows.extend(sweeps);
        evaluation.rows.extend(rows);
        let start = mean(&watched[0].log_joint);
        let curve = watched.iter().map(|w| mean(&w.log_joint) - start);
        evaluation.curves.push(curve.collect());
        let first = rings::<B::InnerBackend>(settings, TABLE, &[0], points, device);
        let first = numbers(first.x);
        let shown = std::iter::once(1).chain(shown().filter(|&k| k > 1));
        let shown = shown.map(|k| Snapshot {
            sweeps: k,
            data: first
                .chunks(2)
                .map(|x| [x[0], x[1]])
                .zip(watched[k - 1].first.iter().copied())
                .collect(),
        });
        evaluation.snapshots = shown.collect();
    }
    Ok(evaluation)
}

/// How far instances are searched for those whose rings do not touch.
const SEARCHED: u64 = 10_000;

/// The numbers of the first instances whose rings do not touch: any two centres are more than two radii apart.
fn separated<B: Backend>(settings: &Settings, points: usize, device: &B::Device) -> Vec<u64> {
    let (m, wanted) = (settings.data.clusters, settings.evaluation.separated);
    let touch = |own: &[f64]| {
        let centres: Vec<&[f64]> = own.chunks(2).collect();
        let near = |i: usize, j: usize| {
            let apart = [0, 1].map(|axis| centres[i][axis] - centres[j][axis]);
            apart[0].hypot(apart[1]) <= 2.0 * settings.data.radius
        };
        (0..m).any(|i| (0..i).any(|j| near(i, j)))
    };
    let blocks = (0..SEARCHED).step_by(100).flat_map(|from| {
        let block: Vec<u64> = (from..from + 100).collect();
        let truth = rings::<B>(settings, TABLE, &block, points, device).truth;
        let centres = numbers(truth.mean);
        let own = block.into_iter().zip(centres.chunks(2 * m).map(touch));
        own.filter(|(_, touch)| !touch)
            .map(|(number, _)| number)
            .collect::<Vec<_>>()
    });
    blocks.take(wanted as usize).collect()
}
