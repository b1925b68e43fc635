//! The numbers of the table and of the figures.

use crate::error::HarnessError;
use burn::tensor::Tensor;
use helmholtz_apg::{Population, Streams};
use helmholtz_gmm::{Gmm, GmmState, Scheme};
use helmholtz_ops::Backend;
use serde::{Deserialize, Serialize};

use super::samplers::{Checkpoint, Length, SamplerKind, instances, trajectory};
use super::{FIGURE, Settings};
use crate::framework::failed;
use crate::population::Measured;
use crate::population::TABLE;
use crate::population::populations::{mean, numbers, sampler};
use crate::population::stepwise::Measuring;

/// Result of a sampler on the instances of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The sampler.
    pub label: String,
    /// L.
    pub particles: usize,
    /// K, the one-shot proposal counted.
    pub sweeps: usize,
    /// Σ_l W_l log p(x, z_l), nats, over instances.
    pub log_joint: Measured,
    /// The mean without weights.
    pub plain: f64,
    /// The difference from Gibbs, instance by instance.
    pub over_gibbs: Measured,
}

/// The trajectory of a sampler on one instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The sampler.
    pub label: String,
    /// L.
    pub particles: usize,
    /// The weighted log joint after each move, a mean over runs.
    pub log_joint: Vec<f64>,
}

/// One division of a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Division {
    /// The sampler.
    pub label: String,
    /// K.
    pub sweeps: usize,
    /// L.
    pub particles: usize,
    /// The weighted log joint at the end, a mean over runs.
    pub log_joint: f64,
    /// ESS / L after the last block (μ, τ), or the only block.
    pub ess: f64,
}

/// One particle on one instance, after some moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Moves.
    pub moves: usize,
    /// x, with the cluster of each datum.
    pub data: Vec<([f64; 2], usize)>,
    /// μ and 1/√τ of each cluster.
    pub clusters: Vec<[[f64; 2]; 2]>,
}

/// All that is measured at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The table.
    pub rows: Vec<Row>,
    /// Figure 2.
    pub curves: Vec<Curve>,
    /// Figure 3.
    pub divisions: Vec<Division>,
    /// Figure 1.
    pub snapshots: Vec<Snapshot>,
}

/// Particles and instances at a time: more would not fit a processor's caches.
const AT_A_TIME: usize = 4000;

/// Measures the trained model.
///
/// # Errors
/// Weights that are none, and those of `on_progress`.
pub fn evaluate<B: Backend>(
    settings: &Settings,
    model: &Gmm<B>,
    device: &B::Device,
    measuring: &Measuring<'_>,
) -> Result<Evaluation, HarnessError> {
    let evaluation = Evaluating {
        settings,
        model,
        device,
        measuring,
    };
    Ok(Evaluation {
        rows: evaluation.rows()?,
        curves: evaluation.curves()?,
        divisions: evaluation.divisions()?,
        snapshots: evaluation.snapshots()?,
    })
}

struct Evaluating<'a, B: Backend> {
    settings: &'a Settings,
    model: &'a Gmm<B>,
    device: &'a B::Device,
    measuring: &'a Measuring<'a>,
}

