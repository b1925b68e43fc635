//! Every hand-written gradient against central differences in f64, and gradients that are wrong on purpose.

use burn::tensor::{Tensor, activation};
use helmholtz_ops::{
    Activation, Backend, Piece, Pieces, add_pieces, additive_scores, bernoulli_log_prob,
    bernoulli_mean_log_prob, beta_log_prob, bounded_exp, cat, categorical_log_prob,
    categorical_log_probabilities, categorical_move, directions, leaky_relu, linear,
    linear_splines, normal_gamma_log_prob, normal_gamma_posterior, normal_log_prob,
    normal_log_probs, own_normal_log_probs, perceptron, sigmoid, softmax_moments, softmax_sums,
    squared_norms, tanh, tempered_softmax_rows,
};

use crate::data::Matrix;
use crate::differences::{Function, check_gradient, constant, gradient, value};

/// Σ_n c_n log p_n + ½ (log p_n)² in logits, values and c.
pub struct RowPass {
    pub logit_rows: usize,
    pub value_rows: usize,
}

pub const COLUMNS: usize = 3;

impl RowPass {
    pub const ALL: [Self; 4] = [
        Self::of(2, 2),
        Self::of(2, 6),
        Self::of(6, 2),
        Self::of(1, 4),
    ];

    const fn of(logit_rows: usize, value_rows: usize) -> Self {
        Self {
            logit_rows,
            value_rows,
        }
    }

    pub fn rows(&self) -> usize {
        self.logit_rows.max(self.value_rows)
    }
}

impl Function for RowPass {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![
            [self.logit_rows, COLUMNS],
            [self.value_rows, COLUMNS],
            [1, self.rows()],
        ]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [logits, values, weights] = [0, 1, 2].map(|i| arguments[i].clone());
        let log_prob = bernoulli_log_prob(logits, values);
        let weights = weights.squeeze_dim::<1>(0);
        (weights * log_prob.clone() + log_prob.clone() * log_prob * 0.5).sum()
    }
}

/// The same of values under means, σ of the first argument.
pub struct MeanRows(pub RowPass);

impl Function for MeanRows {
    fn shapes(&self) -> Vec<[usize; 2]> {
        self.0.shapes()
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [a, values, weights] = [0, 1, 2].map(|i| arguments[i].clone());
        let log_prob = bernoulli_mean_log_prob(activation::sigmoid(a), values, 1e-2);
        let weights = weights.squeeze_dim::<1>(0);
        (weights * log_prob.clone() + log_prob.clone() * log_prob * 0.5).sum()
    }
}

/// Σ_n c_n log p_n + ½ (log p_n)² in logits, values and c, of two variables of three classes.
pub struct CategoricalRows(pub RowPass);

impl Function for CategoricalRows {
    fn shapes(&self) -> Vec<[usize; 2]> {
        let rows = &self.0;
        vec![[rows.logit_rows, 4], [rows.value_rows, 6], [1, rows.rows()]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [logits, values, weights] = [0, 1, 2].map(|i| arguments[i].clone());
        let log_prob = categorical_log_prob(logits, values, 3);
        let weights = weights.squeeze_dim::<1>(0);
        (weights * log_prob.clone() + log_prob.clone() * log_prob * 0.5).sum()
    }
}

/// Σ c ∘ (x W + b)² in x, W and b.
pub struct Affine;

impl Function for Affine {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[4, 3], [3, 2], [1, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [x, weight, bias] = [0, 1, 2].map(|i| arguments[i].clone());
        let y = linear(x, weight, bias.squeeze_dim(0));
        let c: Vec<f64> = (0..8).map(|i| f64::from(i) - 3.5).collect();
        (y.clone() * y * constant(&c, [4, 2])).sum()
    }
}

/// Σ c ∘ score² of two groups of queries and four of keys, in queries, keys and weights.
pub struct AdditiveScores(pub Activation);

impl Function for AdditiveScores {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[6, 5], [8, 5], [1, 5]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [queries, keys, weights] = [0, 1, 2].map(|i| arguments[i].clone());
        let (queries, keys) = (queries.reshape([2, 3, 5]), keys.reshape([4, 2, 5]));
        let scores = additive_scores(queries, keys, weights.squeeze_dim(0), self.0);
        let scores = scores.reshape([4, 6]);
        let c: Vec<f64> = (0..24).map(|i| (f64::from(i) - 11.5) / 8.0).collect();
        (scores.clone() * scores * constant(&c, [4, 6])).sum()
    }
}

