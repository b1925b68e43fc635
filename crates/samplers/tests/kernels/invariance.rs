//! M1, M2, R6: the kernels leave the target invariant.

use helmholtz_samplers::{IndexKernel, Mis, Mtmis};

use crate::exact::*;

fn assert_reversible(kernel: &impl IndexKernel) {
    for problem in Problem::several() {
        for k in 1..=3 {
            let matrix = problem.transition(kernel, k);
            assert!(
                invariance_error(&problem.p, &matrix) < TOLERANCE,
                "invariance, K = {k}"
            );
            assert!(
                balance_error(&problem.p, &matrix) < TOLERANCE,
                "detailed balance, K = {k}"
            );
        }
    }
}

#[test]
fn mis_is_reversible_and_leaves_the_target_invariant() {
    assert_reversible(&Mis);
}

#[test]
fn mtmis_is_reversible_and_leaves_the_target_invariant() {
    assert_reversible(&Mtmis);
}

#[test]
fn mtmis_with_one_trial_is_mis() {
    for problem in Problem::several() {
        let difference =
            matrix_difference(&problem.transition(&Mtmis, 1), &problem.transition(&Mis, 1));
        assert!(difference < TOLERANCE);
    }
}

#[test]
fn mis_of_one_proposal_is_the_textbook_kernel() {
    for problem in Problem::several() {
        let matrix = problem.transition(&Mis, 1);
        for (x, row) in matrix.iter().enumerate() {
            for (y, &entry) in row.iter().enumerate().filter(|(y, _)| *y != x) {
                let expected = problem.q[y] * f64::min(1.0, problem.w(y) / problem.w(x));
                assert!((entry - expected).abs() < TOLERANCE);
            }
        }
    }
}

#[test]
fn k_sequential_moves_are_the_kth_power_and_so_is_every_visit_on_the_way() {
    for problem in Problem::several() {
        let once = problem.transition(&Mis, 1);
        assert!(matrix_difference(&problem.transition(&Mis, 3), &power(&once, 3)) < TOLERANCE);
        for moves in 1..=3 {
            let after = problem.transition_after(&Mis, 3, moves);
            assert!(
                matrix_difference(&after, &power(&once, moves)) < TOLERANCE,
                "after {moves}"
            );
        }
    }
}

#[test]
fn a_proposal_that_is_the_target_is_always_accepted() {
    let p = distribution(5, 0);
    let problem = Problem::new(p.clone(), p.clone());
    for matrix in [problem.transition(&Mis, 2), problem.transition(&Mtmis, 2)] {
        assert!(
            matrix.iter().all(|row| max_difference(row, &p) < TOLERANCE),
            "each run ends in a fresh draw"
        );
    }
}
