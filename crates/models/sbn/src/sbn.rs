//! The model: p and q, and what they can do for estimators.

use burn::module::{Module, Param, ParamId, list_param_ids};
use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_distributions::{Bernoulli, Bits, LogProb, Noise, Sample, uniforms};
use helmholtz_estimators::{Dream, Factored, Joint, Layered, Particles, Parts, Proposals, Propose};
use helmholtz_nets::{Initialiser, Net};
use helmholtz_ops::sample_bernoulli;
use helmholtz_samplers::Latents;

use crate::{ConfigError, SbnConfig};

/// A sigmoid belief network and its inference net.
#[derive(Module, Debug)]
pub struct Sbn<B: Backend> {
    /// `recognition[l]`: logits of q(h^{l+1} | h^l), h⁰ = x.
    recognition: Vec<Net<B>>,
    /// `generation[l]`: logits of p(h^l | h^{l+1}), h⁰ = x.
    generation: Vec<Net<B>>,
    /// Logits of p(h^L) `[1, bits]`, where they are learned.
    prior: Option<Param<Tensor<B, 2>>>,
    /// Bits of x and of each stochastic layer.
    sizes: Vec<usize>,
}

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
        let sizes: Vec<usize> = [self.visible].iter().chain(&self.latent).copied().collect();
        let mut draw = Initialiser::new(seed, dtype, device);
        let mut net = |from: usize, to: usize| {
            let sizes = [[from].as_slice(), &self.hidden, &[to]].concat();
            draw.net(&sizes, self.slope, self.initialisation)
        };
        let recognition = sizes.windows(2).map(|pair| net(pair[0], pair[1])).collect();
        let generation = sizes.windows(2).map(|pair| net(pair[1], pair[0])).collect();
        let top = self.latent[self.latent.len() - 1];
        let prior = self
            .learned_prior
            .then(|| draw.parameter(TensorData::new(vec![0.0f64; top], [1, top])));
        Ok(Sbn {
            recognition,
            generation,
            prior,
            sizes,
        })
    }
}

impl<B: helmholtz_ops::Backend> Parts<B> for Sbn<B> {
    fn generative(&self) -> Vec<ParamId> {
        let prior = self.prior.iter().map(|logits| logits.id);
        let conditionals = list_param_ids::<_, B>(&self.generation);
        conditionals.into_iter().chain(prior).collect()
    }

    fn inference(&self) -> Vec<ParamId> {
        list_param_ids::<_, B>(&self.recognition)
    }
}

impl<B: helmholtz_ops::Backend> Propose<B> for Sbn<B> {
    /// The logits of q(h¹ | x) `[batch, bits]`.
    type Encoded = Tensor<B, 2>;

    fn latents(&self) -> Latents {
        Latents::new(&self.sizes[1..]).expect("a network has layers, none of them empty")
    }

    fn encode(&self, x: Tensor<B, 2>) -> Tensor<B, 2> {
        self.recognition[0].forward(x)
    }

    fn propose(
        &self,
        encoded: &Tensor<B, 2>,
        retained: Option<Particles<B>>,
        particles: usize,
        noise: &mut impl Noise,
    ) -> Proposals<B> {
        let batch = encoded.dims()[0];
        let proposed = particles * batch;
        let kept = retained.as_ref().map_or(0, Particles::rows);
        let mut logits = encoded.clone();
        let mut layers = Vec::with_capacity(self.recognition.len());
        let mut log_q: Option<Tensor<B, 1>> = None;
        for level in 0..self.recognition.len() {
            if level > 0 {
                let below: &Tensor<B, 2> = &layers[level - 1];
                logits = self.recognition[level].forward(below.clone());
            }
            let [rows, bits] = logits.dims();
            // Above the first layer there are logits for every row; those of the retained rows draw nothing.
            let drawn = if rows == batch {
                logits.clone()
            } else {
                logits.clone().narrow(0, kept, rows - kept)
            };
            let noise = uniforms([proposed, bits], logits.dtype(), &logits.device(), noise);
            let mut layer = sample_bernoulli(drawn, noise);
            if let Some(retained) = &retained {
                layer = Tensor::cat(vec![retained.layers()[level].clone(), layer], 0);
            }
            let score = Bernoulli::new(logits.clone()).log_prob(layer.clone());
            log_q = Some(match log_q {
                Some(below) => below + score,
                None => score,
            });
            layers.push(layer);
        }
        Proposals {
            particles: Particles::new(layers),
            log_q: log_q.expect("a network has a stochastic layer"),
        }
    }

