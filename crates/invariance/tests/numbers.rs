//! Statistics, thresholds and detectable sizes, to nine digits of those that SciPy 1.17 gives for the same data.
//!
//! The data are patterns, drawn from nothing. A statistic that is random besides, as a permutation's, is met where its value is known.

use std::cell::Cell;

use helmholtz_invariance::families::finite_problems;
use helmholtz_invariance::proptest::strategy::{Strategy, ValueTree};
use helmholtz_invariance::proptest::test_runner::TestRunner;
use helmholtz_invariance::{
    Calibration, Comparison, Evidence, Geweke, InvarianceError, Law, OneStep,
    ProbabilityCalibration, Ranks, Report, Suite, TransitionMatrix, Unbiased, Uniforms,
    energy_distance, expectation, ks_one_sample, ks_two_sample, step_fn,
};
use helmholtz_random::{Chance, Draws, Enumerator, Stream};
use rand_core::TryRng;

/// ((a i + 1) mod m) / m.
fn pattern(i: usize, a: usize, m: usize) -> f64 {
    ((a * i + 1) % m) as f64 / m as f64
}

/// A skewed pattern, and one that is not.
fn skewed(i: usize) -> f64 {
    let v = pattern(i, 7919, 2003);
    v * v * v
}

fn even(i: usize) -> f64 {
    pattern(i, 37, 101) - 0.3
}

/// 0, 1, 2, ...: the number of the call.
fn counter() -> impl Fn() -> usize {
    let next = Cell::new(0);
    move || next.replace(next.get() + 1)
}

fn share(rate: f64) -> helmholtz_invariance::Share {
    Suite::with_rate(rate, 1, 1).share("numbers").unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    let scale = expected.abs().max(1e-3);
    assert!(
        (found - expected).abs() <= 1e-9 * scale,
        "{found} for {expected}"
    );
}

/// Statistic, threshold and what is seen.
#[track_caller]
fn is(comparison: &Comparison, [statistic, threshold, sees]: [f64; 3]) {
    near(comparison.statistic, statistic);
    near(comparison.threshold, threshold);
    near(comparison.sees, sees);
}

/// The test of both patterns.
fn both(unbiased: Unbiased, rate: f64) -> Result<Report, InvarianceError> {
    let call = counter();
    let draw = |_: &mut Stream, out: &mut [f64]| {
        let i = call();
        out.copy_from_slice(&[skewed(i), even(i)]);
    };
    unbiased.test(draw, share(rate))
}

fn patterns() -> Unbiased {
    Unbiased::new(&[0.26, 0.195]).samples(2000)
}

#[test]
fn z_tests_have_the_skewed_threshold() {
    let report = both(patterns(), 1e-4).unwrap();
    let [x, y] = &report.comparisons[..] else {
        panic!("{report:?}")
    };
    is(
        x,
        [1.5587326662608028, 4.188953673907907, 0.04128359149127355],
    );
    is(
        y,
        [0.020698346327903433, 4.055708000109179, 0.04121329592100733],
    );
    assert_eq!((x.samples, x.false_alarm), (2000, 0.5e-4));
}

#[test]
fn independent_coordinates_are_tested_together_for_half_of_the_rate() {
    let report = both(patterns().independent_coordinates(), 1e-4).unwrap();
    let [x, y, all] = &report.comparisons[..] else {
        panic!("{report:?}")
    };
    is(
        x,
        [1.5587326662608028, 4.359844217455675, 0.04236642324320818],
    );
    is(
        y,
        [0.020698346327903433, 4.214887485824627, 0.04224122663466913],
    );
    is(
        all,
        [2.4300759464092208, 19.806975105072258, 0.1515349876350438],
    );
    assert_eq!((x.false_alarm, all.false_alarm), (0.25e-4, 0.5e-4));
}

