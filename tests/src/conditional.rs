//! A conditional model in plain `f64`.

use std::ops::Range;

use burn::tensor::DType;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};
use helmholtz_ops::Backend;
use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::Latents;

use crate::bits;
use crate::enumerable::{Enumerable, State, of_bits};
use crate::network::Network;

/// p(t, h | c) and q(h | c, t) with one layer of bits and tanh networks, a datum being (c, t).
#[derive(Clone, Debug)]
pub struct Conditional {
    config: ConditionalSbnConfig,
    recognition: Network,
    prior: Network,
    generation: Network,
    /// The flat parameters.
    pub parameters: Vec<f64>,
}

impl Conditional {
    /// T5: two bits given two others, three latents, three tanh units. Parameters N(0, 1).
    pub fn t4() -> Self {
        Self::random(2, 2, 3, &[3], 4)
    }

    /// A model of these sizes with parameters N(0, 1).
    pub fn random(
        context: usize,
        target: usize,
        latent: usize,
        hidden: &[usize],
        seed: u64,
    ) -> Self {
        let mut offset = 0;
        let mut net = |inputs: usize, outputs: usize| {
            let net = Network::tanh(&[&[inputs], hidden, &[outputs]].concat(), offset);
            offset = net.range().end;
            net
        };
        let recognition = net(context + target, latent);
        let prior = net(context, latent);
        let generation = net(latent + context, target);
        let mut stream = Stream::new(seed, Purpose::new("proof"), [0, 0]);
        Self {
            config: ConditionalSbnConfig {
                context,
                target,
                latent,
                hidden: hidden.to_vec(),
            },
            recognition,
            prior,
            generation,
            parameters: (0..offset).map(|_| stream.normal()).collect(),
        }
    }

    fn context<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[..self.config.context]
    }

    fn target<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[self.config.context..]
    }

    /// h and c side by side: what the target is drawn from.
    fn causes(&self, x: &[f64], h: &State) -> Vec<f64> {
        [&h[0], self.context(x)].concat()
    }
}

impl Enumerable for Conditional {
    type Production<B: Backend> = ConditionalSbn<B>;

    fn production<B: Backend>(&self, dtype: DType) -> ConditionalSbn<B> {
        let model = self.config.init(0, dtype, &Default::default());
        model.expect("a valid model")
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
        self.recognition.range()
    }

    fn visible(&self) -> usize {
        self.config.context + self.config.target
    }

    fn dreamt_beside(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let targets = bits(self.config.target).into_iter();
        targets
            .map(|target| [self.context(x), &target].concat())
            .collect()
    }

    fn latents(&self) -> Latents {
        Latents::new(&[self.config.latent]).expect("a layer of bits")
    }

    fn states(&self) -> Vec<State> {
        let states = bits(self.config.latent).into_iter();
        states.map(|state| vec![state]).collect()
    }

    fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let log_q = self
            .recognition
            .score(&self.parameters, x, &h[0], &mut gradient);
        (log_q, gradient)
    }

    fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let (context, causes) = (self.context(x), self.causes(x, h));
        let mut score = |net: &Network, inputs: &[f64], bits: &[f64]| {
            net.score(&self.parameters, inputs, bits, &mut gradient)
        };
        let log_p =
            score(&self.prior, context, &h[0]) + score(&self.generation, &causes, self.target(x));
        (log_p, gradient)
    }

    fn proposing(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        vec![of_bits(&self.recognition.ones(&self.parameters, x), &h[0])]
    }

    fn dreaming(&self, x: &[f64], h: &State) -> Vec<Vec<Range<f64>>> {
        let latents = self.prior.ones(&self.parameters, self.context(x));
        let target = self.generation.ones(&self.parameters, &self.causes(x, h));
        vec![of_bits(&latents, &h[0]), of_bits(&target, self.target(x))]
    }
}
