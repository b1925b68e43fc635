//! Coins and choices for two, equal as often as can be.

use helmholtz_random::Chance;

/// Two coins, true with probability min(1, exp(`log_probs`)) each, tossed with a common uniform: both are true with the
/// smaller of the two probabilities, which no coupling exceeds.
///
/// -inf and NaN: never.
pub fn accept_both(log_probs: [f64; 2], chance: &mut (impl Chance + ?Sized)) -> [bool; 2] {
    let [a, b] = log_probs.map(|l| {
        if l.is_nan() {
            f64::NEG_INFINITY
        } else {
            l.min(0.0)
        }
    });
    let (low, high) = (a.min(b), a.max(b));
    // Both, the likelier alone, none: p_low, p_high - p_low, 1 - p_high.
    let only = match high == f64::NEG_INFINITY {
        true => high,
        false => high + (-(low - high).exp_m1()).ln(),
    };
    match chance.choose(&[low, only, (-high.exp_m1()).ln()]) {
        Some(0) => [true, true],
        Some(1) => [a > b, b > a],
        _ => [false, false],
    }
}

/// Two indices with the laws softmax(`log_weights`), equal with probability Σ_k min(p_k, q_k), which no coupling exceeds.
///
/// `None` for the one without a finite weight; the two may be of different lengths.
pub fn choose_both(
    log_weights: [&[f64]; 2],
    chance: &mut (impl Chance + ?Sized),
) -> [Option<usize>; 2] {
    let laws = log_weights.map(normalised);
    let [Some(p), Some(q)] = &laws else {
        return log_weights.map(|l| chance.choose(l));
    };
    let shared = p.len().min(q.len());
    let overlap: Vec<f64> = (0..shared).map(|k| p[k].min(q[k])).collect();
    // What is left of one law above the overlap; the same total for both, but for rounding.
    let rest = |law: &[f64]| -> Vec<f64> {
        let above = |k: usize| law[k] - overlap.get(k).copied().unwrap_or(0.0);
        (0..law.len()).map(above).collect()
    };
    let (rest_p, rest_q) = (rest(p), rest(q));
    let left = rest_p.iter().sum::<f64>().min(rest_q.iter().sum());
    let log = |probabilities: &[f64]| probabilities.iter().map(|p| p.ln()).collect::<Vec<_>>();
    let mut joint = log(&overlap);
    joint.push(left.ln());
    match chance.choose(&joint) {
        Some(k) if k < shared => [Some(k); 2],
        _ => [rest_p, rest_q].map(|rest| chance.choose(&log(&rest))),
    }
}

/// Probabilities; a weight that is not finite is zero. None if all are.
fn normalised(log_weights: &[f64]) -> Option<Vec<f64>> {
    let finite = |l: f64| if l.is_finite() { l } else { f64::NEG_INFINITY };
    let log_sum = crate::log_sum_exp(log_weights.iter().map(|&l| finite(l)));
    let probability = |&l: &f64| (finite(l) - log_sum).exp();
    log_sum
        .is_finite()
        .then(|| log_weights.iter().map(probability).collect())
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Enumerator, enumerate};

    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    fn probability<T>(branches: &[(f64, T)], event: impl Fn(&T) -> bool) -> f64 {
        let with = branches.iter().filter(|(_, outcome)| event(outcome));
        with.map(|(p, _)| p).sum()
    }

    #[test]
    fn coins_keep_their_laws_and_agree_as_often_as_can_be() {
        let logs = [NINF, f64::NAN, -40.0, -1.0, -0.3, -1e-12, 0.0, 5.0];
        let p = |l: f64| if l.is_nan() { 0.0 } else { l.exp().min(1.0) };
        for a in logs {
            for b in logs {
                let branches = enumerate(|chance: &mut Enumerator| accept_both([a, b], chance));
                let close = |found: f64, expected: f64| (found - expected).abs() < 1e-15;
                assert!(close(probability(&branches, |c| c[0]), p(a)));
                assert!(close(probability(&branches, |c| c[1]), p(b)));
                let both = probability(&branches, |c| c[0] && c[1]);
                assert!(close(both, p(a).min(p(b))), "{a} {b}: {both}");
            }
        }
    }

    #[test]
    fn choices_keep_their_laws_and_agree_as_often_as_can_be() {
        let cases: [[&[f64]; 2]; 6] = [
            [&[0.0, 1.0, -2.0], &[0.5, NINF, 0.0]],
            [&[0.0, 1.0, -2.0], &[0.0, 1.0, -2.0]],
            [&[0.0, NINF], &[NINF, 3.0]],
            [&[300.0, 0.0, -300.0], &[-300.0, 0.0, f64::NAN]],
            [&[0.0, 0.5], &[0.2, 0.1, 0.9]],
            [&[7.0], &[f64::INFINITY, 1.0]],
        ];
        for case in cases {
            let branches = enumerate(|chance: &mut Enumerator| choose_both(case, chance));
            let laws = case.map(|l| normalised(l).expect("a finite weight"));
            for (which, law) in laws.iter().enumerate() {
                for (k, p) in law.iter().enumerate() {
                    let found = probability(&branches, |c| c[which] == Some(k));
                    assert!((found - p).abs() < 1e-14, "{case:?}");
                }
            }
            let equal = probability(&branches, |c| c[0] == c[1]);
            let overlap: f64 = laws[0].iter().zip(&laws[1]).map(|(p, q)| p.min(*q)).sum();
            assert!((equal - overlap).abs() < 1e-14);
        }
        let none = enumerate(|chance: &mut Enumerator| choose_both([&[NINF], &[0.0]], chance));
        assert_eq!(none, [(1.0, [None, Some(0)])]);
    }
}