#[test]
fn bounded_draws_have_bernsteins_radius() {
    let report = both(patterns().bounded(-0.35, 1.0), 1e-4).unwrap();
    let radius = |variance: f64, ln: f64| {
        (2.0 * variance * ln / 2000.0).sqrt() + 7.0 * 1.35 * ln / (3.0 * 1999.0)
    };
    for (coordinate, comparison) in report.comparisons.iter().enumerate() {
        let values = (0..2000).map(|i| [skewed(i), even(i)][coordinate]);
        let mean = values.clone().sum::<f64>() / 2000.0;
        let variance = values.map(|v| (v - mean).powi(2)).sum::<f64>() / 1999.0;
        let threshold = radius(variance, (4.0f64 / 0.5e-4).ln());
        let bias = (mean - [0.26, 0.195][coordinate]).abs();
        let sees = threshold + radius(variance, 200f64.ln());
        is(comparison, [bias, threshold, sees]);
    }
}

#[test]
fn a_test_that_could_see_nothing_says_how_many_draws_it_needs() {
    let needed = |unbiased: Unbiased, ones: usize, rate: f64| {
        let call = counter();
        let draw = |_: &mut Stream, out: &mut [f64]| out[0] = f64::from(u8::from(call() < ones));
        asked_for(unbiased.test(draw, share(rate)))
    };
    let rare = || Unbiased::new(&[0.002]).samples(2000);
    assert_eq!(needed(rare(), 4, 1e-4), 31994, "skewed");
    assert_eq!(needed(rare(), 20, 1e-4), 6245, "skewed");
    assert_eq!(needed(rare().samples(999), 500, 1e-4), 1000, "few");
    // Of 50 draws between bounds, 20 ones: 50 see nothing of size 1, 100 do.
    let sees = |n: f64| {
        let variance = 20.0 * 30.0 / 50.0 / 49.0;
        let radius = |ln: f64| (2.0 * variance * ln / n).sqrt() + 7.0 * ln / (3.0 * (n - 1.0));
        radius((4.0f64 / 1e-4).ln()) + radius(200f64.ln())
    };
    assert!(sees(50.0) >= 1.0 && sees(100.0) < 1.0);
    let bounded = Unbiased::new(&[0.4]).samples(50).bounded(0.0, 1.0);
    assert_eq!(needed(bounded, 20, 1e-4), 100, "bounded");
}

#[test]
fn rare_events_reach_to_the_end_of_the_skewed_tail() {
    for (ones, rate, threshold, sees) in [
        (40, 1e-4, 6.50884667186641, 0.027665451066245707),
        (60, 1e-4, 4.98694409606302, 0.02790313560050125),
        (200, 1e-4, 4.244966077379901, 0.044092738653514645),
        (400, 1e-9, 6.604340224367663, 0.07989847981296413),
        (400, 1e-12, 7.83749776868641, 0.09093093465577898),
    ] {
        let call = counter();
        let draw = |_: &mut Stream, out: &mut [f64]| out[0] = f64::from(u8::from(call() < ones));
        let exact = ones as f64 / 2000.0;
        let unbiased = Unbiased::new(&[exact]).samples(2000);
        let report = unbiased.test(draw, share(rate)).unwrap();
        assert!(report.comparisons[0].statistic < 1e-9);
        near(report.comparisons[0].threshold, threshold);
        near(report.comparisons[0].sees, sees);
    }
}

#[test]
fn draws_of_one_value_are_compared_with_it() {
    let constant = |value: f64, exact: f64| {
        let unbiased = Unbiased::new(&[exact]).samples(1000);
        let report = unbiased.test(|_, out| out[0] = value, share(1e-4));
        report.unwrap().comparisons[0].clone()
    };
    assert_eq!(constant(0.1, 0.1).statistic, 0.0);
    assert_eq!(constant(0.1, 0.1 + 1e-10).statistic, f64::INFINITY);
    near(constant(0.1, 0.1).threshold, 3.890591886413097);
}

#[test]
fn evidence_is_tested_as_a_ratio() {
    let call = counter();
    let ln_z = |_: &mut Stream| (pattern(call(), 7919, 2003) + 0.5).ln();
    let report = Evidence::new(0.02).samples(1500).test(ln_z, share(1e-4));
    let comparison = &report.unwrap().comparisons[0];
    is(
        comparison,
        [2.5833997590814657, 3.89160177894107, 0.045421634590893246],
    );
    assert_eq!(comparison.samples, 1500);
}

