//! Squared lengths and directions of rows: the fast path in f32 against the formula in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{directions, squared_norms};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

const EPSILON: f64 = 1e-12;

/// Squared lengths with the gradient of their sum weighted by the first column of c, and directions with that of Σ c ∘ y.
fn outcome(x: &Matrix, c: &Matrix, dtype: DType) -> [Vec<f64>; 4] {
    let x = x.tensor::<Autodiff<Flex>>(dtype).require_grad();
    let c = c.tensor::<Autodiff<Flex>>(dtype);
    let gradient = |loss: Tensor<Autodiff<Flex>, 1>| read(x.grad(&loss.backward()).unwrap());
    let (norms, y) = (squared_norms(x.clone()), directions(x.clone(), EPSILON));
    let first = c.clone().narrow(1, 0, 1).squeeze_dim::<1>(1);
    let of_norms = gradient((norms.clone() * first).sum());
    let of_directions = gradient((y.clone() * c).sum());
    [read(norms), of_norms, read(y), of_directions]
}

fn by_hand(x: &Matrix, c: &Matrix) -> [Vec<f64>; 4] {
    let mut all = [const { Vec::new() }; 4];
    for n in 0..x.rows {
        let of =
            |matrix: &Matrix| -> Vec<f64> { matrix.row(n).iter().map(|&v| v.into()).collect() };
        let (x, c) = (of(x), of(c));
        let squared: f64 = x.iter().map(|x| x * x).sum();
        let length = (squared + EPSILON).sqrt();
        let along: f64 = x.iter().zip(&c).map(|(x, c)| x * c / length).sum();
        all[0].push(squared);
        for (x, &g) in x.iter().zip(&c) {
            all[1].push(2.0 * c[0] * x);
            all[2].push(x / length);
            all[3].push((g - x / length * along) / length);
        }
    }
    all
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn lengths_and_directions_agree_with_the_formula(
        (rows, columns) in (1usize..70, 1usize..5),
        scale in prop::sample::select(vec![0.01f32, 1.0, 20.0]),
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric([rows, columns], scale, seed);
        let c = Matrix::symmetric([rows, columns], 1.0, seed.wrapping_add(1));
        let expected = by_hand(&x, &c);
        let names = ["lengths", "their gradient", "directions", "their gradient"];
        for (dtype, rounding) in [(DType::F32, ROUNDING), (DType::F64, 1e-13)] {
            let found = outcome(&x, &c, dtype);
            for i in 0..4 {
                // A few roundings of sums of at most four terms, of which none is larger than the scale's square, 1, or 1 / length.
                let size = |at: usize| match i {
                    0 | 1 => f64::from(scale * scale).max(f64::from(scale)),
                    2 => 1.0,
                    _ => 1.0 / (expected[0][at / columns] + EPSILON).sqrt(),
                };
                assert_within(names[i], &found[i], &expected[i], |at| 40.0 * size(at) * rounding);
            }
        }
    }
}

/// At 0 there is no direction: 0, with a finite gradient.
#[test]
fn nothing_has_no_direction() {
    let nothing = Matrix::symmetric([1, 2], 0.0, 1);
    let c = Matrix::symmetric([1, 2], 1.0, 2);
    for dtype in [DType::F32, DType::F64] {
        let [_, _, y, gradient] = outcome(&nothing, &c, dtype);
        assert_eq!(y, [0.0, 0.0]);
        assert!(gradient.iter().all(|g| g.is_finite()));
    }
}

/// Lengths instead of squared ones, and a direction's gradient without what is taken out along it.
#[test]
fn lengths_that_are_wrong_are_caught() {
    let (x, c) = (
        Matrix::symmetric([5, 3], 1.0, 8),
        Matrix::symmetric([5, 3], 1.0, 9),
    );
    let [norms, _, y, gradient] = outcome(&x, &c, DType::F32);
    assert!(norms.iter().any(|norm| (norm - norm.sqrt()).abs() > 1e-2));
    let along = (0..15).map(|i| c.at(i / 3, i % 3) * y[i] / x.at(i / 3, i % 3));
    assert!(
        gradient
            .iter()
            .zip(along)
            .any(|(g, along)| (g - along).abs() > 1e-2)
    );
}
