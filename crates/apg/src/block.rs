//! Moves of one block of latents.

use burn::tensor::{Tensor, backend::Backend};

use crate::{Model, Particle};

/// A move of the particles that changes some of their latents and weighs the change.
///
/// Its log-densities are `[L, B, N]`: a **local** block falls apart into N independent parts given the other latents, the
/// assignments of N data say, and a **global** one has N = 1. What weighs a particle is the sum over the parts. In the
/// gradient a part has the weight that its own move alone would have, since moving one part is a block too. Groups of particles may be
/// moved by one block at once, on threads.
pub trait Block<B: Backend, M: Model<B>, C: ?Sized>: Sync {
    /// What reports call it.
    fn name(&self) -> String;

    /// Moves the particles `old`. `frozen` is the model without a tape.
    fn advance(
        &self,
        model: &M,
        frozen: &M,
        x: &M::Data,
        old: &M::State,
        chance: &mut C,
    ) -> Move<B, M::State>;
}

/// A move z → z' of all particles. Densities are `[L, B, N]`, nats.
#[derive(Clone, Debug)]
pub struct Move<B: Backend, S> {
    /// z'.
    pub state: S,
    /// log f(z' | x, z) of the kernel, differentiable in φ.
    pub log_forward: Tensor<B, 3>,
    /// log p_θ(x, z'), up to factors that the block does not change and that either have no learned parameters or are in the
    /// targets of a sweep's other blocks. Differentiable in θ.
    pub log_target: Tensor<B, 3>,
    /// The log of the incremental weight
    ///
    /// > v = p(x, z') r(z | x, z') / (p(x, z) f(z' | x, z)),
    ///
    /// a constant.
    pub log_v: Tensor<B, 3>,
}

/// A law q(z_b | x, z_−b) of the latents z_b of one block given all others z_−b: learned, the exact conditional, or the
/// prior.
pub trait Conditional<B: Backend, M: Model<B>, C: ?Sized>: Sync {
    /// What is computed of x and z_−b once, for the draw and for both densities.
    type Law;

    /// What reports call the block.
    fn name(&self) -> String;

    /// The law given z_−b, which is read off `z`. Of z_b in `z` nothing may be read.
    fn law(&self, model: &M, x: &M::Data, z: &M::State) -> Self::Law;

    /// The same law, detached from the tape.
    fn detach(&self, law: &Self::Law) -> Self::Law;

    /// z with its block drawn anew; a constant.
    fn sample(&self, law: &Self::Law, z: &M::State, chance: &mut C) -> M::State;

    /// A draw, with its density and that of the block of `z`. To be overridden where they come out of one computation.
    fn propose(&self, law: &Self::Law, z: &M::State, chance: &mut C) -> Draw<B, M::State> {
        let constant = self.detach(law);
        let state = self.sample(&constant, z, chance).detach();
        Draw {
            log_prob: self.log_prob(law, &state),
            log_reverse: self.log_prob(&constant, z),
            state,
        }
    }

    /// log q(z_b | x, z_−b) of the block of `z`: `[L, B, N]`.
    fn log_prob(&self, law: &Self::Law, z: &M::State) -> Tensor<B, 3>;

    /// log p_θ(x, z) by the parts of the block, without factors that neither depend on z_b nor have learned parameters:
    /// `[L, B, N]`.
    fn log_target(&self, model: &M, x: &M::Data, z: &M::State) -> Tensor<B, 3>;

    /// The log target at `new`, differentiable in θ, and at `old`, a constant. To be overridden where they share a computation, since
    /// they differ in the block alone.
    fn log_targets(
        &self,
        [model, frozen]: [&M; 2],
        x: &M::Data,
        [new, old]: [&M::State; 2],
    ) -> [Tensor<B, 3>; 2] {
        let log_target = self.log_target(model, x, new);
        [log_target, self.log_target(frozen, x, old)]
    }
}

/// A draw z'_b of a block in place of z_b. Densities are `[L, B, N]`, nats.
#[derive(Clone, Debug)]
pub struct Draw<B: Backend, S> {
    /// The particles with z'_b, constants.
    pub state: S,
    /// log q(z'_b | x, z_−b), differentiable in the law.
    pub log_prob: Tensor<B, 3>,
    /// log q(z_b | x, z_−b), a constant.
    pub log_reverse: Tensor<B, 3>,
}

/// The move of one block by a law that is forward and reverse kernel (Wu et al. 2020, eq. 8):
///
/// > v = p(x, z'_b, z_−b) q(z_b | x, z_−b) / (p(x, z_b, z_−b) q(z'_b | x, z_−b)).
///
/// With the exact conditional v = 1; with the prior it is the likelihood ratio.
#[derive(Clone, Copy, Debug)]
pub struct Update<K>(pub K);

impl<B, M, C, K> Block<B, M, C> for Update<K>
where
    B: Backend,
    M: Model<B>,
    C: ?Sized,
    K: Conditional<B, M, C>,
{
    fn name(&self) -> String {
        self.0.name()
    }

    fn advance(
        &self,
        model: &M,
        frozen: &M,
        x: &M::Data,
        old: &M::State,
        chance: &mut C,
    ) -> Move<B, M::State> {
        let law = self.0.law(model, x, old);
        let Draw {
            state,
            log_prob: log_forward,
            log_reverse,
        } = self.0.propose(&law, old, chance);
        let targets = self.0.log_targets([model, frozen], x, [&state, old]);
        let [log_target, log_old_target] = targets;
        let target_ratio = log_target.clone().detach() - log_old_target;
        let kernel_ratio = log_reverse - log_forward.clone().detach();
        Move {
            state,
            log_forward,
            log_target,
            log_v: target_ratio + kernel_ratio,
        }
    }
}

/// Two moves without resampling between them, as one global block: undone in the reverse order, so that the weights
/// multiply. For blocks η and c,
///
/// > v = p(x, η', c') q(c | x, η') q(η | x, c) / (p(x, η, c) q(η' | x, c) q(c' | x, η')).
///
/// The target is the second block's, which must have all learned parameters.
#[derive(Clone, Copy, Debug)]
pub struct Joint<F, S>(pub F, pub S);

impl<B, M, C, F, S> Block<B, M, C> for Joint<F, S>
where
    B: Backend,
    M: Model<B>,
    C: ?Sized,
    F: Block<B, M, C>,
    S: Block<B, M, C>,
{
    fn name(&self) -> String {
        format!("{} + {}", self.0.name(), self.1.name())
    }

    fn advance(
        &self,
        model: &M,
        frozen: &M,
        x: &M::Data,
        old: &M::State,
        chance: &mut C,
    ) -> Move<B, M::State> {
        let first = self.0.advance(model, frozen, x, old, chance);
        let second = self.1.advance(model, frozen, x, &first.state, chance);
        Move {
            state: second.state,
            log_forward: first.log_forward.sum_dim(2) + second.log_forward.sum_dim(2),
            log_target: second.log_target.sum_dim(2),
            log_v: first.log_v.sum_dim(2) + second.log_v.sum_dim(2),
        }
    }
}
