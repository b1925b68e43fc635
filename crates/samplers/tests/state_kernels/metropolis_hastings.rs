//! Metropolis-Hastings: exactly on finite states, statistically on the line.

use helmholtz_random::{Chance, Draws};
use helmholtz_samplers::{Kernel, MetropolisHastings, Proposal, RandomWalk};

use crate::exact::*;
use crate::fields::transition;
use crate::statistics::*;

/// On a ring of states: up with probability 0.6, down with 0.1, two up else. `scored`: by its own density.
struct Ring {
    states: usize,
    scored: bool,
}

impl<C: Chance> Proposal<usize, C> for Ring {
    fn propose(&self, from: &usize, chance: &mut C) -> usize {
        let log_q = [0.6f64.ln(), 0.3f64.ln(), 0.1f64.ln()];
        let by = [1, 2, self.states - 1][chance.choose(&log_q).expect("a step")];
        (from + by) % self.states
    }

    fn log_density(&self, from: &usize, to: &usize) -> f64 {
        if !self.scored {
            return 0.0;
        }
        let by = (to + self.states - from) % self.states;
        [(1, 0.6f64), (2, 0.3), (self.states - 1, 0.1)]
            .into_iter()
            .filter(|(step, _)| *step == by)
            .map(|(_, q)| q)
            .sum::<f64>()
            .ln()
    }
}

fn ring(problem: &Problem, scored: bool) -> Matrix {
    let states = problem.states();
    let target = |x: &usize| problem.p[*x].ln();
    let kernel = MetropolisHastings::new(target, Ring { states, scored });
    transition(&(0..states).collect::<Vec<_>>(), &kernel)
}

#[test]
fn an_asymmetric_proposal_is_reversible_though_some_ways_back_are_impossible() {
    for problem in Problem::several() {
        let matrix = ring(&problem, true);
        assert!(invariance_error(&problem.p, &matrix) < TOLERANCE);
        assert!(balance_error(&problem.p, &matrix) < TOLERANCE);
        assert!(
            problem.states() < 5 || matrix[0][2] == 0.0,
            "two up has no way back"
        );
    }
}

/// Twin: an asymmetric proposal that says it is symmetric.
#[test]
fn without_the_reverse_density_the_target_is_not_invariant() {
    for problem in Problem::several() {
        assert!(invariance_error(&problem.p, &ring(&problem, false)) > 1e-4);
    }
}

/// Two normals, standard deviations 1 and 2, correlation 0.8.
fn correlated(x: &[f64]) -> f64 {
    let (a, b) = (x[0], x[1] / 2.0);
    -(a * a - 1.6 * a * b + b * b) / (2.0 * 0.36)
}

fn draw_correlated(chance: &mut impl Draws) -> Vec<f64> {
    let (a, b) = (chance.normal(), chance.normal());
    vec![a, 2.0 * (0.8 * a + 0.6 * b)]
}

fn assert_normals(kernel: impl Fn(&mut Vec<f64>, &mut helmholtz_random::Stream), which: u64) {
    let ends = replicate(4000, which, |stream| {
        let mut x = draw_correlated(stream);
        for _ in 0..10 {
            kernel(&mut x, stream);
        }
        x
    });
    let second = ends.iter().map(|x| (x[1] / 2.0 - 0.8 * x[0]) / 0.6);
    assert_ks(ends.iter().map(|x| x[0]).collect(), normal_cdf);
    assert_ks(second.collect(), normal_cdf);
}

#[test]
fn random_walks_of_every_kind_leave_a_correlated_normal_invariant() {
    let walks = [
        RandomWalk::new(1.0),
        RandomWalk::with_scales(&[0.7, 1.9]),
        RandomWalk::of_coordinate(1, 1.5),
    ];
    for (which, walk) in (0..).zip(walks) {
        let kernel = MetropolisHastings::new(|x: &Vec<f64>| correlated(x), walk.expect("scales"));
        assert_normals(
            |x, stream| {
                kernel.step(x, stream);
            },
            which,
        );
    }
}

/// A walk whose scale grows with the distance from zero: x' = x + (0.3 + |x|) z.
struct Growing {
    scored: bool,
}

impl<C: Draws> Proposal<f64, C> for Growing {
    fn propose(&self, from: &f64, chance: &mut C) -> f64 {
        from + (0.3 + from.abs()) * chance.normal()
    }

    fn log_density(&self, from: &f64, to: &f64) -> f64 {
        let scale = 0.3 + from.abs();
        if self.scored {
            -0.5 * ((to - from) / scale).powi(2) - scale.ln()
        } else {
            0.0
        }
    }
}

fn growing(scored: bool) -> f64 {
    let kernel = MetropolisHastings::new(|x: &f64| -0.5 * x * x, Growing { scored });
    let ends = replicate(4000, 10, |stream| {
        let mut x = stream.normal();
        for _ in 0..10 {
            kernel.step(&mut x, stream);
        }
        x
    });
    ks_distance(ends, normal_cdf)
}

#[test]
fn a_walk_with_a_scale_of_its_own_everywhere_needs_both_densities() {
    assert!(growing(true) < ks_bound(4000));
    assert!(growing(false) > ks_bound(4000), "twin");
}