/// Σ c ∘ y² of a net of one hidden layer, in x, W, b, V and its bias.
pub struct Perceptron(pub Activation);

impl Function for Perceptron {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[4, 3], [3, 5], [1, 5], [5, 2], [1, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [x, w, b, v, c] = [0, 1, 2, 3, 4].map(|i| arguments[i].clone());
        let (hidden, output) = ((w, b.squeeze_dim(0)), (v, c.squeeze_dim(0)));
        let y = perceptron(x, hidden, output, self.0);
        let c: Vec<f64> = (0..8).map(|i| f64::from(i) - 3.5).collect();
        (y.clone() * y * constant(&c, [4, 2])).sum()
    }
}

/// Σ c ∘ y² of linear splines, two outputs of four rows on two curves, two sums of two, in x, w, c, V and b.
pub struct LinearSplines;

impl Function for LinearSplines {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[4, 3], [1, 5], [2, 5], [5, 2], [1, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [x, w, c, v, b] = [0, 1, 2, 3, 4].map(|i| arguments[i].clone());
        let (hidden, output) = ((w.squeeze_dim(0), c), (v, b.squeeze_dim(0)));
        let y = linear_splines(x, &[1, 0, 1, 1], 2, hidden, output, 0.1).reshape([2, 6]);
        let c: Vec<f64> = (0..12).map(|i| (f64::from(i) - 5.5) / 4.0).collect();
        (y.clone() * y * constant(&c, [2, 6])).sum()
    }
}

/// Σ c ∘ (log p)² of beta laws with parameters ½ + t² and values σ(t), of t.
pub struct BetaLogProb;

impl Function for BetaLogProb {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 3]; 3]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [a, b, x] = [0, 1, 2].map(|i| arguments[i].clone());
        let log_p = beta_log_prob(a.square() + 0.5, b.square() + 0.5, activation::sigmoid(x));
        let c: Vec<f64> = (0..6).map(|i| f64::from(i) - 2.5).collect();
        (log_p.clone() * log_p * constant(&c, [2, 3])).sum()
    }
}

/// Σ c ∘ (‖x_n‖² y_n)², y_n the direction of x_n.
pub struct Lengths;

impl Function for Lengths {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[4, 3]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let x = arguments[0].clone();
        let y = squared_norms(x.clone()).unsqueeze_dim::<2>(1) * directions(x, 0.1);
        let c: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
        (y.clone() * y * constant(&c, [4, 3])).sum()
    }
}

/// Σ c ∘ (log p)² of two groups of values and four of normals, in values, means and the logarithms of precisions.
pub struct NormalLogProbs;

impl Function for NormalLogProbs {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[6, 2], [8, 2], [8, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [values, means, precisions] = [0, 1, 2].map(|i| arguments[i].clone());
        let (means, precisions) = (
            means.reshape([4, 2, 2]),
            precisions.exp().reshape([4, 2, 2]),
        );
        let log_probs = normal_log_probs(values.reshape([2, 3, 2]), means, precisions);
        let log_probs = log_probs.reshape([4, 6]);
        let c: Vec<f64> = (0..24).map(|i| (f64::from(i) - 11.5) / 80.0).collect();
        (log_probs.clone() * log_probs * constant(&c, [4, 6])).sum()
    }
}

/// Σ c ∘ s² of two groups of logits and values.
pub struct SoftmaxSums;

impl Function for SoftmaxSums {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[6, 2], [6, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [logits, values] = [0, 1].map(|i| arguments[i].clone().reshape([2, 3, 2]));
        let sums = softmax_sums(logits, values).reshape([4, 3]);
        let c: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
        (sums.clone() * sums * constant(&c, [4, 3])).sum()
    }
}