fn point(i: usize, shift: f64) -> Vec<f64> {
    vec![
        pattern(i, 37, 101) + shift,
        3.0 * pattern(i, 7919, 2003) - shift,
        7.0,
    ]
}

#[test]
fn the_energy_test_knows_its_groups_and_what_it_sees() {
    for (rate, groups, threshold, sees_far, sees_near) in [
        (
            1e-4,
            4,
            31.82762800126232,
            1.3562521509050331,
            0.9109895140145677,
        ),
        (
            1e-6,
            5,
            46.863046846784385,
            1.375906703092789,
            0.9029870098448227,
        ),
    ] {
        let n = groups * 21 + 5;
        let sample = |from: usize, shift: f64| -> Vec<Vec<f64>> {
            (0..n).map(|i| point(from + i, shift)).collect()
        };
        let (a, far, near_by) = (sample(0, 0.0), sample(1000, 100.0), sample(1000, 0.0));
        let test = |b: &[Vec<f64>]| energy_distance(&a, b, share(rate)).unwrap().comparisons;
        // No relabelling is as extreme: p = 1/1000 in each group.
        let far = &test(&far)[0];
        is(
            far,
            [2.0 * groups as f64 * 1000f64.ln(), threshold, sees_far],
        );
        near(test(&near_by)[0].sees, sees_near);
        // A sample beside itself: each of the first ten relabellings is as extreme.
        assert_eq!(test(&a)[0].statistic, 0.0);
        assert_eq!(far.samples, n);
        let one_fewer = 20 * groups - 1;
        let few = energy_distance(&a[..one_fewer], &a[..one_fewer], share(rate));
        assert!(
            matches!(few, Err(InvarianceError::TooFewSamples { needed, .. }) if needed == 20 * groups)
        );
    }
    // Points that are all one, which have no distance.
    let same = vec![vec![1.0]; 80];
    let comparison = &energy_distance(&same, &same, share(1e-4))
        .unwrap()
        .comparisons[0];
    assert_eq!((comparison.statistic, comparison.sees), (0.0, 0.0));
}

