//! A run whose particles move in groups, on threads.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use burn::module::AutodiffModule;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Tensor, activation, backend::AutodiffBackend};
use helmholtz_samplers::resampling::Resampler;

use crate::gradients::{backward, name_of, not_finite};
use crate::parts::{copied, in_two_turns};
use crate::population::InvalidWeights;
use crate::randomness::{PROPOSE, RESAMPLE};
use crate::{
    ApgError, Block, Loss, OneShot, Particle, Population, Position, Proposal, Randomness, Record,
    Run, Sampler, on_threads,
};

/// Log-densities of a group's particles, with their tape: of the proposal and of the target, `[L', B, N]`.
struct Logs<B: AutodiffBackend> {
    log_q: Tensor<B, 3>,
    log_p: Tensor<B, 3>,
    position: Position,
}

/// Particles with a model of their own on the tape.
struct Group<B: AutodiffBackend, M, G> {
    particles: Range<usize>,
    model: M,
    frozen: M,
    randomness: G,
    sum: GradientsAccumulator<M>,
    /// What waits for the weights of all groups.
    logs: Option<Logs<B>>,
}

/// Particles that were proposed, and what weighs them.
type Weighed<S, B> = (S, Tensor<B, 3>);

impl<R> Sampler<R> {
    /// [`gradients`](Sampler::gradients) with the particles in groups, as even as can be, that at most so many threads move and
    /// differentiate. Where the weights are needed, before each block, the groups wait for each other: weights, evidence and
    /// resampling are those of all L particles.
    ///
    /// There are as many groups as sources of randomness, and at most L. Each draws its proposals from its own source, and the
    /// first one's serves resampling. Their gradients are added in their order, so that the bits are the same for every number of
    /// threads. One group has the bits of [`gradients`](Sampler::gradients).
    ///
    /// # Errors
    /// Those of [`gradients`](Sampler::gradients); [`ApgError::Nothing`] for no groups.
    pub fn gradients_in_groups<B, M, G>(
        &self,
        model: &M,
        x: &M::Data,
        blocks: &[&dyn Block<B, M, G::Chance>],
        randomness: Vec<G>,
        threads: usize,
    ) -> Result<(GradientsParams, Run<M::State>), ApgError>
    where
        B: AutodiffBackend,
        M: OneShot<B, G::Chance> + AutodiffModule<B>,
        M::Data: Sync,
        M::State: Send + Sync,
        G: Randomness + Send,
        R: Resampler<G::Chance>,
    {
        let groups = self.groups(model, randomness)?;
        let run = groups[0].randomness.to_string();
        let groups = Groups {
            groups: groups.into_iter().map(Mutex::new).collect(),
            threads,
        };
        let position = Position::default();
        let at = |refused: InvalidWeights| refused.at(position, "one-shot".to_owned(), &run);
        let (state, log_w) = joined(groups.each(|group| group.propose(x)));
        let log_w = log_w.squeeze_dim(2);
        let mut weights = activation::softmax(log_w.clone(), 0).unsqueeze_dim(2);
        let mut population = Population::new(state, log_w).map_err(at)?;
        let mut records = vec![Record::new(position, "one-shot".to_owned(), &population)];

        for sweep in 1..self.sweeps() {
            for (index, block) in blocks.iter().enumerate() {
                let position = Position {
                    sweep,
                    block: index,
                };
                let at = |refused: InvalidWeights| refused.at(position, block.name(), &run);
                let mut first = groups.of(0);
                let chance = first.randomness.at(RESAMPLE, position);
                population.resample(self.smc(), chance).map_err(at)?;
                drop(first);
                let old = population.state();
                // All differentiate before any moves: after a backward pass burn looks through the tapes of all threads, which are
                // short then.
                let (learned, moved) = groups.in_two_turns(
                    |group| group.learn(&weights, blocks, &run),
                    |group| group.advance(*block, x, old, position),
                );
                learned.into_iter().collect::<Result<(), _>>()?;
                let (state, log_v) = joined(moved);
                weights = population.extend(state, log_v).map_err(at)?;
                records.push(Record::new(position, block.name(), &population));
            }
        }
        let learned = groups.each(|group| group.learn(&weights, blocks, &run));
        learned.into_iter().collect::<Result<(), _>>()?;
        let mut sum = GradientsAccumulator::new();
        for group in groups.groups {
            let mut group = group.into_inner().expect("no thread failed");
            sum.accumulate(model, group.sum.grads());
        }
        let run = Run {
            population,
            records,
        };
        Ok((sum.grads(), run))
    }

