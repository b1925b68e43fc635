//! Our operations on tensors.

use crate::primitive::wrap;

mod bernoulli;
mod canvas;
mod categorical;
mod densities;
mod elementwise;
mod nets;
mod rows;
mod sums;

pub use bernoulli::{
    bernoulli_log_prob, bernoulli_mean_log_prob, draw_bernoulli, sample_bernoulli,
};
pub use canvas::{add_pieces, cross_correlation};
pub use categorical::{
    categorical_log_prob, categorical_log_probabilities, categorical_move, draw_categorical,
    largest_classes, pinned_logits, sample_categorical, swapped_classes,
};
pub use densities::{
    beta_log_prob, normal_gamma_log_prob, normal_gamma_posterior, normal_log_prob,
    normal_log_probs, own_normal_log_probs,
};
pub use elementwise::{
    bounded_exp, bounded_log, digamma, log_gamma, sigmoid, trigamma, with_gradient_of,
};
pub use nets::{adam, additive_scores, leaky_relu, linear, linear_splines, perceptron, tanh};
pub use rows::{
    directions, own_differences, repeat_rows, side_by_side, softmax_rows, squared_norms,
    tempered_softmax_rows,
};
pub use sums::{softmax_moments, softmax_sums};

/// Asserts that `a` rows and `b` rows can meet cyclically.
fn assert_cyclic(a: usize, b: usize) {
    let (few, many) = (a.min(b), a.max(b));
    assert!(
        few > 0 && many.is_multiple_of(few),
        "{a} rows cannot meet {b} rows cyclically"
    );
}

/// Asserts that `few` groups can be repeated cyclically to `many`.
fn assert_groups(few: usize, many: usize) {
    assert!(
        few > 0 && many.is_multiple_of(few),
        "{few} groups cannot meet {many} groups cyclically"
    );
}
