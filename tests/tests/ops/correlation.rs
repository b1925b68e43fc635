//! Cross-correlation: the fast path in f32 and the portable definition in f64 against the sum that defines it.

use burn::backend::Autodiff;
use burn::tensor::DType;
use burn_flex::Flex;
use helmholtz_ops::{Backend, cross_correlation};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// R, H, W of images and S, P, Q of templates.
type Shape = [[usize; 3]; 2];

fn found<B: Backend>(shape: Shape, parts: &[Matrix; 2], dtype: DType) -> Vec<f64> {
    let tensor = |i: usize| parts[i].tensor::<B>(dtype).reshape(shape[i]);
    let [[r, h, w], [s, p, q]] = shape;
    let responses = cross_correlation(tensor(0), tensor(1));
    assert_eq!(responses.dims(), [r.max(s), h - p + 1, w - q + 1]);
    read(responses)
}

fn parts([[r, h, w], [s, p, q]]: Shape, seed: u64) -> [Matrix; 2] {
    [
        Matrix::symmetric([r, h * w], 2.0, seed),
        Matrix::symmetric([s, p * q], 2.0, seed.wrapping_add(1)),
    ]
}

/// The responses, and the sums of the sizes of their terms.
fn by_hand([[r, h, w], [s, p, q]]: Shape, [images, templates]: &[Matrix; 2]) -> Vec<[f64; 2]> {
    let (high, wide) = (h - p + 1, w - q + 1);
    let at = (0..r.max(s) * high * wide).map(|i| (i / (high * wide), i / wide % high, i % wide));
    let sums = at.map(|(group, row, column)| {
        let terms = (0..p * q).map(|i| {
            let pixel = (row + i / q) * w + column + i % q;
            templates.at(group % s, i) * images.at(group % r, pixel)
        });
        terms.fold([0.0; 2], |sum, term| [sum[0] + term, sum[1] + term.abs()])
    });
    sums.collect()
}

fn assert_agrees(shape: Shape, seed: u64) {
    let parts = parts(shape, seed);
    let expected = by_hand(shape, &parts);
    let terms = (shape[1][1] * shape[1][2]) as f64;
    let (values, sizes): (Vec<f64>, Vec<f64>) = expected.iter().map(|&[v, s]| (v, s)).unzip();
    let check = |what, found: Vec<f64>, rounding: f64| {
        assert_within(what, &found, &values, |i| {
            rounding * (terms + 1.0) * sizes[i]
        });
    };
    check("fast", found::<Flex>(shape, &parts, DType::F32), ROUNDING);
    check(
        "autodiff",
        found::<Autodiff<Flex>>(shape, &parts, DType::F32),
        ROUNDING,
    );
    check(
        "portable",
        found::<Flex>(shape, &parts, DType::F64),
        f64::EPSILON,
    );
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn both_definitions_are_the_sum(
        (few, cycles, images_are_fewer) in (1usize..3, 1usize..4, any::<bool>()),
        (p, q) in (1usize..6, 1usize..6),
        (more_h, more_w) in (0usize..10, 0usize..20),
        seed in any::<u64>(),
    ) {
        let (r, s) = match images_are_fewer {
            true => (few, few * cycles),
            false => (few * cycles, few),
        };
        assert_agrees([[r, p + more_h, q + more_w], [s, p, q]], seed);
    }
}

/// The tracker's own sizes, which go by Fourier's way. A transform of n numbers errs by about log2 n roundings of their norm
/// (Higham 2002, section 24.1); there are three, of images and templates padded to the same n.
fn fourier_errors(wrong: impl Fn(&mut [Matrix; 2])) -> [f64; 2] {
    let shape = [[2, 96, 96], [2, 28, 28]];
    let parts = parts(shape, 3);
    let found = found::<Flex>(shape, &parts, DType::F32);
    let mut given = parts.clone();
    wrong(&mut given);
    let expected = by_hand(shape, &given);
    let errors = found.iter().zip(&expected).map(|(a, [b, _])| (a - b).abs());
    let norm = |of: &Matrix| {
        of.elements
            .iter()
            .map(|x| f64::from(x * x))
            .sum::<f64>()
            .sqrt()
    };
    let roundings = 3.0 * (96.0f64 * 96.0).log2();
    let bound = roundings * ROUNDING * norm(&parts[0]) * norm(&parts[1]);
    [errors.fold(0.0, f64::max), bound]
}

#[test]
fn large_templates_give_the_sum_too() {
    let [error, bound] = fourier_errors(|_| {});
    assert!(error < bound && bound < 1.0, "{error}, {bound}");
}

/// Convolutions, whose templates are turned about.
#[test]
fn a_transform_without_its_conjugate_is_caught() {
    let [error, bound] = fourier_errors(|[_, templates]| {
        templates
            .elements
            .chunks_mut(28 * 28)
            .for_each(<[f32]>::reverse);
    });
    assert!(error > 100.0 * bound, "{error}, {bound}");
}

/// Wide enough for each number of vectors in a line, and for more than one block of them.
#[test]
fn lines_of_every_width_are_whole() {
    for wide in [15, 16, 17, 33, 49, 64, 69, 80, 81, 100, 161] {
        assert_agrees([[1, 7, wide + 2], [2, 3, 3]], wide as u64);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |shape: Shape| {
        let parts = parts(shape, 1);
        let tensor = |i: usize| parts[i].tensor::<Flex>(DType::F32).reshape(shape[i]);
        std::panic::catch_unwind(|| cross_correlation(tensor(0), tensor(1))).is_err()
    };
    assert!(refused([[1, 3, 9], [1, 4, 2]]));
    assert!(refused([[1, 9, 3], [1, 2, 4]]));
    assert!(refused([[2, 9, 9], [3, 2, 2]]));
    assert!(!refused([[2, 9, 9], [4, 9, 9]]));
}
