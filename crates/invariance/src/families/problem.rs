//! A target and a proposal over numbered states.

use std::ops::RangeInclusive;

use helmholtz_random::Chance;
use helmholtz_samplers::{IndependenceProposal, Target, log_sum_exp};
use proptest::prelude::*;

use super::FiniteTarget;
use super::weights::log_weight;

/// A target p over the states 0..n, and an independence proposal q that is positive everywhere.
///
/// `&FiniteProblem` is a [`Target`] and an [`IndependenceProposal`], so it can be given to kernels as both.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteProblem {
    log_p: Vec<f64>,
    log_q: Vec<f64>,
}

impl FiniteProblem {
    /// The number of states.
    pub fn len(&self) -> usize {
        self.log_p.len()
    }

    /// False: there is a state, and one of finite log-density.
    pub fn is_empty(&self) -> bool {
        self.log_p.is_empty()
    }

    /// ln p of each state, up to a constant (nats); -inf for impossible ones.
    pub fn log_p(&self) -> &[f64] {
        &self.log_p
    }

    /// ln q of each state (nats).
    pub fn log_q(&self) -> &[f64] {
        &self.log_q
    }

    /// ln p - ln q of each state, up to a constant (nats).
    pub fn log_w(&self) -> Vec<f64> {
        self.log_p
            .iter()
            .zip(&self.log_q)
            .map(|(p, q)| p - q)
            .collect()
    }
}

impl FiniteTarget for FiniteProblem {
    type State = usize;

    fn states(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    fn log_density(&self, state: &usize) -> f64 {
        self.log_p[*state]
    }
}

impl Target<usize> for &FiniteProblem {
    fn log_density(&self, state: &usize) -> f64 {
        self.log_p[*state]
    }
}

impl<C: Chance> IndependenceProposal<usize, C> for &FiniteProblem {
    fn propose(&self, chance: &mut C) -> usize {
        // All entries are finite, so something is chosen.
        chance.choose(&self.log_q).unwrap_or(0)
    }

    fn log_density(&self, state: &usize) -> f64 {
        self.log_q[*state]
    }
}

/// Problems with as many states as `states` allows (one, at least). The target has ties, states of log-density ±300, and
/// impossible ones; the proposal ties, and states of log-probability around -30.
pub fn finite_problems(states: RangeInclusive<usize>) -> impl Strategy<Value = FiniteProblem> {
    let log_q = prop_oneof![6 => -3.0f64..3.0, 1 => Just(0.0), 1 => Just(-30.0)];
    prop::collection::vec((log_weight(), log_q), states)
        .prop_filter("a target has a possible state", |pairs| {
            pairs.iter().any(|(p, _)| p.is_finite())
        })
        .prop_map(|pairs| {
            let (log_p, log_q): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let total = log_sum_exp(log_q.iter().copied());
            FiniteProblem {
                log_p,
                log_q: log_q.iter().map(|l| l - total).collect(),
            }
        })
}
