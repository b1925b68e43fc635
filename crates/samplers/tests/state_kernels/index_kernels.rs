//! M1, M4, R7: conditional importance sampling and Barker's rule.

use helmholtz_random::Chance;
use helmholtz_samplers::{Barker, Cis, IndexKernel, Info, Mis, Mtmis};

use crate::exact::*;

fn assert_reversible(kernel: &impl IndexKernel) {
    for problem in Problem::several() {
        for k in 1..=3 {
            let matrix = problem.transition(kernel, k);
            assert!(invariance_error(&problem.p, &matrix) < TOLERANCE, "K = {k}");
            assert!(balance_error(&problem.p, &matrix) < TOLERANCE, "K = {k}");
        }
    }
}

#[test]
fn conditional_importance_sampling_is_reversible_and_leaves_the_target_invariant() {
    assert_reversible(&Cis); // S = K + 1 = 2, 3, 4
}

#[test]
fn barker_is_reversible_and_leaves_the_target_invariant() {
    assert_reversible(&Barker);
}

#[test]
fn conditional_importance_sampling_with_one_proposal_is_barker() {
    for problem in Problem::several() {
        let (cis, barker) = (problem.transition(&Cis, 1), problem.transition(&Barker, 1));
        assert!(matrix_difference(&cis, &barker) < TOLERANCE);
        for (x, row) in barker.iter().enumerate() {
            for (y, &entry) in row.iter().enumerate().filter(|(y, _)| *y != x) {
                let (old, new) = (problem.w(x), problem.w(y));
                assert!((entry - problem.q[y] * new / (old + new)).abs() < TOLERANCE);
            }
        }
    }
}

#[test]
fn k_moves_by_barkers_rule_are_the_kth_power() {
    for problem in Problem::several() {
        let once = problem.transition(&Barker, 1);
        assert!(matrix_difference(&problem.transition(&Barker, 3), &power(&once, 3)) < TOLERANCE);
    }
}

#[test]
fn conditional_importance_sampling_forgets_its_start_as_fast_as_its_bound_says() {
    // P(x, ·) >= (1 - ε) p with 1 - ε >= K / (K + 2 w_max - 1), w normalised (Andrieu, Lee and Vihola, 2018, for one
    // step).
    for problem in Problem::several() {
        let largest = (0..problem.states())
            .map(|h| problem.w(h))
            .fold(0.0, f64::max);
        for k in 1..=3 {
            let minorised = k as f64 / (k as f64 + 2.0 * largest - 1.0);
            for row in problem.transition(&Cis, k) {
                for (entry, p) in row.iter().zip(&problem.p) {
                    assert!(*entry >= minorised * p - TOLERANCE);
                }
            }
        }
    }
}

fn assert_dominates(faster: &Matrix, slower: &Matrix) {
    for (x, (fast, slow)) in faster.iter().zip(slower).enumerate() {
        for (y, (fast, slow)) in fast.iter().zip(slow).enumerate() {
            assert!(x == y || *fast >= slow - TOLERANCE, "from {x} to {y}");
        }
    }
}

#[test]
fn in_peskuns_order_mtmis_is_above_cis_and_mis_above_barker() {
    for problem in Problem::several() {
        for k in 1..=3 {
            assert_dominates(&problem.transition(&Mtmis, k), &problem.transition(&Cis, k));
        }
        assert_dominates(
            &problem.transition(&Mis, 1),
            &problem.transition(&Barker, 1),
        );
        let barker = problem.transition(&Barker, 1);
        let half = |x: usize, y: usize| 0.5 * problem.transition(&Mis, 1)[x][y];
        for (x, row) in barker.iter().enumerate() {
            for (y, entry) in row.iter().enumerate() {
                assert!(
                    x == y || *entry >= half(x, y) - TOLERANCE,
                    "and at least half"
                );
            }
        }
    }
}

/// Twin: accepts with w / (w + w').
struct SwappedBarker;

impl IndexKernel for SwappedBarker {
    fn run(
        &self,
        current: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        *visits = vec![u32::from(
            chance.accept(-(proposals[0] - current).exp().ln_1p()),
        )];
        Info::default()
    }
}

/// Twin: chooses among the proposals alone.
struct WithoutTheCurrentState;

impl IndexKernel for WithoutTheCurrentState {
    fn run(
        &self,
        _: f64,
        proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        Cis.run(f64::NEG_INFINITY, proposals, chance, visits)
    }
}

#[test]
fn barker_with_the_weights_swapped_is_not_invariant() {
    for problem in Problem::several() {
        let matrix = problem.transition(&SwappedBarker, 1);
        assert!(invariance_error(&problem.p, &matrix) > 1e-4);
    }
}

#[test]
fn importance_resampling_without_the_current_state_is_not_invariant() {
    for problem in Problem::several() {
        for k in 1..=3 {
            let matrix = problem.transition(&WithoutTheCurrentState, k);
            assert!(invariance_error(&problem.p, &matrix) > 1e-4);
        }
    }
}
