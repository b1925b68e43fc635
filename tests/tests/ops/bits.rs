//! Packed bits: products, log-probabilities and draws are those of the same bits as numbers.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorData};
use burn_flex::Flex;
use helmholtz_ops::{
    Backend, PackedBits, Values, bernoulli_log_prob, categorical_log_prob, draw_bernoulli,
    draw_categorical, linear, sample_bernoulli, sample_categorical,
};
use proptest::prelude::*;

use crate::data::{Matrix, cases};

type Tape = Autodiff<Flex>;

/// Bits `[rows, columns]` of which about one in 1/density are ones.
fn bits([rows, columns]: [usize; 2], density: f64, seed: u64) -> Vec<f64> {
    let uniforms = Matrix::symmetric([rows, columns.max(1)], 1.0, seed);
    let values = uniforms.tensor::<Flex>(DType::F64).into_data();
    let one = |u: f64| f64::from(u8::from((u + 1.0) / 2.0 < density));
    values.iter::<f64>().take(rows * columns).map(one).collect()
}

fn tensor<B: Backend>(values: &[f64], shape: [usize; 2], dtype: DType) -> Tensor<B, 2> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, (&Default::default(), dtype))
}

fn packed<B: Backend>(values: &[f64], shape: [usize; 2], dtype: DType) -> PackedBits<B> {
    PackedBits::of(tensor(values, shape, dtype))
}

