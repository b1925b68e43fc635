//! Rows of classes.

use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, activation, s};

use super::{align, cycle, unwrap, wrap};
use crate::{Backend, cat};

/// All logits `[M, V, C]` of logits `[M, V (C − 1)]`: before those of each variable the constant 0 of its first class.
pub fn pinned<B: Backend>(logits: Tensor<B, 2>, classes: usize) -> Tensor<B, 3> {
    let [rows, columns] = logits.dims();
    let logits = logits.reshape([rows, columns / (classes - 1), classes - 1]);
    let first = logits.clone().narrow(2, 0, 1).zeros_like();
    cat(vec![first, logits], 2)
}

/// [`pinned`], laid out as values are: `[M, V C]`.
pub fn pinned_rows<B: Backend>(logits: FloatTensor<B>, classes: usize) -> FloatTensor<B> {
    unwrap(pinned(wrap::<B, 2>(logits), classes).flatten::<2>(1, 2))
}

pub fn categorical_log_probabilities<B: Backend>(
    logits: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let all = pinned(wrap::<B, 2>(logits), classes);
    unwrap(activation::log_softmax(all, 2).flatten::<2>(1, 2))
}

pub fn categorical_log_probabilities_backward<B: Backend>(
    output: FloatTensor<B>,
    grad: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let (output, grad) = (wrap::<B, 2>(output), wrap::<B, 2>(grad));
    let [rows, columns] = output.dims();
    let shape = [rows, columns / classes, classes];
    let (output, grad) = (output.reshape(shape), grad.reshape(shape));
    let all = grad.clone() - output.exp() * grad.sum_dim(2);
    unwrap(all.narrow(2, 1, classes - 1).flatten::<2>(1, 2))
}

pub fn largest_classes<B: Backend>(entries: FloatTensor<B>, classes: usize) -> FloatTensor<B> {
    let entries = wrap::<B, 2>(entries);
    let ([rows, columns], dtype) = (entries.dims(), entries.dtype());
    let entries = entries.reshape([rows, columns / classes, classes]);
    let number = |class: usize| entries.clone().narrow(2, 0, 1).zeros_like() + class as f64;
    let numbers = cat((0..classes).map(number).collect(), 2);
    // One class even where several are largest.
    let largest = entries.argmax(2).float().cast(dtype).expand(numbers.dims());
    let value = numbers.equal(largest).float().cast(dtype);
    unwrap(value.flatten::<2>(1, 2))
}

/// A swap changes two columns of φ − ln π.
pub fn swapped_classes<B: Backend>(
    logits: FloatTensor<B>,
    logarithms: FloatTensor<B>,
    classes: usize,
    pairs: &[(usize, usize)],
) -> FloatTensor<B> {
    let (logits, logarithms) = align::<B>(logits, logarithms);
    let [rows, columns] = logits.dims();
    let by_variable = [rows * columns / classes, classes];
    let [logits, logarithms] = [logits, logarithms].map(|all| all.reshape(by_variable));
    let unswapped = logits.clone() - logarithms.clone();
    let of_other =
        |c: usize, j: usize| logits.clone().narrow(1, c, 1) - logarithms.clone().narrow(1, j, 1);
    let entries = pairs.iter().map(|&(c, j)| match c == j {
        true => unswapped.clone(),
        false => unswapped
            .clone()
            .slice_assign(s![.., c..c + 1], of_other(c, j))
            .slice_assign(s![.., j..j + 1], of_other(j, c)),
    });
    let entries = cat(entries.collect(), 0).reshape([pairs.len() * rows, columns]);
    B::largest_classes(unwrap(entries), classes)
}

/// Σ_v z·φ + ln softmax(φ)_0, the second being −ln Σ_c e^φ_c, since φ_0 = 0.
pub fn categorical_log_prob<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let all = pinned(wrap::<B, 2>(logits), classes);
    let first = activation::log_softmax(all.clone(), 2).narrow(2, 0, 1);
    let normaliser = first.squeeze_dim::<2>(2).sum_dim(1);
    let (all, values) = align::<B>(unwrap(all.flatten::<2>(1, 2)), values);
    let normaliser = cycle(normaliser, values.dims()[0]);
    unwrap(((values * all).sum_dim(1) + normaliser).squeeze_dim::<1>(1))
}