/// What is claimed of replicate i: three probabilities, of which the first is zero for the first ones.
fn claimed(i: usize) -> Vec<f64> {
    let own = pattern(i, 7919, 2003);
    let first = if i < 25 { 0.0 } else { own * own + 0.05 };
    let weights = [first, pattern(i, 37, 101) + 0.1, 0.3];
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

#[test]
fn probabilities_are_compared_in_groups_and_in_all() {
    let call = counter();
    let test = ProbabilityCalibration::new(
        |_: &mut Stream| call(),
        |i: &usize, _: &mut Stream| *i,
        |i: &usize| {
            if *i < 25 {
                1 + i % 2
            } else {
                (i * i + i / 3) % 3
            }
        },
        |i: &usize| vec![pattern(*i, 53, 211)],
    );
    let report = test
        .replicates(203)
        .test(|i| claimed(*i), share(1e-4))
        .unwrap();
    let (threshold, sees) = (0.17264040569776398, 0.2791429113458954);
    let expected = [
        [0.6813381219951266, 1.0, 0.687744140625],
        [0.21562660322923785, 1.0, 0.72705078125],
        [0.048765876539016095, threshold, sees],
        [0.9040966731497229, 1.0, 0.703857421875],
        [0.7009733640961255, 1.0, 0.871826171875],
        [0.11524540888413635, threshold, sees],
        [0.3652642951422825, 1.0, 0.721923828125],
        [0.4971944986867606, 1.0, 0.70947265625],
        [0.0664795323451203, threshold, sees],
    ];
    assert_eq!(report.comparisons.len(), expected.len());
    for (comparison, expected) in report.comparisons.iter().zip(expected) {
        is(comparison, expected);
        near(comparison.false_alarm, 1e-4 / 9.0);
    }
}

#[test]
fn of_two_classes_one_is_told() {
    let call = counter();
    let test = ProbabilityCalibration::new(
        |_: &mut Stream| call(),
        |i: &usize, _: &mut Stream| *i,
        |i: &usize| i % 2,
        |_: &usize| vec![],
    );
    let report = test
        .replicates(200)
        .test(|_| vec![0.5, 0.5], share(1e-4))
        .unwrap();
    assert_eq!(report.comparisons.len(), 2);
    near(report.comparisons[1].false_alarm, 0.5e-4);
}

#[test]
fn ranks_have_their_distance_and_their_histogram() {
    for (draws, ks, histogram) in [
        (19, 0.03, [8.0, 20.000000001, 0.11662418155364955]),
        (
            30,
            0.031397849462365596,
            [5.64516129032258, 21.645161291, 0.12479438605760476],
        ),
    ] {
        // The own value lies just below the draw whose number is its rank.
        let (call, drawn) = (counter(), counter());
        let test = Calibration::new(
            |_: &mut Stream| {
                let i = call();
                ((i * i + i / 7) % (draws + 1)) as f64 - 0.5
            },
            |_: &f64, _: &mut Stream| (),
            |theta: &f64, (): &()| vec![*theta],
        );
        let report = test
            .replicates(300)
            .draws(draws)
            .test_sampler(|(), _| (drawn() % draws) as f64, share(1e-4))
            .unwrap();
        let [distance, bins] = &report.comparisons[..] else {
            panic!("{report:?}")
        };
        is(distance, [ks, 0.13289491295190142, 0.22050360911451694]);
        is(bins, histogram);
        assert_eq!((bins.samples, report.ranks[0].ranks.len()), (300, 300));
    }
}

/// Functions whose number varies are no functions.
#[test]
fn a_number_of_functions_that_varies_is_an_error() {
    let test = Calibration::new(
        |rng: &mut Stream| rng.normal(),
        |_: &f64, _: &mut Stream| (),
        |theta: &f64, (): &()| vec![*theta; if *theta > 1.0 { 2 } else { 1 }],
    );
    let result = test.test_sampler(|(), rng| rng.normal(), share(1e-4));
    assert!(
        matches!(result, Err(InvarianceError::Length { .. })),
        "{result:?}"
    );
}

/// The place of the own state among the draws is uniform: the ends, 0, 1, 18 and 19 of 19, come 800 times in 4000, 4.5 standard
/// deviations (114) about: a false alarm has probability 7e-6.
#[test]
fn the_own_state_of_a_chain_is_anywhere_among_its_draws() {
    let longest = Cell::new(0usize);
    let ends = Cell::new(0usize);
    let test = Calibration::new(
        |_: &mut Stream| {
            if longest.replace(0) >= 18 {
                ends.set(ends.get() + 1);
            }
            0usize
        },
        |_: &usize, _: &mut Stream| (),
        |steps: &usize, (): &()| {
            longest.set(longest.get().max(*steps));
            vec![*steps as f64]
        },
    );
    let report = test
        .replicates(4000)
        .test_kernel(|steps, (), _| *steps += 1, share(1e-4))
        .unwrap();
    assert!(ends.get().abs_diff(800) < 114, "{}", ends.get());
    // The own state is the first of both chains, below all draws.
    assert!(report.ranks[0].ranks.iter().all(|&rank| rank == 0));
}

#[test]
fn gewekes_chains_are_compared_by_their_ends_and_their_means() {
    let call = counter();
    let test = Geweke::new(
        |_: &mut Stream| pattern(call(), 7919, 2003),
        |_: &f64, _: &mut Stream| (),
        |theta: &f64, (): &()| vec![*theta],
    );
    let report = test
        .chains(1200)
        .length(3)
        .test(|theta, (), _| *theta = 1.0 - 0.9 * *theta, share(1e-4))
        .unwrap();
    let [law, mean] = &report.comparisons[..] else {
        panic!("{report:?}")
    };
    is(law, [0.18, 0.09416666666666666, 0.15611536981416396]);
    is(
        mean,
        [3.826773034252016, 4.056915074139288, 0.05649458114156034],
    );
    assert_eq!((law.samples, mean.samples), (1200, 1200));
}

#[test]
fn one_step_takes_the_draws_and_steps_that_it_was_told() {
    let taken = Cell::new(0usize);
    let test = OneStep::new(
        |rng: &mut Stream| rng.normal(),
        |x: &f64| vec![*x, -x, 2.0 * x],
    );
    let kernel = step_fn(|_: &mut f64, _: &mut Stream| taken.set(taken.get() + 1));
    let report = test
        .samples(700)
        .steps(3)
        .marginals(&kernel, share(1e-4))
        .unwrap();
    assert_eq!(taken.get(), 3 * 700);
    for comparison in &report.comparisons {
        assert_eq!(comparison.samples, 700);
        near(comparison.false_alarm, 1e-4 / 3.0);
    }
}

#[test]
fn an_expectation_takes_branches_of_every_length() {
    let mean =
        expectation(
            |chance| match chance.choose(&[0.25f64.ln(), 0.5f64.ln(), 0.25f64.ln()]) {
                Some(0) => vec![1.0],
                Some(1) => vec![2.0, 4.0],
                _ => vec![8.0],
            },
        );
    assert_eq!(mean.len(), 2);
    near(mean[0], 0.25 + 1.0 + 2.0);
    near(mean[1], 2.0);
}

#[test]
fn log_weights_are_taken_from_their_largest() {
    let law = Law::from_log_weights(&[1000.0, 1000.0 + 3f64.ln(), f64::NEG_INFINITY]).unwrap();
    near(law.probabilities()[0], 0.25);
    near(law.probabilities()[1], 0.75);
}

#[test]
fn log_weights_that_are_no_numbers_are_told_apart_from_weights() {
    for wrong in [f64::NAN, f64::INFINITY] {
        let result = Law::from_log_weights(&[0.0, wrong]);
        let Err(InvarianceError::NoLaw { index, needs, .. }) = result else {
            panic!("{result:?}")
        };
        assert_eq!((index, needs), (1, "log-weights that are finite or -inf"));
    }
}

/// States 0 and 2 are exchanged, and 1 and 3: equal diagonals beside zeros.
#[test]
fn a_matrix_in_two_parts_has_the_eigenvalue_one_twice() {
    let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
        if chance.accept(0.25f64.ln()) {
            *x = (*x + 2) % 4;
        }
    });
    let matrix = TransitionMatrix::of(&kernel, &[0, 1, 2, 3]).unwrap();
    let law = Law::from_weights(&[1.0; 4]).unwrap();
    let eigenvalues = matrix.eigenvalues(&law).unwrap();
    for (found, expected) in eigenvalues.iter().zip([1.0, 1.0, 0.5, 0.5]) {
        near(*found, expected);
    }
    near(matrix.second_modulus(&law).unwrap(), 1.0);
}

