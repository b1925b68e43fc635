//! Sweeps of resample, propose, weigh.

use burn::tensor::{Tensor, activation, backend::Backend};
use helmholtz_samplers::resampling::{Policy, Resampler};
use helmholtz_samplers::smc::Smc;

use crate::population::Refused;
use crate::randomness::{PROPOSE, RESAMPLE};
use crate::{ApgError, Block, OneShot, Particle, Place, Population, Proposal, Randomness};

/// An amortized population Gibbs sampler (Wu et al. 2020, algorithm 1): one shot, then sweeps in which each block is
/// resampled, proposed and weighed.
///
/// K = 1 is reweighted wake-sleep; exact conditionals and [`Policy::Never`] are a Gibbs sampler; a block proposed from
/// its prior is block population Gibbs; [`Policy::Never`] with learned blocks is sequential importance sampling.
#[derive(Clone, Debug)]
pub struct Sampler<R> {
    particles: usize,
    sweeps: usize,
    smc: Smc<R>,
}

/// The losses of the one-shot proposal or of a block, to be **minimised**, each a scalar whose gradient is its meaning: the
/// mean over instances of
///
/// > −Σ_n Σ_l W_nl log q_φ(z'_nl | x, z_l)  and  −Σ_n Σ_l W_nl log p_θ(x, z'_l)_n.
///
/// W_n are the self-normalised weights of part n. Nothing differentiates through a weight or a draw, so that a loss has a
/// tape of its own, which can be freed before the next block.
#[derive(Clone, Debug)]
pub struct Loss<B: Backend> {
    /// Of the proposal's parameters φ.
    pub phi: Tensor<B, 1>,
    /// Of the model's parameters θ.
    pub theta: Tensor<B, 1>,
}

impl<B: Backend> Loss<B> {
    /// φ and θ together.
    pub fn total(self) -> Tensor<B, 1> {
        self.phi + self.theta
    }

    /// From weights and log-densities `[L, B, N]`. What has no weight counts for nothing, whatever its density.
    fn new(weights: Tensor<B, 3>, log_q: Tensor<B, 3>, log_p: Tensor<B, 3>) -> Self {
        let weights = weights.detach();
        let nothing = weights.clone().equal_elem(0.0);
        let share = -1.0 / weights.dims()[1] as f64;
        let loss = |log: Tensor<B, 3>| {
            let log = log.mask_fill(nothing.clone(), 0.0);
            (weights.clone() * log).sum() * share
        };
        Self {
            phi: loss(log_q),
            theta: loss(log_p),
        }
    }
}

/// What is known after the one-shot proposal or after a block, for each instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Where.
    pub place: Place,
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

    /// Runs on data x. Each loss is handed to `losses` as soon as it is known; a run for evaluation ignores them.
    ///
    /// # Errors
    /// [`ApgError::Weights`] when a weight is NaN or +inf or all are zero, with the place and the run.
    pub fn run<B, M, G>(
        &self,
        model: &M,
        x: &M::Data,
        blocks: &[&dyn Block<B, M, G::Chance>],
        randomness: &mut G,
        mut losses: impl FnMut(Place, Loss<B>),
    ) -> Result<Run<M::State>, ApgError>
    where
        B: Backend,
        M: OneShot<B, G::Chance>,
        G: Randomness,
        R: Resampler<G::Chance>,
    {
        let frozen = model.clone().no_grad();
        let mut place = Place::default();
        let Proposal { state, log_q } =
            model.propose(x, self.particles, randomness.at(PROPOSE, place));
        let state = state.detach();
        let log_p = model.log_joint(x, &state);
        let run = randomness.to_string();
        let refused = |place: Place, block: &str, refused: Refused| ApgError::Weights {
            block: block.to_owned(),
            sweep: place.sweep,
            instance: refused.instance,
            run: run.clone(),
            source: refused.source,
        };

        const ONE_SHOT: &str = "one-shot";
        let log_w = (log_p.clone() - log_q.clone()).detach();
        let mut population =
            Population::new(state, log_w.clone()).map_err(|r| refused(place, ONE_SHOT, r))?;
        let mut records = vec![Record::new(place, ONE_SHOT.to_owned(), &population)];
        let weights = activation::softmax(log_w, 0).unsqueeze_dim(2);
        let (log_q, log_p) = (log_q.unsqueeze_dim(2), log_p.unsqueeze_dim(2));
        losses(place, Loss::new(weights, log_q, log_p));

        for sweep in 1..self.sweeps {
            for (index, block) in blocks.iter().enumerate() {
                place = Place {
                    sweep,
                    block: index,
                };
                let name = block.name();
                population
                    .resample(&self.smc, randomness.at(RESAMPLE, place))
                    .map_err(|r| refused(place, &name, r))?;
                let moved = block.advance(
                    model,
                    &frozen,
                    x,
                    population.state(),
                    randomness.at(PROPOSE, place),
                );
                let log_v = moved.log_v.detach();
                let incoming = population.log_weight_tensor(log_v.dtype(), &log_v.device());
                let [particles, instances, _] = log_v.dims();
                population
                    .extend(
                        moved.state,
                        log_v.clone().sum_dim(2).reshape([particles, instances]),
                    )
                    .map_err(|r| refused(place, &name, r))?;
                records.push(Record::new(place, name, &population));
                let weights = activation::softmax(log_v + incoming, 0);
                losses(
                    place,
                    Loss::new(weights, moved.log_forward, moved.log_target),
                );
            }
        }
        Ok(Run {
            population,
            records,
        })
    }
}

impl Record {
    fn new<S: Particle>(place: Place, block: String, population: &Population<S>) -> Self {
        Self {
            place,
            block,
            log_evidence: population.log_evidence(),
            ess: population.effective_sample_size(),
        }
    }
}