impl<B: Backend> Evaluating<'_, B> {
    /// The trajectory on these instances, some at a time.
    fn trajectory(
        &self,
        kind: SamplerKind,
        seed: u64,
        all: &[u64],
        length: Length,
    ) -> Result<Vec<Checkpoint>, HarnessError> {
        let e = &self.settings.evaluation;
        let at_a_time = (AT_A_TIME / length.particles).clamp(1, e.batch as usize);
        let config = &self.settings.model;
        let what = format!("{}: instance", kind.label());
        let measured = self
            .measuring
            .in_batches(&what, all, at_a_time, |batch, numbers| {
                let x = instances::<B>(config, seed, numbers, e.points, self.device);
                let draws = (self.settings.seed, (seed << 16) + batch as u64);
                let piece = format!(
                    "{kind:?}, {length:?}, {} data, seed {seed}, {batch}: {numbers:?}",
                    e.points
                );
                let measured = || trajectory(kind, (self.model, config), &x, length, draws);
                Ok((self.measuring.pieces.get(&piece, measured)?, ()))
            })?;
        Ok(measured.0)
    }

    fn rows(&self) -> Result<Vec<Row>, HarnessError> {
        let e = &self.settings.evaluation;
        let all: Vec<u64> = (0..e.instances).collect();
        let length = |particles| Length {
            particles,
            moves: e.sweeps - 1,
            step_size: e.step_size,
        };
        let of = |kind, particles| self.trajectory(kind, TABLE, &all, length(particles));
        let gibbs = of(SamplerKind::Gibbs, e.particles)?;
        let reached = gibbs[e.sweeps - 1].weighted.clone();
        let row = |label: String, particles, sweeps: usize, checkpoint: &Checkpoint| {
            let pairs = checkpoint.weighted.iter().zip(&reached);
            let over: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
            Row {
                label,
                particles,
                sweeps,
                log_joint: Measured::of(&checkpoint.weighted),
                plain: mean(&checkpoint.plain),
                over_gibbs: Measured::of(&over),
            }
        };
        let budget = e.particles * e.sweeps;
        let one_shot = Length {
            particles: budget,
            moves: 0,
            step_size: e.step_size,
        };
        let one_shot = self.trajectory(SamplerKind::Apg, TABLE, &all, one_shot)?;
        let mut rows = vec![row("RWS".into(), budget, 1, &one_shot[0])];
        let bpg = of(SamplerKind::Bpg, e.prior_particles)?;
        rows.push(row(
            SamplerKind::Bpg.label(),
            e.prior_particles,
            e.sweeps,
            &bpg[e.sweeps - 1],
        ));
        for &leapfrog in &e.leapfrog {
            let kind = SamplerKind::Hmc(leapfrog);
            let checkpoints = of(kind, e.particles)?;
            let last = &checkpoints[e.sweeps - 1];
            rows.push(row(kind.label(), e.particles, e.sweeps, last));
        }
        for &kind in self.learned() {
            let checkpoints = of(kind, e.particles)?;
            for &k in &e.shown_sweeps {
                rows.push(row(kind.label(), e.particles, k, &checkpoints[k - 1]));
            }
        }
        for &k in &e.shown_sweeps {
            rows.push(row(
                SamplerKind::Gibbs.label(),
                e.particles,
                k,
                &gibbs[k - 1],
            ));
        }
        Ok(rows)
    }

    /// Samplers that move particles by learned proposals of blocks.
    fn learned(&self) -> &'static [SamplerKind] {
        match self.settings.trains_blocks() {
            true => &[SamplerKind::ApgJoint, SamplerKind::Apg],
            false => &[],
        }
    }

    /// The same instance for every run.
    fn runs(&self) -> Vec<u64> {
        vec![0; self.settings.evaluation.curve_runs as usize]
    }

    fn curves(&self) -> Result<Vec<Curve>, HarnessError> {
        let e = &self.settings.evaluation;
        let mut kinds = vec![
            (SamplerKind::Gibbs, e.curve_particles),
            (SamplerKind::Bpg, e.curve_prior_particles),
        ];
        if self.settings.trains_blocks() {
            kinds.insert(0, (SamplerKind::Apg, e.curve_particles));
        }
        kinds.extend(
            e.leapfrog
                .iter()
                .map(|&steps| (SamplerKind::Hmc(steps), e.curve_particles)),
        );
        let of = |(kind, particles): (SamplerKind, usize)| {
            let length = Length {
                particles,
                moves: e.curve_sweeps,
                step_size: e.curve_step_size,
            };
            let checkpoints = self.trajectory(kind, FIGURE, &self.runs(), length)?;
            Ok(Curve {
                label: kind.label(),
                particles,
                log_joint: checkpoints.iter().map(|own| mean(&own.weighted)).collect(),
            })
        };
        kinds.into_iter().map(of).collect()
    }

    fn divisions(&self) -> Result<Vec<Division>, HarnessError> {
        let e = &self.settings.evaluation;
        let mut divisions = vec![];
        for &kind in self.learned().iter().rev() {
            for &sweeps in &e.budget_sweeps {
                let particles = e.budget / sweeps;
                let length = Length {
                    particles,
                    moves: sweeps - 1,
                    step_size: e.step_size,
                };
                let checkpoints = self.trajectory(kind, FIGURE, &self.runs(), length)?;
                let last = checkpoints.last().expect("the one-shot proposal");
                divisions.push(Division {
                    label: kind.label(),
                    sweeps,
                    particles,
                    log_joint: mean(&last.weighted),
                    ess: mean(&last.ess),
                });
            }
        }
        Ok(divisions)
    }

    /// A single particle; data of the plane only.
    fn snapshots(&self) -> Result<Vec<Snapshot>, HarnessError> {
        const EVERY: usize = 3;
        const MOVES: usize = 12;
        let (config, e) = (&self.settings.model, &self.settings.evaluation);
        if config.dimensions != 2 || !self.settings.trains_blocks() {
            return Ok(vec![]);
        }
        let x = instances::<B>(config, FIGURE, &[0], e.points, self.device);
        let blocks = Scheme::Apg.blocks();
        let mut snapshots = vec![];
        let seed = self.settings.seed;
        let name = format!("the sweeps of one particle, seed {seed}");
        let mut streams = Streams::new(seed, FIGURE).named(name);
        let visit = |position: helmholtz_apg::Position, population: &Population<GmmState<B>>, _| {
            let whole = position.sweep == 0 || position.block + 1 == blocks.len();
            if whole && position.sweep.is_multiple_of(EVERY) {
                snapshots.push(snapshot(position.sweep, &x, population.state()));
            }
        };
        sampler(1, MOVES + 1)
            .run(self.model, &x, &blocks, &mut streams, visit)
            .map_err(failed)?;
        Ok(snapshots)
    }
}

