//! Softmaxes of rows, log-probabilities of classes, sigmoids, bounded exponentials and logarithms: the fast paths in f32 against the portable definitions in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{
    bounded_exp, bounded_log, categorical_log_probabilities, largest_classes, sigmoid,
    softmax_rows, tempered_softmax_rows,
};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

type B = Autodiff<Flex>;

/// f(x), and the gradient of Σ c ∘ f(x).
fn outcome(
    f: impl Fn(Tensor<B, 2>) -> Tensor<B, 2>,
    [x, c]: [&Matrix; 2],
    dtype: DType,
) -> [Vec<f64>; 2] {
    let x = x.tensor::<B>(dtype).require_grad();
    let y = f(x.clone());
    let gradients = (y.clone() * c.tensor(dtype)).sum().backward();
    [read(y), read(x.grad(&gradients).expect("a gradient"))]
}

proptest! {
    #![proptest_config(cases(100))]

    /// An exponential of a difference of at most 2 s errs by 2 s + 4 roundings, and a sum of D of them by D more.
    #[test]
    fn softmaxes_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..70],
        scale in prop::sample::select(vec![0.1f32, 5.0, 300.0]),
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric(shape, scale, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(1));
        let [fast, exact] = [DType::F32, DType::F64].map(|t| outcome(softmax_rows, [&x, &c], t));
        let bound = 4.0 * (2.0 * f64::from(scale) + 8.0 + shape[1] as f64) * ROUNDING;
        assert_within("softmax", &fast[0], &exact[0], |at| bound * exact[0][at] + 1e-30);
        assert_within("gradient", &fast[1], &exact[1], |_| 4.0 * bound);
        let sums = fast[0].chunks_exact(shape[1]).map(|row| row.iter().sum::<f64>());
        prop_assert!(sums.map(|sum| (sum - 1.0).abs()).fold(0.0, f64::max) < bound);
    }

    /// As above, of numbers larger by 1 / τ; a slope in τ sums N D terms of up to 2 s / τ².
    #[test]
    fn softmaxes_at_a_temperature_agree_with_those_in_f64(
        shape in [1usize..80, 1usize..40],
        temperature in prop::sample::select(vec![0.1f32, 0.7, 2.0]),
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric(shape, 5.0, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(1));
        let of = |dtype| {
            let x = x.tensor::<B>(dtype).require_grad();
            let at = Matrix { elements: vec![temperature], ..Matrix::uniform([1, 1], 0) };
            let temperature = at.tensor::<B>(dtype).require_grad();
            let y = tempered_softmax_rows(x.clone(), temperature.clone());
            let gradients = (y.clone() * c.tensor(dtype)).sum().backward();
            let slopes = [&x, &temperature].map(|t| read(t.grad(&gradients).expect("a gradient")));
            (read(y), slopes)
        };
        let ((fast, slopes), (exact, exact_slopes)) = (of(DType::F32), of(DType::F64));
        let scale = 5.0 / f64::from(temperature);
        let bound = 4.0 * (2.0 * scale + 10.0 + shape[1] as f64) * ROUNDING;
        assert_within("softmax", &fast, &exact, |at| bound * exact[at] + 1e-30);
        let of_x = 4.0 * bound / f64::from(temperature);
        assert_within("gradient in x", &slopes[0], &exact_slopes[0], |_| of_x);
        let rows = shape[0] as f64;
        assert_within("gradient in τ", &slopes[1], &exact_slopes[1], |_| {
            2.0 * rows * scale * (of_x + 4.0 * rows.sqrt() * ROUNDING)
        });
    }

    /// With C classes and ρ = 2⁻²⁴: ln Σ_c e^(φ − m) errs by at most ρ (3 C / 2 + 5), and three roundings are of numbers up to
    /// |ln p| + ln C. A gradient takes the sum of C numbers up to 1, times e to ln p.
    #[test]
    fn log_probabilities_agree_with_those_in_f64(
        [rows, variables, classes] in [1usize..6, 1usize..5, 2usize..20],
        scale in prop::sample::select(vec![0.1f32, 5.0, 300.0]),
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric([rows, variables * (classes - 1)], scale, seed);
        let c = Matrix::symmetric([rows, variables * classes], 1.0, seed.wrapping_add(1));
        let f = |x| categorical_log_probabilities(x, classes);
        let [fast, exact] = [DType::F32, DType::F64].map(|t| outcome(f, [&x, &c], t));
        let all = classes as f64;
        let bound = |log_p: f64| ROUNDING * (1.5 * all + 5.0 + 3.0 * (log_p.abs() + all.ln()));
        assert_within("ln p", &fast[0], &exact[0], |at| bound(exact[0][at]));
        assert_within("gradient", &fast[1], &exact[1], |at| {
            let (variable, class) = (at / (classes - 1), at % (classes - 1) + 1);
            let log_p = exact[0][variable * classes + class];
            let of_p = log_p.exp() * (bound(log_p) + (6.0 + log_p.abs()) * ROUNDING);
            all * (of_p + (all + 2.0) * ROUNDING * log_p.exp()) + 2.0 * ROUNDING + 1e-30
        });
    }

    /// Entries of five numbers, so that several are largest.
    #[test]
    fn the_first_of_the_largest_entries_is_the_class(
        [rows, variables, classes] in [1usize..6, 1usize..5, 2usize..20],
        seed in any::<u64>(),
    ) {
        let entries = Matrix::symmetric([rows, variables * classes], 2.0, seed).map(f32::round);
        let mut expected = vec![];
        for entries in entries.elements.chunks_exact(classes) {
            let most = entries.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let first = entries.iter().position(|&entry| entry == most);
            expected.extend((0..classes).map(|class| f64::from(u8::from(Some(class) == first))));
        }
        for dtype in [DType::F32, DType::F64] {
            let found = read(largest_classes(entries.tensor::<Flex>(dtype), classes));
            prop_assert_eq!(&found, &expected);
        }
    }

    #[test]
    fn sigmoids_agree_with_those_in_f64(shape in [1usize..6, 1usize..70], seed in any::<u64>()) {
        let x = Matrix::symmetric(shape, 30.0, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(1));
        let [fast, exact] = [DType::F32, DType::F64].map(|t| outcome(sigmoid, [&x, &c], t));
        assert_within("sigmoid", &fast[0], &exact[0], |at| 8.0 * ROUNDING * exact[0][at]);
        assert_within("gradient", &fast[1], &exact[1], |_| 12.0 * ROUNDING);
    }

    /// Outside its bounds it is constant, and has no slope.
    #[test]
    fn bounded_exponentials_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..70],
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric(shape, 15.0, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(1));
        let f = |x| bounded_exp(x, 10.0);
        let [fast, exact] = [DType::F32, DType::F64].map(|t| outcome(f, [&x, &c], t));
        assert_within("exp", &fast[0], &exact[0], |at| 4.0 * ROUNDING * exact[0][at]);
        assert_within("gradient", &fast[1], &exact[1], |at| 6.0 * ROUNDING * exact[0][at]);
        for (at, &x) in x.elements.iter().enumerate() {
            prop_assert_eq!(fast[1][at] == 0.0, x.abs() > 10.0);
            let bounded = f64::from(x).clamp(-10.0, 10.0).exp();
            prop_assert!((exact[0][at] / bounded - 1.0).abs() < 1e-14);
        }
    }

    /// Outside its bounds it is constant, and has no slope. The fast path is of what has no gradient.
    #[test]
    fn bounded_logarithms_agree_with_those_in_f64(
        shape in [1usize..6, 1usize..70],
        seed in any::<u64>(),
    ) {
        let (low, high) = (0.25, 0.75);
        let x = Matrix::uniform(shape, seed);
        let c = Matrix::symmetric(shape, 1.0, seed.wrapping_add(1));
        let f = |x| bounded_log(x, low, high);
        let [tracked, exact] = [DType::F32, DType::F64].map(|t| outcome(f, [&x, &c], t));
        let fast = read(bounded_log(x.tensor::<Flex>(DType::F32), low, high));
        assert_within("log", &fast, &exact[0], |at| 4.0 * ROUNDING * exact[0][at].abs());
        assert_within("log", &tracked[0], &exact[0], |at| 4.0 * ROUNDING * exact[0][at].abs());
        for (at, &x) in x.elements.iter().enumerate() {
            let (x, c) = (f64::from(x), f64::from(c.elements[at]));
            prop_assert!((exact[0][at] - x.clamp(low, high).ln()).abs() < 1e-14);
            let slope = if (low..=high).contains(&x) { c / x } else { 0.0 };
            prop_assert!((exact[1][at] - slope).abs() < 1e-14);
            prop_assert!((tracked[1][at] - slope).abs() <= 4.0 * ROUNDING * slope.abs());
        }
    }
}