    fn log_q(&self, encoded: &Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let layers = particles.layers();
        let bottom = Bernoulli::new(encoded.clone()).log_prob(layers[0].clone());
        let conditionals = self.recognition[1..].iter().zip(layers.windows(2));
        conditionals.fold(bottom, |sum, (net, pair)| {
            sum + Bernoulli::new(net.forward(pair[0].clone())).log_prob(pair[1].clone())
        })
    }
}

impl<B: helmholtz_ops::Backend> Layered<B> for Sbn<B> {
    type Variables = Bits;

    fn layers(&self) -> Vec<Bits> {
        self.sizes[1..].iter().copied().map(Bits).collect()
    }

    fn logits_above(&self, level: usize, below: Tensor<B, 2>) -> Tensor<B, 2> {
        self.recognition[level].forward(below)
    }
}

impl<B: helmholtz_ops::Backend> Sbn<B> {
    /// The logits of p(x | h¹) for each row of latents: `[rows, visible]`.
    pub fn visible_logits(&self, particles: &Particles<B>) -> Tensor<B, 2> {
        self.generation[0].forward(particles.layers()[0].clone())
    }

    /// The logits of p(h^L) `[1, bits]`.
    fn top_logits(&self, dtype: DType, device: &B::Device) -> Tensor<B, 2> {
        match &self.prior {
            Some(logits) => logits.val(),
            None => Tensor::zeros([1, self.sizes[self.sizes.len() - 1]], (device, dtype)),
        }
    }
}

impl<B: helmholtz_ops::Backend> Factored<B> for Sbn<B> {
    fn log_likelihood(&self, x: Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        Bernoulli::new(self.visible_logits(particles)).log_prob(x)
    }

    fn prior_logits(&self, x: Tensor<B, 2>, particles: &Particles<B>) -> Vec<Tensor<B, 2>> {
        let top = self.top_logits(x.dtype(), &x.device());
        let conditionals = self.generation[1..].iter().zip(&particles.layers()[1..]);
        conditionals
            .map(|(net, above)| net.forward(above.clone()))
            .chain([top])
            .collect()
    }
}

impl<B: helmholtz_ops::Backend> Joint<B> for Sbn<B> {
    fn log_joint(&self, x: Tensor<B, 2>, particles: &Particles<B>) -> Tensor<B, 1> {
        let layers = particles.layers();
        let observed = self.log_likelihood(x, particles);
        let conditionals = self.generation[1..].iter().zip(layers.windows(2));
        let below_top = conditionals.fold(observed, |sum, (net, pair)| {
            sum + Bernoulli::new(net.forward(pair[1].clone())).log_prob(pair[0].clone())
        });
        let top = &layers[layers.len() - 1];
        match &self.prior {
            Some(logits) => below_top + Bernoulli::new(logits.val()).log_prob(top.clone()),
            None => below_top - top.dims()[1] as f64 * std::f64::consts::LN_2,
        }
    }
}

impl<B: helmholtz_ops::Backend> Dream<B> for Sbn<B> {
    fn dream(&self, x: Tensor<B, 2>, noise: &mut impl Noise) -> (Tensor<B, 2>, Particles<B>) {
        let top = Bernoulli::new(self.top_logits(x.dtype(), &x.device()));
        let mut layers = vec![top.sample(x.dims()[0], noise)];
        for net in self.generation.iter().rev() {
            let above = layers[layers.len() - 1].clone();
            layers.push(Bernoulli::new(net.forward(above)).sample(1, noise));
        }
        let x = layers.pop().expect("the data layer was drawn last");
        layers.reverse();
        (x, Particles::new(layers))
    }
}
