//! What is claimed of each scheme.

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::resampling::*;

use crate::law::*;

#[test]
fn every_scheme_gives_each_particle_its_expected_copies() {
    for case in CASES {
        for (name, law) in all_laws(&case.log_weights(), case.slots) {
            let error = mean_error(&law, &case.weights(), case.slots);
            assert!(error < TOLERANCE, "{name}, {:?}: {error:e}", case.weights);
        }
    }
}

#[test]
fn no_scheme_ever_chooses_a_particle_of_weight_zero() {
    for case in CASES {
        for (name, law) in all_laws(&case.log_weights(), case.slots) {
            for ancestors in law.keys() {
                assert!(
                    ancestors.iter().all(|&a| case.weights[a as usize] > 0),
                    "{name}"
                );
            }
        }
    }
}

/// Copies beyond ⌊M W_j⌋ or ⌈M W_j⌉, where M W_j is known up to rounding.
fn outside(copies: usize, expected: f64) -> bool {
    (copies as f64) < (expected - 1e-9).floor().max(0.0)
        || (copies as f64) > (expected + 1e-9).ceil()
}

/// A whole expectation that rounding has made broken is missed with a probability of the size of the rounding.
fn probability(law: &Law, case: &Case, event: impl Fn(usize, f64) -> bool) -> f64 {
    let expected = case.expected();
    law_of_counts(law, expected.len())
        .iter()
        .filter(|(counts, _)| counts.iter().zip(&expected).any(|(&c, &e)| event(c, e)))
        .map(|(_, p)| p)
        .sum()
}

#[test]
fn systematic_and_ssp_copies_are_the_expected_number_rounded_up_or_down() {
    for case in CASES {
        let log_weights = case.log_weights();
        for law in [
            law_of_steps(&Systematic, &log_weights, case.slots),
            law_of_coins(&Ssp, &log_weights, case.slots),
        ] {
            assert!(
                probability(&law, &case, outside) < TOLERANCE,
                "{:?}",
                case.weights
            );
        }
    }
}

#[test]
fn multinomial_copies_are_not() {
    let case = &CASES[0];
    let law = law_of_sorted(&Multinomial, &case.log_weights(), case.slots);
    assert!(probability(&law, case, outside) > 0.1);
}

/// The weights 6 : 3 : 1 : 2, in 120,000 slots. Rounding leaves the first 2.8e-10 short of its 60,000 copies.
#[test]
fn residual_copies_that_are_certain_stay_so_in_many_slots() {
    let log_weights = [6f64, 3.0, 1.0, 2.0].map(|w| w.ln() - 731.5);
    for seed in 0..20 {
        let mut stream = Stream::new(seed, Purpose::new("certain"), [0, 0]);
        let mut ancestors = vec![0; 120_000];
        Residual
            .resample(&log_weights, &mut stream, &mut ancestors)
            .expect("weights");
        assert_eq!(counts(&ancestors, 4), [60_000, 30_000, 10_000, 20_000]);
    }
}

#[test]
fn residual_copies_are_at_least_the_expected_number_rounded_down() {
    for case in CASES {
        let law = law_of_sorted(&Residual, &case.log_weights(), case.slots);
        let too_few = |copies: usize, expected: f64| (copies as f64) < (expected + 1e-9).floor();
        assert!(
            probability(&law, &case, too_few) < TOLERANCE,
            "{:?}",
            case.weights
        );
    }
}

#[test]
fn stratified_copies_are_within_two_of_the_expected_number() {
    for case in CASES {
        let law = law_of_steps(&Stratified, &case.log_weights(), case.slots);
        let far = |copies: usize, expected: f64| (copies as f64 - expected).abs() >= 2.0;
        assert!(
            probability(&law, &case, far) < TOLERANCE,
            "{:?}",
            case.weights
        );
    }
}

#[test]
fn multinomial_from_sorted_uniforms_has_the_law_of_independent_choices() {
    for case in CASES {
        let (log_weights, n) = (case.log_weights(), case.weights.len());
        let sorted = law_of_sorted(&Multinomial, &log_weights, case.slots);
        let choices = law_of_coins(&MultinomialByChoice, &log_weights, case.slots);
        let error = difference(&law_of_counts(&sorted, n), &law_of_counts(&choices, n));
        assert!(error < TOLERANCE, "{:?}: {error:e}", case.weights);
    }
}

#[test]
fn the_residual_remainder_is_multinomial() {
    for case in CASES {
        let expected = case.expected();
        let certain: Vec<usize> = expected
            .iter()
            .map(|e| (e + 1e-9).floor() as usize)
            .collect();
        let rest: Vec<f64> = expected
            .iter()
            .zip(&certain)
            .map(|(e, &c)| (e - c as f64).max(0.0).ln())
            .collect();
        let open = case.slots - certain.iter().sum::<usize>();
        let residual = law_of_sorted(&Residual, &case.log_weights(), case.slots);
        let mut by_hand = std::collections::BTreeMap::new();
        if open == 0 {
            by_hand.insert(certain, 1.0);
        } else {
            let choices = law_of_coins(&MultinomialByChoice, &rest, open);
            for (more, p) in law_of_counts(&choices, expected.len()) {
                let sum = certain.iter().zip(more).map(|(c, m)| c + m).collect();
                *by_hand.entry(sum).or_default() += p;
            }
        }
        let error = difference(&law_of_counts(&residual, expected.len()), &by_hand);
        assert!(error < 1e-9, "{:?}: {error:e}", case.weights);
    }
}

