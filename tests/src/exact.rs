//! What can be known exactly about one datum.

use crate::vectors::{add_scaled, log_sum_exp, weighted_sum};
use crate::{Enumerable, State};

/// Every latent state of one datum with its densities and their gradients, and what follows by summation.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The datum.
    pub x: Vec<f64>,
    /// Every state h.
    pub states: Vec<State>,
    /// q(h | x).
    pub q: Vec<f64>,
    /// ℓ(h) = log p(x, h) − log q(h | x).
    pub log_w: Vec<f64>,
    /// log p(x, h).
    pub log_p: Vec<f64>,
    /// ∇ log q(h | x).
    pub grad_q: Vec<Vec<f64>>,
    /// ∇ log p(x, h).
    pub grad_p: Vec<Vec<f64>>,
    parameters: usize,
}

impl Exact {
    /// Enumerates the latents of `x`.
    pub fn new(model: &impl Enumerable, x: &[f64]) -> Self {
        let states = model.states();
        let (log_q, grad_q): (Vec<f64>, _) = states.iter().map(|h| model.log_q(x, h)).unzip();
        let (log_p, grad_p): (Vec<f64>, _) = states.iter().map(|h| model.log_p(x, h)).unzip();
        Self {
            x: x.to_vec(),
            states,
            log_w: log_p.iter().zip(&log_q).map(|(p, q)| p - q).collect(),
            q: log_q.into_iter().map(f64::exp).collect(),
            log_p,
            grad_q,
            grad_p,
            parameters: model.parameters().len(),
        }
    }

    /// log p(x).
    pub fn log_evidence(&self) -> f64 {
        log_sum_exp(self.log_p.iter().copied())
    }

    /// p(h | x).
    pub fn posterior(&self) -> Vec<f64> {
        let log_evidence = self.log_evidence();
        let log_p = self.log_p.iter();
        log_p.map(|log_p| (log_p - log_evidence).exp()).collect()
    }

    /// ∇ log p(x, h) + ∇ log q(h | x): what a chain in state h ascends.
    pub fn gradient_at(&self, state: usize) -> Vec<f64> {
        let mut gradient = self.grad_p[state].clone();
        add_scaled(&mut gradient, 1.0, &self.grad_q[state]);
        gradient
    }

    /// E[∇ log p(x, h) + ∇ log q(h | x)] under a law over states.
    pub fn gradient_under(&self, law: &[f64]) -> Vec<f64> {
        let p = law
            .iter()
            .copied()
            .zip(self.grad_p.iter().map(Vec::as_slice));
        let q = law
            .iter()
            .copied()
            .zip(self.grad_q.iter().map(Vec::as_slice));
        weighted_sum(self.parameters, p.chain(q))
    }

    /// ∇ log p(x) + E_post ∇ log q(h | x), the second being −∇_φ KL(p(h | x) ‖ q(h | x)): by the Fisher identity both
    /// are posterior expectations.
    pub fn inclusive_gradient(&self) -> Vec<f64> {
        self.gradient_under(&self.posterior())
    }

    /// Every tuple of `k` states with its probability under q.
    pub fn tuples(&self, k: usize) -> Vec<(f64, Vec<usize>)> {
        (0..k).fold(vec![(1.0, vec![])], |tuples, _| {
            let longer = |(probability, tuple): (f64, Vec<usize>)| {
                self.q.iter().enumerate().map(move |(h, q)| {
                    let tuple = tuple.iter().copied().chain([h]).collect();
                    (probability * q, tuple)
                })
            };
            tuples.into_iter().flat_map(longer).collect()
        })
    }

    /// The bound E[ln (1/K) Σ_k w_k] on log p(x), the ELBO for K = 1.
    pub fn bound(&self, k: usize) -> f64 {
        let tuples = self.tuples(k);
        let values = tuples.iter().map(|(probability, tuple)| {
            probability * (log_sum_exp(tuple.iter().map(|&h| self.log_w[h])) - (k as f64).ln())
        });
        values.sum()
    }

    /// ∇ of [`bound`](Self::bound): Σ over tuples of probability · (L̂ Σ_k ∇ log q(h_k) + Σ_k w̃_k ∇ℓ_k).
    pub fn bound_gradient(&self, k: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; self.parameters];
        for (probability, tuple) in self.tuples(k) {
            let total = log_sum_exp(tuple.iter().map(|&h| self.log_w[h]));
            let bound = total - (k as f64).ln();
            for h in tuple {
                let weight = (self.log_w[h] - total).exp();
                add_scaled(
                    &mut gradient,
                    probability * (bound - weight),
                    &self.grad_q[h],
                );
                add_scaled(&mut gradient, probability * weight, &self.grad_p[h]);
            }
        }
        gradient
    }

    /// The transition matrix of one Metropolis independence move, from its closed form: off the diagonal
    /// q(y) min(1, w(y) / w(x)).
    pub fn mis(&self) -> Vec<Vec<f64>> {
        let n = self.states.len();
        let row = |x: usize| {
            let move_to = |y: usize| self.q[y] * (self.log_w[y] - self.log_w[x]).exp().min(1.0);
            let mut row: Vec<f64> = (0..n).map(move_to).collect();
            row[x] = 0.0;
            row[x] = 1.0 - row.iter().sum::<f64>();
            row
        };
        (0..n).map(row).collect()
    }

    /// The transition matrix of one multiple-trial move with `k` trials, from its definition: trials y_1 … y_k ~ q, one of
    /// them chosen with probability w_J / W and accepted with min(1, W / (W − w_J + w(x))).
    pub fn mtmis(&self, k: usize) -> Vec<Vec<f64>> {
        let n = self.states.len();
        let w: Vec<f64> = self.log_w.iter().map(|l| l.exp()).collect();
        let tuples = self.tuples(k);
        let row = |x: usize| {
            let mut row = vec![0.0; n];
            for (probability, tuple) in &tuples {
                let total: f64 = tuple.iter().map(|&y| w[y]).sum();
                for &y in tuple {
                    let accept = (total / (total - w[y] + w[x])).min(1.0);
                    row[y] += probability * w[y] / total * accept;
                    row[x] += probability * w[y] / total * (1.0 - accept);
                }
            }
            row
        };
        (0..n).map(row).collect()
    }
}
