//! Gradients of gradients, which REBAR and RELAX need, against central differences of the gradient in f64.

use burn::tensor::Tensor;
use helmholtz_ops::{Activation, Backend, bernoulli_log_prob};

use crate::data::Matrix;
use crate::differences::{Function, check_gradient, gradient, hessian_times};
use crate::first_derivatives::{
    AdditiveScores, Affine, BetaLogProb, COLUMNS, CategoricalMove, CategoricalRows, Exponentials,
    Lengths, LinearSplines, LogProbabilities, MeanRows, Network, NormalGammaLogProb,
    NormalGammaPosterior, NormalLogProb, NormalLogProbs, OwnNormalLogProbs, Perceptron, Rectifier,
    RowPass, SoftmaxMoments, SoftmaxSums,
};

/// The gradient along a direction is a function like any other.
fn outcome(function: &impl Function, break_it: impl Fn(&mut Vec<f64>)) -> Result<(), String> {
    let point = function.point();
    let direction = Matrix::symmetric([1, point.len()], 1.0, 12).elements;
    let direction: Vec<f64> = direction.into_iter().map(f64::from).collect();
    let along = |at: &[f64]| -> f64 {
        let gradient = gradient(function, at);
        gradient.iter().zip(&direction).map(|(g, d)| g * d).sum()
    };
    let mut found = hessian_times(function, &point, &direction);
    break_it(&mut found);
    check_gradient(along, &found, &point)
}

#[track_caller]
fn check(function: &impl Function) {
    outcome(function, |_| {}).unwrap();
}

#[test]
fn the_row_pass_gradient_can_be_differentiated() {
    for function in RowPass::ALL {
        check(&function);
    }
}

#[test]
fn the_gradient_in_means_can_be_differentiated() {
    for rows in RowPass::ALL {
        check(&MeanRows(rows));
    }
}

#[test]
fn the_categorical_row_pass_gradient_can_be_differentiated() {
    for rows in RowPass::ALL {
        check(&CategoricalRows(rows));
    }
}

#[test]
fn the_linear_gradient_can_be_differentiated() {
    check(&Affine);
}

#[test]
fn the_gradient_of_additive_scores_can_be_differentiated() {
    check(&AdditiveScores(Activation::Tanh));
    check(&AdditiveScores(Activation::LeakyRelu(0.1)));
}

#[test]
fn the_gradient_of_a_perceptron_can_be_differentiated() {
    check(&Perceptron(Activation::Tanh));
    check(&Perceptron(Activation::LeakyRelu(0.1)));
}

#[test]
fn the_gradient_of_linear_splines_can_be_differentiated() {
    check(&LinearSplines);
}

#[test]
fn the_gradient_of_beta_log_densities_can_be_differentiated() {
    check(&BetaLogProb);
}

#[test]
fn the_gradients_of_lengths_and_directions_can_be_differentiated() {
    check(&Lengths);
}

#[test]
fn the_gradient_of_normal_log_densities_can_be_differentiated() {
    check(&NormalLogProbs);
}

#[test]
fn the_gradients_of_sums_weighted_by_softmaxes_can_be_differentiated() {
    check(&SoftmaxSums);
}

#[test]
fn the_gradients_of_moments_weighted_by_softmaxes_can_be_differentiated() {
    check(&SoftmaxMoments);
}

#[test]
fn the_gradient_of_moves_of_classes_can_be_differentiated() {
    check(&CategoricalMove);
}

#[test]
fn the_gradient_of_normal_gamma_log_densities_can_be_differentiated() {
    check(&NormalGammaLogProb);
}

#[test]
fn the_gradient_of_normal_law_log_densities_can_be_differentiated() {
    check(&NormalLogProb);
}

#[test]
fn the_gradient_of_normal_gamma_laws_given_moments_can_be_differentiated() {
    check(&NormalGammaPosterior(2));
    check(&NormalGammaPosterior(4));
}

#[test]
fn the_gradient_of_own_normal_log_densities_can_be_differentiated() {
    check(&OwnNormalLogProbs);
}

#[test]
fn the_gradients_of_exponentials_and_pieces_can_be_differentiated() {
    check(&Exponentials);
    check(&LogProbabilities);
}

#[test]
fn the_leaky_rectifier_gradient_can_be_differentiated() {
    check(&Rectifier);
}

#[test]
fn the_gradient_of_a_network_can_be_differentiated() {
    check(&Network);
}

/// Σ_n c_n log p_n with coefficients that are zero, as those of a control variate at its start: how the gradient in the
/// logits changes with the coefficient is not zero.
struct ZeroCoefficients;

impl Function for ZeroCoefficients {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, COLUMNS], [6, COLUMNS], [1, 6]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [logits, values, weights] = [0, 1, 2].map(|i| arguments[i].clone());
        (weights.squeeze_dim(0) * bernoulli_log_prob(logits, values)).sum()
    }

    fn point(&self) -> Vec<f64> {
        let mut point = RowPass {
            logit_rows: 2,
            value_rows: 6,
        }
        .point();
        let first = point.len() - 6;
        point[first + 1] = 0.0;
        point[first + 4] = 0.0;
        point
    }
}

#[test]
fn the_gradient_can_be_differentiated_in_a_coefficient_of_zero() {
    check(&ZeroCoefficients);
}

#[test]
fn a_wrong_second_derivative_is_caught() {
    let function = &ZeroCoefficients;
    assert!(outcome(function, |found| found.iter_mut().for_each(|h| *h = -*h)).is_err());
    // The derivative in a coefficient of zero, lost.
    assert!(outcome(function, |found| *found.last_mut().unwrap() = 0.0).is_err());
    assert!(outcome(function, |found| found[0] += 1e-5).is_err());
}