/// Why there is no residual-systematic scheme: at every uniform away from a breakpoint the copies are the same.
#[test]
fn residual_systematic_resampling_is_systematic_resampling() {
    for case in CASES {
        let expected = case.expected();
        let certain: Vec<f64> = expected.iter().map(|e| (e + 1e-9).floor()).collect();
        let rest: Vec<f64> = expected
            .iter()
            .zip(&certain)
            .map(|(e, c)| if e - c < 1e-9 { 0.0 } else { e - c })
            .map(f64::ln)
            .collect();
        let open = case.slots - certain.iter().sum::<f64>() as usize;
        if open == 0 {
            continue;
        }
        for i in 0..997u64 {
            let u = Uniforms::on_lattice(vec![(i << 53) / 997 + 12_345]);
            let mut again = Uniforms::on_lattice(vec![(i << 53) / 997 + 12_345]);
            let n = expected.len();
            let whole = counts(
                &ancestors(&Systematic, &case.log_weights(), case.slots, &mut { u }),
                n,
            );
            let more = counts(&ancestors(&Systematic, &rest, open, &mut again), n);
            let sum: Vec<usize> = certain
                .iter()
                .zip(more)
                .map(|(&c, m)| c as usize + m)
                .collect();
            assert_eq!(whole, sum, "{:?}", case.weights);
        }
    }
}

#[test]
fn equal_weights_leave_the_systematic_population_as_it_is() {
    for n in [1, 2, 3, 7, 10, 49, 1000] {
        for shift in [-745.3, 0.0, 0.1, 900.0] {
            for k in [0, 1, 1 << 52, (1 << 53) - 1] {
                let mut u = Uniforms::on_lattice(vec![k]);
                let kept = ancestors(&Systematic, &vec![shift; n], n, &mut u);
                assert!(kept.into_iter().eq(0..n as u32), "n = {n}, u = {k} / 2^53");
            }
        }
    }
}

#[test]
fn one_particle_with_all_the_weight_fills_every_slot() {
    let log_weights = [-900.0, f64::NEG_INFINITY, 12.0, -800.0];
    for (name, law) in all_laws(&log_weights, 3) {
        assert_eq!(law.into_keys().collect::<Vec<_>>(), [[2, 2, 2]], "{name}");
    }
}

#[test]
fn ssp_copies_are_negatively_correlated_in_every_pair() {
    let case = Case {
        weights: &[3, 5, 2, 4, 3],
        slots: 3,
    };
    let law = law_of_counts(&law_of_coins(&Ssp, &case.log_weights(), case.slots), 5);
    let mean = |f: &dyn Fn(&[usize]) -> f64| law.iter().map(|(c, p)| p * f(c)).sum::<f64>();
    for i in 0..5 {
        for j in 0..i {
            let product = mean(&|c| (c[i] * c[j]) as f64);
            let apart = mean(&|c| c[i] as f64) * mean(&|c| c[j] as f64);
            assert!(product < apart + TOLERANCE, "{i}, {j}");
        }
    }
}

/// The weak side of systematic resampling, and that the measure above sees it.
#[test]
fn systematic_copies_can_be_positively_correlated() {
    let case = Case {
        weights: &[1, 1, 1, 1],
        slots: 2,
    };
    let law = law_of_counts(
        &law_of_steps(&Systematic, &case.log_weights(), case.slots),
        4,
    );
    let together: f64 = law
        .iter()
        .filter(|(c, _)| c[0] == 1 && c[2] == 1)
        .map(|(_, p)| p)
        .sum();
    assert!(
        (together - 0.5).abs() < TOLERANCE,
        "independent would be 1/4"
    );
}

/// E[(Σ #j f_j / M - Σ W_j f_j)²].
fn variance(law: &Law, case: &Case, f: &[f64]) -> f64 {
    let expected = case.expected();
    let mean: f64 = expected.iter().zip(f).map(|(e, f)| e * f).sum();
    law.iter()
        .map(|(a, p)| p * (a.iter().map(|&a| f[a as usize]).sum::<f64>() - mean).powi(2))
        .sum::<f64>()
        / (case.slots * case.slots) as f64
}

