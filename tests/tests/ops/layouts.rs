//! What an operation gives does not depend on how its arguments lie in memory.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor, TensorPrimitive};
use burn_flex::Flex;
use helmholtz_ops::{
    Activation, AdamStep, Backend, adam, additive_scores, bernoulli_log_prob, cat,
    categorical_log_prob, leaky_relu, linear, sample_bernoulli, sample_categorical, softmax_sums,
};

use crate::data::{Matrix, ROUNDING, assert_within, read};

type Lay = fn(&Matrix) -> Tensor<Flex, 2>;

fn whole(matrix: &Matrix) -> Tensor<Flex, 2> {
    matrix.tensor(DType::F32)
}

/// The matrix inside a larger one, from its first or fourth row on.
fn between(matrix: &Matrix, before: usize) -> Tensor<Flex, 2> {
    let other = Matrix::symmetric([3, matrix.columns], 5.0, 99);
    let rows = [&other, matrix, &other].map(whole);
    // Without the first where nothing comes before.
    let all = cat(rows[usize::from(before == 0)..].to_vec(), 0);
    all.slice(before..before + matrix.rows)
}

const LAYOUTS: [Lay; 4] = [
    |matrix| between(matrix, 0),
    |matrix| between(matrix, 3),
    |matrix| {
        let columns = whole(matrix).transpose().into_data();
        Tensor::<Flex, 2>::from_data(columns, &Default::default()).transpose()
    },
    |matrix| {
        let backwards = whole(matrix).flip([0]).into_data();
        Tensor::<Flex, 2>::from_data(backwards, &Default::default()).flip([0])
    },
];

/// Asserts that an operation on matrices gives the same bits in every layout of each.
fn check<const N: usize>(
    matrices: [Matrix; N],
    operation: impl Fn([Tensor<Flex, 2>; N]) -> Vec<f64>,
) {
    let expected = operation(matrices.each_ref().map(whole));
    for lay in LAYOUTS {
        assert_eq!(operation(matrices.each_ref().map(lay)), expected);
        for other in 0..N {
            let mut laid = matrices.each_ref().map(whole);
            laid[other] = lay(&matrices[other]);
            assert_eq!(operation(laid), expected, "argument {other}");
        }
    }
}

fn matrix(shape: [usize; 2], seed: u64) -> Matrix {
    Matrix::symmetric(shape, 2.0, seed)
}

#[test]
fn bernoulli_rows() {
    let logits = || matrix([2, 5], 1);
    check([logits(), Matrix::bits([4, 5], 2)], |[logits, values]| {
        read(bernoulli_log_prob(logits, values))
    });
    check([logits(), Matrix::uniform([4, 5], 3)], |[logits, u]| {
        read(sample_bernoulli(logits, u))
    });
}

#[test]
fn categorical_rows() {
    let logits = || matrix([2, 6], 1);
    let values = Matrix::bits([4, 9], 2);
    check([logits(), values], |[logits, values]| {
        read(categorical_log_prob(logits, values, 3))
    });
    check([logits(), Matrix::uniform([4, 3], 3)], |[logits, u]| {
        read(sample_categorical(logits, u, 3))
    });
}

#[test]
fn folded_rows() {
    for folded in [4, 2] {
        check([matrix([1, 4], 1), matrix([4, 5], 2)], |[weights, rows]| {
            let float = |tensor: Tensor<Flex, 2>| tensor.into_primitive().tensor();
            let weights = weights.reshape([4]).into_primitive().tensor();
            let sum = Flex::fold_rows(weights, float(rows), folded);
            read(Tensor::<Flex, 2>::from_primitive(TensorPrimitive::Float(
                sum,
            )))
        });
    }
}

#[test]
fn elements() {
    check([matrix([4, 5], 1)], |[x]| read(leaky_relu(x, 0.1)));
    let step = AdamStep {
        learning_rate: 0.1,
        beta_1: 0.9,
        beta_2: 0.99,
        epsilon: 1e-8,
        time: 3,
    };
    let given = [1, 2, 3, 4].map(|seed| match seed {
        4 => Matrix::uniform([4, 5], seed),
        _ => matrix([4, 5], seed),
    });
    check(given, |[parameter, grad, m, v]| {
        let (parameter, m, v) = adam(parameter, grad, m, v, step);
        [read(parameter), read(m), read(v)].concat()
    });
}

