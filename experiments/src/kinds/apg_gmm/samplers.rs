//! Samplers that are compared: ways to move particles, from the same one-shot proposal.

use crate::error::HarnessError;
use crate::framework::failed;
use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_apg::{Choices, Model, OneShot, Population, Sampler, Streams};
use helmholtz_gmm::{Gmm, GmmConfig, GmmState, Scheme};
use helmholtz_ops::Backend;
use helmholtz_random::Stream;
use helmholtz_samplers::resampling::{Policy, Systematic};
use helmholtz_samplers::{Hmc, Kernel};
use serde::{Deserialize, Serialize};

use super::DRAWS;
use crate::population::batches::Join;
use crate::population::hamiltonian::TrainingMoves;
use crate::population::populations::numbers;

/// A way to move particles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamplerKind {
    /// Amortized population Gibbs with the blocks (μ, τ) and c.
    Apg,
    /// The same with one block.
    ApgJoint,
    /// Exact conditionals, without weights.
    Gibbs,
    /// Block population Gibbs: (μ, τ) from the prior.
    Bpg,
    /// Hamiltonian Monte Carlo on (ln τ, μ) with this many leapfrog steps, c drawn exactly.
    Hmc(usize),
}

impl SamplerKind {
    /// Label in tables and figures.
    pub fn label(self) -> String {
        match self {
            Self::Apg => "APG".into(),
            Self::ApgJoint => "APG, one block".into(),
            Self::Gibbs => "Gibbs".into(),
            Self::Bpg => "BPG".into(),
            Self::Hmc(steps) => format!("HMC-RWS, LF = {steps}"),
        }
    }
}

/// Particles of some instances after a number of moves; an entry an instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Σ_l W_l log p(x, z_l), nats.
    pub weighted: Vec<f64>,
    /// The plain mean of log p(x, z_l).
    pub plain: Vec<f64>,
    /// 1 / (L Σ W²) after the block (μ, τ), or the only one.
    pub ess: Vec<f64>,
}

impl Checkpoint {
    fn of<B: Backend>(log_joint: Tensor<B, 2>, weighted: Vec<f64>) -> Self {
        let [_, instances] = log_joint.dims();
        let plain = numbers(log_joint.mean_dim(0));
        Self {
            weighted,
            plain,
            ess: vec![1.0; instances],
        }
    }
}

impl Join for Checkpoint {
    fn join(&mut self, other: Self) {
        self.weighted.extend(other.weighted);
        self.plain.extend(other.plain);
        self.ess.extend(other.ess);
    }
}

/// Length of a trajectory: how many moves, of how many particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    /// L.
    pub particles: usize,
    /// Moves after the one-shot proposal.
    pub moves: usize,
    /// The step size of Hamiltonian Monte Carlo.
    pub step_size: f64,
}

/// Moves particles on data `[B, N, D]`, and tells of them at the start and after each move. `batch` names the draws.
///
/// # Errors
/// Weights that are none.
pub fn trajectory<B: Backend>(
    kind: SamplerKind,
    (model, config): (&Gmm<B>, &GmmConfig),
    x: &Tensor<B, 3>,
    length: Length,
    (seed, batch): (u64, u64),
) -> Result<Vec<Checkpoint>, HarnessError> {
    let name = format!(
        "{}, batch {batch:#x} of the evaluation, seed {seed}",
        kind.label()
    );
    let mut streams = Streams::new(seed, batch).named(name);
    let (scheme, policy) = match kind {
        SamplerKind::Hmc(leapfrog) => {
            return hamiltonian((model, config), x, length, leapfrog, (seed, batch));
        }
        SamplerKind::Apg => (Scheme::Apg, Policy::Always),
        SamplerKind::ApgJoint => (Scheme::ApgJoint, Policy::Always),
        SamplerKind::Gibbs => (Scheme::Gibbs, Policy::Never),
        SamplerKind::Bpg => (Scheme::Bpg, Policy::Always),
    };
    let sampler = Sampler::new(length.particles, length.moves + 1, policy, Systematic);
    let sampler = sampler.map_err(failed)?;
    let blocks = scheme.blocks();
    let mut checkpoints: Vec<Checkpoint> = vec![];
    let mut ess = vec![];
    let share = |population: &Population<GmmState<B>>| -> Vec<f64> {
        let ess = population.effective_sample_size().into_iter();
        ess.map(|ess| ess / length.particles as f64).collect()
    };
    sampler
        .run(
            model,
            x,
            &blocks,
            &mut streams,
            |position, population, _| {
                if position.block == 0 {
                    ess = share(population);
                }
                if position.sweep == 0 || position.block + 1 == blocks.len() {
                    let log_joint = model.log_joint(x, population.state());
                    // Exact conditionals need no weights; those of the start would only be noise.
                    let weighted = match kind {
                        SamplerKind::Gibbs => numbers(log_joint.clone().mean_dim(0)),
                        _ => population.mean(log_joint.clone()),
                    };
                    let ess = ess.clone();
                    checkpoints.push(Checkpoint {
                        ess,
                        ..Checkpoint::of(log_joint, weighted)
                    });
                }
            },
        )
        .map_err(failed)?;
    Ok(checkpoints)
}

