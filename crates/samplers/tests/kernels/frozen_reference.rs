//! M5: the frozen-reference ablation samples something else, and exactly what the formula says.

use helmholtz_samplers::{FrozenReferenceMis, Mis};

use crate::exact::*;

/// Z(x) = E_q[min(1, w(h) / w(x))].
fn z(problem: &Problem, x: usize) -> f64 {
    (0..problem.states())
        .map(|h| problem.q[h] * f64::min(1.0, problem.w(h) / problem.w(x)))
        .sum()
}

/// The law it is reversible with respect to: π_n(h) ∝ p(h) Z(h) / (1 - (1 - Z(h))^n).
fn stationary_law(problem: &Problem, n: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..problem.states())
        .map(|h| problem.p[h] * z(problem, h) / (1.0 - (1.0 - z(problem, h)).powi(n as i32)))
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

#[test]
fn one_test_is_mis() {
    for problem in Problem::several() {
        let frozen = problem.transition(&FrozenReferenceMis, 1);
        assert!(matrix_difference(&frozen, &problem.transition(&Mis, 1)) < TOLERANCE);
    }
}

#[test]
fn its_transition_matrix_is_the_closed_form() {
    for problem in Problem::several() {
        for n in 1..=3 {
            let matrix = problem.transition(&FrozenReferenceMis, n);
            for (x, row) in matrix.iter().enumerate() {
                let z = z(&problem, x);
                let stay = (1.0 - z).powi(n as i32);
                for (h, &entry) in row.iter().enumerate() {
                    let accepted = problem.q[h] * f64::min(1.0, problem.w(h) / problem.w(x)) / z;
                    let expected = (1.0 - stay) * accepted + if h == x { stay } else { 0.0 };
                    assert!((entry - expected).abs() < TOLERANCE, "n = {n}");
                }
            }
        }
    }
}

#[test]
fn beyond_one_test_the_target_is_not_invariant_but_its_own_law_is() {
    for problem in Problem::several() {
        for n in 2..=3 {
            let matrix = problem.transition(&FrozenReferenceMis, n);
            let law = stationary_law(&problem, n);
            assert!(invariance_error(&problem.p, &matrix) > 1e-4, "n = {n}");
            assert!(invariance_error(&law, &matrix) < TOLERANCE, "n = {n}");
            assert!(balance_error(&law, &matrix) < TOLERANCE, "n = {n}");
            let best = (0..problem.states())
                .max_by(|&a, &b| problem.w(a).total_cmp(&problem.w(b)))
                .expect("states");
            assert!(
                law[best] < problem.p[best],
                "states of high weight are too rare"
            );
        }
    }
}