#[test]
fn one_row_or_column_that_stands_for_many() {
    // Strides of zero.
    let (row, column) = (matrix([1, 5], 1), matrix([5, 1], 2));
    let bias = || matrix([1, 3], 3).vector::<Flex>(DType::F32);
    let narrow = matrix([5, 3], 4);
    let same = |x: Tensor<Flex, 2>, weight: Tensor<Flex, 2>| {
        let copy = |tensor: &Tensor<Flex, 2>| {
            Tensor::<Flex, 2>::from_data(tensor.clone().into_data(), &Default::default())
        };
        let expected = linear(copy(&x), copy(&weight), bias());
        let found = read(linear(x, weight, bias()));
        // Six terms of at most 4.
        assert_within("x W + b", &found, &read(expected), |_| {
            7.0 * 24.0 * ROUNDING
        });
    };
    same(whole(&row).expand([4, 5]), whole(&narrow));
    same(whole(&row), whole(&column).expand([5, 3]));
    same(
        whole(&matrix([4, 1], 5)).expand([4, 5]),
        whole(&matrix([1, 3], 6)).expand([5, 3]),
    );
}

#[test]
fn no_rows() {
    let x = Tensor::<Flex, 2>::zeros([0, 5], &Default::default());
    let bias = matrix([1, 3], 3).vector::<Flex>(DType::F32);
    assert_eq!(linear(x, whole(&matrix([5, 3], 4)), bias).dims(), [0, 3]);
}

/// Sums over no data are 0, and have gradients of no elements.
#[test]
fn no_data() {
    let device = Default::default();
    for dtype in [DType::F32, DType::F64] {
        let zeros = |shape: [usize; 3]| {
            Tensor::<Autodiff<Flex>, 3>::zeros(shape, (&device, dtype)).require_grad()
        };
        let (logits, values) = (zeros([2, 0, 3]), zeros([2, 0, 4]));
        let sums = softmax_sums(logits.clone(), values.clone());
        assert_eq!(sums.dims(), [2, 3, 5]);
        assert_eq!(read(sums.clone()), [0.0; 30]);
        let gradients = sums.sum().backward();
        assert_eq!(logits.grad(&gradients).unwrap().dims(), [2, 0, 3]);
    }
    // The portable definition reshapes, in which burn takes a size of 0 for another meaning.
    let zeros = |shape: [usize; 3]| Tensor::<Autodiff<Flex>, 3>::zeros(shape, &device);
    let (queries, keys) = (zeros([1, 0, 3]), zeros([2, 4, 3]).require_grad());
    let weights = Tensor::ones([3], &device);
    let scores = additive_scores(queries, keys.clone(), weights, Activation::Tanh);
    assert_eq!(scores.dims(), [2, 0, 4]);
    let gradients = scores.sum().backward();
    assert_eq!(read(keys.grad(&gradients).unwrap()), [0.0; 24]);
}

#[test]
#[should_panic(expected = "the slope must not be negative")]
fn a_rectifier_that_is_none_is_refused() {
    let x = || whole(&matrix([2, 3], 1)).reshape([1, 2, 3]);
    let weights = matrix([1, 3], 2).vector::<Flex>(DType::F32);
    additive_scores(x(), x(), weights, Activation::LeakyRelu(-0.5));
}

#[test]
#[should_panic(expected = "2 rows cannot meet 3 rows cyclically")]
fn bernoulli_rows_that_do_not_divide_are_refused() {
    bernoulli_log_prob(whole(&matrix([2, 5], 1)), whole(&Matrix::bits([3, 5], 2)));
}

#[test]
#[should_panic(expected = "3 rows cannot meet 2 rows cyclically")]
fn categorical_rows_that_do_not_divide_are_refused() {
    categorical_log_prob(
        whole(&matrix([3, 4], 1)),
        whole(&Matrix::bits([2, 6], 2)),
        3,
    );
}
