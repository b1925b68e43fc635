//! Layers of counts: probabilities and draws by the defining sums, in f64.

use burn::backend::Autodiff;
use burn_flex::Flex;
use helmholtz_distributions::{Counts, Variables};

use crate::enumerated::score_is_the_derivative;
use crate::shapes::tangent_is_the_derivative;
use crate::{matrix, numbers, rows};

const POISSON: Counts = Counts::Poisson { variables: 3 };
const BINOMIAL: Counts = Counts::Binomial {
    variables: 3,
    trials: 7,
};
const LOGITS: [f64; 3] = [0.4, -1.3, 1.9];

/// P(0), P(1), ... of the three logits, by their recursions.
fn probabilities(counts: Counts) -> [Vec<f64>; 3] {
    LOGITS.map(|a| match counts {
        Counts::Poisson { .. } => {
            let next = |(k, p): &(f64, f64)| Some((k + 1.0, p * a.exp() / (k + 1.0)));
            let all = std::iter::successors(Some((0.0, (-a.exp()).exp())), next);
            all.map(|(_, p)| p).take(60).collect()
        }
        Counts::Binomial { trials, .. } => {
            let (n, p) = (f64::from(trials), 1.0 / (1.0 + (-a).exp()));
            let next = |(k, q): &(f64, f64)| Some((k + 1.0, q * (n - k) / (k + 1.0) * a.exp()));
            let all = std::iter::successors(Some((0.0, (1.0 - p).powf(n))), next);
            all.map(|(_, p)| p).take(8).collect()
        }
    })
}

#[test]
fn log_probabilities_are_those_of_the_recursion() {
    for counts in [POISSON, BINOMIAL] {
        let expected = probabilities(counts);
        for k in 0..8 {
            // Two rows of values above one of logits, which repeats.
            let values = matrix::<Flex>(&[[k as f64; 3], [0.0; 3]].concat(), 3);
            let found = numbers(counts.log_prob(rows::<Flex>(&LOGITS, 1), values));
            let sum = |k: usize| expected.iter().map(|p| p[k].ln()).sum::<f64>();
            assert!((found[0] - sum(k)).abs() < 1e-12, "{counts:?}, {k}");
            assert!((found[1] - sum(0)).abs() < 1e-12, "{counts:?}");
        }
    }
}

#[test]
fn a_draw_is_the_least_count_whose_distribution_function_exceeds_its_uniform() {
    for counts in [POISSON, BINOMIAL] {
        for (variable, p) in probabilities(counts).iter().enumerate() {
            let mut below = 0.0;
            for (k, p) in p.iter().enumerate().take_while(|(_, p)| **p > 1e-12) {
                for share in [0.01, 0.5, 0.99] {
                    let mut uniforms = [0.5; 3];
                    uniforms[variable] = below + share * p;
                    let logits = rows::<Flex>(&LOGITS, 1);
                    let drawn = counts.sample(logits, matrix(&uniforms, 3)).numbers();
                    assert_eq!(numbers(drawn)[variable], k as f64, "{counts:?}");
                }
                below += p;
            }
        }
    }
}

/// Logits and uniforms at their ends, and means that e^−mean cannot hold.
#[test]
fn draws_at_the_ends_are_counts() {
    let draw = |counts: Counts, a: f64, u: f64| {
        let drawn = counts.sample(matrix::<Flex>(&[a], 1), matrix(&[u], 1));
        numbers(drawn.numbers())[0]
    };
    let last = 1.0 - f64::EPSILON / 2.0;
    let poisson = Counts::Poisson { variables: 1 };
    let binomial = |trials| Counts::Binomial {
        variables: 1,
        trials,
    };
    for u in [0.0, 0.5, last] {
        assert_eq!(draw(poisson, f64::NEG_INFINITY, u), 0.0);
        assert_eq!(draw(binomial(9), f64::NEG_INFINITY, u), 0.0);
        assert_eq!(draw(binomial(9), f64::INFINITY, u), 9.0);
    }
    assert_eq!(draw(binomial(9), 0.3, 0.0), 0.0);
    assert_eq!(draw(binomial(9), 0.3, last), 9.0);
    // Medians: that of Poisson(λ) lies within λ − ln 2 and λ + 1/3 (Choi 1994).
    let far = draw(poisson, 4000f64.ln(), 0.5);
    assert!((3999.0..=4001.0).contains(&far), "{far}");
    let far = draw(binomial(100_000), 0.0, 0.5);
    assert!((49_999.0..=50_001.0).contains(&far), "{far}");
    // 5.2 deviations above the mean, 9.97e-8.
    let high = draw(poisson, 1e6f64.ln(), 1.0 - 9.97e-8);
    assert!((1_005_150.0..1_005_250.0).contains(&high), "{high}");
    assert!(draw(poisson, f64::NAN, 0.5).is_nan() && draw(poisson, 800.0, 0.5).is_nan());
}

#[test]
fn scores_and_tangents_are_derivatives_and_logits_of_means_invert_them() {
    for counts in [POISSON, BINOMIAL] {
        score_is_the_derivative(counts, &LOGITS);
        tangent_is_the_derivative(counts, &LOGITS);
        let back = counts.logits_of(counts.mean(rows::<Flex>(&LOGITS, 1)));
        for (found, logit) in numbers(back).into_iter().zip(LOGITS) {
            assert!((found - logit).abs() < 1e-14, "{found}, not {logit}");
        }
        assert_eq!(
            [counts.logits(), counts.values(), counts.uniforms()],
            [3; 3]
        );
    }
}

/// In whole numbers and between, in the values and in the logits.
#[test]
fn the_log_probability_is_differentiable_in_values_that_are_no_counts() {
    for counts in [POISSON, BINOMIAL] {
        let at = |values: [f64; 3]| {
            let values = matrix::<Flex>(&values, 3);
            numbers(counts.log_prob(rows::<Flex>(&LOGITS, 1), values))[0]
        };
        let values = [0.0, 2.5, 4.0];
        let tracked = matrix::<Autodiff<Flex>>(&values, 3).require_grad();
        let log_p = counts.log_prob(rows(&LOGITS, 1), tracked.clone());
        let gradient = numbers(tracked.grad(&log_p.sum().backward()).unwrap());
        for (i, gradient) in gradient.into_iter().enumerate() {
            let moved = |by: f64| {
                let mut values = values;
                values[i] += by;
                values
            };
            let numeric = (at(moved(1e-5)) - at(moved(-1e-5))) / 2e-5;
            assert!((gradient - numeric).abs() < 1e-8, "{counts:?}, {i}");
        }
    }
}
