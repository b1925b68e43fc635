//! The model: p and q, and what they can do for estimators.

use burn::module::{Module, Param, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bits, Classes, Mixed, Noise, draw};
use helmholtz_estimators::{
    Dream, Factored, Joint, Latent, Layered, Particles, Parts, Proposals, Propose, Race,
    propose_layers, score_layers,
};
use helmholtz_nets::{Activation, Initialiser, Net};
use helmholtz_samplers::{Latents, Layer};

use helmholtz_ops::{Values, bernoulli_log_prob};

use crate::{ConfigError, MixedSbnConfig, SbnConfig};

/// The sigmoid belief network p(x, h) = p(h^L) Π_{l<L} p(h^l | h^{l+1}) · p(x | h¹) and its inference net q(h | x) = Π_l q(h^l | h^{l−1}),
/// h⁰ = x (Neal 1992). V says what the variables of a stochastic layer are.
#[derive(Module, Debug)]
pub struct Sbn<B: Backend, V = Bits> {
    /// `recognition[l]`: logits of q(h^{l+1} | h^l), h⁰ = x.
    recognition: Vec<Net<B>>,
    /// `generation[l]`: logits of p(h^l | h^{l+1}), h⁰ = x.
    generation: Vec<Net<B>>,
    /// Logits of p(h^L) `[1, logits]`, where they are learned.
    prior: Option<Param<Tensor<B, 2>>>,
    /// The stochastic layers, nearest the data first.
    #[module(skip)]
    layers: Vec<V>,
    /// Whether values enter nets as 2v − 1.
    signed: bool,
    /// The means of x `[1, visible]`, where x enters q less these.
    means: Option<Param<Tensor<B, 2>>>,
}

/// A sigmoid belief network with layers of bits and of classes.
pub type MixedSbn<B> = Sbn<B, Mixed>;

impl SbnConfig {
    /// The network with parameters drawn for this seed: first q from the data up, then p from the data up.
    ///
    /// # Errors
    /// If the configuration describes no network.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<Sbn<B>, ConfigError> {
        self.check()?;
        let layers = self.latent.iter().copied().map(Bits).collect();
        Ok(self.build(layers, Initialiser::new(seed, dtype, device)))
    }

    /// The network with these stochastic layers.
    fn build<B: Backend, V: Latent + Race>(
        &self,
        layers: Vec<V>,
        mut draw: Initialiser<B>,
    ) -> Sbn<B, V> {
        let activation = match self.tanh {
            true => Activation::Tanh,
            false => Activation::LeakyRelu(self.slope),
        };
        let mut net = |from: usize, to: usize, classes: bool| {
            let sizes = [[from].as_slice(), &self.hidden, &[to]].concat();
            let initialisation = match classes {
                true => self.initialisation.without_bias(),
                false => self.initialisation,
            };
            draw.net(&sizes, activation, initialisation)
        };
        // (values, logits, whether of classes) of x and of each layer.
        let sizes: Vec<(usize, usize, bool)> = [(self.visible, self.visible, false)]
            .into_iter()
            .chain(layers.iter().map(|layer| {
                let classes = matches!(layer.layer(), Layer::Categorical { .. });
                (layer.values(), layer.logits(), classes)
            }))
            .collect();
        let pairs = || sizes.windows(2).map(|pair| (pair[0], pair[1]));
        let recognition = pairs()
            .map(|(below, above)| net(below.0, above.1, above.2))
            .collect();
        let generation = pairs()
            .map(|(below, above)| net(above.0, below.1, below.2))
            .collect();
        let &(_, top, classes) = sizes.last().expect("there is x");
        let prior = self.learned_prior.then(|| {
            let start = match classes {
                true => 0.0,
                false => self.initialisation.prior() as f32,
            };
            draw.parameter(TensorData::new(vec![start; top], [1, top]))
        });
        let means = self.centred.then(|| {
            let start = TensorData::new(vec![0.0f32; self.visible], [1, self.visible]);
            draw.parameter(start).set_require_grad(false)
        });
        Sbn {
            recognition,
            generation,
            prior,
            layers,
            signed: self.signed,
            means,
        }
    }
}

impl MixedSbnConfig {
    /// The network with parameters drawn for this seed, as [`SbnConfig::init`].
    ///
    /// # Errors
    /// If the configuration describes no network.
    pub fn init<B: Backend>(
        &self,
        seed: u64,
        dtype: DType,
        device: &B::Device,
    ) -> Result<MixedSbn<B>, ConfigError> {
        self.check()?;
        let bits = self.bits.latent.iter().map(|&bits| Mixed::Bits(Bits(bits)));
        let top = Mixed::Classes(Classes {
            variables: 1,
            classes: self.classes,
        });
        let layers = bits.chain([top]).collect();
        let draw = Initialiser::new(seed, dtype, device);
        Ok(self.bits.build(layers, draw))
    }
}

