//! M3, M7: what is known in closed form about the independence kernel.

use helmholtz_samplers::Mis;

use crate::exact::*;

/// The eigenvalues beside 1: with states in decreasing order of w, λ_i = Σ_{j≥i} (q_j - p_j / w_i) (Liu, 1996).
fn eigenvalues(problem: &Problem) -> Vec<f64> {
    let mut order: Vec<usize> = (0..problem.states()).collect();
    order.sort_by(|&a, &b| problem.w(b).total_cmp(&problem.w(a)));
    (0..order.len() - 1)
        .map(|i| {
            order[i..]
                .iter()
                .map(|&j| problem.q[j] - problem.p[j] / problem.w(order[i]))
                .sum()
        })
        .collect()
}

fn largest_weight(problem: &Problem) -> f64 {
    (0..problem.states())
        .map(|h| problem.w(h))
        .fold(0.0, f64::max)
}

#[test]
fn the_spectrum_is_lius() {
    for problem in Problem::several() {
        let (matrix, lambda) = (problem.transition(&Mis, 1), eigenvalues(&problem));
        for k in 1..problem.states() {
            let expected = 1.0 + lambda.iter().map(|l| l.powi(k as i32)).sum::<f64>();
            assert!(
                (trace(&power(&matrix, k)) - expected).abs() < TOLERANCE,
                "trace of power {k}"
            );
        }
        assert!((lambda[0] - (1.0 - 1.0 / largest_weight(&problem))).abs() < TOLERANCE);
    }
}

#[test]
fn the_first_stage_approaches_the_target_as_fast_as_its_bound_says() {
    // Without a cache the first proposal is the start: after t moves the law is q M^t, run here as one call.
    for problem in Problem::several() {
        let once = problem.transition(&Mis, 1);
        for t in 1..=3 {
            let law = apply(&problem.q, &problem.transition(&Mis, t));
            assert!(max_difference(&law, &apply(&problem.q, &power(&once, t))) < TOLERANCE);
            let distance = 0.5
                * law
                    .iter()
                    .zip(&problem.p)
                    .map(|(a, b)| (a - b).abs())
                    .sum::<f64>();
            let bound = (1.0 - 1.0 / largest_weight(&problem)).powi(t as i32);
            assert!(
                distance <= bound + TOLERANCE,
                "t = {t}: {distance} > {bound}"
            );
            assert!(distance > 1e-6, "the bias of the first stage is real");
        }
    }
}
