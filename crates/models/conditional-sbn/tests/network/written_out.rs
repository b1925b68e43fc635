//! A conditional model once more, one number at a time.

use burn_flex::Flex;
use helmholtz_conditional_sbn::{ConditionalSbn, ConditionalSbnConfig};

use crate::parameters;

/// Layers as (weight `[in, out]`, bias).
type Layers = Vec<(Vec<f64>, Vec<f64>)>;

/// What the production model is, read off its parameters.
pub struct WrittenOut {
    context: usize,
    recognition: Layers,
    prior: Layers,
    generation: Layers,
}

impl WrittenOut {
    pub fn new(config: &ConditionalSbnConfig, model: &ConditionalSbn<Flex>) -> Self {
        let mut rest = parameters(model).into_iter().map(|p| p.values);
        let mut net = || -> Layers {
            let mut next = || rest.next().expect("a parameter");
            (0..=config.hidden.len())
                .map(|_| (next(), next()))
                .collect()
        };
        let (recognition, prior, generation) = (net(), net(), net());
        assert!(rest.next().is_none());
        Self {
            context: config.context,
            recognition,
            prior,
            generation,
        }
    }

    /// σ of the outputs.
    fn ones(layers: &Layers, inputs: &[f64]) -> Vec<f64> {
        let mut values = inputs.to_vec();
        for (depth, (weight, bias)) in layers.iter().enumerate() {
            let output = |o: usize| {
                let products = values.iter().enumerate();
                let products = products.map(|(i, value)| value * weight[i * bias.len() + o]);
                let sum = products.sum::<f64>() + bias[o];
                match depth + 1 == layers.len() {
                    true => 1.0 / (1.0 + (-sum).exp()),
                    false => sum.tanh(),
                }
            };
            values = (0..bias.len()).map(output).collect();
        }
        values
    }

    /// The probabilities of ones under q(h | c, t).
    pub fn proposed(&self, x: &[f64]) -> Vec<f64> {
        Self::ones(&self.recognition, x)
    }

    /// The probabilities of ones under p(h | c).
    pub fn expected(&self, x: &[f64]) -> Vec<f64> {
        Self::ones(&self.prior, &x[..self.context])
    }

    /// The probabilities of ones under p(t | h, c).
    pub fn completed(&self, x: &[f64], h: &[f64]) -> Vec<f64> {
        Self::ones(&self.generation, &[h, &x[..self.context]].concat())
    }

    /// log q(h | c, t).
    pub fn log_q(&self, x: &[f64], h: &[f64]) -> f64 {
        log_prob(&self.proposed(x), h)
    }

    /// log p(t, h | c).
    pub fn log_p(&self, x: &[f64], h: &[f64]) -> f64 {
        log_prob(&self.expected(x), h) + log_prob(&self.completed(x, h), &x[self.context..])
    }
}

/// The log-probability of bits.
pub fn log_prob(ones: &[f64], bits: &[f64]) -> f64 {
    let each = ones.iter().zip(bits);
    each.map(|(p, &bit)| if bit == 1.0 { p.ln() } else { (1.0 - p).ln() })
        .sum()
}