fn read<const D: usize>(tensor: Tensor<Flex, D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// x W + b, and the gradients in W and b for the output's gradient g, in loops; each with the sum of its terms' sizes.
fn expected(
    x: &[f64],
    [rows, inner, columns]: [usize; 3],
    [w, b, g]: [&[f64]; 3],
) -> [Vec<[f64; 2]>; 3] {
    let sum = |terms: Vec<f64>| [terms.iter().sum(), terms.iter().map(|t| t.abs()).sum()];
    let pairs = |m: usize| (0..m).flat_map(move |i| (0..columns).map(move |c| (i, c)));
    let output = pairs(rows).map(|(n, c)| {
        let terms = (0..inner).map(|i| x[n * inner + i] * w[i * columns + c]);
        sum(terms.chain([b[c]]).collect())
    });
    let weight = pairs(inner).map(|(i, c)| {
        let terms = (0..rows).map(|n| x[n * inner + i] * g[n * columns + c]);
        sum(terms.collect())
    });
    let bias = (0..columns).map(|c| sum((0..rows).map(|n| g[n * columns + c]).collect()));
    [output.collect(), weight.collect(), bias.collect()]
}

/// The layer on packed bits in one dtype against loops in f64, to `tolerance` of the sizes' sum.
fn check_linear(shape: [usize; 3], density: f64, live: usize, seed: u64) {
    let [rows, inner, columns] = shape;
    let x = bits([rows, inner], density, seed);
    let matrix =
        |shape, n| read(Matrix::symmetric(shape, 1.0, seed + n).tensor::<Flex>(DType::F32));
    let (w, b) = (matrix([inner, columns], 1), matrix([1, columns], 2));
    let mut g = matrix([rows.max(1), columns], 3);
    g.truncate(rows * columns);
    for n in (0..rows).filter(|n| n % live != 0) {
        g[n * columns..][..columns].fill(0.0);
    }
    for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::F64, 1e-14)] {
        let weight = tensor::<Tape>(&w, [inner, columns], dtype).require_grad();
        let bias = tensor::<Tape>(&b, [1, columns], dtype)
            .reshape([columns])
            .require_grad();
        let output = linear(
            packed::<Tape>(&x, [rows, inner], dtype),
            weight.clone(),
            bias.clone(),
        );
        let found = read(output.clone().inner());
        let loss = (output * tensor(&g, [rows, columns], dtype)).sum();
        let gradients = loss.backward();
        let of_weight = read(weight.grad(&gradients).expect("W has a gradient"));
        let of_bias = read(bias.grad(&gradients).expect("b has a gradient"));
        let expected = expected(&x, shape, [&w, &b, &g]);
        for (found, expected) in [found, of_weight, of_bias].into_iter().zip(expected) {
            assert_eq!(found.len(), expected.len());
            for (found, [sum, size]) in found.into_iter().zip(expected) {
                let error = (found - sum).abs();
                assert!(
                    error <= tolerance * size,
                    "{shape:?}, {dtype:?}: {found}, {sum}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_layer_of_bits_is_its_loops(
        rows in 1usize..40,
        inner in 1usize..150,
        columns in 1usize..50,
        density in prop::sample::select(vec![0.0, 0.05, 0.13, 0.5, 1.0]),
        live in 1usize..4,
        seed in 0u64..1000,
    ) {
        check_linear([rows, inner, columns], density, live, seed);
    }
}

#[test]
fn the_products_of_table_1_are_their_loops() {
    for (shape, density) in [([50, 784, 200], 0.13), ([150, 200, 784], 0.35)] {
        check_linear(shape, density, 2, 5);
    }
    for shape in [[1, 784, 200], [2, 65, 17], [9, 1, 1], [300, 8, 5]] {
        check_linear(shape, 0.5, 1, 6);
    }
}

#[test]
fn bits_come_back_as_they_went_whole_and_in_parts() {
    for (rows, columns) in [(0, 3), (3, 1), (2, 32), (4, 33), (5, 200), (3, 784)] {
        let x = bits([rows, columns], 0.4, 9);
        for dtype in [DType::F32, DType::F64] {
            let values: Values<Flex> = packed(&x, [rows, columns], dtype).into();
            assert_eq!(values.dims(), [rows, columns]);
            assert_eq!(values.numbers().dtype(), dtype);
            assert_eq!(read(values.numbers()), x);
            let twice = Values::cat(vec![values.clone(); 2]);
            assert!(matches!(twice, Values::Bits(_)));
            assert_eq!(read(twice.numbers()), [x.clone(), x.clone()].concat());
            if rows > 0 {
                assert_eq!(read(values.cycle(3 * rows).numbers()), x.repeat(3));
                let last = read(values.rows(rows - 1, 1).numbers());
                assert_eq!(last, x[(rows - 1) * columns..]);
            }
            for first in [0, columns / 3, columns - 1] {
                for count in [1, (columns - first).div_ceil(2), columns - first] {
                    let part = values.columns(first, count);
                    let row = |n: usize| &x[n * columns + first..][..count];
                    let expected: Vec<f64> = (0..rows).flat_map(row).copied().collect();
                    assert_eq!(read(part.numbers()), expected);
                    // What is beyond the last column is zero, or products would count it.
                    let one = tensor::<Flex>(&vec![1.0; count], [count, 1], dtype);
                    let none = Tensor::zeros([1], (&Default::default(), dtype));
                    let counts = read(linear(part, one, none));
                    let ones = |n| row(n).iter().sum::<f64>();
                    assert_eq!(counts, (0..rows).map(ones).collect::<Vec<_>>());
                }
            }
        }
    }
}

#[test]
fn a_half_is_no_one_and_a_uniform_at_the_probability_draws_none() {
    for dtype in [DType::F32, DType::F64] {
        let halves = tensor::<Flex>(&[0.5, 0.51, 1.0, 0.0], [1, 4], dtype);
        assert_eq!(read(PackedBits::of(halves).numbers()), [0.0, 1.0, 1.0, 0.0]);
        // Of whole words, and of the rest.
        let logits = Tensor::<Flex, 2>::zeros([1, 33], (&Default::default(), dtype));
        let at = |u: f64| tensor::<Flex>(&[u; 33], [1, 33], dtype);
        assert_eq!(
            read(draw_bernoulli(logits.clone(), at(0.5)).numbers()),
            [0.0; 33]
        );
        assert_eq!(read(draw_bernoulli(logits, at(0.499)).numbers()), [1.0; 33]);
    }
}

#[test]
fn draws_and_scores_of_bits_are_those_of_numbers() {
    for dtype in [DType::F32, DType::F64] {
        for columns in [1, 31, 32, 33, 200] {
            let logits = Matrix::symmetric([3, columns], 4.0, 1).tensor::<Flex>(dtype);
            let uniforms = Matrix::symmetric([6, columns], 0.5, 2).tensor::<Flex>(dtype) + 0.5;
            let drawn = draw_bernoulli(logits.clone(), uniforms.clone());
            assert!(matches!(drawn, Values::Bits(_)));
            let numbers = sample_bernoulli(logits.clone(), uniforms);
            assert_eq!(read(drawn.numbers()), read(numbers.clone()));
            let scores = |values: Values<Flex>| read(bernoulli_log_prob(logits.clone(), values));
            assert_eq!(scores(drawn), scores(numbers.into()));
        }
        let logits = Matrix::symmetric([3, 7 * 4], 4.0, 3).tensor::<Flex>(dtype);
        let uniforms = Matrix::symmetric([6, 7], 0.5, 4).tensor::<Flex>(dtype) + 0.5;
        let drawn = draw_categorical(logits.clone(), uniforms.clone(), 5);
        let numbers = sample_categorical(logits.clone(), uniforms, 5);
        assert_eq!(read(drawn.numbers()), read(numbers.clone()));
        let scores = |values: Values<Flex>| read(categorical_log_prob(logits.clone(), values, 5));
        assert_eq!(scores(drawn), scores(numbers.into()));
    }
}

#[test]
fn scores_of_bits_have_the_gradient_of_numbers() {
    for dtype in [DType::F32, DType::F64] {
        let x = bits([6, 45], 0.3, 7);
        let gradient = |values: Values<Tape>| {
            let logits = Matrix::symmetric([3, 45], 3.0, 8)
                .tensor::<Tape>(dtype)
                .require_grad();
            let scores = bernoulli_log_prob(logits.clone(), values);
            let weights = Matrix::symmetric([1, 6], 1.0, 9)
                .tensor::<Tape>(dtype)
                .reshape([6]);
            let gradients = (scores * weights).sum().backward();
            read(logits.grad(&gradients).expect("logits have a gradient"))
        };
        let numbers = tensor::<Tape>(&x, [6, 45], dtype);
        assert_eq!(
            gradient(PackedBits::of(numbers.clone()).into()),
            gradient(numbers.into())
        );
    }
}

#[test]
fn the_gradient_in_the_weights_is_that_of_differences() {
    let (shape, step) = ([7, 40, 5], 1e-5);
    let x = packed::<Tape>(&bits([7, 40], 0.4, 11), [7, 40], DType::F64);
    let loss = |w: Tensor<Tape, 2>| {
        let none = Tensor::zeros([shape[2]], (&Default::default(), DType::F64));
        linear(x.clone(), w, none).tanh().sum()
    };
    let w = Matrix::symmetric([40, 5], 0.3, 12);
    let at = w.tensor::<Tape>(DType::F64).require_grad();
    let gradients = loss(at.clone()).backward();
    let gradient = read(at.grad(&gradients).expect("W has a gradient"));
    let values = read(w.tensor::<Flex>(DType::F64));
    for (index, found) in gradient.into_iter().enumerate() {
        let moved = |by: f64| {
            let mut values = values.clone();
            values[index] += by;
            read(loss(tensor::<Tape>(&values, [40, 5], DType::F64)).inner())[0]
        };
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((found - difference).abs() < 1e-8, "{found}, {difference}");
    }
}

#[test]
fn the_gradient_of_a_gradient_passes_through_a_layer_of_bits() {
    type Twice = Autodiff<Tape>;
    let x = bits([4, 9], 0.5, 13);
    let second = |packed: bool| {
        let numbers = tensor::<Twice>(&x, [4, 9], DType::F64);
        let values: Values<Twice> = match packed {
            true => PackedBits::of(numbers).into(),
            false => numbers.into(),
        };
        let weight = Matrix::symmetric([9, 2], 1.0, 14).tensor::<Twice>(DType::F64);
        let inner = weight.inner().require_grad();
        let weight = Tensor::<Twice, 2>::from_inner(inner.clone()).require_grad();
        let none = Tensor::zeros([2], (&Default::default(), DType::F64));
        let loss = linear(values, weight.clone(), none).tanh().sum();
        let first = weight.grad(&loss.backward()).expect("W has a gradient");
        let gradients = first.square().sum().backward();
        read(inner.grad(&gradients).expect("the gradient has one"))
    };
    let (packed, dense) = (second(true), second(false));
    assert!(dense.iter().any(|&g| g.abs() > 1e-3));
    for (packed, dense) in packed.into_iter().zip(dense) {
        assert!((packed - dense).abs() < 1e-13, "{packed}, {dense}");
    }
}