/// Σ c ∘ s² of two groups of candidates and two particles.
pub struct SoftmaxMoments;

impl Function for SoftmaxMoments {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[6, 2], [6, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [logits, values] = [0, 1].map(|i| arguments[i].clone().reshape([2, 3, 2]));
        let present = [1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 2.0, 1.0, 1.0, 1.0];
        let present = constant(&present, [4, 3]).reshape([2, 2, 3]);
        let sums = softmax_moments(logits, values, present).reshape([4, 10]);
        let c: Vec<f64> = (0..40).map(|i| (f64::from(i) - 19.5) / 40.0).collect();
        (sums.clone() * sums * constant(&c, [4, 10])).sum()
    }
}

/// Σ c ∘ (log q + (log q)²) of classes drawn by given uniforms.
pub struct CategoricalMove;

impl Function for CategoricalMove {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[4, 3]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let uniforms = constant(&[0.1, 0.4, 0.6, 0.9], [1, 4]).squeeze_dim(0);
        let from = constant(&[1.0, 0.0, 0.0].repeat(4), [4, 3]);
        let (_, log_q, _) = categorical_move(arguments[0].clone(), uniforms, from);
        let c = constant(&[1.0, -0.5, 0.3, 2.0], [1, 4]).squeeze_dim::<1>(0);
        ((log_q.clone() + log_q.clone() * log_q) * c).sum()
    }
}

/// Σ c ∘ (log p)² of normal-gamma laws, the positive numbers being exponentials.
pub struct NormalGammaLogProb;

impl Function for NormalGammaLogProb {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 3]; 6]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [mean, nu, alpha, beta, mu, tau] = [0, 1, 2, 3, 4, 5].map(|i| arguments[i].clone());
        let [nu, alpha, beta, tau] = [nu, alpha, beta, tau].map(Tensor::exp);
        let log_p = normal_gamma_log_prob([mean, nu, alpha, beta], [mu, tau]);
        let c: Vec<f64> = (0..6).map(|i| (f64::from(i) - 2.5) / 10.0).collect();
        (log_p.clone() * log_p * constant(&c, [2, 3])).sum()
    }
}

/// Σ c ∘ (log p)² of normal laws, the standard deviations being exponentials.
pub struct NormalLogProb;

impl Function for NormalLogProb {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 3]; 3]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [mean, deviation, x] = [0, 1, 2].map(|i| arguments[i].clone());
        let log_p = normal_log_prob(mean, deviation.exp(), x);
        let c: Vec<f64> = (0..6).map(|i| (f64::from(i) - 2.5) / 10.0).collect();
        (log_p.clone() * log_p * constant(&c, [2, 3])).sum()
    }
}

/// Σ c ∘ parameters² of normal-gamma laws given moments whose counts are exponentials, with so many sums in two dimensions.
pub struct NormalGammaPosterior(pub usize);

impl Function for NormalGammaPosterior {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[3, 1], [3, 2 * self.0]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let moments = cat(vec![arguments[0].clone().exp(), arguments[1].clone()], 1);
        let found = normal_gamma_posterior([0.3, 0.4, 2.0, 1.5], moments, 2).flatten::<2>(0, 1);
        let c: Vec<f64> = (0..24).map(|i| (f64::from(i) - 11.3) / 50.0).collect();
        (found.clone() * found * constant(&c, [12, 2])).sum()
    }
}

/// Σ c ∘ (log p)² of data, each under its own of two normals.
pub struct OwnNormalLogProbs;

impl Function for OwnNormalLogProbs {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[3, 2], [4, 2], [4, 2]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [values, means, precisions] = [0, 1, 2].map(|i| arguments[i].clone());
        let normals = [means, precisions.exp()].map(|of| of.reshape([2, 2, 2]));
        let classes = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
        let classes = constant(&classes, [6, 2]).reshape([2, 3, 2]);
        let [means, precisions] = normals;
        let values = values.reshape([1, 3, 2]);
        let log_p = own_normal_log_probs(values, classes, means, precisions);
        let c: Vec<f64> = (0..6).map(|i| (f64::from(i) - 2.5) / 20.0).collect();
        (log_p.clone() * log_p * constant(&c, [2, 3])).sum()
    }
}

