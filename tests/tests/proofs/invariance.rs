//! The transition of a whole production step, from the store through `estimate` and back, leaves the posterior invariant.

use helmholtz_estimators::{Jsa, Msc, Weighting};
use helmholtz_samplers::{FrozenReferenceMis, Mis, Mtmis};
use helmholtz_tests::expectation::{expected_gradient, law_of_step};
use helmholtz_tests::vectors::{max_difference, relative_error};
use helmholtz_tests::{Categories, Conditional, Enumerable, Exact, Reference, Topped, store_of};

use crate::{TOLERANCE, WRONG, data};

type Matrix = Vec<Vec<f64>>;

/// Rounding may add up to this in a probability.
const ROUNDING: f64 = 1e-12;

const FROZEN: Jsa<FrozenReferenceMis> = Jsa {
    kernel: FrozenReferenceMis,
    stage1_extra: false,
};

/// From each stored state to the one stored after a step with `rows` as the batch, all of the same datum.
fn transition(
    model: &impl Enumerable,
    x: &[f64],
    method: &impl Weighting,
    k: usize,
    rows: &[u32],
) -> Matrix {
    let (states, x) = (model.states(), vec![x.to_vec(); rows.len()]);
    let row = |start| {
        let store = store_of(model, &[start]);
        let law = law_of_step(model, &x, (&store, rows), method, k, false);
        let mut row = vec![0.0; states.len()];
        law.contents.iter().for_each(|(end, p)| row[end[0]] += p);
        assert!((row.iter().sum::<f64>() - 1.0).abs() < ROUNDING);
        row
    };
    states.iter().map(row).collect()
}

fn apply(law: &[f64], matrix: &Matrix) -> Vec<f64> {
    (0..law.len())
        .map(|y| law.iter().zip(matrix).map(|(p, row)| p * row[y]).sum())
        .collect()
}

fn power(matrix: &Matrix, k: usize) -> Matrix {
    (1..k).fold(matrix.clone(), |so_far, _| {
        so_far.iter().map(|row| apply(row, matrix)).collect()
    })
}

fn difference(a: &Matrix, b: &Matrix) -> f64 {
    max_difference(&a.concat(), &b.concat())
}

/// max |πP − π| for the posterior π.
fn invariance_error(exact: &Exact, matrix: &Matrix) -> f64 {
    let posterior = exact.posterior();
    max_difference(&apply(&posterior, matrix), &posterior)
}

/// The models with the largest number of particles that can be enumerated for each.
fn models() -> [(Reference, usize); 2] {
    [(Reference::t1(), 3), (Reference::t2(), 2)]
}

/// The largest error of a step with each number of particles, in its invariance and as a matrix.
fn errors(
    model: &impl Enumerable,
    most: usize,
    method: &impl Weighting,
    expected: impl Fn(&Exact, usize) -> Matrix,
) -> f64 {
    let x = &data(1)[0];
    let exact = Exact::new(model, x);
    let error = |k| {
        let matrix = transition(model, x, method, k, &[0]);
        let difference = difference(&matrix, &expected(&exact, k));
        invariance_error(&exact, &matrix).max(difference)
    };
    (1..=most).map(error).fold(0.0, f64::max)
}

#[test]
fn jsa_mis_leaves_the_posterior_invariant_and_k_particles_are_k_moves() {
    let moves = |exact: &Exact, k| power(&exact.mis(), k);
    for (model, most) in models() {
        assert!(errors(&model, most, &Jsa::MIS, moves) < ROUNDING);
    }
    assert!(errors(&Categories::t3(), 2, &Jsa::MIS, moves) < ROUNDING);
    assert!(errors(&Conditional::t4(), 2, &Jsa::MIS, moves) < ROUNDING);
    assert!(errors(&Topped::t5(), 2, &Jsa::MIS, moves) < ROUNDING);
}

#[test]
fn jsa_mtmis_leaves_the_posterior_invariant_and_is_the_multiple_trial_move() {
    for (model, most) in models() {
        assert!(errors(&model, most, &Jsa::MTMIS, Exact::mtmis) < ROUNDING);
    }
    assert!(errors(&Categories::t3(), 2, &Jsa::MTMIS, Exact::mtmis) < ROUNDING);
    assert!(errors(&Conditional::t4(), 2, &Jsa::MTMIS, Exact::mtmis) < ROUNDING);
    assert!(errors(&Topped::t5(), 2, &Jsa::MTMIS, Exact::mtmis) < ROUNDING);
}

#[test]
fn mtmis_with_one_trial_is_mis() {
    for (model, _) in models() {
        let x = &data(2)[1];
        let mis = transition(&model, x, &Jsa::<Mis>::MIS, 1, &[0]);
        let mtmis = transition(&model, x, &Jsa::<Mtmis>::MTMIS, 1, &[0]);
        assert!(difference(&mis, &mtmis) < ROUNDING);
    }
}