/// Flows of 0.5 · 0.4 = 0.20 against 0.3 · 0.5 = 0.15 between the first two states, of 0.3 · 0.1 = 0.03 against 0.2 · 0.05 = 0.01
/// between the last two: the largest difference is not the largest ratio.
#[test]
fn errors_of_a_matrix_are_differences() {
    let law = Law::from_weights(&[0.5, 0.3, 0.2]).unwrap();
    let rows = [[0.6f64, 0.4, 0.0], [0.5, 0.4, 0.1], [0.0, 0.05, 0.95]];
    let kernel = step_fn(|x: &mut usize, chance: &mut Enumerator| {
        *x = chance.choose(&rows[*x].map(f64::ln)).unwrap_or(*x);
    });
    let matrix = TransitionMatrix::of(&kernel, &[0, 1, 2]).unwrap();
    near(matrix.balance_error(&law).unwrap(), 0.05);
    // After a step: 0.45, 0.33, 0.22.
    near(matrix.invariance_error(&law).unwrap(), 0.05);
    let error = matrix.check_reversible(&law, 1e-12).unwrap_err();
    assert!(
        matches!(error, InvarianceError::NotReversible { forward, .. } if (forward - 0.2).abs() < 1e-12),
        "{error:?}"
    );
}

#[test]
fn what_is_needed_to_see_a_discrepancy_grows_as_its_inverse_square() {
    let report = both(patterns(), 1e-4).unwrap();
    let comparison = Comparison {
        samples: 1000,
        sees: 0.1,
        ..report.comparisons[0].clone()
    };
    assert_eq!(comparison.samples_to_see(0.01), 100_000);
    assert_eq!(comparison.samples_to_see(0.03), 11_112);
}

