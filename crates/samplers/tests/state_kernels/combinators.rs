//! Mixtures, cycles and repeats of kernels, exactly.

use helmholtz_random::{Chance, Draws, Enumerator, Purpose, Stream};
use helmholtz_samplers::{
    Cycle, Hmc, Independence, IndependenceProposal, Info, Kernel, MetropolisHastings, Mis, Mixture,
    Proposal, RandomWalk, Repeat,
};

use crate::exact::*;
use crate::fields::transition;

/// On a ring of states, up or down by `by`, evenly.
struct Steps {
    states: usize,
    by: usize,
}

impl<C: Chance> Proposal<usize, C> for Steps {
    fn propose(&self, from: &usize, chance: &mut C) -> usize {
        let by = if chance.accept(0.5f64.ln()) {
            self.by
        } else {
            self.states - self.by
        };
        (from + by) % self.states
    }

    fn log_density(&self, _: &usize, _: &usize) -> f64 {
        0.0
    }
}

type Walk<'a> = Box<dyn Kernel<usize, Enumerator, Info = helmholtz_samplers::Info> + 'a>;

fn walk(problem: &Problem, by: usize) -> Walk<'_> {
    let states = problem.states();
    let target = |x: &usize| problem.p[*x].ln();
    Box::new(MetropolisHastings::new(target, Steps { states, by }))
}

fn matrix(problem: &Problem, kernel: &impl Kernel<usize, Enumerator>) -> Matrix {
    transition(&(0..problem.states()).collect::<Vec<_>>(), kernel)
}

#[test]
fn a_mixture_has_the_weighted_mean_of_the_matrices_and_is_reversible() {
    for problem in Problem::several() {
        let (one, two) = (
            matrix(&problem, &walk(&problem, 1)),
            matrix(&problem, &walk(&problem, 2)),
        );
        // Probabilities 0.2 and 0.8, up to a constant in the logarithm.
        let weights = [0.2f64.ln() - 7.0, 0.8f64.ln() - 7.0, f64::NEG_INFINITY];
        let kernels = weights
            .into_iter()
            .zip([1, 2, 1].map(|by| walk(&problem, by)));
        let mixture = Mixture::new(kernels.collect()).expect("kernels");
        let mixed = matrix(&problem, &mixture);
        let n = problem.states();
        let mean: Matrix = (0..n)
            .map(|x| (0..n).map(|y| 0.2 * one[x][y] + 0.8 * two[x][y]).collect())
            .collect();
        assert!(matrix_difference(&mixed, &mean) < TOLERANCE);
        assert!(invariance_error(&problem.p, &mixed) < TOLERANCE);
        assert!(balance_error(&problem.p, &mixed) < TOLERANCE);
    }
}

#[test]
fn a_cycle_has_the_product_of_the_matrices_and_is_not_reversible() {
    for problem in Problem::several().into_iter().skip(1) {
        let (one, two) = (
            matrix(&problem, &walk(&problem, 1)),
            matrix(&problem, &walk(&problem, 2)),
        );
        let cycle = Cycle::new(vec![walk(&problem, 1), walk(&problem, 2)]);
        let cycled = matrix(&problem, &cycle);
        assert!(matrix_difference(&cycled, &product(&one, &two)) < TOLERANCE);
        assert!(invariance_error(&problem.p, &cycled) < TOLERANCE);
        assert!(balance_error(&problem.p, &cycled) > 1e-4);
    }
}

#[test]
fn a_repeat_has_the_power_of_the_matrix_and_stays_reversible() {
    for problem in Problem::several() {
        let one = matrix(&problem, &walk(&problem, 1));
        let three = matrix(&problem, &Repeat::new(walk(&problem, 1), 3));
        assert!(matrix_difference(&three, &power(&one, 3)) < TOLERANCE);
        assert!(balance_error(&problem.p, &three) < TOLERANCE);
        let none = matrix(&problem, &Repeat::new(walk(&problem, 1), 0));
        assert!((0..problem.states()).all(|x| none[x][x] == 1.0));
    }
}

/// Twin: a mixture that looks at the state to choose.
struct Looks<'a>([Walk<'a>; 2]);

impl Kernel<usize, Enumerator> for Looks<'_> {
    type Info = ();

    fn step(&self, state: &mut usize, chance: &mut Enumerator) {
        self.0[*state % 2].step(state, chance);
    }
}

#[test]
fn a_mixture_that_chooses_by_the_state_is_not_invariant() {
    for problem in Problem::several().into_iter().skip(1) {
        let looks = Looks([walk(&problem, 1), walk(&problem, 2)]);
        assert!(invariance_error(&problem.p, &matrix(&problem, &looks)) > 1e-4);
    }
}

/// Coins and draws of whatever kind.
trait Source: Chance + Draws {}

impl Source for Stream {}

struct Wide;

impl<C: Draws + ?Sized> IndependenceProposal<Vec<f64>, C> for Wide {
    fn propose(&self, chance: &mut C) -> Vec<f64> {
        vec![2.0 * chance.normal()]
    }

    fn log_density(&self, x: &Vec<f64>) -> f64 {
        -x[0] * x[0] / 8.0
    }
}

#[test]
fn chance_may_be_an_object() {
    fn kernel<C: Chance + Draws + ?Sized + 'static>() -> impl Kernel<Vec<f64>, C> {
        let log_p = |x: &Vec<f64>| -0.5 * x[0] * x[0];
        let with_gradient = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] -= x[0];
            -0.5 * x[0] * x[0]
        };
        let walk = RandomWalk::new(1.0).expect("a walk");
        let kernels: Vec<Box<dyn Kernel<Vec<f64>, C, Info = Info>>> = vec![
            Box::new(MetropolisHastings::new(log_p, walk)),
            Box::new(Independence::new(log_p, Wide, Mis, 2).expect("a kernel")),
            Box::new(Hmc::new(with_gradient, 0.3, 5).expect("a kernel")),
        ];
        Mixture::uniform(kernels).expect("kernels")
    }
    let stream = || Stream::new(5, Purpose::new("object"), [0, 0]);
    let (mut x, mut y) = (vec![1.0], vec![1.0]);
    let (mut known, mut unknown) = (stream(), stream());
    for _ in 0..50 {
        kernel().step(&mut x, &mut known);
        kernel().step(&mut y, &mut unknown as &mut dyn Source);
    }
    assert_eq!(x, y);
}