    fn groups<B, M, G>(&self, model: &M, sources: Vec<G>) -> Result<Vec<Group<B, M, G>>, ApgError>
    where
        B: AutodiffBackend,
        M: AutodiffModule<B>,
    {
        let (particles, count) = (self.particles(), sources.len().min(self.particles()));
        if count == 0 {
            return Err(ApgError::Nothing { what: "groups" });
        }
        let bound = |group: usize| group * particles / count;
        let groups = sources.into_iter().take(count).enumerate();
        let groups = groups.map(|(group, randomness)| {
            let model = copied(model);
            Group {
                particles: bound(group)..bound(group + 1),
                frozen: model.clone().no_grad(),
                model,
                randomness,
                sum: GradientsAccumulator::new(),
                logs: None,
            }
        });
        Ok(groups.collect())
    }
}

/// All groups, and how many threads move and differentiate them.
struct Groups<T> {
    groups: Vec<Mutex<T>>,
    threads: usize,
}

impl<T: Send> Groups<T> {
    /// What `of` gives for each group, in their order.
    fn each<U: Send>(&self, of: impl Fn(&mut T) -> U + Sync) -> Vec<U> {
        on_threads(self.groups.len(), self.threads, |number| {
            of(&mut self.of(number))
        })
    }

    /// What `first` gives for each group, and what `second` gives for each when all have done the first.
    fn in_two_turns<U: Send, V: Send>(
        &self,
        first: impl Fn(&mut T) -> U + Sync,
        second: impl Fn(&mut T) -> V + Sync,
    ) -> (Vec<U>, Vec<V>) {
        let (first, second) = (
            |number| first(&mut self.of(number)),
            |number| second(&mut self.of(number)),
        );
        in_two_turns(self.groups.len(), self.threads, first, second)
    }

    fn of(&self, number: usize) -> MutexGuard<'_, T> {
        self.groups[number].lock().expect("a group has one thread")
    }
}

/// The particles of all groups, and what weighs them.
fn joined<S, B>(groups: Vec<Weighed<S, B>>) -> Weighed<S, B>
where
    B: AutodiffBackend,
    S: Particle<Backend = B>,
{
    let (states, logs): (Vec<S>, Vec<_>) = groups.into_iter().unzip();
    (S::concatenate(states), helmholtz_ops::cat(logs, 0))
}

impl<B, M, G> Group<B, M, G>
where
    B: AutodiffBackend,
    M: OneShot<B, G::Chance> + AutodiffModule<B>,
    G: Randomness,
{
    /// The one-shot proposal, with log w.
    fn propose(&mut self, x: &M::Data) -> Weighed<M::State, B> {
        let position = Position::default();
        let chance = self.randomness.at(PROPOSE, position);
        let Proposal { state, log_q } = self.model.propose(x, self.particles.len(), chance);
        let state = state.detach();
        let log_p = self.model.log_joint(x, &state);
        let [log_q, log_p] = [log_q, log_p].map(|log| log.unsqueeze_dim::<3>(2));
        let log_w = (log_p.clone() - log_q.clone()).detach();
        self.logs = Some(Logs {
            log_q,
            log_p,
            position,
        });
        (state, log_w)
    }

    /// A block's move of the group's own among the particles `old`, with log v.
    fn advance(
        &mut self,
        block: &dyn Block<B, M, G::Chance>,
        x: &M::Data,
        old: &M::State,
        position: Position,
    ) -> Weighed<M::State, B> {
        let old = old.clone().narrow(self.particles.clone());
        let chance = self.randomness.at(PROPOSE, position);
        let moved = block.advance(&self.model, &self.frozen, x, &old, chance);
        self.logs = Some(Logs {
            log_q: moved.log_forward,
            log_p: moved.log_target,
            position,
        });
        (moved.state.detach(), moved.log_v.detach())
    }

    /// Adds the gradient of what waits, which its particles' weights among those of all are now known for.
    fn learn(
        &mut self,
        weights: &Tensor<B, 3>,
        blocks: &[&dyn Block<B, M, G::Chance>],
        run: &str,
    ) -> Result<(), ApgError> {
        let Logs {
            log_q,
            log_p,
            position,
        } = self.logs.take().expect("a group has moved");
        let Range { start, end } = self.particles;
        let weights = weights.clone().narrow(0, start, end - start);
        let gradients = backward(Loss::new(weights, log_q, log_p), &self.model);
        let gradients = gradients.map_err(|value| {
            let block = name_of(position, blocks);
            not_finite(value, block, position.sweep, run.to_owned())
        })?;
        self.sum.accumulate(&self.model, gradients);
        Ok(())
    }
}