impl<B: helmholtz_ops::Backend, V: Latent + Race + Send> Parts<B> for Sbn<B, V> {
    fn generative(&self) -> Vec<ParamId> {
        let conditionals = list_param_ids::<_, B>(&self.generation);
        conditionals
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

impl<B: helmholtz_ops::Backend, V: Latent + Race> Sbn<B, V> {
    /// If it is [`centred`](SbnConfig::centred), the same for data whose components have these `means`. Then x enters q less
    /// them, and the biases of p(x | h¹) start at ln m − ln(1 − m) of each, clipped to 0.001 and 0.999. Else the same, and nobody
    /// asks.
    ///
    /// # Panics
    /// If x has another number of components.
    pub fn for_means(mut self, means: impl FnOnce() -> Vec<f32>) -> Self {
        let Some(own) = self.means.take() else {
            return self;
        };
        let means = means();
        let logit = |&mean: &f32| {
            let mean = f64::from(mean).clamp(0.001, 0.999);
            mean.ln() - (-mean).ln_1p()
        };
        let biases: Vec<f64> = means.iter().map(logit).collect();
        let first = self.generation.remove(0).with_biases(&biases);
        self.generation.insert(0, first);
        let data = TensorData::new(means, own.shape());
        self.means =
            Some(own.map(|zeros| Tensor::from_data(data, (&zeros.device(), zeros.dtype()))));
        self
    }

    /// Logits of q(h^{level+1} | h^level), h⁰ = x, given `below` = h^level.
    fn up(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        match (level, &self.means) {
            (0, Some(means)) => self.recognition[0].of_affine(below, 1.0, means.val()),
            _ => self.through(&self.recognition[level], below),
        }
    }

    /// Logits of p(h^level | h^{level+1}), h⁰ = x, given `above` = h^{level+1}.
    fn down(&self, level: usize, above: impl Into<Values<B>>) -> Tensor<B, 2> {
        self.through(&self.generation[level], above.into())
    }

    /// The logits of p(x | h¹) for each row of latents: `[rows, visible]`.
    pub fn visible_logits(&self, particles: &Particles<B>) -> Tensor<B, 2> {
        self.down(0, particles.layers()[0].clone())
    }

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

    fn top(&self) -> &V {
        self.layers
            .last()
            .expect("a network has a stochastic layer")
    }

    /// The logits of p(h^L) `[1, logits]`.
    fn top_logits(&self, dtype: DType, device: &B::Device) -> Tensor<B, 2> {
        match &self.prior {
            Some(logits) => logits.val(),
            None => Tensor::zeros([1, self.top().logits()], (device, dtype)),
        }
    }
}

impl<B: helmholtz_ops::Backend, V: Latent + Race> Propose<B> for Sbn<B, V> {
    /// The logits of q(h¹ | x) `[batch, logits]`.
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        let layers: Vec<_> = self.layers.iter().map(Latent::layer).collect();
        Latents::mixed(&layers).expect("a network has layers, none of them empty")
    }

    fn encode(&self, x: impl Into<Values<B>>) -> Tensor<B, 2> {
        let x: Values<B> = x.into();
        self.up(0, x)
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

impl<B: helmholtz_ops::Backend, V: Latent + Race> Layered<B> for Sbn<B, V> {
    type Variables = V;

    fn layers(&self) -> Vec<V> {
        self.layers.clone()
    }

    fn logits_above(&self, level: usize, below: impl Into<Values<B>>) -> Tensor<B, 2> {
        let below: Values<B> = below.into();
        self.up(level, below)
    }
}

impl<B: helmholtz_ops::Backend, V: Latent + Race> Factored<B> for Sbn<B, V> {
    fn log_likelihood(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        bernoulli_log_prob(self.visible_logits(particles), x)
    }

    fn prior_logits(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        let x: Values<B> = x.into();
        let top = self.top_logits(x.dtype(), &x.device());
        let above = particles.layers().iter().enumerate().skip(1);
        above
            .map(|(level, above)| self.down(level, above.clone()))
            .chain([top])
            .collect()
    }
}

impl<B: helmholtz_ops::Backend, V: Latent + Race> Joint<B> for Sbn<B, V> {
    fn log_joint(&self, x: impl Into<Values<B>>, particles: &Particles<B>) -> Tensor<B, 1> {
        let x: Values<B> = x.into();
        let values = particles.layers();
        let observed = self.log_likelihood(x, particles);
        let last = values.len() - 1;
        let conditionals = self.layers[..last].iter().enumerate();
        let below_top = conditionals.fold(observed, |sum, (level, variables)| {
            let logits = self.down(level + 1, values[level + 1].clone());
            sum + variables.log_prob(logits, values[level].clone())
        });
        match &self.prior {
            Some(logits) => below_top + self.top().log_prob(logits.val(), values[last].clone()),
            None => {
                let Classes { variables, classes } = self.top().classes();
                below_top - variables as f64 * (classes as f64).ln()
            }
        }
    }
}

impl<B: helmholtz_ops::Backend, V: Latent + Race> Dream<B> for Sbn<B, V> {
    fn dream(&self, x: impl Into<Values<B>>, noise: &mut impl Noise) -> (Values<B>, Particles<B>) {
        let x: Values<B> = x.into();
        let mut logits = self.top_logits(x.dtype(), &x.device());
        let rows = x.dims()[0];
        let mut layers = Vec::with_capacity(self.layers.len());
        for (level, variables) in self.layers.iter().enumerate().rev() {
            // The prior's logits are one row, those of the layers below one for each dream.
            let count = rows / logits.dims()[0];
            let layer = draw(variables, logits, count, noise);
            logits = self.down(level, layer.clone());
            layers.push(layer);
        }
        layers.reverse();
        let x = draw(&Bits(logits.dims()[1]), logits, 1, noise);
        (x, Particles::new(layers))
    }
}