fn snapshot<B: Backend>(moves: usize, x: &Tensor<B, 3>, state: &GmmState<B>) -> Snapshot {
    let pairs = |values: Vec<f64>| -> Vec<[f64; 2]> {
        let (pairs, _) = values.as_chunks::<2>();
        pairs.to_vec()
    };
    let clusters = state.mean.dims()[2];
    let chosen = numbers(state.assignment.clone());
    let chosen = chosen.chunks_exact(clusters);
    let chosen = chosen.map(|row| row.iter().position(|&c| c == 1.0).unwrap_or(0));
    let deviations = numbers(state.precision.clone().sqrt().recip());
    let means = pairs(numbers(state.mean.clone())).into_iter();
    Snapshot {
        moves,
        data: pairs(numbers(x.clone())).into_iter().zip(chosen).collect(),
        clusters: means
            .zip(pairs(deviations))
            .map(|(mean, sd)| [mean, sd])
            .collect(),
    }
}

/// −E log p(x, μ, τ, c) = −H(x, μ, τ, c) of N data: what the mean log joint of exact draws from the posterior is over instances,
/// in nats. By datum −ln M + D (ψ(α) − ln β − 1 − ln 2π) / 2; by cluster and dimension the negative entropies of τ and of μ given τ.
pub fn expected_log_joint<B: Backend>(settings: &Settings, device: &B::Device) -> f64 {
    use burn::tensor::{DType, TensorData};
    use helmholtz_distributions::{Entropy, NormalGamma};
    let config = &settings.model;
    let number = |x: f64| Tensor::<B, 1>::from_data(TensorData::from([x]), (device, DType::F64));
    let prior = NormalGamma {
        mean: number(config.mean),
        nu: number(config.nu),
        alpha: number(config.alpha),
        beta: number(config.beta),
    };
    let entropy = numbers(prior.entropy())[0];
    let log_tau = numbers(helmholtz_ops::digamma(number(config.alpha)))[0] - config.beta.ln();
    let coordinate = 0.5 * (log_tau - 1.0 - (2.0 * std::f64::consts::PI).ln());
    let datum = -(config.clusters as f64).ln() + config.dimensions as f64 * coordinate;
    let latents = (config.clusters * config.dimensions) as f64;
    settings.evaluation.points as f64 * datum - latents * entropy
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use super::*;
    use crate::kinds::apg_gmm::settings::tests::apg_gmm;
    use burn_flex::Flex;

    #[test]
    fn the_expected_log_joint_is_that_of_the_specification() {
        let found = expected_log_joint::<Flex>(&apg_gmm(), &Default::default());
        assert!((found + 442.22).abs() < 0.01, "{found}");
    }
}
