//! Noisy logits: their law given the value, the noise behind them, and relaxed values.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_distributions::{Classes, Relaxable, Variables};
use helmholtz_ops::cat;

use crate::{BITS, CLASSES, LOGITS_OF_BITS, LOGITS_OF_CLASSES, matrix, numbers, rows, uniforms};

type Ad = Autodiff<Flex>;

fn noise(variables: impl Relaxable, rows: usize, seed: u64) -> Tensor<Flex, 2> {
    variables.noise(uniforms([rows, variables.noisy()], seed))
}

fn brings_back_z(variables: impl Relaxable, logits: &[f64]) {
    const ROWS: usize = 200;
    let logits = rows::<Flex>(logits, ROWS);
    let z = variables.perturb(logits.clone(), noise(variables, ROWS, 1));
    let values = variables.harden(z.clone());
    let given = variables.noise_given(logits.clone(), values.clone(), z.clone());
    let back = variables.perturb_given(logits, values, given);
    for (z, back) in numbers(z).into_iter().zip(numbers(back)) {
        assert!((z - back).abs() < 1e-9 * (1.0 + z.abs()), "{z} {back}");
    }
}

#[test]
fn the_noise_given_a_value_brings_back_z() {
    brings_back_z(BITS, &LOGITS_OF_BITS);
    brings_back_z(CLASSES, &LOGITS_OF_CLASSES);
}

/// The largest |a − b| / √(a + b), a and b being how often z, and z̃ drawn by fresh noise given the value b of z, lie below
/// a point, among the rows where an entry of the value is 1, or is 0. `logits_given` are those that z̃ is drawn with.
///
/// Given b, z and z̃ are independent and, if all is right, of one law: given a + b, a is hypergeometric, and by Hoeffding (1963)
/// the ratio exceeds r with probability below 2 e^(−r²/2).
fn largest_ratio(variables: impl Relaxable, logits: &[f64], logits_given: &[f64]) -> f64 {
    const ROWS: usize = 20_000;
    let z = variables.perturb(rows(logits, ROWS), noise(variables, ROWS, 2));
    let values = variables.harden(z.clone());
    let fresh = noise(variables, ROWS, 3);
    let again = variables.perturb_given(rows(logits_given, ROWS), values.clone(), fresh);
    let [z, values, again] = [z, values, again].map(numbers);
    let (noisy, columns) = (variables.noisy(), variables.values());
    let mut largest = 0.0f64;
    for (given, value) in (0..columns).flat_map(|v| [(v, 0.0), (v, 1.0)]) {
        let among: Vec<usize> = (0..ROWS)
            .filter(|n| values[n * columns + given] == value)
            .collect();
        for column in 0..noisy {
            for point in (0..10).map(|tenth| f64::from(tenth) - 4.5) {
                let below = |of: &[f64]| {
                    let rows = among.iter().filter(|&&n| of[n * noisy + column] < point);
                    rows.count() as f64
                };
                let (a, b) = (below(&z), below(&again));
                largest = largest.max((a - b).abs() / (a + b).max(1.0).sqrt());
            }
        }
    }
    largest
}

/// 1460 comparisons: a false alarm in fewer than 10⁶ runs, 2 e^(−6.7²/2) 1460 being 5·10⁻⁷.
#[test]
fn z_given_its_value_has_the_law_of_z() {
    const LIMIT: f64 = 6.7;
    let bits = largest_ratio(BITS, &LOGITS_OF_BITS, &LOGITS_OF_BITS);
    let classes = largest_ratio(CLASSES, &LOGITS_OF_CLASSES, &LOGITS_OF_CLASSES);
    assert!(bits < LIMIT && classes < LIMIT, "{bits} {classes}");
    // Drawn with other logits it has not.
    let moved = |logits: &[f64]| logits.iter().map(|a| a + 0.3).collect::<Vec<_>>();
    let bits = largest_ratio(BITS, &LOGITS_OF_BITS, &moved(&LOGITS_OF_BITS));
    let classes = largest_ratio(CLASSES, &LOGITS_OF_CLASSES, &moved(&LOGITS_OF_CLASSES));
    assert!(bits > LIMIT && classes > LIMIT, "{bits} {classes}");
}

