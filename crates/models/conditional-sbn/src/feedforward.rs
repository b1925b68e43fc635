//! A stochastic feedforward network: layers of bits between context and target, and no inference net (Raiko, Berglund, Alain &
//! Dinh 2015).

use burn::module::{Module, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, backend::Backend};
use helmholtz_distributions::{Bits, Noise, draw};
use helmholtz_estimators::{
    Dream, Factored, Joint, Layered, Particles, Parts, Proposals, Propose, propose_layers,
    score_layers,
};
use helmholtz_nets::{Activation, Initialisation, Initialiser, Net};
use helmholtz_samplers::Latents;
use serde::{Deserialize, Serialize};

use helmholtz_ops::{Values, bernoulli_log_prob};

use crate::ConfigError;
use crate::model::beside;

const GLOROT: Initialisation = Initialisation::Xavier { bias: 0.0 };

/// A stochastic feedforward network: what to build. Weights start from U(±√(6/(in + out))) (Glorot & Bengio 2010), biases from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeedforwardConfig {
    /// Bits of the context c, the first of a datum.
    pub context: usize,
    /// Bits of the target t, the rest of a datum.
    pub target: usize,
    /// Bits of each stochastic layer, nearest the context first.
    pub latent: Vec<usize>,
    /// Units of the deterministic layers before each stochastic one and before the target; none makes every factor linear.
    pub hidden: Vec<usize>,
    /// The slope of the leaky rectifier after each deterministic layer.
    pub slope: f64,
    /// Whether values v enter the factors as 2v − 1.
    pub signed: bool,
}

impl FeedforwardConfig {
    /// The nets by name.
    pub const NAMES: [&str; 2] = ["feedforward", "feedforward-linear"];

    /// The nets with which Yin & Zhou predict the lower 392 pixels of a digit from the upper 392 by way of two layers
    /// of 200 bits. `feedforward` has a leaky-rectified (0.2) layer of 300 in each factor, as their code of July 2018 has it.
    /// `feedforward-linear` has linear factors that see ±1, as the code's last version and earlier papers have it.
    pub fn named(name: &str) -> Option<Self> {
        let linear = Self {
            context: 392,
            target: 392,
            latent: vec![200, 200],
            hidden: vec![],
            slope: 0.2,
            signed: true,
        };
        match name {
            "feedforward-linear" => Some(linear),
            "feedforward" => Some(Self {
                hidden: vec![300],
                signed: false,
                ..linear
            }),
            _ => None,
        }
    }

    /// That it describes a network.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let empty = |layer| Err(ConfigError::EmptyLayer { layer });
        if self.context == 0 {
            return empty("context");
        }
        if self.target == 0 {
            return empty("target");
        }
        if self.latent.is_empty() || self.latent.contains(&0) {
            return empty("latent");
        }
        if self.hidden.contains(&0) {
            return empty("hidden");
        }
        let slope = self.slope;
        if !(slope >= 0.0 && slope.is_finite()) {
            return Err(ConfigError::Slope { slope });
        }
        Ok(())
    }

    /// The network with parameters drawn for this seed, from the context on.
    ///
    /// # Errors
    /// If the configuration describes no network.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Feedforward<B>, ConfigError> {
        self.check()?;
        let mut draw = Initialiser::new(seed, dtype, device);
        let sizes = [&[self.context], self.latent.as_slice(), &[self.target]].concat();
        let mut nets: Vec<_> = sizes
            .windows(2)
            .map(|pair| {
                let sizes = [&pair[..1], &self.hidden, &pair[1..]].concat();
                draw.net(&sizes, Activation::LeakyRelu(self.slope), GLOROT)
            })
            .collect();
        let generation = nets.pop().expect("one net more than layers");
        Ok(Feedforward {
            layers: nets,
            generation,
            sizes: self.latent.clone(),
            context: self.context,
            signed: self.signed,
            slope: 1.0,
        })
    }
}

