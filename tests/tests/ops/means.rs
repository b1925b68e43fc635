//! Log-probabilities of grey values under means: the fast path in f32 and the portable definition in f64 against the formula.

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_ops::{Backend, bernoulli_mean_log_prob};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

const FLOOR: f64 = 1e-9;

fn found<B: Backend>([means, values]: &[Matrix; 2], dtype: DType) -> Vec<f64> {
    let (means, values) = (means.tensor::<B>(dtype), values.tensor::<B>(dtype));
    read(bernoulli_mean_log_prob(means, values, FLOOR))
}

/// The sums, and the sums of the sizes of their terms.
fn by_hand([means, values]: &[Matrix; 2]) -> Vec<[f64; 2]> {
    let rows = (0..means.rows.max(values.rows)).map(|n| {
        let terms = (0..means.columns).map(|d| {
            let (mean, v) = (means.at(n, d).clamp(0.0, 1.0), values.at(n, d));
            let (light, dark) = ((mean + FLOOR).ln(), (1.0 - mean + FLOOR).ln());
            // An error of the argument's rounding is one of the logarithm.
            let size = v * (light.abs() + 1.0) + (1.0 - v) * (dark.abs() + 1.0);
            [v * light + (1.0 - v) * dark, size]
        });
        terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
    });
    rows.collect()
}

proptest! {
    #![proptest_config(cases(100))]

    /// Means from −½ to 3/2: every second one is cut off.
    #[test]
    fn both_definitions_are_the_formula(
        (few, cycles, means_are_fewer) in (1usize..4, 1usize..4, any::<bool>()),
        columns in 1usize..60,
        seed in any::<u64>(),
    ) {
        let rows = match means_are_fewer {
            true => [few, few * cycles],
            false => [few * cycles, few],
        };
        let means = Matrix::uniform([rows[0], columns], seed).map(|u| 2.0 * u - 0.5);
        let values = Matrix::uniform([rows[1], columns], seed.wrapping_add(1));
        let parts = [means, values];
        let (expected, sizes): (Vec<f64>, Vec<f64>) =
            by_hand(&parts).into_iter().map(|[value, size]| (value, size)).unzip();
        // A term's roundings, and those of the sum.
        let roundings = 8.0 + columns as f64;
        let fast = |i: usize| roundings * ROUNDING * sizes[i];
        assert_within("fast", &found::<Flex>(&parts, DType::F32), &expected, fast);
        assert_within("autodiff", &found::<Autodiff<Flex>>(&parts, DType::F32), &expected, fast);
        // Next to 1 the floor is known to 2⁻⁵³ alone, which is 10⁻⁷ of it.
        let exact = |i: usize| 1e-6 * sizes[i] * f64::EPSILON.sqrt();
        assert_within("portable", &found::<Flex>(&parts, DType::F64), &expected, exact);
    }
}

/// Rows of means that several rows of values meet, and the other way round: the gradient of Σ_n c_n log-probability of row n.
#[test]
fn every_row_has_its_own_gradient() {
    type A = Autodiff<Flex>;
    for [of_means, of_values] in [[3, 3], [2, 6], [6, 2], [1, 4]] {
        let rows = of_means.max(of_values);
        let means = Matrix::uniform([of_means, 19], 5).map(|u| 0.1 + 0.8 * u);
        let values = Matrix::uniform([of_values, 19], 6);
        let scale = Matrix::symmetric([1, rows], 2.0, 7);
        let mut expected = vec![0.0; of_means * 19];
        for n in 0..rows {
            for d in 0..19 {
                let (mean, v) = (means.at(n, d), values.at(n, d));
                let slope = v / (mean + FLOOR) - (1.0 - v) / (1.0 - mean + FLOOR);
                expected[n % of_means * 19 + d] += scale.at(0, n) * slope;
            }
        }
        for (dtype, bound) in [(DType::F32, 400.0 * ROUNDING), (DType::F64, 1e-7)] {
            let taped = means.tensor::<A>(dtype).require_grad();
            let log_prob = bernoulli_mean_log_prob(taped.clone(), values.tensor::<A>(dtype), FLOOR);
            let gradients = (log_prob * scale.vector(dtype)).sum().backward();
            let found = read(taped.grad(&gradients).expect("a gradient"));
            assert_within("gradient", &found, &expected, |_| bound);
        }
    }
}

/// Where the mean is cut off there is no slope; inside there is that of the formula, in the fast path too.
#[test]
fn means_that_are_cut_off_have_no_gradient() {
    type A = Autodiff<Flex>;
    let elements = vec![-0.25, 0.0, 0.5, 1.0, 1.25];
    let means = Matrix {
        rows: 1,
        columns: 5,
        elements,
    };
    let values = Matrix {
        rows: 1,
        columns: 5,
        elements: vec![0.25, 0.0, 0.25, 1.0, 0.25],
    };
    for dtype in [DType::F32, DType::F64] {
        let means = means.tensor::<A>(dtype).require_grad();
        let log_prob = bernoulli_mean_log_prob(means.clone(), values.tensor::<A>(dtype), 0.25);
        let gradient = means.grad(&log_prob.sum().backward()).expect("a gradient");
        let found: Vec<f64> = gradient.into_data().iter().collect();
        let slope = |mean: f64, v: f64| v / (mean + 0.25) - (1.0 - v) / (1.25 - mean);
        let expected = [0.0, slope(0.0, 0.0), slope(0.5, 0.25), slope(1.0, 1.0), 0.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
        }
    }
}

#[test]
#[should_panic(expected = "the floor must be above 0")]
fn a_floor_of_nothing_is_refused() {
    let means = Matrix::uniform([1, 2], 1).tensor::<Flex>(DType::F32);
    bernoulli_mean_log_prob(means.clone(), means, 0.0);
}
