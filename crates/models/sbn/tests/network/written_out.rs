//! A sigmoid belief network once more, one number at a time.

use burn_flex::Flex;
use helmholtz_sbn::{Sbn, SbnConfig};

use crate::{Parameter, parameters};

/// The layers of each factor as (weight `[in, out]`, bias).
type Layers = Vec<(Vec<f64>, Vec<f64>)>;

/// What the production model is, read off its parameters.
pub struct WrittenOut {
    slope: f64,
    tanh: bool,
    recognition: Vec<Layers>,
    generation: Vec<Layers>,
    prior: Vec<f64>,
}

impl WrittenOut {
    pub fn new(config: &SbnConfig, model: &Sbn<Flex>) -> Self {
        let mut rest = parameters(model).into_iter();
        let factors = config.latent.len();
        let depth = config.hidden.len() + 1;
        let mut next = || rest.next().expect("a parameter");
        let layer = |next: &mut dyn FnMut() -> Parameter| (next().values, next().values);
        let mut factors = || -> Vec<Layers> {
            (0..factors)
                .map(|_| (0..depth).map(|_| layer(&mut next)).collect())
                .collect()
        };
        let (recognition, generation) = (factors(), factors());
        let prior = if config.learned_prior {
            next().values
        } else {
            vec![0.0; *config.latent.last().expect("a layer")]
        };
        assert!(rest.next().is_none());
        Self {
            slope: config.slope,
            tanh: config.tanh,
            recognition,
            generation,
            prior,
        }
    }

    fn logits(&self, layers: &Layers, inputs: &[f64]) -> Vec<f64> {
        let mut values = inputs.to_vec();
        for (depth, (weight, bias)) in layers.iter().enumerate() {
            let mut next = bias.clone();
            for (i, value) in values.iter().enumerate() {
                for (o, next) in next.iter_mut().enumerate() {
                    *next += value * weight[i * bias.len() + o];
                }
            }
            if depth + 1 < layers.len() {
                let activation = |v: f64| match (self.tanh, v > 0.0) {
                    (true, _) => v.tanh(),
                    (false, true) => v,
                    (false, false) => self.slope * v,
                };
                next.iter_mut().for_each(|v| *v = activation(*v));
            }
            values = next;
        }
        values
    }

    /// Probabilities of ones of h^{level+1} given h^level, h⁰ = x.
    pub fn up(&self, level: usize, below: &[f64]) -> Vec<f64> {
        let logits = self.logits(&self.recognition[level], below);
        logits
            .into_iter()
            .map(|a| 1.0 / (1.0 + (-a).exp()))
            .collect()
    }

    /// Probabilities of ones of h^level given h^{level+1}, h⁰ = x.
    pub fn down(&self, level: usize, above: &[f64]) -> Vec<f64> {
        let logits = self.logits(&self.generation[level], above);
        logits
            .into_iter()
            .map(|a| 1.0 / (1.0 + (-a).exp()))
            .collect()
    }

    pub fn top(&self) -> Vec<f64> {
        self.prior
            .iter()
            .map(|a| 1.0 / (1.0 + (-a).exp()))
            .collect()
    }

    /// log q(h | x).
    pub fn log_q(&self, x: &[f64], h: &[Vec<f64>]) -> f64 {
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.recognition.iter().zip(below).zip(h);
        factors
            .map(|((layers, below), own)| score(&self.logits(layers, below), own))
            .sum()
    }

    /// log p(x, h).
    pub fn log_p(&self, x: &[f64], h: &[Vec<f64>]) -> f64 {
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.generation.iter().zip(below).zip(h);
        let given: f64 = factors
            .map(|((layers, below), own)| score(&self.logits(layers, own), below))
            .sum();
        given + score(&self.prior, &h[h.len() - 1])
    }
}

/// Σ ln σ(a) over ones + ln σ(−a) over zeros.
fn score(logits: &[f64], bits: &[f64]) -> f64 {
    let log_sigmoid = |a: f64| -(-a).exp().ln_1p();
    let terms = logits.iter().zip(bits);
    terms
        .map(|(&a, &b)| b * log_sigmoid(a) + (1.0 - b) * log_sigmoid(-a))
        .sum()
}
