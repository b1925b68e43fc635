//! M1, M2 on states: independence kernels.

use helmholtz_random::Chance;
use helmholtz_samplers::{
    Barker, Cis, Independence, IndependenceProposal, IndexKernel, Kernel, Mis, Mtmis,
};

use crate::exact::*;
use crate::fields::transition;

/// Draws a state by the law q.
#[derive(Clone)]
struct Categorical(Vec<f64>);

impl<C: Chance> IndependenceProposal<usize, C> for Categorical {
    fn propose(&self, chance: &mut C) -> usize {
        let log_q: Vec<f64> = self.0.iter().map(|q| q.ln()).collect();
        chance.choose(&log_q).expect("states")
    }

    fn log_density(&self, state: &usize) -> f64 {
        self.0[*state].ln()
    }
}

fn matrix(problem: &Problem, kernel: impl IndexKernel, k: usize) -> Matrix {
    let target = |x: &usize| problem.p[*x].ln() - 40.0;
    let kernel = Independence::new(target, Categorical(problem.q.clone()), kernel, k);
    let states: Vec<usize> = (0..problem.states()).collect();
    transition(&states, &kernel.expect("proposals"))
}

fn assert_is_its_index_kernel(kernel: impl IndexKernel + Copy) {
    for problem in Problem::several().into_iter().take(3) {
        for k in 1..=3 {
            let matrix = matrix(&problem, kernel, k);
            assert!(matrix_difference(&matrix, &problem.transition(&kernel, k)) < TOLERANCE);
            assert!(invariance_error(&problem.p, &matrix) < TOLERANCE);
            assert!(balance_error(&problem.p, &matrix) < TOLERANCE);
        }
    }
}

#[test]
fn independence_kernels_are_the_index_kernels_and_leave_the_target_invariant() {
    assert_is_its_index_kernel(Mis);
    assert_is_its_index_kernel(Mtmis);
    assert_is_its_index_kernel(Cis);
    assert_is_its_index_kernel(Barker);
}

#[test]
fn k_proposals_of_mis_are_k_steps() {
    for problem in Problem::several().into_iter().take(3) {
        let once = matrix(&problem, Mis, 1);
        assert!(matrix_difference(&matrix(&problem, Mis, 3), &power(&once, 3)) < TOLERANCE);
    }
}

#[test]
fn the_trace_of_mis_and_of_its_square_are_lius() {
    // λ_i = Σ_{j≥i} (q_j - p_j / w_i), states in decreasing order of w; the last is zero (Liu, 1996).
    for problem in Problem::several() {
        let mut order: Vec<usize> = (0..problem.states()).collect();
        order.sort_by(|&a, &b| problem.w(b).total_cmp(&problem.w(a)));
        let lambda = |i: usize| -> f64 {
            let rest = &order[i..];
            let term = |&j: &usize| problem.q[j] - problem.p[j] / problem.w(order[i]);
            rest.iter().map(term).sum()
        };
        let matrix = matrix(&problem, Mis, 1);
        for k in [1, 2] {
            let sum: f64 = (0..order.len() - 1).map(|i| lambda(i).powi(k)).sum();
            let found = trace(&power(&matrix, k as usize));
            assert!((found - 1.0 - sum).abs() < TOLERANCE, "trace of power {k}");
        }
    }
}

/// Twin: scores its draws by another law.
#[derive(Clone)]
struct Misscored(Categorical);

impl<C: Chance> IndependenceProposal<usize, C> for Misscored {
    fn propose(&self, chance: &mut C) -> usize {
        self.0.propose(chance)
    }

    fn log_density(&self, _: &usize) -> f64 {
        0.0
    }
}

#[test]
fn a_proposal_that_is_not_scored_by_its_own_density_breaks_invariance() {
    for problem in Problem::several() {
        let target = |x: &usize| problem.p[*x].ln();
        let proposal = Misscored(Categorical(problem.q.clone()));
        let kernel = Independence::new(target, proposal, Mis, 1).expect("proposals");
        let states: Vec<usize> = (0..problem.states()).collect();
        assert!(invariance_error(&problem.p, &transition(&states, &kernel)) > 1e-4);
    }
}

#[test]
fn the_info_is_that_of_the_index_kernel() {
    let problem = &Problem::several()[0];
    let target = |x: &usize| problem.p[*x].ln();
    let kernel = Independence::new(target, Categorical(problem.q.clone()), Mis, 5);
    let mut stream =
        helmholtz_random::Stream::new(1, helmholtz_random::Purpose::new("test"), [0, 0]);
    let info = kernel.expect("proposals").step(&mut 0, &mut stream);
    assert_eq!((info.runs, info.moves, info.gaps), (1, 5, 1));
    assert!(info.ess >= 1.0 && info.ess <= 5.0);
}
