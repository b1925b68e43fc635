//! A variational autoencoder with counts once more, one number at a time.

use burn_flex::Flex;
use helmholtz_count_vae::{CountVae, CountVaeConfig};

use crate::parameters;

/// Layers as (weight `[in, out]`, bias).
type Layers = Vec<(Vec<f64>, Vec<f64>)>;

/// What the production model is, read off its parameters.
pub struct WrittenOut {
    slope: f64,
    trials: Option<u32>,
    recognition: Layers,
    generation: Layers,
}

fn factorial(k: f64) -> f64 {
    (1..=k as u32).map(f64::from).product()
}

impl WrittenOut {
    pub fn new(config: &CountVaeConfig, model: &CountVae<Flex>) -> Self {
        let mut rest = parameters(model).into_iter();
        let mut net = || -> Layers {
            let mut next = || rest.next().expect("a parameter");
            let layers = 0..=config.hidden.len();
            layers.map(|_| (next(), next())).collect()
        };
        let (recognition, generation) = (net(), net());
        assert!(rest.next().is_none());
        Self {
            slope: config.slope,
            trials: config.trials,
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
                    self.slope * sum
                }
            };
            values = (0..bias.len()).map(output).collect();
        }
        values
    }

    /// ln P(k) for a logit.
    fn log_count(&self, logit: f64, k: f64) -> f64 {
        match self.trials {
            None => (logit.exp().powf(k) / factorial(k)).ln() - logit.exp(),
            Some(n) => {
                let (n, p) = (f64::from(n), 1.0 / (1.0 + (-logit).exp()));
                let ways = factorial(n) / factorial(k) / factorial(n - k);
                (ways * p.powf(k) * (1.0 - p).powf(n - k)).ln()
            }
        }
    }

    /// log q(h | x).
    pub fn log_q(&self, x: &[f64], h: &[f64]) -> f64 {
        let logits = self.outputs(&self.recognition, x);
        logits
            .iter()
            .zip(h)
            .map(|(&a, &k)| self.log_count(a, k))
            .sum()
    }

    /// log p(x, h), of a prior whose logits are 0.
    pub fn log_p(&self, x: &[f64], h: &[f64]) -> f64 {
        let logits = self.outputs(&self.generation, h);
        let bit = |(a, &bit): (&f64, &f64)| -(1.0 + (if bit == 1.0 { -a } else { *a }).exp()).ln();
        let given: f64 = logits.iter().zip(x).map(bit).sum();
        given + h.iter().map(|&k| self.log_count(0.0, k)).sum::<f64>()
    }
}