#[test]
fn values_of_any_size_are_equal_up_to_their_rounding() {
    let test = |unbiased: Unbiased, values: [f64; 2]| {
        let call = counter();
        let draw = |_: &mut Stream, out: &mut [f64]| out[0] = values[call() % 2];
        let report = unbiased.samples(1000).test(draw, share(1e-4));
        report.unwrap().comparisons[0].passed()
    };
    let exact = |value: f64| Unbiased::new(&[value]);
    assert!(test(exact(1e6 + 1e-7), [1e6; 2]));
    assert!(test(exact(1e6 + 1e-7).bounded(1e6, 1e6), [1e6; 2]));
    assert!(!test(exact(1e6 + 1e-5), [1e6; 2]));
    assert!(!test(exact(1e6 + 1e-5).bounded(1e6, 1e6), [1e6; 2]));
    // Two neighbours among the numbers are one value: their mean is not held to the z-test.
    let neighbours = [1e10f64, 1e10f64.next_up()];
    assert!(test(exact(1e10 + 1e-4), neighbours));
    assert!(!test(exact(1e10 + 1.0), neighbours));
}

/// The number of samples that a refusal asks for.
#[track_caller]
fn asked_for<T: std::fmt::Debug>(result: Result<T, InvarianceError>) -> usize {
    match result {
        Err(InvarianceError::TooFewSamples { needed, .. }) => needed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn too_few_values_for_a_distance_of_laws_are_refused() {
    let few = [0.1, 0.2, 0.3, 0.4, 0.5];
    assert_eq!(asked_for(ks_one_sample(&few, |x| x, share(1e-4))), 16);
    assert_eq!(asked_for(ks_two_sample(&few, &few, share(1e-4))), 32);
}

/// Ranks among one draw: a bin's count, of probability 1/2, is refused where 2^(1 - n) is at most 2.5e-5, from n = 17 on.
#[test]
fn too_few_replicates_for_a_histogram_are_refused() {
    let run = |replicates: usize| {
        let call = counter();
        let test = Calibration::new(
            |_: &mut Stream| (call() % 2) as f64,
            |_: &f64, _: &mut Stream| (),
            |theta: &f64, (): &()| vec![*theta],
        );
        let test = test.replicates(replicates).draws(1);
        test.test_sampler(|(), _| 0.5, share(1e-4))
    };
    assert_eq!(asked_for(run(15)), 30);
    assert!(run(17).is_ok());
}

#[test]
fn ties_of_ranks_are_broken_at_random() {
    let test = Calibration::new(
        |_: &mut Stream| (),
        |(): &(), _: &mut Stream| (),
        |(): &(), (): &()| vec![1.0],
    );
    let report = test.test_sampler(|(), _| (), share(1e-4)).unwrap();
    report.assert_passed();
    for rank in 0..=19 {
        assert!(report.ranks[0].ranks.contains(&rank), "{rank}");
    }
}

#[test]
fn the_first_of_several_errors_is_told() {
    let call = counter();
    let test = Calibration::new(
        |_: &mut Stream| 0,
        |_: &usize, _: &mut Stream| (),
        |theta: &usize, (): &()| match theta {
            3 => vec![f64::NAN],
            5 => vec![1.0, 2.0],
            _ => vec![0.0],
        },
    );
    let result = test.test_sampler(|(), _| call(), share(1e-4));
    assert!(
        matches!(result, Err(InvarianceError::NotFinite { .. })),
        "{result:?}"
    );
}

#[test]
fn functions_of_a_geweke_test_split_the_rate() {
    let test = Geweke::new(
        |rng: &mut Stream| rng.normal(),
        |_: &f64, _: &mut Stream| (),
        |theta: &f64, (): &()| vec![*theta, theta * theta],
    );
    let report = test.chains(1000).length(1);
    let report = report.test(|theta, (), rng| *theta = rng.normal(), share(1e-4));
    for comparison in &report.unwrap().comparisons {
        near(comparison.false_alarm, 0.25e-4);
    }
}

/// The same probabilities for each replicate, and class 0.
fn certain(
    probabilities: &[f64],
    replicates: usize,
    class: usize,
) -> Result<Report, InvarianceError> {
    let test = ProbabilityCalibration::new(
        |_: &mut Stream| (),
        |(): &(), _: &mut Stream| (),
        |(): &()| class,
        |(): &()| vec![],
    );
    let test = test.replicates(replicates);
    test.test(|()| probabilities.to_vec(), share(1e-4))
}

/// Of coins that always fall one that does not is too many: twenty of a group whose probability is less by s show it with
/// probability 1 - (1 - s)^20, which is 0.99 at s = 0.2057, 843/4096 from above.
#[test]
fn certainty_is_refuted_by_one_case() {
    let report = certain(&[1.0, 0.0], 200, 0).unwrap();
    assert_eq!(report.comparisons[0].statistic, 0.0);
    near(report.comparisons[0].sees, 843.0 / 4096.0);
    let report = certain(&[0.0, 1.0], 200, 1).unwrap();
    near(report.comparisons[0].sees, 843.0 / 4096.0);
}

#[test]
fn probabilities_that_could_not_be_refused_are_told_so() {
    assert_eq!(asked_for(certain(&[0.5, 0.5], 5, 0)), 20);
    assert_eq!(asked_for(certain(&[0.5, 0.5], 20, 0)), 40);
    let outside = certain(&[0.5, 0.2, 0.3], 200, 3);
    assert!(
        matches!(
            outside,
            Err(InvarianceError::Length {
                found: 3,
                expected: 4,
                ..
            })
        ),
        "{outside:?}"
    );
}

#[test]
fn words_and_bytes_are_those_of_the_uniforms() {
    let mut uniforms = Uniforms::new(&[0.75, 0.5]);
    assert_eq!(uniforms.try_next_u32(), Ok(0xC000_0000));
    let mut bytes = [1; 12];
    uniforms.try_fill_bytes(&mut bytes).unwrap();
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0]);
}