/// Σ c ∘ y² of a softmax at the temperature t² + ½ and sigmoids, bounded exponentials and pieces of it.
pub struct Exponentials;

impl Function for Exponentials {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 3], [2, 3], [1, 1]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [a, b, t] = [0, 1, 2].map(|i| arguments[i].clone());
        let temperature = t.clone() * t + 0.5;
        let mut pieces = Pieces::default();
        for (to, from) in [(0, 1), (1, 0)] {
            let length = 2;
            pieces.push([Piece { to, from, length }]);
        }
        let sources = tempered_softmax_rows(b, temperature) * bounded_exp(a.clone(), 10.0);
        let y = add_pieces(sigmoid(a), sources, &pieces, -0.5);
        let c: Vec<f64> = (0..6).map(|i| f64::from(i) - 2.5).collect();
        (y.clone() * y * constant(&c, [2, 3])).sum()
    }
}

/// Σ c ∘ (ln p)² of all classes.
pub struct LogProbabilities;

impl Function for LogProbabilities {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 4]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let y = categorical_log_probabilities(arguments[0].clone(), 3);
        let c: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
        (y.clone() * y * constant(&c, [2, 6])).sum()
    }
}

/// Σ c ∘ (leaky(x) + tanh x)², away from the kink.
pub struct Rectifier;

impl Function for Rectifier {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[3, 4]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let y = leaky_relu(arguments[0].clone(), 0.2) + tanh(arguments[0].clone());
        let c: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.5).collect();
        (y.clone() * y * constant(&c, [3, 4])).sum()
    }
}

/// The log-probability of bits under a network of two layers, in the network's input and parameters: the gradients in
/// composition, with particles.
pub struct Network;

impl Function for Network {
    fn shapes(&self) -> Vec<[usize; 2]> {
        vec![[2, 3], [3, 5], [1, 5], [5, 4], [1, 4]]
    }

    fn of<B: Backend>(&self, arguments: &[Tensor<B, 2>]) -> Tensor<B, 1> {
        let [x, w_1, b_1, w_2, b_2] = [0, 1, 2, 3, 4].map(|i| arguments[i].clone());
        let hidden = leaky_relu(linear(x, w_1, b_1.squeeze_dim(0)), 0.1);
        let logits = linear(hidden, w_2, b_2.squeeze_dim(0));
        let bits: Vec<f64> = (0..24)
            .map(|i| f64::from(u8::from(i * 7 % 5 < 2)))
            .collect();
        let log_prob = bernoulli_log_prob(logits, constant(&bits, [6, 4]));
        let weights = constant(&[0.3, -1.2, 0.8, 0.1, 2.0, -0.4], [1, 6]).squeeze_dim(0);
        (weights * log_prob).sum()
    }
}

#[track_caller]
fn check(function: &impl Function) {
    let point = function.point();
    let gradient = gradient(function, &point);
    check_gradient(|at| value(function, at), &gradient, &point).unwrap();
}

#[test]
fn the_row_pass_gradient_is_that_of_the_log_probability() {
    for function in RowPass::ALL {
        check(&function);
    }
}

#[test]
fn the_gradient_in_means_is_that_of_the_log_probability() {
    for rows in RowPass::ALL {
        check(&MeanRows(rows));
    }
}

#[test]
fn the_categorical_row_pass_gradient_is_that_of_the_log_probability() {
    for rows in RowPass::ALL {
        check(&CategoricalRows(rows));
    }
}

#[test]
fn the_linear_gradient_is_that_of_the_layer() {
    check(&Affine);
}

#[test]
fn the_gradient_of_additive_scores_is_that_of_the_net() {
    check(&AdditiveScores(Activation::Tanh));
    check(&AdditiveScores(Activation::LeakyRelu(0.1)));
}