/// p(t, h | c) = p(h¹ | c) p(h² | h¹) … p(t | h^L), h being bits, for data x = (c, t).
///
/// It proposes from its own p(h | c), so that log p(t, h | c) − log q(h | c) is log p(t | h^L). An estimator of the ELBO ascends
/// the mean of this over h (and the mean of its exponential is p(t | c)). To estimators φ are the parameters of p(h | c), and θ
/// those of p(t | h^L). Inside log p(t, h | c) the former are constants, since what they would add has mean zero.
#[derive(Module, Debug)]
pub struct Feedforward<B: Backend> {
    /// Logits of p(h^{l+1} | h^l), h⁰ = c.
    layers: Vec<Net<B>>,
    /// Logits of p(t | h^L).
    generation: Net<B>,
    /// Bits of each layer.
    sizes: Vec<usize>,
    /// Bits of c.
    context: usize,
    /// Whether values enter nets as 2v − 1.
    signed: bool,
    /// What the logits of the layers are multiplied with.
    slope: f64,
}

impl<B: helmholtz_ops::Backend> Feedforward<B> {
    /// What a net makes of values, which enter it as they are or as 2v − 1.
    fn through(&self, net: &Net<B>, values: Values<B>) -> Tensor<B, 2> {
        match self.signed {
            true => {
                let one = Tensor::ones([1, 1], (&values.device(), values.dtype()));
                net.of_affine(values, 2.0, one)
            }
            false => net.of(values),
        }
    }

    /// Logits of p(h^{level+1} | h^level), h⁰ = c.
    fn layer_logits(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        let logits = self.through(&self.layers[level], below);
        match self.slope {
            1.0 => logits,
            slope => logits * slope,
        }
    }

    /// The logits of p(t | h) `[rows, target]`.
    fn target_given(&self, particles: &Particles<B>) -> Tensor<B, 2> {
        let top = particles.layers().last().expect("there is a layer");
        self.through(&self.generation, top.clone())
    }

    /// Data with the same contexts as x `[batch, context + target]` and `count` sampled targets each, t ~ p(t | c):
    /// `[count · batch, context + target]`, particle-major. Without gradient.
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
    ) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let context = x.columns(0, self.context);
        let h = propose_layers(self, &self.encode(x), None, count, noise).particles;
        let logits = self.target_given(&h);
        let target = draw(&Bits(logits.dims()[1]), logits, 1, noise);
        (beside(&context.cycle(target.dims()[0]), &target), h)
    }
}

impl<B: helmholtz_ops::Backend> Parts<B> for Feedforward<B> {
    fn generative(&self) -> Vec<ParamId> {
        list_param_ids::<_, B>(&self.generation)
    }

    fn inference(&self) -> Vec<ParamId> {
        list_param_ids::<_, B>(&self.layers)
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for Feedforward<B> {
    /// The logits of p(h¹ | c) `[batch, bits]`.
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&self.sizes).expect("there are latents")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.layer_logits(0, x.columns(0, self.context))
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

impl<B: helmholtz_ops::Backend> Layered<B> for Feedforward<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        self.sizes.iter().copied().map(Bits).collect()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.layer_logits(level, below)
    }

    fn sloped(&self, slope: f64) -> Option<Self> {
        Some(Self {
            slope,
            ..self.clone()
        })
    }
}

impl<B: helmholtz_ops::Backend> Factored<B> for Feedforward<B> {
    /// log p(t | h^L).
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let visible = x.dims()[1];
        let target = x.columns(self.context, visible - self.context);
        bernoulli_log_prob(self.target_given(particles), target)
    }

    /// Those of p(h¹ | c), p(h² | h¹), …
    fn prior_logits(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        let x: Values<B> = x.into();
        let fixed = self.clone().no_grad();
        let first = fixed.encode(x);
        let below = &particles.layers()[..self.sizes.len() - 1];
        let above = below.iter().enumerate();
        let above = above.map(|(level, below)| fixed.logits_above(level + 1, below.clone()));
        [first].into_iter().chain(above).collect()
    }

    /// The target depends on the last layer, and so comes last.
    fn log_factors(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 1>> {
        let x: Values<B> = x.into();
        let logits = self.prior_logits(x.clone(), particles);
        let layers = logits.into_iter().zip(particles.layers());
        layers
            .map(|(logits, layer)| bernoulli_log_prob(logits, layer.clone()))
            .chain([self.log_likelihood(x, particles)])
            .collect()
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for Feedforward<B> {
    /// log p(t, h | c).
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let fixed = self.clone().no_grad();
        score_layers(&fixed, &fixed.encode(x.clone()), particles)
            + self.log_likelihood(x, particles)
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for Feedforward<B> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        self.sample(x, 1, noise)
    }
}
