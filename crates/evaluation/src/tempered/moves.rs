//! Metropolis-Hastings moves that draw some variables of a layer anew from q.

use burn::tensor::{Int, Tensor, TensorData};
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_estimators::{Joint, Layered, Particles};
use helmholtz_ops::{Backend, Values};
use helmholtz_random::Chance;

use super::numbers;
use crate::interleaved::Interleaved;

/// Particles with their densities; row p · B + b is particle p of datum b.
pub struct State<B: Backend> {
    layers: Vec<Values<B>>,
    /// ln p(x, h).
    log_p: Vec<f64>,
    /// ln q(h | x).
    log_q: Vec<f64>,
}

impl<B: Backend> State<B> {
    pub fn rows(&self) -> usize {
        self.log_p.len()
    }

    /// ln p(x, h) − ln q(h | x).
    pub fn log_ratios(&self) -> impl Iterator<Item = f64> {
        self.log_p.iter().zip(&self.log_q).map(|(p, q)| p - q)
    }

    /// Each row becomes the one that `from` names.
    pub fn take(&mut self, from: &[usize]) {
        if from.iter().enumerate().all(|(row, &own)| row == own) {
            return;
        }
        let indices: Vec<i32> = from.iter().map(|&row| row as i32).collect();
        let device = self.layers[0].device();
        let indices = Tensor::<B, 1, Int>::from_data(TensorData::from(&indices[..]), &device);
        for layer in &mut self.layers {
            *layer = Values::binary(layer.numbers().select(0, indices.clone()));
        }
        self.log_p = from.iter().map(|&row| self.log_p[row]).collect();
        self.log_q = from.iter().map(|&row| self.log_q[row]).collect();
    }
}

/// What the acceptance of a move looks at, nats.
#[derive(Clone, Copy)]
pub struct Scores {
    /// ln p(x, h).
    pub log_p: f64,
    /// ln q(h | x).
    pub log_q: f64,
    /// The term of ln q(h | x) of the layer that is moved.
    pub log_layer: f64,
}

/// The log of the Metropolis-Hastings ratio for π_β ∝ q^{1 − β} p^β of a move that draws variables A of a layer from q:
///
/// > π_β(h') q(h_A | below) / (π_β(h) q(h'_A | below)),
///
/// where the variables outside of A cancel in the layer's own terms.
pub fn log_ratio(beta: f64, [old, new]: [Scores; 2]) -> f64 {
    (1.0 - beta) * (new.log_q - old.log_q)
        + beta * (new.log_p - old.log_p)
        + (old.log_layer - new.log_layer)
}

/// The moves of some data's particles.
pub struct Moves<'a, B: Backend, M> {
    model: &'a M,
    x: Values<B>,
    /// Logits of q(h¹ | x).
    encoded: Tensor<B, 2>,
    log_ratio: fn(f64, [Scores; 2]) -> f64,
}