pub fn categorical_log_prob_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    values: FloatTensor<B>,
    classes: usize,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let log_prob = B::categorical_log_prob(logits.clone(), values.clone(), classes);
    let probabilities = activation::softmax(pinned(wrap::<B, 2>(logits), classes), 2);
    let probabilities = unwrap(probabilities.flatten::<2>(1, 2));
    let (probabilities, values) = align::<B>(probabilities, values);
    let [rows, columns] = values.dims();
    let residual = (values - probabilities).reshape([rows, columns / classes, classes]);
    let learned = residual.narrow(2, 1, classes - 1);
    (log_prob, unwrap(learned.flatten::<2>(1, 2)))
}

pub fn categorical_move<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    from: FloatTensor<B>,
) -> [FloatTensor<B>; 3] {
    let logits = wrap::<B, 2>(logits);
    let [rows, classes] = logits.dims();
    let first = logits.clone().narrow(1, 0, 1);
    let pinned = logits.narrow(1, 1, classes - 1) - first;
    let uniforms = wrap::<B, 1>(uniforms).reshape([rows, 1]);
    let drawn = B::sample_categorical(unwrap(pinned.clone()), unwrap(uniforms), classes);
    let log_prob = B::categorical_log_prob(unwrap(pinned.clone()), drawn.clone(), classes);
    let reverse = B::categorical_log_prob(unwrap(pinned.detach()), from, classes);
    [drawn, log_prob, reverse]
}

pub fn categorical_move_and_residual<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    from: FloatTensor<B>,
) -> ([FloatTensor<B>; 3], FloatTensor<B>) {
    let moved = B::categorical_move(logits.clone(), uniforms, from);
    let drawn = wrap::<B, 2>(moved[0].clone());
    let residual = drawn - activation::softmax(wrap::<B, 2>(logits), 1);
    (moved, unwrap(residual))
}

/// The class is the number of cumulative sums F(0), …, F(C − 2) that are at most u F(C − 1). For every u < 1 this product is
/// below F(C − 1), also rounded: a class of probability 0 is not drawn, whatever the rounding of the sums.
pub fn sample_categorical<B: Backend>(
    logits: FloatTensor<B>,
    uniforms: FloatTensor<B>,
    classes: usize,
) -> FloatTensor<B> {
    let probabilities = activation::softmax(pinned(wrap::<B, 2>(logits), classes), 2);
    let [_, variables, _] = probabilities.dims();
    // Not by `cumsum`, which on some device may sum in another order.
    let mut cumulative = vec![probabilities.clone().narrow(2, 0, 1)];
    for class in 1..classes {
        let own = probabilities.clone().narrow(2, class, 1);
        cumulative.push(cumulative[class - 1].clone() + own);
    }
    let total = cumulative.pop().expect("a class");
    let uniforms = wrap::<B, 2>(uniforms);
    let rows = uniforms.dims()[0];
    let scaled = uniforms * cycle(total.squeeze_dim::<2>(2), rows);
    let shape = [rows, variables, classes - 1];
    let cumulative = cat(cumulative, 2).flatten::<2>(1, 2);
    let cumulative = cycle(cumulative, rows).reshape(shape);
    let below = scaled
        .reshape([rows, variables, 1])
        .expand(shape)
        .lower(cumulative.clone());
    // 1 where u < F(c), which rises from F(−1) = 0 to F(C − 1) = 1: its steps are the class.
    let below = cumulative.zeros_like().mask_fill(below, 1.0);
    let zeros = below.clone().narrow(2, 0, 1).zeros_like();
    let ones = zeros.ones_like();
    let steps = cat(vec![below.clone(), ones], 2) - cat(vec![zeros, below], 2);
    unwrap(steps.flatten::<2>(1, 2))
}
