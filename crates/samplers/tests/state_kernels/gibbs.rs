//! Gibbs and Metropolis-within-Gibbs on small fields, exactly.

use helmholtz_random::{Chance, Enumerator};
use helmholtz_samplers::{
    Cycle, FiniteGibbs, Gibbs, Info, Kernel, MetropolisHastings, Mixture, Proposal,
};

use crate::exact::*;
use crate::fields::{Field, transition};

type Boxed<'a> = Box<dyn Kernel<Vec<usize>, Enumerator, Info = Info> + 'a>;

fn finite_gibbs(field: &Field) -> Vec<FiniteGibbs<impl Fn(&Vec<usize>) -> f64, usize>> {
    (0..field.sizes.len())
        .map(|i| FiniteGibbs::new(field.target(), i, (0..field.sizes[i]).collect()))
        .collect()
}

#[test]
fn finite_gibbs_draws_from_the_exact_conditional() {
    for field in Field::several() {
        for (i, kernel) in finite_gibbs(&field).iter().enumerate() {
            let matrix = transition(&field.states, kernel);
            for (from, row) in field.states.iter().zip(&matrix) {
                let agrees = |to: &Vec<usize>| (0..from.len()).all(|j| j == i || from[j] == to[j]);
                let rest: f64 = (field.states.iter().zip(&field.p))
                    .filter(|(to, _)| agrees(to))
                    .map(|(_, p)| p)
                    .sum();
                for ((to, p), entry) in field.states.iter().zip(&field.p).zip(row) {
                    let expected = if agrees(to) { p / rest } else { 0.0 };
                    assert!((entry - expected).abs() < TOLERANCE);
                }
            }
            assert!(balance_error(&field.p, &matrix) < TOLERANCE);
        }
    }
}

#[test]
fn random_scan_is_reversible_and_is_the_average_over_components() {
    for field in Field::several() {
        let parts = finite_gibbs(&field);
        let matrices: Vec<Matrix> = parts.iter().map(|k| transition(&field.states, k)).collect();
        let scan = Mixture::uniform(parts).expect("components");
        let matrix = transition(&field.states, &scan);
        assert!(invariance_error(&field.p, &matrix) < TOLERANCE);
        assert!(balance_error(&field.p, &matrix) < TOLERANCE);
        for (x, row) in matrix.iter().enumerate() {
            for (y, entry) in row.iter().enumerate() {
                let mean = matrices.iter().map(|m| m[x][y]).sum::<f64>() / matrices.len() as f64;
                assert!((entry - mean).abs() < TOLERANCE);
            }
        }
    }
}

#[test]
fn systematic_scan_is_invariant_but_not_reversible() {
    for field in Field::several() {
        let matrix = transition(&field.states, &Cycle::new(finite_gibbs(&field)));
        assert!(invariance_error(&field.p, &matrix) < TOLERANCE);
        assert!(balance_error(&field.p, &matrix) > 1e-4);
    }
}

#[test]
fn a_scan_there_and_back_is_reversible() {
    for field in Field::several() {
        let mut parts = finite_gibbs(&field);
        parts.extend(finite_gibbs(&field).into_iter().rev());
        let matrix = transition(&field.states, &Cycle::new(parts));
        assert!(balance_error(&field.p, &matrix) < TOLERANCE);
    }
}

/// Component `i` up by one, cyclically, with probability 0.7, and down with 0.3.
struct Turn<'a> {
    field: &'a Field,
    i: usize,
}

impl<C: Chance> Proposal<Vec<usize>, C> for Turn<'_> {
    fn propose(&self, from: &Vec<usize>, chance: &mut C) -> Vec<usize> {
        let (mut to, n) = (from.clone(), self.field.sizes[self.i]);
        let by = if chance.accept(0.7f64.ln()) { 1 } else { n - 1 };
        to[self.i] = (from[self.i] + by) % n;
        to
    }

    fn log_density(&self, from: &Vec<usize>, to: &Vec<usize>) -> f64 {
        let n = self.field.sizes[self.i];
        let by = |by: usize| (from[self.i] + by) % n == to[self.i];
        let q = 0.7 * f64::from(u8::from(by(1))) + 0.3 * f64::from(u8::from(by(n - 1)));
        q.ln()
    }
}

