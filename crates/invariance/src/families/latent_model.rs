//! A small latent-variable model that can be enumerated.

use std::ops::RangeInclusive;

use helmholtz_random::Chance;
use helmholtz_samplers::{IndependenceProposal, Target, log_sum_exp};
use proptest::prelude::*;

use super::FiniteTarget;

/// Visible units of a model.
const VISIBLE: usize = 4;

/// One observation x ∈ {0,1}⁴ under a sigmoid belief net with J binary latents, and a recognition net:
///
/// p(h_j = 1) = σ(b_j), p(x_i = 1 | h) = σ(c_i + Σ_j W_ij h_j), q(h_j = 1 | x) = σ(d_j + Σ_i V_ji x_i).
///
/// (Neal, 1992; Saul, Jaakkola and Jordan, 1996.) The target is the posterior p(h | x),
/// known by the joint. `&LatentModel` is a [`Target`] and an [`IndependenceProposal`], so it can be given to kernels as
/// both.
#[derive(Clone, Debug, PartialEq)]
pub struct LatentModel {
    x: [bool; VISIBLE],
    /// ln p(h_j = 1) - ln p(h_j = 0).
    prior: Vec<f64>,
    /// c, and a row of W for each latent.
    bias: [f64; VISIBLE],
    weights: Vec<[f64; VISIBLE]>,
    /// d_j + Σ_i V_ji x_i.
    recognition: Vec<f64>,
}

impl LatentModel {
    /// The number of latents J.
    pub fn latents(&self) -> usize {
        self.prior.len()
    }

    /// ln p(x, h) (nats). `h` has J entries; further ones are left out.
    pub fn log_joint(&self, h: &[bool]) -> f64 {
        let mut logits = self.bias;
        for (weights, _) in self.weights.iter().zip(h).filter(|(_, on)| **on) {
            logits.iter_mut().zip(weights).for_each(|(l, w)| *l += w);
        }
        bernoulli(&self.prior, h) + bernoulli(&logits, &self.x)
    }

    /// ln q(h | x) (nats).
    pub fn log_q(&self, h: &[bool]) -> f64 {
        bernoulli(&self.recognition, h)
    }

    /// ln p(x) (nats), by enumeration.
    pub fn log_evidence(&self) -> f64 {
        log_sum_exp(
            self.states()
                .iter()
                .map(|h| self.log_joint(h))
                .collect::<Vec<_>>(),
        )
    }
}

/// Σ_i x_i a_i - ln(1 + exp(a_i)).
fn bernoulli(logits: &[f64], x: &[bool]) -> f64 {
    (logits.iter().zip(x))
        .map(|(&a, &on)| {
            let softplus = a.max(0.0) + (-a.abs()).exp().ln_1p();
            if on { a - softplus } else { -softplus }
        })
        .sum()
}

impl FiniteTarget for LatentModel {
    type State = Vec<bool>;

    fn states(&self) -> Vec<Vec<bool>> {
        let j = self.latents();
        (0..1usize << j)
            .map(|state| (0..j).map(|bit| state >> bit & 1 == 1).collect())
            .collect()
    }

    fn log_density(&self, h: &Vec<bool>) -> f64 {
        self.log_joint(h)
    }
}

impl Target<Vec<bool>> for &LatentModel {
    fn log_density(&self, h: &Vec<bool>) -> f64 {
        self.log_joint(h)
    }
}

impl<C: Chance> IndependenceProposal<Vec<bool>, C> for &LatentModel {
    fn propose(&self, chance: &mut C) -> Vec<bool> {
        self.recognition
            .iter()
            .map(|logit| chance.accept(bernoulli(&[*logit], &[true])))
            .collect()
    }

    fn log_density(&self, h: &Vec<bool>) -> f64 {
        self.log_q(h)
    }
}

/// Models with as many latents as `latents` allows; weights between -3 and 3, some prior logits 0 or ±80.
pub fn latent_models(latents: RangeInclusive<usize>) -> impl Strategy<Value = LatentModel> {
    let weight = || -3.0f64..3.0;
    let prior = prop_oneof![8 => weight(), 1 => Just(0.0), 1 => Just(80.0), 1 => Just(-80.0)];
    let latent = (prior, prop::array::uniform4(weight()), weight());
    (
        any::<[bool; VISIBLE]>(),
        prop::array::uniform4(weight()),
        prop::collection::vec(latent, latents),
    )
        .prop_map(|(x, bias, latents)| LatentModel {
            x,
            bias,
            prior: latents.iter().map(|l| l.0).collect(),
            weights: latents.iter().map(|l| l.1).collect(),
            recognition: latents.iter().map(|l| l.2).collect(),
        })
}
