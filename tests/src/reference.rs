//! A linear sigmoid belief network in plain `f64`.

use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_sbn::{Initialisation, SbnConfig};

/// A latent state: one vector of 0.0 / 1.0 a stochastic layer, nearest the data first.
pub type State = Vec<Vec<f64>>;

/// One factor: independent bits with logits x W + b, W `[inputs, outputs]`.
#[derive(Clone, Debug)]
struct Factor {
    inputs: usize,
    outputs: usize,
    /// Where W starts among the flat parameters; b follows it.
    offset: usize,
}

/// p(x, h) and q(h | x) with linear factors and a learned prior.
///
/// All parameters lie in one flat vector, in the order in which the production model visits its own: the factors of q
/// from the data up (weight row by row, then bias), those of p from the data up, the prior's logits. Gradients are flat
/// the same way.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Bits of x, then of each stochastic layer.
    sizes: Vec<usize>,
    recognition: Vec<Factor>,
    generation: Vec<Factor>,
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
            let start = offset;
            offset += inputs * outputs + outputs;
            Factor {
                inputs,
                outputs,
                offset: start,
            }
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

    /// A network with one layer of three latents whose q is the exact posterior: each of the four visible bits hangs on
    /// one latent alone, so the posterior is a product of bits with logits linear in x.
    pub fn with_exact_posterior() -> Self {
        let mut model = Self::t1();
        let (q, p) = (model.recognition[0].offset, model.generation[0].offset);
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

    /// The same network with other parameters.
    pub fn with_parameters(&self, parameters: Vec<f64>) -> Self {
        assert_eq!(parameters.len(), self.parameters.len());
        Self {
            parameters,
            ..self.clone()
        }
    }

    /// What the production code builds this network from.
    pub fn config(&self) -> SbnConfig {
        SbnConfig {
            visible: self.sizes[0],
            latent: self.sizes[1..].to_vec(),
            hidden: vec![],
            slope: 0.01,
            learned_prior: true,
            initialisation: Initialisation::FanIn,
        }
    }

    /// Bits of x.
    pub fn visible(&self) -> usize {
        self.sizes[0]
    }

    /// Bits of each stochastic layer.
    pub fn layers(&self) -> &[usize] {
        &self.sizes[1..]
    }

    /// The parameters of q among the flat ones.
    pub fn phi(&self) -> std::ops::Range<usize> {
        0..self.generation[0].offset
    }

    /// The parameters of p among the flat ones.
    pub fn theta(&self) -> std::ops::Range<usize> {
        self.generation[0].offset..self.parameters.len()
    }

    /// Every latent state; bit i of the index is the i-th latent, counted from the layer nearest the data.
    pub fn states(&self) -> Vec<State> {
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

    /// The index of a state in [`states`](Self::states).
    pub fn index(&self, state: &State) -> usize {
        let bits = state.iter().flatten().enumerate();
        bits.map(|(i, &bit)| usize::from(bit == 1.0) << i).sum()
    }

    /// Every x.
    pub fn observations(&self) -> Vec<Vec<f64>> {
        bits(self.visible())
    }

    /// log q(h | x), nats, and its gradient.
    pub fn log_q(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.recognition.iter().zip(below).zip(h);
        let log_q = factors
            .map(|((factor, below), layer)| self.score(factor, below, layer, &mut gradient))
            .sum();
        (log_q, gradient)
    }

    /// log p(x, h), nats, and its gradient.
    pub fn log_p(&self, x: &[f64], h: &State) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.parameters.len()];
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.generation.iter().zip(below).zip(h);
        let mut log_p: f64 = factors
            .map(|((factor, below), layer)| self.score(factor, layer, below, &mut gradient))
            .sum();
        for (i, &bit) in h[h.len() - 1].iter().enumerate() {
            let logit = self.parameters[self.prior + i];
            log_p += bit * logit - softplus(logit);
            gradient[self.prior + i] += bit - sigmoid(logit);
        }
        (log_p, gradient)
    }

    /// The probabilities of ones in each layer of a state, given the layer below it, and x below the first: what q
    /// compares its uniforms with.
    pub fn recognition_thresholds(&self, x: &[f64], h: &State) -> Vec<Vec<f64>> {
        let below = std::iter::once(x).chain(h.iter().map(Vec::as_slice));
        let factors = self.recognition.iter().zip(below);
        factors
            .map(|(factor, below)| self.probabilities(factor, below))
            .collect()
    }

    /// The probabilities of ones in each layer of a dream, from the top layer down to x.
    pub fn generation_thresholds(&self, h: &State) -> Vec<Vec<f64>> {
        let prior = self.parameters[self.prior..].iter().map(|&a| sigmoid(a));
        let factors = self.generation.iter().zip(h).rev();
        std::iter::once(prior.collect())
            .chain(factors.map(|(factor, above)| self.probabilities(factor, above)))
            .collect()
    }

    fn logits(&self, factor: &Factor, inputs: &[f64]) -> Vec<f64> {
        assert_eq!(inputs.len(), factor.inputs);
        let (weight, rest) =
            self.parameters[factor.offset..].split_at(factor.inputs * factor.outputs);
        let logit = |o: usize| {
            let products = inputs.iter().enumerate();
            let products = products.map(|(i, input)| input * weight[i * factor.outputs + o]);
            products.sum::<f64>() + rest[o]
        };
        (0..factor.outputs).map(logit).collect()
    }

    fn probabilities(&self, factor: &Factor, inputs: &[f64]) -> Vec<f64> {
        let logits = self.logits(factor, inputs);
        logits.into_iter().map(sigmoid).collect()
    }

    /// The log-probability of `values` given `inputs`, and its gradient added to `gradient`: ∂/∂W_io = in_i (v_o − σ_o).
    fn score(&self, factor: &Factor, inputs: &[f64], values: &[f64], gradient: &mut [f64]) -> f64 {
        let logits = self.logits(factor, inputs);
        let bias = factor.offset + factor.inputs * factor.outputs;
        let mut log_prob = 0.0;
        for (o, (&logit, &value)) in logits.iter().zip(values).enumerate() {
            log_prob += value * logit - softplus(logit);
            let residual = value - sigmoid(logit);
            gradient[bias + o] += residual;
            for (i, input) in inputs.iter().enumerate() {
                gradient[factor.offset + i * factor.outputs + o] += input * residual;
            }
        }
        log_prob
    }
}

/// Every vector of `count` bits; bit i of the index is entry i.
pub fn bits(count: usize) -> Vec<Vec<f64>> {
    let row = |index: usize| (0..count).map(move |i| (index >> i & 1) as f64).collect();
    (0..1 << count).map(row).collect()
}

fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

fn sigmoid(a: f64) -> f64 {
    1.0 / (1.0 + (-a).exp())
}