/// ∂ Σ w z̃ / ∂ logits by autodiff and by central differences.
fn differentiates(variables: impl Relaxable, logits: &[f64]) {
    let columns = variables.noisy();
    let values = variables.harden(variables.perturb(rows(logits, 1), noise(variables, 1, 4)));
    let fresh = noise(variables, 1, 5);
    let weights: Vec<f64> = (0..columns).map(|i| 1.0 + i as f64).collect();
    let sum = |logits: &[f64]| {
        let z = variables.perturb_given(rows(logits, 1), values.clone(), fresh.clone());
        numbers(z * matrix(&weights, columns))
            .into_iter()
            .sum::<f64>()
    };
    let taped = rows::<Ad>(logits, 1).require_grad();
    let z = variables.perturb_given(
        taped.clone(),
        Tensor::from_inner(values.clone()),
        Tensor::from_inner(fresh.clone()),
    );
    let gradients = (z * matrix(&weights, columns)).sum().backward();
    for (i, derivative) in numbers(taped.grad(&gradients).unwrap())
        .into_iter()
        .enumerate()
    {
        let at = |step: f64| {
            let mut logits = logits.to_vec();
            logits[i] += step;
            sum(&logits)
        };
        let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!(
            (derivative - expected).abs() < 1e-8,
            "{i}: {derivative} {expected}"
        );
    }
}

#[test]
fn z_given_its_value_is_differentiable_in_the_logits() {
    differentiates(BITS, &LOGITS_OF_BITS);
    differentiates(CLASSES, &LOGITS_OF_CLASSES);
}

/// The class that is largest has probability p: by Hoeffding (1963) a frequency among N rows is off by more than d with
/// probability below 2 e^(−2 N d²), here 3·10⁻⁹, and there are eight.
#[test]
fn the_largest_entry_has_the_probability_of_its_class() {
    const ROWS: usize = 100_000;
    let logits = rows::<Flex>(&LOGITS_OF_CLASSES, ROWS);
    let values = CLASSES.harden(CLASSES.perturb(logits, noise(CLASSES, ROWS, 6)));
    let found = numbers(values.mean_dim(0));
    let expected = numbers(CLASSES.mean(rows::<Flex>(&LOGITS_OF_CLASSES, 1)));
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 0.0101, "{found} {expected}");
    }
}

#[test]
fn ties_are_one_class_only() {
    let z = [1.0, 3.0, 3.0, -1.0, 0.0, 0.0, 0.0, 0.0];
    for dtype in [DType::F32, DType::F64] {
        let values = CLASSES.harden(matrix::<Flex>(&z, 8).cast(dtype));
        assert_eq!(values.dtype(), dtype);
        let values: Vec<f64> = values.into_data().iter().collect();
        for (value, z) in values.chunks(4).zip(z.chunks(4)) {
            assert_eq!(value.iter().sum::<f64>(), 1.0);
            let class = value.iter().position(|&v| v == 1.0).unwrap();
            assert!(z.iter().all(|&other| other <= z[class]));
        }
    }
}

