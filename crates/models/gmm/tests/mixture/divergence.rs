//! Test 10: the divergences of the nets from the exact conditionals.

use helmholtz_gmm::{GmmConfig, Simulated};

use crate::*;

fn truth(points: usize) -> Simulated<B> {
    let instances: Vec<u64> = (0..20).collect();
    GmmConfig::default().simulate(9, &instances, points, F64, &Default::default())
}

/// The published mixture whose conditional statistics are t = x and γ = softmax(s c).
fn with_true_statistics(s: f64) -> Gmm<B> {
    let model = published();
    let one_shot = [0.0; 15];
    // t: (x, c) → x, by rows of the weight, then the bias.
    let values = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let mut weights = [0.0; 18];
    for m in 0..3 {
        weights[(2 + m) * 3 + m] = s;
    }
    with_parameters(
        model,
        &[&one_shot[..], &values, &weights, &[0.0; 257]].concat(),
    )
}

#[test]
fn the_divergence_vanishes_as_statistics_become_the_true_ones() {
    let data = truth(60);
    let mut before = f64::INFINITY;
    for s in [2.0, 5.0, 10.0, 20.0, 50.0] {
        let kl = numbers(with_true_statistics(s).kl(&data.x, &data.truth.assignment));
        assert_eq!(kl.len(), 20);
        assert!(kl.iter().all(|kl| *kl > -1e-9), "{kl:?}");
        let mean = kl.iter().sum::<f64>() / 20.0;
        assert!(
            mean < before || mean < 1e-9,
            "{mean} after {before} at s = {s}"
        );
        before = mean;
    }
    assert!(before < 1e-6, "{before}");
}

#[test]
fn it_is_large_for_nets_as_they_start() {
    let data = truth(60);
    let kl = numbers(published().kl(&data.x, &data.truth.assignment));
    assert!(kl.iter().sum::<f64>() / 20.0 > 10.0);
    let kl = numbers(published().assignment_kl(&data.x, &data.truth));
    assert!(kl.iter().all(|kl| *kl > 0.0) && kl.len() == 20);
}

#[test]
fn of_equal_assignments_it_is_the_sum_written_out() {
    let data = truth(9);
    let (model, z) = (published(), &data.truth);
    let log_p = |choices: helmholtz_apg::Choices<B>| {
        let each: Vec<f64> = numbers(choices.logits().clone());
        let rows = each.chunks_exact(3).map(|row| {
            let total: f64 = row.iter().map(|l| l.exp()).sum();
            [row[0], row[1], row[2]].map(|l| l - total.ln())
        });
        rows.collect::<Vec<_>>()
    };
    let p = log_p(model.exact_choices(&data.x, &z.mean, &z.precision));
    let q = log_p(model.choices(&data.x, &z.mean, &z.precision));
    let found = numbers(model.assignment_kl(&data.x, z));
    for (found, (p, q)) in found.iter().zip(p.chunks_exact(9).zip(q.chunks_exact(9))) {
        let pairs = p.iter().flatten().zip(q.iter().flatten());
        let expected: f64 = pairs
            .filter(|(p, _)| p.is_finite())
            .map(|(p, q)| p.exp() * (p - q))
            .sum();
        if expected.is_finite() {
            assert!(
                (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                "{found} {expected}"
            );
        }
    }
}

/// The clusters of each instance named otherwise.
fn renamed(assignment: &Tensor<B, 4>, order: [usize; 3]) -> Tensor<B, 4> {
    let column = |m: usize| assignment.clone().narrow(3, m, 1);
    helmholtz_ops::cat(order.map(column).to_vec(), 3)
}

#[test]
fn the_one_shot_proposal_s_is_of_the_names_that_fit_best() {
    let (model, data) = (published(), truth(30));
    let (x, c) = (&data.x, &data.truth.assignment);
    let found = model.one_shot_kl(x, c);
    let q = model.one_shot_law(x);
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let mut best = vec![f64::INFINITY; found.len()];
    for order in orders {
        let named = renamed(c, order);
        let kl = numbers(model.exact_law(x, &named).kl(&q));
        for (best, kl) in best.iter_mut().zip(kl.chunks_exact(6)) {
            *best = best.min(kl.iter().sum());
        }
        for (a, b) in found.iter().zip(model.one_shot_kl(x, &named)) {
            assert!((a / b - 1.0).abs() < 1e-12, "{order:?}");
        }
    }
    for (found, best) in found.iter().zip(best) {
        assert!((found / best - 1.0).abs() < 1e-12, "{found} {best}");
    }
    // The names that they were given are not always the best.
    let as_named = numbers(model.exact_law(x, c).kl(&q));
    let as_named: Vec<f64> = as_named.chunks_exact(6).map(|kl| kl.iter().sum()).collect();
    let worse = as_named.iter().zip(&found);
    assert!(
        worse
            .filter(|(named, found)| *named > &(*found + 1e-9))
            .count()
            > 0
    );
}
