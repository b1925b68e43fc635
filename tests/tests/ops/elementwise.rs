//! The leaky rectifier, the hyperbolic tangent and thresholded sampling on the fast path; what in-place operations leave alone.

use burn::backend::Autodiff;
use burn::tensor::{DType, Tensor};
use burn_flex::Flex;
use helmholtz_ops::{
    Activation, AdamStep, Backend, adam, additive_scores, bernoulli_log_prob, leaky_relu,
    perceptron, repeat_rows, sample_bernoulli, sample_categorical, tanh, with_gradient_of,
};
use proptest::prelude::*;

use crate::data::{Matrix, ROUNDING, assert_within, cases, read};

proptest! {
    #![proptest_config(cases(100))]

    /// The slope and the product are rounded: 2 ρ.
    #[test]
    fn the_fast_leaky_rectifier_agrees_with_the_portable_one(
        (rows, columns) in (1usize..6, 1usize..41),
        slope in prop::sample::select(vec![0.0, 0.01, 0.2, 1.0, 3.0]),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut x = Matrix::symmetric([rows, columns], 3.0, seed);
        x.row_mut(0)[0] = 0.0;
        let weights = Matrix::symmetric([1, rows * columns], 1.0, seed.wrapping_add(1));
        let outcome = |dtype| {
            let x = x.tensor::<Autodiff<Flex>>(dtype).require_grad();
            let y = if transposed { x.clone().transpose() } else { x.clone() };
            let y = leaky_relu(y, slope);
            let gradients = (y.clone().flatten(0, 1) * weights.vector(dtype)).sum().backward();
            (read(y), read(x.grad(&gradients).unwrap()))
        };
        let (found, expected) = (outcome(DType::F32), outcome(DType::F64));
        assert_within("y", &found.0, &expected.0, |i| 2.0 * ROUNDING * expected.0[i].abs());
        assert_within("gradient", &found.1, &expected.1, |i| 2.0 * ROUNDING * expected.1[i].abs());
    }

    /// The value errs by 4 units in the last place, and its slope 1 − t² by 2 |t| of them and two roundings.
    #[test]
    fn the_fast_hyperbolic_tangent_agrees_with_the_portable_one(
        (rows, columns) in (1usize..6, 1usize..41),
        scale in prop::sample::select(vec![1e-3f32, 1.0, 20.0]),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let x = Matrix::symmetric([rows, columns], scale, seed);
        let weights = Matrix::symmetric([1, rows * columns], 1.0, seed.wrapping_add(1));
        let outcome = |dtype| {
            let x = x.tensor::<Autodiff<Flex>>(dtype).require_grad();
            let y = if transposed { x.clone().transpose() } else { x.clone() };
            let y = tanh(y);
            let gradients = (y.clone().flatten(0, 1) * weights.vector(dtype)).sum().backward();
            (read(y), read(x.grad(&gradients).unwrap()))
        };
        let (found, expected) = (outcome(DType::F32), outcome(DType::F64));
        assert_within("y", &found.0, &expected.0, |i| 8.0 * ROUNDING * expected.0[i].abs());
        assert_within("gradient", &found.1, &expected.1, |_| 20.0 * ROUNDING);
    }

    /// A bit may differ only where u is within the rounding error of σ(a), 4 ρ σ(a).
    #[test]
    fn fast_sampling_agrees_with_the_portable_one(
        (rows, particles, columns) in (1usize..5, 1usize..5, 1usize..41),
        scale in prop::sample::select(vec![1.0f32, 6.0, 80.0, 1e4]),
        transposed in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let logits = Matrix::symmetric([rows, columns], scale, seed);
        let uniforms = Matrix::uniform([rows * particles, columns], seed.wrapping_add(1));
        let sample = |dtype| {
            let lay = |matrix: &Matrix| -> Tensor<Flex, 2> {
                let tensor = matrix.tensor::<Flex>(dtype);
                match transposed {
                    true => Tensor::from_data(
                        tensor.transpose().into_data(),
                        (&Default::default(), dtype),
                    ).transpose(),
                    false => tensor,
                }
            };
            read(sample_bernoulli(lay(&logits), lay(&uniforms)))
        };
        let (found, expected) = (sample(DType::F32), sample(DType::F64));
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let (n, d) = (i / columns, i % columns);
            let sigma = 1.0 / (1.0 + (-logits.at(n, d)).exp());
            let tie = (uniforms.at(n, d) - sigma).abs() <= 4.0 * ROUNDING * sigma;
            assert!(found == expected || tie, "row {n}, column {d}");
        }
    }
}

#[test]
fn bits_and_classes_carry_no_gradient() {
    let logits = Matrix::symmetric([1, 6], 1.0, 0).tensor::<Autodiff<Flex>>(DType::F32);
    let logits = logits.require_grad();
    let uniforms = |columns| Matrix::uniform([2, columns], 1).tensor(DType::F32);
    let bits = sample_bernoulli(logits.clone(), uniforms(6));
    let classes = sample_categorical(logits.clone(), uniforms(3), 3);
    let gradients = (bits.sum() + classes.sum() + logits.clone().sum()).backward();
    assert_eq!(read(logits.grad(&gradients).unwrap()), [1.0; 6]);
}