/// A kernel of another kind for each component.
fn one_of_each(field: &Field) -> Vec<Boxed<'_>> {
    let conditional = |field: &Field, i: usize, state: &mut Vec<usize>, chance: &mut Enumerator| {
        let log_p: Vec<f64> = (0..field.sizes[i])
            .map(|value| {
                let mut with = state.clone();
                with[i] = value;
                field.log_p(&with)
            })
            .collect();
        state[i] = chance.choose(&log_p).expect("a value");
    };
    (0..field.sizes.len())
        .map(|i| -> Boxed {
            match i % 3 {
                0 => Box::new(MetropolisHastings::new(field.target(), Turn { field, i })),
                1 => Box::new(Gibbs::new(
                    move |state: &mut Vec<usize>, chance: &mut Enumerator| {
                        conditional(field, i, state, chance)
                    },
                )),
                _ => Box::new(FiniteGibbs::new(
                    field.target(),
                    i,
                    (0..field.sizes[i]).collect(),
                )),
            }
        })
        .collect()
}

#[test]
fn metropolis_within_gibbs_mixes_kernels_of_every_kind() {
    for field in Field::several() {
        let weights = [0.2f64.ln(), 0.5f64.ln(), 0.3f64.ln()];
        let weighted = Mixture::new(weights.into_iter().zip(one_of_each(&field)).collect());
        let random = transition(&field.states, &weighted.expect("components"));
        assert!(invariance_error(&field.p, &random) < TOLERANCE);
        assert!(balance_error(&field.p, &random) < TOLERANCE);
        let systematic = transition(&field.states, &Cycle::new(one_of_each(&field)));
        assert!(invariance_error(&field.p, &systematic) < TOLERANCE);
        assert!(balance_error(&field.p, &systematic) > 1e-4);
    }
}

#[test]
fn a_target_without_the_terms_of_other_components_gives_the_same_kernel() {
    // p(x, y) ∝ a(x) b(y) c(x, y): the conditional of y needs b and c only.
    let (a, b, c) = (distribution(3, 5), distribution(3, 6), distribution(9, 7));
    let local = |s: &Vec<usize>| b[s[1]].ln() + c[3 * s[0] + s[1]].ln();
    let joint = |s: &Vec<usize>| a[s[0]].ln() + local(s);
    let states = Field::new(&[3, 3]).states;
    let values = || vec![0, 1, 2];
    let with =
        |kernel: &dyn Kernel<Vec<usize>, Enumerator, Info = Info>| transition(&states, &kernel);
    let difference = matrix_difference(
        &with(&FiniteGibbs::new(local, 1, values())),
        &with(&FiniteGibbs::new(joint, 1, values())),
    );
    assert!(difference < TOLERANCE);
}

/// Twin: the conditional of component 0 leaves out its interaction with component 1.
#[test]
fn gibbs_with_a_wrong_conditional_is_not_invariant() {
    for field in [Field::new(&[3, 3]), Field::new(&[2, 2, 2])] {
        let blind = |state: &Vec<usize>| {
            let mut seen = state.clone();
            seen[1] = 0;
            field.log_p(&seen)
        };
        let kernel = FiniteGibbs::new(blind, 0, (0..field.sizes[0]).collect());
        assert!(invariance_error(&field.p, &transition(&field.states, &kernel)) > 1e-4);
    }
}

/// Twin: the tempered conditional, p^(1/2).
#[test]
fn gibbs_at_a_wrong_temperature_is_not_invariant() {
    for field in Field::several() {
        let warm = |state: &Vec<usize>| 0.5 * field.log_p(state);
        let kernel = FiniteGibbs::new(warm, 0, (0..field.sizes[0]).collect());
        assert!(invariance_error(&field.p, &transition(&field.states, &kernel)) > 1e-4);
    }
}