#[test]
fn a_frozen_reference_weight_is_not_invariant() {
    for (model, most) in models() {
        let x = &data(1)[0];
        let exact = Exact::new(&model, x);
        let once = transition(&model, x, &FROZEN, 1, &[0]);
        assert!(
            invariance_error(&exact, &once) < ROUNDING,
            "one test is MIS"
        );
        for k in 2..=most {
            let matrix = transition(&model, x, &FROZEN, k, &[0]);
            assert!(invariance_error(&exact, &matrix) > WRONG);
        }
    }
    let (t3, x) = (Categories::t3(), &data(1)[0]);
    let matrix = transition(&t3, x, &FROZEN, 2, &[0]);
    assert!(invariance_error(&Exact::new(&t3, x), &matrix) > WRONG);
}

#[test]
fn a_datum_that_comes_twice_in_a_batch_keeps_the_posterior_invariant() {
    // Scans with replacement do that. The later chain counts, whether it moved or not.
    let model = Reference::t1();
    let x = &data(1)[0];
    let exact = Exact::new(&model, x);
    let matrix = transition(&model, x, &Jsa::MIS, 1, &[0, 0]);
    assert!(invariance_error(&exact, &matrix) < ROUNDING);
    assert!(difference(&matrix, &exact.mis()) < ROUNDING);
    // Twin: the chain that moved is preferred.
    let mis = exact.mis();
    let stays = |x: usize| {
        1.0 - (0..mis.len())
            .filter(|&y| y != x)
            .map(|y| mis[x][y])
            .sum::<f64>()
    };
    let preferring: Matrix = (0..mis.len())
        .map(|x| {
            let mut row: Vec<f64> = mis[x].iter().map(|m| m * (1.0 + stays(x))).collect();
            row[x] = stays(x).powi(2);
            row
        })
        .collect();
    assert!(invariance_error(&exact, &preferring) > WRONG);
}

#[test]
fn the_first_stage_averages_over_the_laws_of_its_moves() {
    // After t moves from a first proposal the law is q M^t; K particles make K − 1 moves, or K with the extra one.
    let model = Reference::t1();
    let x = data(1);
    let exact = Exact::new(&model, &x[0]);
    let largest = exact.q.iter().zip(exact.posterior()).map(|(q, p)| p / q);
    let largest = largest.fold(0.0, f64::max);
    for (stage1_extra, k, moves) in [(false, 2, 1), (false, 3, 2), (true, 1, 1), (true, 2, 2)] {
        let jsa = Jsa {
            stage1_extra,
            ..Jsa::MIS
        };
        let mut average = vec![0.0; exact.q.len()];
        for t in 1..=moves {
            let law = apply(&exact.q, &power(&exact.mis(), t));
            let distance = 0.5
                * law
                    .iter()
                    .zip(exact.posterior())
                    .map(|(a, b)| (a - b).abs())
                    .sum::<f64>();
            assert!(distance <= (1.0 - 1.0 / largest).powi(t as i32) + ROUNDING);
            let share = 1.0 / moves as f64;
            average
                .iter_mut()
                .zip(law)
                .for_each(|(a, l)| *a += share * l);
        }
        let gradient = expected_gradient(&model, &x, &jsa, k);
        assert!(relative_error(&gradient, &exact.gradient_under(&average)) < TOLERANCE);
        assert!(
            relative_error(&gradient, &exact.inclusive_gradient()) > WRONG,
            "the bias of the first stage is real"
        );
    }
}

#[test]
fn the_first_stage_of_mtmis_is_one_move_among_all_but_its_start() {
    let model = Reference::t1();
    let x = data(1);
    let exact = Exact::new(&model, &x[0]);
    for (k, trials) in [(2, 1), (3, 2)] {
        let law = apply(&exact.q, &exact.mtmis(trials));
        let gradient = expected_gradient(&model, &x, &Jsa::MTMIS, k);
        assert!(relative_error(&gradient, &exact.gradient_under(&law)) < TOLERANCE);
    }
}

#[test]
fn markovian_score_climbing_moves_its_chain_by_conditional_importance_sampling() {
    // From y, with one proposal h ~ q: to h with probability w(h) / (w(y) + w(h)).
    for model in [Reference::t1(), Reference::t2()] {
        let exact = Exact::new(&model, &data(1)[0]);
        let posterior = exact.posterior();
        let q: Vec<f64> = exact.tuples(1).iter().map(|(q, _)| *q).collect();
        let w: Vec<f64> = posterior.iter().zip(&q).map(|(p, q)| p / q).collect();
        let matrix = transition(&model, &data(1)[0], &Msc, 2, &[0]);
        for (y, row) in matrix.iter().enumerate() {
            for h in (0..w.len()).filter(|&h| h != y) {
                let expected = q[h] * w[h] / (w[y] + w[h]);
                assert!(
                    (row[h] - expected).abs() < ROUNDING,
                    "{} {expected}",
                    row[h]
                );
            }
        }
        assert!(invariance_error(&exact, &matrix) < ROUNDING);
    }
}