/// A weight that f32 cannot hold is zero, not the least number.
#[test]
fn a_weight_that_is_far_below_is_zero() {
    let x = Matrix::uniform([1, 20], 1).map(|u| if u < 0.5 { -200.0 } else { 3.0 });
    let [softmax, _] = outcome(softmax_rows, [&x, &x], DType::F32);
    for (y, x) in softmax.iter().zip(&x.elements) {
        assert_eq!(*y == 0.0, *x < 0.0);
    }
}

#[test]
fn what_is_no_number_stays_so() {
    let mut x = Matrix::uniform([1, 40], 1);
    x.row_mut(0)[7] = f32::NAN;
    let c = Matrix::uniform([1, 40], 2);
    for dtype in [DType::F32, DType::F64] {
        let [softmax, _] = outcome(softmax_rows, [&x, &c], dtype);
        assert!(softmax.iter().all(|y| y.is_nan()));
        for f in [
            sigmoid::<B, 2>,
            |x| bounded_exp(x, 10.0),
            |x| bounded_log(x, 0.5, 2.0),
        ] {
            let [y, _] = outcome(f, [&x, &c], dtype);
            let same = y
                .iter()
                .zip(&x.elements)
                .all(|(y, x)| y.is_nan() == x.is_nan());
            assert!(same);
        }
    }
}

/// The other bound.
#[test]
#[should_panic(expected = "log, element")]
fn a_logarithm_with_another_bound_is_caught() {
    let x = Matrix::uniform([3, 20], 6);
    let of = |low, dtype| read(bounded_log(x.tensor::<Flex>(dtype), low, 1.0));
    let (wrong, right) = (of(0.5, DType::F32), of(0.25, DType::F64));
    assert_within("log", &wrong, &right, |at| 4.0 * ROUNDING * right[at].abs());
}

/// Rows turned about.
#[test]
fn values_that_are_wrong_are_caught() {
    let mut x = Matrix::symmetric([3, 20], 5.0, 4);
    let c = Matrix::symmetric([3, 20], 1.0, 5);
    let right = outcome(softmax_rows, [&x, &c], DType::F32);
    x.elements.rotate_left(20);
    let wrong = outcome(softmax_rows, [&x, &c], DType::F64);
    for (wrong, right) in wrong.iter().zip(&right) {
        let errors = wrong.iter().zip(right).map(|(a, b)| (a - b).abs());
        assert!(errors.fold(0.0, f64::max) > 1e-2);
    }
}
