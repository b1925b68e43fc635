//! What a model can do for an estimator, one small trait a capability. Models implement them; an estimator asks for
//! what it needs.

use burn::module::{Module, ParamId};
use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables};
use helmholtz_ops::{Backend, Values};
use helmholtz_samplers::Latents;

use crate::Particles;

/// Proposed particles beside the retained ones, all scored.
#[derive(Clone, Debug)]
pub struct Proposals<B: Backend> {
    /// The retained rows first, then the proposed ones, particle-major.
    pub particles: Particles<B>,
    /// log q(h | x) of each row, nats: `[rows]`.
    pub log_q: Tensor<B, 1>,
}

/// An inference model q(h | x) that proposes and scores.
pub trait Propose<B: Backend> {
    /// What is computed once for each datum, whatever the number of particles.
    type Encoded;

    /// The layout of a state of all stochastic layers, nearest the data first.
    fn latents(&self) -> Latents;

    /// Encodes data x `[batch, visible]`.
    fn encode(&self, x: impl Into<Values<B>>) -> Self::Encoded;

    /// Draws `particles` latents for each datum and scores them and the `retained` ones (a multiple of the batch). One
    /// uniform a variable, layer by layer, rows in order.
    fn propose(
        &self,
        encoded: &Self::Encoded,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B>;

    /// log q(h | x) of each row of latents, nats: `[rows]`.
    fn log_q(&self, encoded: &Self::Encoded, particles: &Particles<B>) -> Tensor<B, 1>;
}

/// An inference model whose layers can be taken one at a time; what it encodes is the logits of q(h¹ | x),
/// `[batch, logits]`.
pub trait Layered<B: Backend>: Propose<B, Encoded = Tensor<B, 2>> {
    /// The kind of its latents. An estimator for bits asks for `Variables = Bits`, and does not compile with another model.
    type Variables: Variables;

    /// The variables of each stochastic layer, nearest the data first.
    fn layers(&self) -> Vec<Self::Variables>;

    /// Logits of q(h^{level+1} | h^level), level ≥ 1, given `below` = h^level `[rows, values]`: `[rows, logits]`. Values may be
    /// relaxed, and it is differentiable in them.
    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2>;

    /// The same model with the logits of its layers multiplied by a slope, where the layers are the generative model's
    /// own. An annealed slope is then the model's, in tests too. `None` where they are an inference model's.
    fn sloped(&self, _slope: f64) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// A generative model whose factors can be taken one at a time. Values of latents may be relaxed, and what it gives is
/// differentiable in them.
pub trait Factored<B: Backend>: Joint<B> {
    /// log p(x | h¹) of each row of latents, nats, for data x `[batch, visible]` repeated cyclically: `[rows]`.
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1>;

    /// Logits of p(h¹ | h²), …, `[rows, logits]` each, and of p(h^L), `[1, logits]`, or `[batch, logits]` where it depends on a
    /// part of x.
    fn prior_logits(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 2>>;

    /// The L + 1 factors of log p(x, h), nats, `[rows]` each: log p(x | h¹), log p(h¹ | h²), …, log p(h^L). Whatever depends on
    /// h^l or on layers above it is among those from the l-th on: a model in which x depends on another layer has another order.
    fn log_factors(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 1>>
    where
        Self: Layered<B>,
    {
        let x: Values<B> = x.into();
        let logits = self.prior_logits(x.clone(), particles);
        let latent = self
            .layers()
            .into_iter()
            .zip(logits)
            .zip(particles.layers());
        let latent =
            latent.map(|((variables, logits), layer)| variables.log_prob(logits, layer.clone()));
        [self.log_likelihood(x, particles)]
            .into_iter()
            .chain(latent)
            .collect()
    }
}

/// A generative model whose joint density can be evaluated.
pub trait Joint<B: Backend> {
    /// log p(x, h) of each row of latents, nats, for data x `[batch, visible]` repeated cyclically: `[rows]`.
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1>;
}

/// A generative model that can be sampled.
pub trait Dream<B: Backend> {
    /// As many draws (x̃, h) ~ p as there are data x `[batch, visible]`, without gradient; a model of a part of x given the rest
    /// takes the rest from x. One uniform a variable, from the top layer down.
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>);
}

/// A model that tells its generative parameters θ from those of its inference model, φ.
pub trait Parts<B: Backend>: Module<B> {
    /// The ids of θ.
    fn generative(&self) -> Vec<ParamId>;

    /// The ids of φ.
    fn inference(&self) -> Vec<ParamId>;

    /// The ids, among those of θ, of the learned logits of the prior p(h^L); none unless stated.
    fn learned_prior(&self) -> Vec<ParamId> {
        Vec::new()
    }
}