/// Independent chains on (ln τ, μ) from the one-shot proposal, c drawn from its exact conditional after each move.
fn hamiltonian<B: Backend>(
    (model, config): (&Gmm<B>, &GmmConfig),
    x: &Tensor<B, 3>,
    length: Length,
    leapfrog: usize,
    (seed, batch): (u64, u64),
) -> Result<Vec<Checkpoint>, HarnessError> {
    let mut stream = Stream::new(seed, DRAWS, [batch, 0]);
    let start = OneShot::<B, Stream>::propose(model, x, length.particles, &mut stream).state;
    let mut checkpoints = vec![of_chains(model, x, start.clone())];
    let hmc = TrainingMoves {
        moves: length.moves,
        leapfrog,
        step_size: length.step_size,
    };
    moved((model, config), x, start, &hmc, &mut stream, |state| {
        checkpoints.push(of_chains(model, x, state.clone()));
    })?;
    Ok(checkpoints)
}

/// The chains after all moves; `visit` is shown them after each.
///
/// # Errors
/// A step size that is none.
pub fn moved<B: Backend>(
    (model, config): (&Gmm<B>, &GmmConfig),
    x: &Tensor<B, 3>,
    start: GmmState<B>,
    hmc: &TrainingMoves,
    stream: &mut Stream,
    mut visit: impl FnMut(&GmmState<B>),
) -> Result<GmmState<B>, HarnessError> {
    let mut state = start;
    let shape = state.mean.dims();
    let coordinates = shape[2] * shape[3];
    let data: Vec<Vec<f64>> = {
        let all = numbers(x.clone());
        let each = all.len() / shape[1];
        all.chunks_exact(each).map(<[f64]>::to_vec).collect()
    };
    let (tau, mu) = (
        numbers(state.precision.clone()),
        numbers(state.mean.clone()),
    );
    let mut positions: Vec<Vec<f64>> = tau
        .chunks_exact(coordinates)
        .zip(mu.chunks_exact(coordinates))
        .map(|(tau, mu)| {
            tau.iter()
                .map(|t| t.ln())
                .chain(mu.iter().copied())
                .collect()
        })
        .collect();
    for _ in 0..hmc.moves {
        for (chain, position) in positions.iter_mut().enumerate() {
            let own = &data[chain % shape[1]];
            let target = |at: &[f64], gradient: &mut [f64]| config.log_marginal(own, at, gradient);
            let kernel = Hmc::new(target, hmc.step_size, hmc.leapfrog).map_err(failed)?;
            kernel.step(position, stream);
        }
        let half = |from: usize, map: fn(f64) -> f64| {
            let values = positions.iter().flat_map(|p| &p[from..from + coordinates]);
            let values: Vec<f64> = values.map(|&v| map(v)).collect();
            Tensor::<B, 4>::from_data(TensorData::new(values, shape), (&x.device(), x.dtype()))
        };
        let (precision, mean) = (half(0, f64::exp), half(coordinates, |mu| mu));
        let assignment = Choices::sample(&model.exact_choices(x, &mean, &precision), stream);
        state = GmmState {
            precision,
            mean,
            assignment,
        };
        visit(&state);
    }
    Ok(state)
}

fn of_chains<B: Backend>(model: &Gmm<B>, x: &Tensor<B, 3>, state: GmmState<B>) -> Checkpoint {
    let log_joint = model.log_joint(x, &state);
    let plain = numbers(log_joint.clone().mean_dim(0));
    Checkpoint::of(log_joint, plain)
}

/// Fresh instances of a mixture, on the device.
pub fn instances<B: Backend>(
    config: &GmmConfig,
    seed: u64,
    numbers: &[u64],
    points: usize,
    device: &B::Device,
) -> Tensor<B, 3> {
    config.simulate(seed, numbers, points, DType::F32, device).x
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use super::*;
    use crate::population::populations::mean;
    use burn_flex::Flex;

    /// Chains that are exact come from far below to the log joint of the true latents, whose law is that of the posterior. Gibbs
    /// comes to 5 nats, Hamiltonian Monte Carlo to 20: some chains are still in another mode.
    #[test]
    fn exact_samplers_come_near_the_truth() {
        let config = GmmConfig::default();
        let device = Default::default();
        let model = config.init::<Flex>(1, DType::F32, &device).unwrap();
        let all: Vec<u64> = (0..200).collect();
        let data = config.simulate::<Flex>(5, &all, 20, DType::F32, &device);
        let truth = numbers(model.log_joint(&data.x, &data.truth));
        let length = Length {
            particles: 4,
            moves: 60,
            step_size: 0.1,
        };
        for (kind, near) in [(SamplerKind::Gibbs, 5.0), (SamplerKind::Hmc(10), 20.0)] {
            let checkpoints = trajectory(kind, (&model, &config), &data.x, length, (1, 0)).unwrap();
            assert_eq!(checkpoints.len(), 61);
            let off = |checkpoint: &Checkpoint| mean(&checkpoint.weighted) - mean(&truth);
            let (start, end) = (off(&checkpoints[0]), off(&checkpoints[60]));
            assert!(
                start < -100.0 && end.abs() < near,
                "{}: {start}, {end}",
                kind.label()
            );
        }
    }
}
