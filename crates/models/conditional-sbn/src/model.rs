//! The model: p and q, and what they can do for estimators.

use burn::module::{Module, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, backend::Backend};
use helmholtz_distributions::{Bits, Noise, draw};
use helmholtz_estimators::{
    Dream, Factored, Joint, Layered, Particles, Parts, Proposals, Propose, propose_layers,
    score_layers,
};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz_samplers::Latents;

use helmholtz_ops::{Values, bernoulli_log_prob, cat};

use crate::decoder::Decoder;
use crate::{ConditionalSbnConfig, ConfigError};

/// p(t, h | c) = p(t | h, c) p(h | c) and q(h | c, t), h being bits, for data x = (c, t).
///
/// Everywhere a trait speaks of p(x, h), this model gives p(t, h | c), with c taken from x.
#[derive(Module, Debug)]
pub struct ConditionalSbn<B: Backend> {
    /// Logits of q(h | c, t).
    recognition: Net<B>,
    /// Logits of p(h | c).
    prior: Net<B>,
    /// Logits of p(t | h, c).
    generation: Decoder<B>,
    /// Bits of c, of t and of h.
    sizes: [usize; 3],
}

impl ConditionalSbnConfig {
    /// The model with parameters drawn for this seed: first q, then p(h | c), then p(t | h, c).
    ///
    /// # Errors
    /// If the configuration describes no model.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<ConditionalSbn<B>, ConfigError> {
        self.check()?;
        let Self {
            context,
            target,
            latent,
            ref hidden,
        } = *self;
        let mut draw = Initialiser::new(seed, dtype, device);
        let mut to_latents = |bits: usize| {
            let sizes = [[bits].as_slice(), hidden, &[latent]].concat();
            draw.net(&sizes, Activation::Tanh, Initialisation::FanIn)
        };
        Ok(ConditionalSbn {
            recognition: to_latents(context + target),
            prior: to_latents(context),
            generation: Decoder::init(&mut draw, latent, context, hidden, target),
            sizes: [context, target, latent],
        })
    }
}

impl<B: helmholtz_ops::Backend> ConditionalSbn<B> {
    /// c of data x = (c, t) `[batch, context + target]`: `[batch, context]`.
    fn context(&self, x: &Values<B>) -> Values<B> {
        x.columns(0, self.sizes[0])
    }

    /// t of data x: `[batch, target]`.
    fn target(&self, x: &Values<B>) -> Values<B> {
        let [context, target, _] = self.sizes;
        x.columns(context, target)
    }

    /// The logits of p(h | c) `[batch, bits]`.
    fn latents_given(&self, context: Values<B>) -> Tensor<B, 2> {
        self.prior.of(context)
    }

    /// Data with the same contexts as x `[batch, context + target]` and `count` sampled targets each, t ~ p(t | c) by way of
    /// h ~ p(h | c): `[count · batch, context + target]`, particle-major. Without gradient.
    pub fn complete(
        &self,
        x: impl Into<Values<B>>,
        count: usize,
        noise: &mut impl Noise,
    ) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.sample(x, count, noise).0.numbers()
    }

    fn sample(
        &self,
        x: impl Into<Values<B>>,
        count: usize,
        noise: &mut impl Noise,
    ) -> (Values<B>, Values<B>) {
        let x: Values<B> = x.into();
        let context = self.context(&x);
        let logits = self.latents_given(context.clone());
        let h = draw(&Bits(self.sizes[2]), logits, count, noise);
        let logits = self.generation.forward(h.clone(), context.clone());
        let target = draw(&Bits(self.sizes[1]), logits, 1, noise);
        (beside(&context.cycle(target.dims()[0]), &target), h)
    }
}

/// The columns of both, those of the first first.
pub(crate) fn beside<B: helmholtz_ops::Backend>(
    first: &Values<B>,
    second: &Values<B>,
) -> Values<B> {
    Values::binary(cat(vec![first.numbers(), second.numbers()], 1))
}

impl<B: helmholtz_ops::Backend> Parts<B> for ConditionalSbn<B> {
    fn generative(&self) -> Vec<ParamId> {
        let prior = list_param_ids::<_, B>(&self.prior);
        let target = list_param_ids::<_, B>(&self.generation);
        [prior, target].concat()
    }

    fn inference(&self) -> Vec<ParamId> {
        list_param_ids::<_, B>(&self.recognition)
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for ConditionalSbn<B> {
    /// The logits of q(h | c, t) `[batch, bits]`.
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&self.sizes[2..]).expect("there are latents")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.recognition.of(x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        propose_layers(self, encoded, retained, particles, noise)
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        score_layers(self, encoded, particles)
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for ConditionalSbn<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        vec![Bits(self.sizes[2])]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Factored<B> for ConditionalSbn<B> {
    /// log p(t | h, c).
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let h = particles.layers()[0].clone();
        let logits = self.generation.forward(h, self.context(&x));
        bernoulli_log_prob(logits, self.target(&x))
    }

    /// Those of p(h | c) `[batch, bits]`.
    fn prior_logits(
        &self,
        x: impl Into<Values<B>>,
        _particles: &Particles<B>,
    ) -> Vec<Tensor<B, 2>> {
        let x: Values<B> = x.into();
        vec![self.latents_given(self.context(&x))]
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for ConditionalSbn<B> {
    /// log p(t, h | c).
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let prior = self.latents_given(self.context(&x));
        let of_latents = bernoulli_log_prob(prior, particles.layers()[0].clone());
        of_latents + self.log_likelihood(x, particles)
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for ConditionalSbn<B> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let (x, h) = self.sample(x, 1, noise);
        (x, Particles::new(vec![h]))
    }
}