#[test]
fn the_gradient_of_a_perceptron_is_that_of_the_net() {
    check(&Perceptron(Activation::Tanh));
    check(&Perceptron(Activation::LeakyRelu(0.1)));
}

#[test]
fn the_gradient_of_linear_splines_is_that_of_the_net() {
    check(&LinearSplines);
}

#[test]
fn the_gradient_of_beta_log_densities_is_theirs() {
    check(&BetaLogProb);
}

#[test]
fn the_gradients_of_lengths_and_directions_are_theirs() {
    check(&Lengths);
}

#[test]
fn the_gradient_of_normal_log_densities_is_theirs() {
    check(&NormalLogProbs);
}

#[test]
fn the_gradients_of_sums_weighted_by_softmaxes_are_theirs() {
    check(&SoftmaxSums);
}

#[test]
fn the_gradients_of_moments_weighted_by_softmaxes_are_theirs() {
    check(&SoftmaxMoments);
}

#[test]
fn the_gradient_of_moves_of_classes_is_that_of_the_log_probability() {
    check(&CategoricalMove);
}

#[test]
fn the_gradient_of_normal_gamma_log_densities_is_theirs() {
    check(&NormalGammaLogProb);
}

#[test]
fn the_gradient_of_normal_law_log_densities_is_theirs() {
    check(&NormalLogProb);
}

#[test]
fn the_gradient_of_normal_gamma_laws_given_moments_is_theirs() {
    check(&NormalGammaPosterior(2));
    check(&NormalGammaPosterior(4));
}

#[test]
fn the_gradient_of_own_normal_log_densities_is_theirs() {
    check(&OwnNormalLogProbs);
}

#[test]
fn the_gradients_of_exponentials_and_pieces_are_theirs() {
    check(&Exponentials);
    check(&LogProbabilities);
}

#[test]
fn the_leaky_rectifier_gradient_is_its_slope() {
    check(&Rectifier);
}

#[test]
fn the_gradients_compose_to_that_of_a_network() {
    check(&Network);
}

/// The gradient in the logits of Σ_n c_n log p_n for two rows of logits and six of values, written out in plain
/// operations: right, or wrong in one way.
fn written_out(sign: f64, fold: bool, weigh: bool) -> Result<(), String> {
    const ROWS: usize = 6;
    let [logits, values, weights] = [(2, 1.5, 5), (ROWS, 0.5, 6), (ROWS, 1.0, 7)]
        .map(|(rows, scale, seed)| Matrix::symmetric([rows, COLUMNS], scale, seed));
    let f64s =
        |matrix: &Matrix| -> Vec<f64> { matrix.elements.iter().copied().map(f64::from).collect() };
    let tensor = |elements: &[f64], rows| constant::<burn_flex::Flex>(elements, [rows, COLUMNS]);
    let weights = tensor(&f64s(&weights), ROWS).slice([0..ROWS, 0..1]);

    let residual = tensor(&f64s(&values), ROWS)
        - activation::sigmoid(tensor(&f64s(&logits), 2).repeat_dim(0, 3));
    let terms = if weigh {
        residual * weights.clone()
    } else {
        residual
    };
    let gradient = match fold {
        true => terms.reshape([3, 2, COLUMNS]).sum_dim(0).squeeze_dim(0),
        false => terms.slice([0..2, 0..COLUMNS]),
    } * sign;

    let f = |logits: &[f64]| {
        let log_prob = bernoulli_log_prob(tensor(logits, 2), tensor(&f64s(&values), ROWS));
        let weighted = log_prob * weights.clone().squeeze_dim(1);
        crate::data::read(weighted.sum())[0]
    };
    check_gradient(f, &crate::data::read::<_, 2>(gradient), &f64s(&logits))
}

#[test]
fn a_gradient_of_the_wrong_sign_without_the_fold_or_without_the_weights_is_caught() {
    assert_eq!(written_out(1.0, true, true), Ok(()));
    assert!(written_out(-1.0, true, true).is_err());
    assert!(written_out(1.0, false, true).is_err());
    assert!(written_out(1.0, true, false).is_err());
    assert!(written_out(1.0 + 1e-5, true, true).is_err());
}
