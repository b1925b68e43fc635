//! The model: p and q, and what they can do for estimators.

use burn::module::{Module, Param, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Classes, Noise, Variables, draw};
use helmholtz_estimators::{
    Dream, Factored, Joint, Latent, Layered, Particles, Parts, Proposals, Propose, propose_layers,
    score_layers,
};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz_samplers::Latents;

use helmholtz_ops::{Values, bernoulli_log_prob};

use crate::{CategoricalVaeConfig, ConfigError};

const GLOROT: Initialisation = Initialisation::Xavier { bias: 0.0 };

/// p(x, h) = p(x | h) p(h) and q(h | x), h being V one-hot variables of C classes; p(h) is C^−V, or learned.
#[derive(Module, Debug)]
pub struct CategoricalVae<B: Backend> {
    /// Logits of q(h | x).
    recognition: Net<B>,
    /// Logits of p(x | h).
    generation: Net<B>,
    /// Logits of p(h) `[1, V (C − 1)]`, if they are learned.
    prior: Option<Param<Tensor<B, 2>>>,
    /// V.
    variables: usize,
    /// C.
    classes: u32,
    /// Whether q's net gives the logits of the first classes, too.
    free_logits: bool,
}

impl CategoricalVaeConfig {
    /// The model with parameters drawn for this seed: first q from the data up, then p from the latents down.
    ///
    /// # Errors
    /// If the configuration describes no model.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<CategoricalVae<B>, ConfigError> {
        self.check()?;
        let classes = self.classes as usize;
        let encoded = self.variables * (classes - usize::from(!self.free_logits));
        let up = [[self.visible].as_slice(), &self.hidden, &[encoded]].concat();
        let mut down = [[self.visible].as_slice(), &self.hidden].concat();
        down.push(self.variables * classes);
        down.reverse();
        let mut draw = Initialiser::new(seed, dtype, device);
        Ok(CategoricalVae {
            recognition: draw.net(&up, Activation::LeakyRelu(self.slope), GLOROT),
            generation: draw.net(&down, Activation::LeakyRelu(self.slope), GLOROT),
            prior: self.learned_prior.then(|| {
                let logits = self.variables * (classes - 1);
                draw.parameter(TensorData::new(vec![0.0; logits], [1, logits]))
            }),
            variables: self.variables,
            classes: self.classes,
            free_logits: self.free_logits,
        })
    }
}

impl<B: Backend> CategoricalVae<B> {
    fn latent(&self) -> Classes {
        Classes {
            variables: self.variables,
            classes: self.classes as usize,
        }
    }
}

impl<B: helmholtz_ops::Backend> CategoricalVae<B> {
    /// The logits of the prior `[1, V (C − 1)]`.
    fn prior(&self, dtype: DType, device: &B::Device) -> Tensor<B, 2> {
        match &self.prior {
            Some(logits) => logits.val(),
            None => Tensor::zeros([1, self.latent().logits()], (device, dtype)),
        }
    }

    /// The logits of p(x | h) for each row of latents: `[rows, visible]`.
    pub fn visible_logits(&self, particles: &Particles<B>) -> Tensor<B, 2> {
        self.generation.of(particles.layers()[0].clone())
    }
}

impl<B: helmholtz_ops::Backend> Parts<B> for CategoricalVae<B> {
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

impl<B: helmholtz_ops::Backend> Propose<B> for CategoricalVae<B> {
    /// The logits of q(h | x) `[batch, V (C − 1)]`, those of the first classes pinned to 0.
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::mixed(&[self.latent().layer()]).expect("there are variables, and classes of them")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        let logits = self.recognition.of(x);
        if !self.free_logits {
            return logits;
        }
        let Classes { variables, classes } = self.latent();
        let rows = logits.dims()[0];
        let all = logits.reshape([rows, variables, classes]);
        // Each laid out before the difference, which burn takes element by element where a row is not.
        let others = all.clone().narrow(2, 1, classes - 1).flatten(1, 2);
        let first = all.narrow(2, 0, 1).expand([rows, variables, classes - 1]);
        others - first.flatten(1, 2)
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

impl<B: helmholtz_ops::Backend> Layered<B> for CategoricalVae<B> {
    type Variables = Classes;

    fn layers(&self) -> Vec<Classes> {
        vec![self.latent()]
    }

    fn logits_above(&self, _level: usize, _below: impl Into<Values<B>>) -> Tensor<B, 2> {
        unreachable!("there is one layer")
    }
}

impl<B: helmholtz_ops::Backend> Factored<B> for CategoricalVae<B> {
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
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

impl<B: helmholtz_ops::Backend> Joint<B> for CategoricalVae<B> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let given = self.log_likelihood(x, particles);
        match &self.prior {
            Some(logits) => {
                let h = particles.layers()[0].clone();
                given + self.latent().log_prob(logits.val(), h)
            }
            None => given - self.variables as f64 * f64::from(self.classes).ln(),
        }
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for CategoricalVae<B> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let prior = self.prior(x.dtype(), &x.device());
        let h = Particles::new(vec![draw(&self.latent(), prior, x.dims()[0], noise)]);
        let logits = self.visible_logits(&h);
        (draw(&Bits(logits.dims()[1]), logits, 1, noise), h)
    }
}
