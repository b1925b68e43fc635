//! Proposing and scoring one layer after the other, for models whose layers can be taken so.

use burn::tensor::Tensor;
use helmholtz_distributions::{Noise, Variables, uniforms};
use helmholtz_ops::{Backend, Values};

use crate::{Layered, Particles, Proposals};

/// [`Propose::propose`](crate::Propose::propose) of a layered model: h¹ ~ q(h¹ | x), h² ~ q(h² | h¹), …
pub fn propose_layers<B: Backend, M: Layered<B>>(
    model: &M,
    encoded: &Tensor<B, 2>,
    retained: Option<Particles<B>>,
    particles: usize,
    noise: &mut impl Noise,
) -> Proposals<B> {
    let batch = encoded.dims()[0];
    let proposed = particles * batch;
    let kept = retained.as_ref().map_or(0, Particles::rows);
    let mut logits = encoded.clone();
    let mut layers: Vec<Values<B>> = Vec::new();
    let mut log_q: Option<Tensor<B, 1>> = None;
    for (level, variables) in model.layers().iter().enumerate() {
        if let Some(below) = layers.last() {
            logits = model.logits_above(level, below.clone());
        }
        let rows = logits.dims()[0];
        // Above the first layer there are logits for every row; those of the retained rows draw nothing.
        let drawn = if rows == batch {
            logits.clone()
        } else {
            logits.clone().narrow(0, kept, rows - kept)
        };
        let shape = [proposed, variables.uniforms()];
        let noise = uniforms(shape, logits.dtype(), &logits.device(), noise);
        let mut layer = variables.sample(drawn, noise);
        if let Some(retained) = &retained {
            layer = Values::cat(vec![retained.layers()[level].clone(), layer]);
        }
        let score = variables.log_prob(logits.clone(), layer.clone());
        log_q = Some(match log_q {
            Some(below) => below + score,
            None => score,
        });
        layers.push(layer);
    }
    Proposals {
        particles: Particles::new(layers),
        log_q: log_q.expect("a model has a layer"),
    }
}

/// [`Propose::log_q`](crate::Propose::log_q) of a layered model: Σ_l log q(h^l | h^{l−1}), nats, `[rows]`.
pub fn score_layers<B: Backend, M: Layered<B>>(
    model: &M,
    encoded: &Tensor<B, 2>,
    particles: &Particles<B>,
) -> Tensor<B, 1> {
    let values = particles.layers();
    let layers = model.layers();
    let bottom = layers[0].log_prob(encoded.clone(), values[0].clone());
    let conditionals = layers.iter().enumerate().skip(1);
    conditionals.fold(bottom, |sum, (level, variables)| {
        let logits = model.logits_above(level, values[level - 1].clone());
        sum + variables.log_prob(logits, values[level].clone())
    })
}
