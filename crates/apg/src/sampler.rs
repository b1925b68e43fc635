//! Sweeps of resample, propose, weigh.

use burn::tensor::{activation, backend::Backend};
use helmholtz_samplers::resampling::{Policy, Resampler};
use helmholtz_samplers::smc::Smc;

use crate::population::InvalidWeights;
use crate::randomness::{PROPOSE, RESAMPLE};
use crate::{ApgError, Block, Loss, OneShot, Particle, Population, Position, Proposal, Randomness};

/// An amortized population Gibbs sampler (Wu et al. 2020, algorithm 1): one shot, then sweeps in which each block is
/// resampled, proposed and weighed.
///
/// K = 1 is reweighted wake-sleep. Exact conditionals and [`Policy::Never`] are a Gibbs sampler. A block proposed from
/// its prior is block population Gibbs; [`Policy::Never`] with learned blocks is sequential importance sampling.
#[derive(Clone, Debug)]
pub struct Sampler<R> {
    particles: usize,
    sweeps: usize,
    smc: Smc<R>,
}

/// What is known after the one-shot proposal or after a block, for each instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Where.
    pub position: Position,
    /// The block's name, or `one-shot`.
    pub block: String,
    /// log Ẑ so far, nats.
    pub log_evidence: Vec<f64>,
    /// 1 / Σ W² of the weights, in [1, L].
    pub ess: Vec<f64>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run<S> {
    /// The particles with the weights after the last block, which are not resampled.
    pub population: Population<S>,
    /// The one-shot proposal, and each block of each sweep.
    pub records: Vec<Record>,
}

impl<R> Sampler<R> {
    /// `particles` L for each instance and `sweeps` K, the one-shot proposal counted as the first. Before each block the
    /// instances are resampled by `resampler` whose weights the policy finds uneven: [`Policy::Always`] is the published
    /// algorithm, with [`Systematic`](helmholtz_samplers::resampling::Systematic).
    ///
    /// # Errors
    /// [`ApgError::Nothing`] for 0 particles or sweeps, [`ApgError::Policy`].
    pub fn new(
        particles: usize,
        sweeps: usize,
        policy: Policy,
        resampler: R,
    ) -> Result<Self, ApgError> {
        if particles == 0 {
            return Err(ApgError::Nothing { what: "particles" });
        }
        if sweeps == 0 {
            return Err(ApgError::Nothing { what: "sweeps" });
        }
        Ok(Self {
            particles,
            sweeps,
            smc: Smc::new(resampler, policy).map_err(ApgError::Policy)?,
        })
    }

    /// L.
    pub fn particles(&self) -> usize {
        self.particles
    }

    pub(crate) fn sweeps(&self) -> usize {
        self.sweeps
    }

    pub(crate) fn smc(&self) -> &Smc<R> {
        &self.smc
    }

    /// Runs on data x. After the one-shot proposal and after each block, `visit` is given the population and the loss, which
    /// a run for evaluation ignores.
    ///
    /// # Errors
    /// [`ApgError::Weights`] when a weight is NaN or +inf or all are zero, with the place and the run.
    pub fn run<B, M, G>(
        &self,
        model: &M,
        x: &M::Data,
        blocks: &[&dyn Block<B, M, G::Chance>],
        randomness: &mut G,
        mut visit: impl FnMut(Position, &Population<M::State>, Loss<B>),
    ) -> Result<Run<M::State>, ApgError>
    where
        B: Backend,
        M: OneShot<B, G::Chance>,
        G: Randomness,
        R: Resampler<G::Chance>,
    {
        let (frozen, run) = (model.clone().no_grad(), randomness.to_string());
        let one_shot = || "one-shot".to_owned();
        let position = Position::default();
        let chance = randomness.at(PROPOSE, position);
        let Proposal { state, log_q } = model.propose(x, self.particles, chance);
        let state = state.detach();
        let log_p = model.log_joint(x, &state);
        let log_w = (log_p.clone() - log_q.clone()).detach();
        let weights = activation::softmax(log_w.clone(), 0);
        let mut population = Population::new(state, log_w)
            .map_err(|refused| refused.at(position, one_shot(), &run))?;
        let mut records = vec![Record::new(position, one_shot(), &population)];
        let [weights, log_q, log_p] = [weights, log_q, log_p].map(|t| t.unsqueeze_dim(2));
        let loss = Loss::new(weights, log_q, log_p);
        visit(position, &population, loss);

        for sweep in 1..self.sweeps {
            for (index, block) in blocks.iter().enumerate() {
                let position = Position {
                    sweep,
                    block: index,
                };
                let at = |refused: InvalidWeights| refused.at(position, block.name(), &run);
                let chance = randomness.at(RESAMPLE, position);
                population.resample(&self.smc, chance).map_err(at)?;
                let chance = randomness.at(PROPOSE, position);
                let moved = block.advance(model, &frozen, x, population.state(), chance);
                let weights = population.extend(moved.state, moved.log_v).map_err(at)?;
                records.push(Record::new(position, block.name(), &population));
                let loss = Loss::new(weights, moved.log_forward, moved.log_target);
                visit(position, &population, loss);
            }
        }
        Ok(Run {
            population,
            records,
        })
    }
}

impl Record {
    pub(crate) fn new<S: Particle>(
        position: Position,
        block: String,
        population: &Population<S>,
    ) -> Self {
        Self {
            position,
            block,
            log_evidence: population.log_evidence(),
            ess: population.effective_sample_size(),
        }
    }
}