/// The fast path writes into its arguments' memory where it may: not where someone else holds it.
#[test]
fn arguments_that_are_held_elsewhere_stay_as_they_were() {
    let held = |seed| Matrix::uniform([4, 5], seed).tensor::<Flex>(DType::F32);
    let [a, b, c, d] = [0, 1, 2, 3].map(held);
    let before = [&a, &b, &c, &d].map(|tensor| read(tensor.clone()));
    let step = AdamStep {
        learning_rate: 0.1,
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 1e-8,
        time: 1,
    };
    let held = || (a.clone(), b.clone(), c.clone(), d.clone());
    let (p, g, m, v) = held();
    adam(p, g, m, v, step);
    let (x, y, ..) = held();
    bernoulli_log_prob(x.clone(), y.clone());
    sample_bernoulli(x.clone(), y.clone());
    leaky_relu(x.clone() - 0.5, 0.1);
    leaky_relu(x.clone(), 0.1);
    let primitive = |tensor: &Tensor<Flex, 2>| tensor.clone().into_primitive().tensor();
    tanh(x.clone());
    for activation in [Activation::Tanh, Activation::LeakyRelu(0.1)] {
        Flex::fused_activation_backward(primitive(&x), primitive(&y), activation);
    }
    let weights = Matrix::uniform([1, 4], 9).vector::<Flex>(DType::F32);
    Flex::fold_rows(weights.into_primitive().tensor(), primitive(&x), 4);
    Flex::fused_linear_backward(Some(primitive(&x)), None, primitive(&y));
    assert_eq!([&a, &b, &c, &d].map(|tensor| read(tensor.clone())), before);
}

/// A NaN stays one, in a layer of its own and within nets.
#[test]
fn rectifiers_keep_what_is_no_number() {
    let matrix = |shape, seed| Matrix::symmetric(shape, 1.0, seed);
    let rectifier = Activation::LeakyRelu(0.2);
    for dtype in [DType::F32, DType::F64] {
        let mut x = matrix([2, 3], 1);
        x.row_mut(0)[1] = f32::NAN;
        let x = x.tensor::<Flex>(dtype);
        let nan = |values: Vec<f64>| values.into_iter().map(f64::is_nan).collect::<Vec<_>>();
        let expected = [false, true, false, false, false, false];
        assert_eq!(nan(read(leaky_relu(x.clone(), 0.2))), expected);
        let layer = |shape: [usize; 2], seed| {
            let bias = matrix([1, shape[1]], seed + 1).vector::<Flex>(dtype);
            (matrix(shape, seed).tensor(dtype), bias)
        };
        let outputs = perceptron(x.clone(), layer([3, 4], 2), layer([4, 1], 4), rectifier);
        assert_eq!(nan(read(outputs)), [true, false]);
        let keys = matrix([1, 3], 6).tensor(dtype).reshape([1, 1, 3]);
        let weights = matrix([1, 3], 7).vector(dtype);
        let scores = additive_scores(x.reshape([1, 2, 3]), keys, weights, rectifier);
        assert_eq!(nan(read(scores)), [true, false]);
    }
}

/// The values to the bit, and the gradient to both.
#[test]
fn values_carry_the_gradient_of_another_beside_their_own() {
    let [values, carrier, weights] = [1, 2, 3].map(|seed| Matrix::symmetric([3, 5], 2.0, seed));
    let leaf = |matrix: &Matrix| matrix.tensor::<Autodiff<Flex>>(DType::F32).require_grad();
    let (of_values, of_carrier) = (leaf(&values), leaf(&carrier));
    let y = with_gradient_of(of_values.clone(), of_carrier.clone().powi_scalar(2));
    assert_eq!(read(y.clone()), read(of_values.clone()));
    let gradients = (y * weights.tensor(DType::F32)).sum().backward();
    let weights: Vec<f64> = weights.elements.iter().map(|&w| f64::from(w)).collect();
    assert_eq!(read(of_values.grad(&gradients).unwrap()), weights);
    let slopes = weights.iter().zip(&carrier.elements);
    let slopes: Vec<f64> = slopes.map(|(w, &c)| 2.0 * w * f64::from(c)).collect();
    let found = read(of_carrier.grad(&gradients).unwrap());
    assert_within("gradient", &found, &slopes, |i| {
        4.0 * ROUNDING * slopes[i].abs()
    });
}

#[test]
fn rows_are_repeated_cyclically_and_their_gradients_added_up() {
    let [rows, weights] = [([2, 3], 4), ([6, 3], 5)].map(|(shape, s)| Matrix::uniform(shape, s));
    let leaf = rows.tensor::<Autodiff<Flex>>(DType::F64).require_grad();
    let repeated = repeat_rows(leaf.clone(), 6);
    let expected: Vec<f64> = (0..6)
        .flat_map(|n| rows.row(n))
        .map(|&x| x.into())
        .collect();
    assert_eq!(read(repeated.clone()), expected);
    let gradients = (repeated * weights.tensor(DType::F64)).sum().backward();
    let elements = &weights.elements;
    let sum = |at: usize| (0..3).map(move |copy| f64::from(elements[6 * copy + at]));
    let expected: Vec<f64> = (0..6).map(|at| sum(at).sum()).collect();
    assert_eq!(read(leaf.grad(&gradients).unwrap()), expected);
}

#[test]
#[should_panic(expected = "rows")]
fn rows_that_do_not_divide_the_count_are_refused() {
    repeat_rows(Matrix::uniform([4, 2], 6).tensor::<Flex>(DType::F32), 6);
}
