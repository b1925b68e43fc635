//! The linear layer: the fast path in f32 against the portable definition in f64.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorPrimitive};
use burn_flex::Flex;
use helmholtz_ops::{Backend, cat, linear};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Whole,
    /// Its columns one after another.
    Transposed,
    /// The inside of a larger matrix, whose border is not a number.
    Inside,
    /// The first rows of a larger matrix.
    First,
    /// Its rows and columns backwards in memory.
    Backwards,
}

const LAYOUTS: [Layout; 5] = [
    Layout::Whole,
    Layout::Transposed,
    Layout::Inside,
    Layout::First,
    Layout::Backwards,
];

fn lay(matrix: &Matrix, layout: Layout, dtype: DType) -> Tensor<Flex, 2> {
    let whole = matrix.tensor::<Flex>(dtype);
    let [rows, columns] = whole.dims();
    let border = |height, width| Tensor::full([height, width], f32::NAN, (&whole.device(), dtype));
    match layout {
        Layout::Whole => whole,
        Layout::Transposed => {
            Tensor::from_data(whole.transpose().into_data(), (&Default::default(), dtype))
                .transpose()
        }
        Layout::Inside => {
            let wide = cat(vec![border(rows, 2), whole.clone(), border(rows, 3)], 1);
            cat(
                vec![border(1, columns + 5), wide, border(2, columns + 5)],
                0,
            )
            .slice([1..rows + 1, 2..columns + 2])
        }
        Layout::Backwards => {
            let flipped = whole.flip([0, 1]).into_data();
            Tensor::from_data(flipped, (&Default::default(), dtype)).flip([0, 1])
        }
        Layout::First => {
            cat(vec![whole.clone(), border(3, columns)], 0).slice([0..rows, 0..columns])
        }
    }
}

#[derive(Debug)]
struct Layer {
    x: Matrix,
    weight: Matrix,
    bias: Matrix,
    /// The gradient of the output.
    grad: Matrix,
}

impl Layer {
    fn new([count, inputs, outputs]: [usize; 3], live: impl Fn(usize) -> bool, seed: u64) -> Self {
        let seed = |n| seed.wrapping_add(n);
        let mut grad = Matrix::symmetric([count, outputs], 1.0, seed(3));
        for n in (0..count).filter(|&n| !live(n)) {
            grad.row_mut(n).fill(0.0);
        }
        Self {
            x: Matrix::symmetric([count, inputs], 2.0, seed(0)),
            weight: Matrix::symmetric([inputs, outputs], 1.0, seed(1)),
            bias: Matrix::symmetric([1, outputs], 1.0, seed(2)),
            grad,
        }
    }

    /// The output, and the gradients in x, W, b.
    fn outcome(&self, layout: Layout, dtype: DType) -> [Vec<f64>; 4] {
        let x = || lay(&self.x, layout, dtype);
        let weight = || lay(&self.weight, layout, dtype);
        let bias: Tensor<Flex, 1> = lay(&self.bias, layout, dtype).squeeze_dim(0);
        let output = linear(x(), weight(), bias);
        let primitive = |tensor: Tensor<Flex, 2>| tensor.into_primitive().tensor();
        let gradients = Flex::fused_linear_backward(
            Some(primitive(x())),
            Some(primitive(weight())),
            primitive(lay(&self.grad, layout, dtype)),
        );
        let (in_weight, in_bias) = gradients.parameters.unwrap();
        let float = TensorPrimitive::Float;
        [
            read(output),
            read(Tensor::<Flex, 2>::from_primitive(float(
                gradients.input.unwrap(),
            ))),
            read(Tensor::<Flex, 2>::from_primitive(float(in_weight))),
            read(Tensor::<Flex, 1>::from_primitive(float(in_bias))),
        ]
    }

    /// With ρ = 2⁻²⁴, a sum of T products errs by at most ρ (T + 1) times the sum of their magnitudes.
    fn check(&self, layout: Layout) {
        let [count, inputs] = [self.x.rows, self.x.columns];
        let outputs = self.weight.columns;
        let found = self.outcome(layout, DType::F32);
        let expected = self.outcome(Layout::Whole, DType::F64);
        let bound = |terms: usize, size: &dyn Fn(usize) -> f64| {
            ROUNDING * (terms + 2) as f64 * (0..terms).map(size).sum::<f64>()
        };
        let (x, w, g) = (&self.x, &self.weight, &self.grad);
        assert_within("x W + b", &found[0], &expected[0], |i| {
            let (n, o) = (i / outputs, i % outputs);
            let products = bound(inputs, &|i| (x.at(n, i) * w.at(i, o)).abs());
            products + ROUNDING * (self.bias.at(0, o).abs() + expected[0][i].abs())
        });
        assert_within("in x", &found[1], &expected[1], |i| {
            let (n, i) = (i / inputs, i % inputs);
            bound(outputs, &|o| (g.at(n, o) * w.at(i, o)).abs())
        });
        assert_within("in W", &found[2], &expected[2], |i| {
            let (i, o) = (i / outputs, i % outputs);
            bound(count, &|n| (x.at(n, i) * g.at(n, o)).abs())
        });
        assert_within("in b", &found[3], &expected[3], |o| {
            bound(count, &|n| g.at(n, o).abs())
        });
    }
}

/// Which rows have a gradient.
const LIVE: [fn(usize) -> bool; 5] = [
    |_| false,
    |n| n == 2,
    |n| n % 3 == 1,
    |n| n % 3 != 1,
    |_| true,
];

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn the_fast_linear_layer_agrees_with_the_portable_one(
        shape in (1usize..20, 1usize..40, 1usize..40),
        live in prop::sample::select(&LIVE[..]),
        layout in prop::sample::select(&LAYOUTS[..]),
        seed in any::<u64>(),
    ) {
        Layer::new(shape.into(), live, seed).check(layout);
    }
}

#[test]
fn layers_of_the_size_of_a_model_agree_too() {
    for live in LIVE {
        for layout in LAYOUTS {
            Layer::new([30, 200, 784], live, 1).check(layout);
        }
    }
}

/// Gradients arrive, for any set of tracked arguments, and from a gradient that is one number broadcast.
#[test]
fn autodiff_hands_out_the_gradients_that_are_asked_for() {
    type Ad = Autodiff<Flex>;
    let layer = Layer::new([6, 5, 4], |_| true, 2);
    let tracked =
        |tensor: Tensor<Ad, 2>, yes: bool| if yes { tensor.require_grad() } else { tensor };
    for mask in 1..8 {
        let [track_x, track_weight, track_bias] = [1, 2, 4].map(|bit| mask & bit != 0);
        let gradients = |dtype| {
            let x = tracked(layer.x.tensor::<Ad>(dtype), track_x);
            let weight = tracked(layer.weight.tensor::<Ad>(dtype), track_weight);
            let bias = tracked(layer.bias.tensor::<Ad>(dtype), track_bias);
            let output = linear(x.clone(), weight.clone(), bias.clone().squeeze_dim(0));
            let gradients = output.sum().backward();
            [x, weight, bias].map(|tensor| tensor.grad(&gradients).map(read))
        };
        let (found, expected) = (gradients(DType::F32), gradients(DType::F64));
        for (index, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            assert_eq!(found.is_some(), mask >> index & 1 == 1, "argument {index}");
            if let (Some(found), Some(expected)) = (found, expected) {
                // At most six products of numbers up to 2.
                assert_within("gradient", &found, &expected, |_| ROUNDING * 8.0 * 12.0);
            }
        }
    }
}
