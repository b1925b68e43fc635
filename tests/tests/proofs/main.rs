//! Proofs on models small enough to enumerate, one family of claims a file. Everything is in f64 and exact up to
//! rounding unless it says otherwise, and each family has a twin, wrong in one place, that must fail.

mod added;
mod analytic_kl;
mod arms_bound;
mod batched_warm_up;
mod bounds;
mod burn_target;
mod catalogue;
mod certificates;
mod chains;
mod concrete;
mod controls;
mod coupled_chains;
mod decoupled;
mod disarm_bound;
mod disarm_tree;
mod exact_posterior;
mod finite_order;
mod gaussian;
mod gradient_variance;
mod gumbel_rao;
mod invariance;
mod leave_one_out;
mod likelihood;
mod local_signals;
mod logit_gradients;
mod numerics;
mod rates;
mod reference;
mod reinmax_rao;
mod relaxations;
mod straight_through;
mod surrogate;
mod swaps;
mod training;
mod unbiased;
mod unordered;
mod variance_law;
mod wake_sleep;
mod whole_step;

use helmholtz_tests::{Enumerable, Exact};

/// Rounding may add up to this, relative to the largest entry.
const TOLERANCE: f64 = 1e-10;

/// A twin that is wrong must be wrong by at least this.
const WRONG: f64 = 1e-3;

/// A few different data for a model of four visible bits.
fn data(count: usize) -> Vec<Vec<f64>> {
    let x = [
        [1.0, 0.0, 1.0, 1.0],
        [0.0, 1.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0],
    ];
    x[..count].iter().map(|x| x.to_vec()).collect()
}

/// The mean over data of a vector of each.
fn batch_mean(
    model: &impl Enumerable,
    x: &[Vec<f64>],
    vector: impl Fn(&Exact) -> Vec<f64>,
) -> Vec<f64> {
    let vectors: Vec<Vec<f64>> = x.iter().map(|x| vector(&Exact::new(model, x))).collect();
    let share = 1.0 / x.len() as f64;
    let pairs = vectors.iter().map(|v| (share, v.as_slice()));
    helmholtz_tests::vectors::weighted_sum(model.parameters().len(), pairs)
}
