//! The model: p and q, and what they can do for estimators.

use burn::module::{Module, Param, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Counts, Noise, Variables, draw};
use helmholtz_estimators::{
    Dream, Factored, Joint, Layered, Particles, Parts, Proposals, Propose, propose_layers,
    score_layers,
};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz_ops::{Values, bernoulli_log_prob};
use helmholtz_samplers::{Latents, Layer};

use crate::{ConfigError, CountVaeConfig};

const GLOROT: Initialisation = Initialisation::Xavier { bias: 0.0 };

/// p(x, h) = p(x | h) p(h) and q(h | x), h being V counts.
#[derive(Module, Debug)]
pub struct CountVae<B: Backend> {
    /// Logits of q(h | x).
    recognition: Net<B>,
    /// Logits of p(x | h).
    generation: Net<B>,
    /// Logits of p(h) `[1, V]`, if they are learned.
    prior: Option<Param<Tensor<B, 2>>>,
    /// V.
    variables: usize,
    /// n of binomial counts.
    trials: Option<u32>,
}

impl CountVaeConfig {
    /// The model with parameters drawn for this seed: first q from the data up, then p from the latents down.
    ///
    /// # Errors
    /// If the configuration describes no model.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<CountVae<B>, ConfigError> {
        self.check()?;
        let up = [&[self.visible], &self.hidden[..], &[self.variables]].concat();
        let down: Vec<usize> = up.iter().rev().copied().collect();
        let mut draw = Initialiser::new(seed, dtype, device);
        Ok(CountVae {
            recognition: draw.net(&up, Activation::LeakyRelu(self.slope), GLOROT),
            generation: draw.net(&down, Activation::LeakyRelu(self.slope), GLOROT),
            prior: self.learned_prior.then(|| {
                let zeros = vec![0.0; self.variables];
                draw.parameter(TensorData::new(zeros, [1, self.variables]))
            }),
            variables: self.variables,
            trials: self.trials,
        })
    }
}

impl<B: Backend> CountVae<B> {
    fn counts(&self) -> Counts {
        let variables = self.variables;
        match self.trials {
            Some(trials) => Counts::Binomial { variables, trials },
            None => Counts::Poisson { variables },
        }
    }
}

impl<B: helmholtz_ops::Backend> CountVae<B> {
    /// The logits of the prior `[1, V]`.
    fn prior(&self, dtype: DType, device: &B::Device) -> Tensor<B, 2> {
        match &self.prior {
            Some(logits) => logits.val(),
            None => Tensor::zeros([1, self.variables], (device, dtype)),
        }
    }

    /// The logits of p(x | h) for each row of latents: `[rows, visible]`.
    pub fn visible_logits(&self, particles: &Particles<B>) -> Tensor<B, 2> {
        self.generation.of(particles.layers()[0].clone())
    }
}

impl<B: helmholtz_ops::Backend> Parts<B> for CountVae<B> {
    fn generative(&self) -> Vec<ParamId> {
        let generation = list_param_ids::<_, B>(&self.generation);
        generation
            .into_iter()
            .chain(Parts::<B>::learned_prior(self))
            .collect()
    }

    fn inference(&self) -> Vec<ParamId> {
        list_param_ids::<_, B>(&self.recognition)
    }

    fn learned_prior(&self) -> Vec<ParamId> {
        self.prior.iter().map(|logits| logits.id).collect()
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for CountVae<B> {
    /// The logits of q(h | x) `[batch, V]`.
    type Encoded = Tensor<B, 2>;

    /// Counts as numbers. The chains of an estimator that keeps some hold bits and classes alone.
    fn latents(&self) -> Latents {
        Latents::mixed(&[Layer::F32(self.variables)]).expect("there are variables")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
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

impl<B: helmholtz_ops::Backend> Layered<B> for CountVae<B> {
    type Variables = Counts;

    fn layers(&self) -> Vec<Counts> {
        vec![self.counts()]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Factored<B> for CountVae<B> {
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        bernoulli_log_prob(self.visible_logits(particles), x)
    }

    fn prior_logits(
        &self,
        x: impl Into<Values<B>>,
        _particles: &Particles<B>,
    ) -> Vec<Tensor<B, 2>> {
        let x: Values<B> = x.into();
        vec![self.prior(x.dtype(), &x.device())]
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for CountVae<B> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let prior = self.prior(x.dtype(), &x.device());
        let h = particles.layers()[0].clone();
        self.log_likelihood(x, particles) + self.counts().log_prob(prior, h)
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for CountVae<B> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let prior = self.prior(x.dtype(), &x.device());
        let h = Particles::new(vec![draw(&self.counts(), prior, x.dims()[0], noise)]);
        let logits = self.visible_logits(&h);
        (draw(&Bits(logits.dims()[1]), logits, 1, noise), h)
    }
}
