//! Chance that takes every branch.

use alloc::vec;
use alloc::vec::Vec;

use crate::Chance;
use crate::chance::{finite_max, relative_weight};
use crate::math::{exp, exp_m1};

/// A [`Chance`] that, run by run, walks every branch of a computation depth first. See [`enumerate`].
///
/// It has no continuous draws, so an exact proof of a kernel that needs them does not compile:
///
/// ```compile_fail
/// use helmholtz_random::{Draws, enumerate};
/// enumerate(|chance| chance.normal());
/// ```
#[derive(Debug, Default)]
pub struct Enumerator {
    /// The choices of the run in progress, from the root.
    path: Vec<Node>,
    /// How many of them this run has come past.
    depth: usize,
}

/// One choice: the branches with positive probability, and which of them is being walked.
#[derive(Debug)]
struct Node {
    branches: Vec<(usize, f64)>,
    at: usize,
}

impl Enumerator {
    /// The branch to take among these, all of positive probability.
    fn branch(&mut self, branches: Vec<(usize, f64)>) -> usize {
        if let Some(node) = self.path.get(self.depth) {
            let same = node
                .branches
                .iter()
                .map(|b| (b.0, b.1.to_bits()))
                .eq(branches.iter().map(|b| (b.0, b.1.to_bits())));
            assert!(
                same,
                "the enumerated function is not deterministic: a replayed choice had other probabilities"
            );
        } else {
            self.path.push(Node { branches, at: 0 });
        }
        let node = &self.path[self.depth];
        self.depth += 1;
        node.branches[node.at].0
    }

    /// Moves to the next branch, depth first; false when all are walked.
    fn advance(&mut self) -> bool {
        assert_eq!(
            self.depth,
            self.path.len(),
            "the enumerated function is not deterministic: a replay ended early"
        );
        self.depth = 0;
        while let Some(mut node) = self.path.pop() {
            node.at += 1;
            if node.at < node.branches.len() {
                self.path.push(node);
                return true;
            }
        }
        false
    }

    fn probability(&self) -> f64 {
        self.path
            .iter()
            .map(|node| node.branches[node.at].1)
            .product()
    }
}

impl Chance for Enumerator {
    fn accept(&mut self, log_prob: f64) -> bool {
        let log_prob = if log_prob.is_nan() {
            f64::NEG_INFINITY
        } else {
            log_prob.min(0.0)
        };
        let mut branches = vec![(1, exp(log_prob)), (0, -exp_m1(log_prob))];
        branches.retain(|branch| branch.1 > 0.0);
        self.branch(branches) == 1
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        let max = finite_max(log_weights)?;
        let weights = || log_weights.iter().map(|&l| relative_weight(l, max));
        let total: f64 = weights().sum();
        let branches = weights()
            .map(|w| w / total)
            .enumerate()
            .filter(|branch| branch.1 > 0.0)
            .collect();
        Some(self.branch(branches))
    }

    fn choose_by_weight(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let shares = weights.iter().map(|w| w / total).enumerate();
        Some(self.branch(shares.filter(|branch| branch.1 > 0.0).collect()))
    }
}

/// Every outcome of `f` with its probability: `f` is run once a branch, and replayed up to where it parts.
///
/// Branches come in depth-first order, those of probability zero are left out, and the probabilities sum to one up to
/// rounding. Their number is the product of the branchings met, so keep `f` small.
///
/// # Panics
/// If `f` asks its `Chance` something else when a prefix is replayed: what it asks may depend on answers only. A proof
/// by such an `f` would be void, so it does not pass in silence.
pub fn enumerate<T>(mut f: impl FnMut(&mut Enumerator) -> T) -> Vec<(f64, T)> {
    let mut chance = Enumerator::default();
    let mut outcomes = Vec::new();
    loop {
        let outcome = f(&mut chance);
        outcomes.push((chance.probability(), outcome));
        if !chance.advance() {
            return outcomes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_without_chance_has_one_outcome() {
        assert_eq!(enumerate(|_| 'x'), [(1.0, 'x')]);
    }

    #[test]
    fn every_branch_comes_once_with_its_probability() {
        let outcomes = enumerate(|c| {
            let first = c.choose(&[0.0, 0.0, 2f64.ln()]);
            if first == Some(1) {
                (first, Some(c.accept(0.25f64.ln())))
            } else {
                (first, None)
            }
        });
        let expected = [
            (0.25, (Some(0), None)),
            (0.0625, (Some(1), Some(true))),
            (0.1875, (Some(1), Some(false))),
            (0.5, (Some(2), None)),
        ];
        assert_eq!(outcomes.len(), expected.len());
        for ((p, outcome), (q, wanted)) in outcomes.into_iter().zip(expected) {
            assert_eq!(outcome, wanted);
            assert!((p - q).abs() < 1e-15);
        }
    }

    #[test]
    fn the_total_probability_is_one() {
        // A ragged tree four deep, with weights over 160 orders of magnitude.
        let outcomes = enumerate(|c| {
            let mut path = Vec::new();
            for depth in 1..=4 {
                let log_weights: Vec<f64> = (0..depth + path.len())
                    .map(|k| (k * k) as f64 * 7.3 - 365.0)
                    .collect();
                path.push(c.choose(&log_weights));
                path.push(Some(usize::from(c.accept(-0.3 * depth as f64))));
            }
            path
        });
        assert!(outcomes.len() > 100);
        assert!((outcomes.iter().map(|o| o.0).sum::<f64>() - 1.0).abs() < 1e-12);
        let paths: std::collections::HashSet<_> = outcomes.iter().map(|o| &o.1).collect();
        assert_eq!(paths.len(), outcomes.len());
    }

    #[test]
    fn impossible_branches_are_skipped() {
        assert_eq!(enumerate(|c| c.accept(0.0)), [(1.0, true)]);
        assert_eq!(enumerate(|c| c.accept(3.0)), [(1.0, true)]);
        assert_eq!(enumerate(|c| c.accept(f64::NAN)), [(1.0, false)]);
        assert_eq!(enumerate(|c| c.accept(f64::NEG_INFINITY)), [(1.0, false)]);
        assert_eq!(
            enumerate(|c| c.choose(&[f64::NEG_INFINITY, -1.0, f64::NAN])),
            [(1.0, Some(1))]
        );
        assert_eq!(enumerate(|c| c.choose(&[])), [(1.0, None)]);
    }

    #[test]
    fn small_probabilities_are_not_rounded_away() {
        let outcomes = enumerate(|c| c.accept(-1e-20));
        assert_eq!(outcomes, [(1.0, true), (1e-20, false)]);
    }

    #[test]
    #[should_panic(expected = "not deterministic")]
    fn a_function_that_changes_its_questions_is_refused() {
        let mut run = 0;
        enumerate(|c| {
            run += 1;
            c.accept(-1.0 / f64::from(run))
        });
    }
}