#[test]
fn residual_and_stratified_never_have_more_variance_than_multinomial() {
    let mut stream = Stream::new(11, Purpose::new("test"), [0, 0]);
    for case in CASES {
        let log_weights = case.log_weights();
        let multinomial = law_of_coins(&MultinomialByChoice, &log_weights, case.slots);
        let others = [
            law_of_sorted(&Residual, &log_weights, case.slots),
            law_of_steps(&Stratified, &log_weights, case.slots),
        ];
        for _ in 0..20 {
            let f: Vec<f64> = case.weights.iter().map(|_| stream.uniform_f64()).collect();
            let most = variance(&multinomial, &case, &f);
            for law in &others {
                assert!(
                    variance(law, &case, &f) <= most + TOLERANCE,
                    "{:?}",
                    case.weights
                );
            }
        }
    }
}

#[test]
fn only_differences_of_log_weights_matter() {
    for case in CASES {
        // Dyadic, so that the shift is exact.
        let log_weights: Vec<f64> = case
            .weights
            .iter()
            .map(|&w| {
                if w == 0 {
                    f64::NEG_INFINITY
                } else {
                    (f64::from(w).ln() * 1024.0).round() / 1024.0
                }
            })
            .collect();
        for shift in [-1e6, -37.25, 1024.0, 4e9] {
            let shifted: Vec<f64> = log_weights.iter().map(|l| l + shift).collect();
            for seed in 0..20 {
                let stream = || Stream::new(seed, Purpose::new("test"), [1, 0]);
                for scheme in schemes() {
                    assert_eq!(
                        ancestors(&*scheme, &log_weights, case.slots, &mut stream()),
                        ancestors(&*scheme, &shifted, case.slots, &mut stream()),
                    );
                }
            }
        }
    }
}

fn schemes() -> [Box<dyn Resampler<Stream>>; 6] {
    [
        Box::new(Multinomial),
        Box::new(MultinomialByChoice),
        Box::new(Stratified),
        Box::new(Systematic),
        Box::new(Residual),
        Box::new(Ssp),
    ]
}

#[test]
fn each_scheme_draws_as_often_as_it_says() {
    for case in CASES {
        let (log_weights, n, m) = (case.log_weights(), case.weights.len(), case.slots);
        let used = |scheme: &dyn Resampler<Uniforms>| {
            let mut uniforms = Uniforms::zeros();
            ancestors(scheme, &log_weights, m, &mut uniforms);
            uniforms.used
        };
        assert_eq!((used(&Multinomial), used(&MultinomialByChoice)), (m, m));
        assert_eq!((used(&Stratified), used(&Systematic)), (m, 1));
        let certain = case
            .expected()
            .iter()
            .map(|e| (e - 1e-9).floor().max(0.0))
            .sum::<f64>();
        assert!(used(&Residual) <= m - certain as usize);
        assert!(used(&Ssp) < n);
    }
}

/// Nothing is timed: in quadratic time this would take hours.
#[test]
fn a_million_particles_are_a_matter_of_course() {
    let mut stream = Stream::new(12, Purpose::new("test"), [0, 0]);
    let n = 1 << 20;
    let log_weights: Vec<f64> = (0..n).map(|_| 30.0 * stream.uniform_f64()).collect();
    let total: f64 = log_weights.iter().map(|l| l.exp()).sum();
    let schemes = schemes();
    for scheme in schemes.iter().filter(|s| !std::ptr::eq(*s, &schemes[1])) {
        let counts = counts(&ancestors(&**scheme, &log_weights, n, &mut stream), n);
        // Copies of the heavier half of the log-weights: within 6.5 sd of a binomial, 1e-10 each.
        let heavy = |j: usize| log_weights[j] > 29.0;
        let copies: usize = (0..n).filter(|&j| heavy(j)).map(|j| counts[j]).sum();
        let share: f64 = (0..n)
            .filter(|&j| heavy(j))
            .map(|j| log_weights[j].exp() / total)
            .sum();
        let sd = (n as f64 * share * (1.0 - share)).sqrt();
        assert!((copies as f64 - n as f64 * share).abs() < 6.5 * sd);
    }
}

#[test]
fn a_boxed_scheme_is_that_scheme() {
    let log_weights = [0.1f64, 0.2, 0.3, 0.4].map(f64::ln);
    let draw = |scheme: &dyn Resampler<Stream>| {
        let (mut stream, mut ancestors) = (Stream::new(9, Purpose::new("test"), [0, 0]), [0; 8]);
        scheme
            .resample(&log_weights, &mut stream, &mut ancestors)
            .expect("weights");
        ancestors
    };
    let boxed: Box<dyn Resampler<Stream>> = Box::new(Systematic);
    assert_eq!(draw(&boxed), draw(&Systematic));
    assert_ne!(draw(&boxed), [0; 8]);
}

#[test]
fn policies_are_equal_to_themselves_alone() {
    let above = |least: f64| Policy::when(move |log_weights| log_weights[0] > least);
    let policies = [
        Policy::Never,
        Policy::Always,
        Policy::EssBelow(0.5),
        Policy::EssBelow(0.25),
        above(1.0),
        above(2.0),
    ];
    for (i, a) in policies.iter().enumerate() {
        for (j, b) in policies.iter().enumerate() {
            assert_eq!(a == b, i == j, "{a:?}, {b:?}");
        }
    }
}