impl<'a, B, M> Moves<'a, B, M>
where
    B: Backend,
    M: Layered<B> + Joint<B>,
{
    pub fn new(model: &'a M, x: Values<B>) -> Self {
        Self::with_ratio(model, x, log_ratio)
    }

    /// With another acceptance: broken twins.
    pub(super) fn with_ratio(
        model: &'a M,
        x: Values<B>,
        log_ratio: fn(f64, [Scores; 2]) -> f64,
    ) -> Self {
        Self {
            encoded: model.encode(x.clone()),
            model,
            x,
            log_ratio,
        }
    }

    /// Data.
    pub fn batch(&self) -> usize {
        self.x.dims()[0]
    }

    /// Layers of latents.
    pub fn levels(&self) -> usize {
        self.model.layers().len()
    }

    /// So many particles a datum from q.
    pub fn draw<C: Noise>(&self, particles: usize, chance: &mut [C]) -> State<B> {
        let mut noise = Interleaved {
            rows: particles * chance.len(),
            streams: chance,
        };
        let drawn = self
            .model
            .propose(&self.encoded, None, particles, &mut noise);
        self.scored(drawn.particles, drawn.log_q)
    }

    /// These particles.
    pub fn state(&self, particles: Particles<B>) -> State<B> {
        let log_q = self.model.log_q(&self.encoded, &particles);
        self.scored(particles, log_q)
    }

    fn scored(&self, particles: Particles<B>, log_q: Tensor<B, 1>) -> State<B> {
        let log_p = self.model.log_joint(self.x.clone(), &particles);
        State {
            layers: particles.layers().to_vec(),
            log_p: numbers(log_p),
            log_q: numbers(log_q),
        }
    }

    /// A move in one layer that leaves π_β invariant, and is reversible for it. Which variables are drawn anew has nothing to do with
    /// their values: each with probability 1, 1/2, 1/4, … down to about one of all, which a row picks at random.
    pub fn refresh<C: Noise + Chance>(
        &self,
        level: usize,
        beta: f64,
        state: &mut State<B>,
        chance: &mut [C],
    ) {
        let variables = self.model.layers()[level];
        let logits = match level {
            0 => self.encoded.clone(),
            _ => self
                .model
                .logits_above(level, state.layers[level - 1].clone()),
        };
        let (rows, batch) = (state.rows(), chance.len());
        let old = state.layers[level].numbers();
        let mut noise = Interleaved {
            streams: chance,
            rows,
        };
        let anew = chosen(&variables, rows, &mut noise);
        let anew = Tensor::from_data(
            TensorData::new(anew, old.dims()),
            (&old.device(), old.dtype()),
        );
        let shape = [rows, variables.uniforms()];
        let noise = uniforms(shape, logits.dtype(), &logits.device(), &mut noise);
        let fresh = variables.sample(logits.clone(), noise).numbers();
        let change = anew * (fresh - old.clone());
        let mut layers = state.layers.clone();
        layers[level] = Values::binary(old.clone() + change.clone());
        let proposed = self.state(Particles::new(layers));
        let log_layers = match self.levels() {
            1 => [state.log_q.clone(), proposed.log_q.clone()],
            _ => [&*state, &proposed].map(|of| {
                let values = of.layers[level].clone();
                numbers(variables.log_prob(logits.clone(), values))
            }),
        };
        let scores = |of: &State<B>, log_layer: &[f64], row: usize| Scores {
            log_p: of.log_p[row],
            log_q: of.log_q[row],
            log_layer: log_layer[row],
        };
        let mut accepted = vec![0.0f32; rows];
        for row in 0..rows {
            let pair = [
                scores(state, &log_layers[0], row),
                scores(&proposed, &log_layers[1], row),
            ];
            if chance[row % batch].accept((self.log_ratio)(beta, pair)) {
                accepted[row] = 1.0;
                state.log_p[row] = proposed.log_p[row];
                state.log_q[row] = proposed.log_q[row];
            }
        }
        let accepted = TensorData::new(accepted, [rows, 1]);
        let accepted = Tensor::<B, 2>::from_data(accepted, (&old.device(), old.dtype()));
        state.layers[level] = Values::binary(old + accepted * change);
    }
}

/// Ones at the values of the variables that are drawn anew, `[rows, values]`.
pub(super) fn chosen(variables: &impl Variables, rows: usize, noise: &mut impl Noise) -> Vec<f32> {
    let (count, values) = (variables.uniforms(), variables.values());
    let rates = 1 + count.next_power_of_two().trailing_zeros();
    if rates == 1 {
        return vec![1.0; rows * values];
    }
    let mut picks = vec![0.0; rows];
    noise.fill(&mut picks);
    let mut uniforms = vec![0.0; rows * count];
    noise.fill(&mut uniforms);
    let row = |(pick, own): (&f32, &[f32])| {
        let rate = 0.5f32.powi((pick * rates as f32) as i32);
        let each = own.iter().map(move |&u| f32::from(u8::from(u < rate)));
        let each: Vec<f32> = each.collect();
        each.into_iter()
            .flat_map(move |one| std::iter::repeat_n(one, values / count))
    };
    picks
        .iter()
        .zip(uniforms.chunks(count))
        .flat_map(row)
        .collect()
}