#[test]
fn proposals_of_random_problems_are_normalised() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..50 {
        let problem = finite_problems(2..=8)
            .new_tree(&mut runner)
            .unwrap()
            .current();
        near(problem.log_q().iter().map(|l| l.exp()).sum(), 1.0);
    }
}

/// `ranks.svg` was made by other code from the description: panels of 300 by 160, margins of 40, bands at the thresholds, and 5 %
/// of room. Of its first row a bin is at its threshold, and the curve beyond; of the second the band is beyond all bins.
#[test]
fn the_picture_of_ranks_is_the_one_described() {
    let comparison = |name: &str, statistic: f64, threshold: f64| Comparison {
        name: name.into(),
        statistic,
        threshold,
        false_alarm: 1e-4,
        samples: 8,
        sees: 0.0,
        unit: "",
    };
    let report = Report {
        name: "two & ranks".into(),
        comparisons: vec![
            comparison("law <1>", 0.375, 0.2),
            comparison("bins 1", 3.0, 3.0),
            comparison("law 2", 0.1, 0.3),
            comparison("bins 2", 1.0, 5.0),
        ],
        ranks: vec![
            Ranks {
                ranks: vec![0, 0, 0, 0, 0, 2, 3, 3],
                draws: 3,
            },
            Ranks {
                ranks: (0..40).map(|i| (7 * i) % 31).collect(),
                draws: 30,
            },
        ],
    };
    assert_eq!(report.to_svg().as_deref(), Some(include_str!("ranks.svg")));
}
