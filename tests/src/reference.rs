//! A linear sigmoid belief network in plain `f64`.

use std::ops::Range;

use burn::tensor::DType;
use helmholtz_ops::Backend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::Latents;
use helmholtz_sbn::{Initialisation, Sbn, SbnConfig};

use crate::enumerable::{Enumerable, State, bits, of_bits};
use crate::network::{Network, sigmoid, softplus};

/// p(x, h) and q(h | x) with linear factors and a learned prior.
///
/// The flat parameters are those of the factors of q from the data up (weight row by row, then bias), of p from the data up,
/// and the prior's logits.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Bits of x, then of each stochastic layer.
    sizes: Vec<usize>,
    recognition: Vec<Network>,
    generation: Vec<Network>,
    prior: usize,
    /// The flat parameters.
    pub parameters: Vec<f64>,
}

impl Reference {
    /// T1: four visible bits, three latents, parameters N(0, 1.5²).
    pub fn t1() -> Self {
        Self::random(4, &[3], 1)
    }

    /// T2: four visible bits, two layers of two latents, parameters N(0, 1.5²).
    pub fn t2() -> Self {
        Self::random(4, &[2, 2], 2)
    }

    /// A network of these sizes with parameters N(0, 1.5²).
    pub fn random(visible: usize, latent: &[usize], seed: u64) -> Self {
        let sizes: Vec<usize> = [visible].iter().chain(latent).copied().collect();
        let mut offset = 0;
        let mut factor = |inputs: usize, outputs: usize| {
            let factor = Network::new(&[inputs, outputs], 1.0, offset);
            offset = factor.range().end;
            factor
        };
        let recognition = sizes.windows(2).map(|s| factor(s[0], s[1])).collect();
        let generation = sizes.windows(2).map(|s| factor(s[1], s[0])).collect();
        let top = sizes[sizes.len() - 1];
        let mut stream = Stream::new(seed, Purpose::new("proof"), [0, 0]);
        let parameters = (0..offset + top).map(|_| 1.5 * stream.normal()).collect();
        Self {
            sizes,
            recognition,
            generation,
            prior: offset,
            parameters,
        }
    }

    /// A network with one layer of three latents whose q is the exact posterior. Each of the four visible bits hangs on
    /// one latent alone, so the posterior is a product of bits with logits linear in x.
    pub fn with_exact_posterior() -> Self {
        let mut model = Self::t1();
        let (q, p) = (model.phi().start, model.phi().end);
        let (visible, latent) = (4, 3);
        for i in 0..latent {
            model.parameters[q + visible * latent + i] = model.parameters[model.prior + i];
        }
        for j in 0..visible {
            let own = j % latent;
            for i in 0..latent {
                if i != own {
                    model.parameters[p + i * visible + j] = 0.0;
                }
                let weight = model.parameters[p + i * visible + j];
                let bias = model.parameters[p + latent * visible + j];
                // log p(x_j | 1) − log p(x_j | 0) = x_j w − (softplus(b + w) − softplus(b)).
                model.parameters[q + j * latent + i] = weight;
                model.parameters[q + visible * latent + i] -=
                    softplus(bias + weight) - softplus(bias);
            }
        }
        model
    }

    /// The network with a prior in which all bits are even: log p(h^L) is a constant.
    pub fn with_flat_prior(mut self) -> Self {
        self.parameters[self.prior..].fill(0.0);
        self
    }

    /// What the production code builds this network from.
    pub fn config(&self) -> SbnConfig {
        SbnConfig {
            visible: self.sizes[0],
            latent: self.sizes[1..].to_vec(),
            hidden: vec![],
            slope: 0.01,
            learned_prior: true,
            signed: false,
            tanh: false,
            centred: false,
            initialisation: Initialisation::FanIn,
        }
    }

    /// Bits of each stochastic layer.
    pub fn layers(&self) -> &[usize] {
        &self.sizes[1..]
    }

    /// The probabilities of ones in each layer of a state, given the layer below it, and x below the first: what q
    /// compares its uniforms with.
    pub fn recognition_thresholds(&self, x: &[f64], h: &State) -> Vec<Vec<f64>> {
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.recognition.iter().zip(below);
        factors
            .map(|(factor, below)| factor.ones(&self.parameters, below))
            .collect()
    }

    /// The probabilities of ones in each layer of a dream, from the top layer down to x.
    pub fn generation_thresholds(&self, h: &State) -> Vec<Vec<f64>> {
        let prior = self.parameters[self.prior..].iter().map(|&a| sigmoid(a));
        let factors = self.generation.iter().zip(h).rev();
        std::iter::once(prior.collect())
            .chain(factors.map(|(factor, above)| factor.ones(&self.parameters, above)))
            .collect()
    }
}

impl Enumerable for Reference {
    type Production<B: Backend> = Sbn<B>;

    fn production<B: Backend>(&self, dtype: DType) -> Sbn<B> {
        let model = self.config().init(0, dtype, &Default::default());
        model.expect("a valid network")
    }

    fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    fn with_parameters(&self, parameters: Vec<f64>) -> Self {
        assert_eq!(parameters.len(), self.parameters.len());
        Self {
            parameters,
            ..self.clone()
        }
    }

    fn phi(&self) -> Range<usize> {
        0..self.generation[0].range().start
    }

    fn visible(&self) -> usize {
        self.sizes[0]
    }

    fn latents(&self) -> Latents {
        Latents::new(self.layers()).expect("valid layers")
    }

    fn states(&self) -> Vec<State> {
        let all = bits(self.layers().iter().sum());
        let split = |state: Vec<f64>| {
            let mut rest = state.as_slice();
            let layer = |&size: &usize| {
                let (layer, after) = rest.split_at(size);
                rest = after;
                layer.to_vec()
            };
            self.layers().iter().map(layer).collect()
        };
        all.into_iter().map(split).collect()
    }

    fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.recognition.iter().zip(below).zip(h);
        let log_q = factors
            .map(|((factor, below), layer)| {
                factor.score(&self.parameters, below, layer, &mut gradient)
            })
            .sum();
        (log_q, gradient)
    }

    fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.generation.iter().zip(below).zip(h);
        let mut log_p: f64 = factors
            .map(|((factor, below), layer)| {
                factor.score(&self.parameters, layer, below, &mut gradient)
            })
            .sum();
        for (i, &bit) in h[h.len() - 1].iter().enumerate() {
            let logit = self.parameters[self.prior + i];
            log_p += bit * logit - softplus(logit);
            gradient[self.prior + i] += bit - sigmoid(logit);
        }
        (log_p, gradient)
    }

    fn proposing(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let ones = self.recognition_thresholds(x, h);
        ones.iter()
            .zip(h)
            .map(|(p, bits)| of_bits(p, bits))
            .collect()
    }

    fn dreaming(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let ones = self.generation_thresholds(h);
        let values = h.iter().rev().map(Vec::as_slice).chain([x]);
        let layers = ones.iter().zip(values);
        layers.map(|(ones, bits)| of_bits(ones, bits)).collect()
    }
}
