//! A variational autoencoder with categorical latents once more, one number at a time.

use burn_flex::Flex;
use helmholtz_categorical_vae::{CategoricalVae, CategoricalVaeConfig};

use crate::{one_hot, parameters};

/// Layers as (weight `[in, out]`, bias).
type Layers = Vec<(Vec<f64>, Vec<f64>)>;

/// What the production model is, read off its parameters.
pub struct WrittenOut {
    config: CategoricalVaeConfig,
    recognition: Layers,
    generation: Layers,
}

impl WrittenOut {
    pub fn new(config: &CategoricalVaeConfig, model: &CategoricalVae<Flex>) -> Self {
        let mut rest = parameters(model).into_iter().map(|p| p.values);
        let mut net = || -> Layers {
            let mut next = || rest.next().expect("a parameter");
            (0..=config.hidden.len())
                .map(|_| (next(), next()))
                .collect()
        };
        let (recognition, generation) = (net(), net());
        assert!(rest.next().is_none());
        Self {
            config: config.clone(),
            recognition,
            generation,
        }
    }

    fn outputs(&self, layers: &Layers, inputs: &[f64]) -> Vec<f64> {
        let mut values = inputs.to_vec();
        for (depth, (weight, bias)) in layers.iter().enumerate() {
            let output = |o: usize| {
                let products = values.iter().enumerate();
                let products = products.map(|(i, value)| value * weight[i * bias.len() + o]);
                let sum = products.sum::<f64>() + bias[o];
                let last = depth + 1 == layers.len();
                if last || sum > 0.0 {
                    sum
                } else {
                    self.config.slope * sum
                }
            };
            values = (0..bias.len()).map(output).collect();
        }
        values
    }

    /// The probabilities of the classes of each variable under q(h | x).
    pub fn classes(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let logits = self.outputs(&self.recognition, x);
        let given = logits.len() / self.config.variables;
        let softmax = |logits: &[f64]| {
            let pinned = (!self.config.free_logits).then_some(0.0);
            let weights = pinned.iter().chain(logits).map(|phi| phi.exp());
            let weights: Vec<f64> = weights.collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|w| w / sum).collect()
        };
        logits.chunks(given).map(softmax).collect()
    }

    /// The probabilities of ones under p(x | h).
    pub fn ones(&self, h: &[usize]) -> Vec<f64> {
        let logits = self.outputs(&self.generation, &one_hot(h, &self.config));
        logits
            .into_iter()
            .map(|a| 1.0 / (1.0 + (-a).exp()))
            .collect()
    }

    /// log q(h | x).
    pub fn log_q(&self, x: &[f64], h: &[usize]) -> f64 {
        let classes = self.classes(x);
        classes.iter().zip(h).map(|(p, &class)| p[class].ln()).sum()
    }

    /// log p(x, h).
    pub fn log_p(&self, x: &[f64], h: &[usize]) -> f64 {
        let ones = self.ones(h);
        let bits = ones.iter().zip(x);
        let given: f64 = bits
            .map(|(p, &bit)| if bit == 1.0 { p.ln() } else { (1.0 - p).ln() })
            .sum();
        given - self.config.variables as f64 * f64::from(self.config.classes).ln()
    }
}