/// R5: with two classes of logits 0 and a, the relaxed value of the second is binary Concrete, whose distribution function
/// at s is σ(τ logit(s) − a). The largest distance of the empirical one is above d with probability below 2 e^(−2 N d²)
/// (Massart 1990), here 10⁻⁷.
#[test]
fn relaxed_values_of_two_classes_are_binary_concrete() {
    const ROWS: usize = 20_000;
    let (a, temperature) = (0.7, 0.6);
    let two = Classes {
        variables: 1,
        classes: 2,
    };
    let z = two.perturb(rows::<Flex>(&[a], ROWS), noise(two, ROWS, 7));
    let relaxed = two.relax(z, matrix(&[temperature], 1));
    let mut second: Vec<f64> = numbers(relaxed).into_iter().skip(1).step_by(2).collect();
    second.sort_by(f64::total_cmp);
    let distance = |a: f64| {
        let law = |s: f64| 1.0 / (1.0 + (a - temperature * (s / (1.0 - s)).ln()).exp());
        let distances = second.iter().enumerate().map(|(i, &s)| {
            let (below, above) = (i as f64 / ROWS as f64, (i + 1) as f64 / ROWS as f64);
            (law(s) - below).max(above - law(s))
        });
        distances.fold(0.0, f64::max)
    };
    let limit = (2e7f64.ln() / (2.0 * ROWS as f64)).sqrt();
    assert!(distance(a) < limit, "{}", distance(a));
    assert!(distance(a + 0.2) > limit, "another logit is noticed");
}

/// The relaxed value is between, and nears the hard one as τ falls.
#[test]
fn relaxed_values_sum_to_one_and_sharpen() {
    let z = CLASSES.perturb(rows::<Flex>(&LOGITS_OF_CLASSES, 50), noise(CLASSES, 50, 8));
    let hard = numbers(CLASSES.harden(z.clone()));
    for (temperature, furthest) in [(1.0, 1.0), (1e-4, 1e-3)] {
        let relaxed = numbers(CLASSES.relax(z.clone(), matrix(&[temperature], 1)));
        for (relaxed, hard) in relaxed.chunks(4).zip(hard.chunks(4)) {
            assert!((relaxed.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!(
                relaxed
                    .iter()
                    .zip(hard)
                    .all(|(r, h)| (r - h).abs() < furthest)
            );
        }
    }
}

/// Logits of ±80, in f32: all finite, there and back.
#[test]
fn extreme_logits_stay_finite() {
    let logits = [80.0, -80.0, 0.0, -80.0, -80.0, -80.0];
    let cast = |tensor: Tensor<Flex, 2>| tensor.cast(DType::F32);
    let (logits, u) = (cast(rows(&logits, 500)), cast(uniforms([500, 8], 9)));
    let ends = cast(matrix(&[[0.0; 8], [1.0; 8]].concat(), 8));
    let noise = CLASSES.noise(cat(vec![ends, u.narrow(0, 0, 498)], 0));
    let z = CLASSES.perturb(logits.clone(), noise.clone());
    let values = CLASSES.harden(z.clone());
    let given = CLASSES.noise_given(logits.clone(), values.clone(), z.clone());
    let back = CLASSES.perturb_given(logits.clone(), values.clone(), given.clone());
    let fresh = CLASSES.perturb_given(logits.clone(), values.clone(), noise);
    for tensor in [&z, &given, &back, &fresh] {
        assert!(tensor.clone().into_data().iter::<f64>().all(f64::is_finite));
    }
    assert!(given.into_data().iter::<f64>().all(|e| e > 0.0));
    let score = CLASSES.score(logits.clone(), values.clone());
    let log_prob = CLASSES.log_prob(logits, values);
    assert!(score.into_data().iter::<f64>().all(f64::is_finite));
    assert!(log_prob.into_data().iter::<f64>().all(f64::is_finite));
}

fn repeats_logits(variables: impl Relaxable, logits: &[f64]) {
    let other: Vec<f64> = logits.iter().map(|a| 0.5 - a).collect();
    let two = |copies| {
        let pair = [logits, &other].concat().repeat(copies);
        matrix::<Flex>(&pair, logits.len())
    };
    let z = |copies| numbers(variables.perturb(two(copies), noise(variables, 6, 10)));
    assert_eq!(z(1), z(3));
}

#[test]
fn fewer_rows_of_logits_are_repeated_cyclically() {
    repeats_logits(BITS, &LOGITS_OF_BITS);
    repeats_logits(CLASSES, &LOGITS_OF_CLASSES);
}
