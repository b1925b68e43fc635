//! What the engine asks of a model.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};

use crate::Particle;

/// A model p_θ(x, z) whose latents z are moved block by block, together with what its proposals learn.
pub trait Model<B: Backend>: Module<B> {
    /// The data x of a batch of B instances.
    type Data;
    /// The latents z.
    type State: Particle<Backend = B>;

    /// log p_θ(x, z) of each particle, with all constants, nats: `[L, B]`.
    fn log_joint(&self, x: &Self::Data, z: &Self::State) -> Tensor<B, 2>;
}

/// A one-shot proposal q_φ(z | x).
pub trait OneShot<B: Backend, C: ?Sized>: Model<B> {
    /// Draws `particles` particles for each instance.
    fn propose(&self, x: &Self::Data, particles: usize, chance: &mut C)
    -> Proposal<B, Self::State>;
}

/// Particles, and how probable it was to draw them.
#[derive(Clone, Debug)]
pub struct Proposal<B: Backend, S> {
    /// The particles. They are constants: nothing differentiates through a draw.
    pub state: S,
    /// log q_φ(z | x) of each, nats, differentiable in φ: `[L, B]`.
    pub log_q: Tensor<B, 2>,
}

/// A one-shot proposal whose density is known anywhere, not only at its own draws.
pub trait Rescore<B: Backend>: Model<B> {
    /// log q_φ(z | x) of each particle, nats, differentiable in φ: `[L, B]`.
    fn log_one_shot(&self, x: &Self::Data, z: &Self::State) -> Tensor<B, 2>;
}
