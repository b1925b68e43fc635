//! Differences of data from their own centres, and columns side by side.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{own_differences, side_by_side};
use proptest::prelude::*;

use crate::data::{Matrix, cases, read};

type B = Autodiff<Flex>;

proptest! {
    #![proptest_config(cases(100))]

    /// x − μ in one rounding, for every dtype and layout; more data than are worked on at a time.
    #[test]
    fn own_differences_are_exact(
        (r, cycles, n, m, d) in (1usize..4, 1usize..4, 1usize..200, 1usize..11, 1usize..4),
        seed in any::<u64>(),
    ) {
        let g = r * cycles;
        let matrix = |rows, own| Matrix::symmetric([rows, d], 5.0, seed.wrapping_add(own));
        let (x, mu) = (matrix(r * n, 0), matrix(g * m, 1));
        let classes: Vec<usize> = Matrix::uniform([1, g * n], seed.wrapping_add(2))
            .elements
            .into_iter()
            .map(|u| (u * m as f32) as usize)
            .collect();
        let mut one_hot = Matrix::uniform([g * n, m], 0).map(|_| 0.0);
        for (row, &class) in classes.iter().enumerate() {
            one_hot.row_mut(row)[class] = 1.0;
        }
        let expected = |at: usize| {
            let (row, k) = (at / d, at % d);
            let (group, datum) = (row / n, row % n);
            let x = x.row(group % r * n + datum)[k];
            (x, mu.row(group * m + classes[row])[k])
        };
        for dtype in [DType::F32, DType::F64] {
            let found = own_differences(
                x.tensor::<B>(dtype).reshape([r, n, d]),
                one_hot.tensor(dtype).reshape([g, n, m]),
                mu.tensor(dtype).reshape([g, m, d]),
            );
            prop_assert_eq!(found.dims(), [g, n, d]);
            for (at, found) in read(found).into_iter().enumerate() {
                let (x, mu) = expected(at);
                let exact = match dtype {
                    DType::F32 => f64::from(x - mu),
                    _ => f64::from(x) - f64::from(mu),
                };
                prop_assert_eq!(found, exact);
            }
        }
    }

    #[test]
    fn columns_are_beside_each_other(
        (rows, cycles) in (1usize..5, 1usize..5),
        widths in [1usize..11, 1usize..4],
        seed in any::<u64>(),
    ) {
        let first = Matrix::symmetric([rows, widths[0]], 1.0, seed);
        let second = Matrix::symmetric([rows * cycles, widths[1]], 1.0, seed.wrapping_add(1));
        let expected: Vec<f64> = (0..rows * cycles)
            .flat_map(|n| [first.row(n), second.row(n)].concat())
            .map(f64::from)
            .collect();
        for dtype in [DType::F32, DType::F64] {
            let parts = vec![first.tensor::<B>(dtype), second.tensor(dtype)];
            prop_assert_eq!(read(side_by_side(parts)), expected.clone());
        }
    }
}

/// No data, and one datum of more dimensions than there are data and classes.
#[test]
fn own_differences_of_nothing_and_of_one_datum() {
    let tensor = |shape: [usize; 3], of: &[f32]| {
        Tensor::<B, 1>::from_floats(of, &Default::default()).reshape(shape)
    };
    let centre = tensor([1, 1, 3], &[1.0, 2.0, 3.0]);
    let one = own_differences(
        tensor([1, 1, 3], &[5.0; 3]),
        tensor([1, 1, 1], &[1.0]),
        centre.clone(),
    );
    assert_eq!(read(one), [4.0, 3.0, 2.0]);
    let nothing = |shape: [usize; 3]| Tensor::zeros(shape, &Default::default());
    let none = own_differences(nothing([1, 0, 3]), nothing([1, 0, 1]), centre);
    assert_eq!(none.dims(), [1, 0, 3]);
}

/// With a tape, both have the gradient of their definition.
#[test]
fn both_are_differentiable() {
    let centres = Matrix::symmetric([2, 2], 1.0, 3).tensor::<B>(DType::F32);
    let centres = centres.reshape([1, 2, 2]).require_grad();
    let classes =
        Tensor::<B, 3>::from_floats([[[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]], &Default::default());
    let x = Tensor::zeros([1, 3, 2], &Default::default());
    let gradients = own_differences(x, classes, centres.clone())
        .sum()
        .backward();
    let found = read(centres.grad(&gradients).expect("a gradient"));
    assert_eq!(found, [-1.0, -1.0, -2.0, -2.0]);
    let part = Matrix::symmetric([2, 3], 1.0, 4).tensor::<B>(DType::F32);
    let part = part.require_grad();
    let other = Tensor::ones([6, 1], &Default::default());
    let gradients = side_by_side(vec![part.clone(), other]).sum().backward();
    assert_eq!(read(part.grad(&gradients).expect("a gradient")), [3.0; 6]);
}
