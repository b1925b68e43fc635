//! The hand-written gradients of our operations. Each backward pass is made of the inner backend's operations, so on a
//! nested autodiff backend it can be differentiated again.

use std::ops::Range;

use burn::backend::Autodiff;
use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, OpsKind};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::ops::{FloatTensor, IntTensor};
use burn::tensor::{DType, TensorMetadata};

use crate::backend::portable;
use crate::{Activation, Backend, Pieces};

mod canvas;
mod densities;
mod elementwise;
mod nets;
mod rows;
mod sums;

use canvas::AddPieces;
use densities::{
    BetaLogProb, NormalGammaLogProb, NormalGammaPosterior, NormalLogProb, OwnNormalLogProbs,
};
use elementwise::{BoundedExp, Carried, Digamma, LogGamma, Sigmoid};
use nets::{Activated, AdditiveScores, BitLinear, Linear, LinearSplines, Perceptron};
use rows::{
    BitRowPass, CategoricalLogProbabilities, CategoricalMove, Directions, SoftmaxRows,
    SquaredNorms, row_pass,
};
use sums::{SoftmaxMoments, SoftmaxSums};

impl<B: Backend, C: CheckpointStrategy> Backend for Autodiff<B, C> {
    const PACKS_BITS: bool = B::PACKS_BITS;

    fn pack_bits(values: FloatTensor<Self>) -> IntTensor<Self> {
        B::pack_bits(values.primitive)
    }

    fn unpack_bits(words: IntTensor<Self>, columns: usize, dtype: DType) -> FloatTensor<Self> {
        let values = B::unpack_bits(words, columns, dtype);
        constant::<B>(values)
    }

    fn bit_columns(words: IntTensor<Self>, columns: usize, range: Range<usize>) -> IntTensor<Self> {
        B::bit_columns(words, columns, range)
    }

    fn sample_bits(logits: FloatTensor<Self>, uniforms: FloatTensor<Self>) -> IntTensor<Self> {
        B::sample_bits(logits.primitive, uniforms.primitive)
    }

    fn bit_bernoulli_log_prob(
        logits: FloatTensor<Self>,
        words: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        let rows = logits.shape()[0];
        match BitRowPass
            .prepare::<C>([logits.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let (log_prob, residual) =
                    B::bit_bernoulli_log_prob_and_residual(logits.primitive, words);
                prep.finish((residual, rows), log_prob)
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::bit_bernoulli_log_prob(logits.primitive, words))
            }
        }
    }

    fn bit_linear(
        words: IntTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let columns = weight.shape()[0];
        match BitLinear
            .prepare::<C>([weight.node.clone(), bias.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::bit_linear(words.clone(), weight.primitive, bias.primitive);
                prep.finish((words, columns), output)
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::bit_linear(words, weight.primitive, bias.primitive))
            }
        }
    }

    fn bernoulli_log_prob(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        row_pass::<B, C>(
            logits,
            values,
            |logits| logits,
            B::bernoulli_log_prob_and_residual,
            B::bernoulli_log_prob,
        )
    }

    fn bernoulli_mean_log_prob(
        means: FloatTensor<Self>,
        values: FloatTensor<Self>,
        floor: f64,
    ) -> FloatTensor<Self> {
        row_pass::<B, C>(
            means,
            values,
            |means| portable::mean_logits::<B>(means, floor),
            |means, values| B::bernoulli_mean_log_prob_and_slope(means, values, floor),
            |means, values| B::bernoulli_mean_log_prob(means, values, floor),
        )
    }

    fn categorical_log_prob(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        row_pass::<B, C>(
            logits,
            values,
            |logits| portable::pinned_rows::<B>(logits, classes),
            |logits, values| B::categorical_log_prob_and_residual(logits, values, classes),
            |logits, values| B::categorical_log_prob(logits, values, classes),
        )
    }

    fn sample_bernoulli(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let bits = B::sample_bernoulli(logits.primitive, uniforms.primitive);
        constant::<B>(bits)
    }

    fn sample_categorical(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        let values = B::sample_categorical(logits.primitive, uniforms.primitive, classes);
        constant::<B>(values)
    }

    fn categorical_move(
        logits: FloatTensor<Self>,
        uniforms: FloatTensor<Self>,
        from: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3] {
        let (uniforms, from) = (uniforms.primitive, from.primitive);
        let prepared = CategoricalMove.prepare::<C>([logits.node.clone()]);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let logits = logits.primitive;
                let ([drawn, log_prob, reverse], residual) =
                    B::categorical_move_and_residual(logits, uniforms, from);
                let log_prob = prep.finish(residual, log_prob);
                [constant::<B>(drawn), log_prob, constant::<B>(reverse)]
            }
            OpsKind::UnTracked(_) => {
                B::categorical_move(logits.primitive, uniforms, from).map(constant::<B>)
            }
        }
    }

    fn cross_correlation(
        images: FloatTensor<Self>,
        templates: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let responses = B::cross_correlation(images.primitive, templates.primitive);
        constant::<B>(responses)
    }

    fn fused_linear(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let x_tracked = x.is_tracked();
        let parameters_tracked = weight.is_tracked() || bias.is_tracked();
        match Linear
            .prepare::<C>([x.node.clone(), weight.node.clone(), bias.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept_x = parameters_tracked.then(|| x.primitive.clone());
                let kept_weight = x_tracked.then(|| weight.primitive.clone());
                let output = B::fused_linear(x.primitive, weight.primitive, bias.primitive);
                prep.finish((kept_x, kept_weight), output)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::fused_linear(
                x.primitive,
                weight.primitive,
                bias.primitive,
            )),
        }
    }

    fn additive_scores(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        match AdditiveScores
            .prepare::<C>([&queries, &keys, &weights].map(|tensor| tensor.node.clone()))
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept = [&queries, &keys, &weights].map(|tensor| tensor.primitive.clone());
                let [queries, keys, weights] = kept.clone();
                let scores = B::additive_scores(queries, keys, weights, activation);
                prep.finish((kept, activation), scores)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::additive_scores(
                queries.primitive,
                keys.primitive,
                weights.primitive,
                activation,
            )),
        }
    }

    fn perceptron(
        x: FloatTensor<Self>,
        weights: [FloatTensor<Self>; 4],
        activation: Activation,
    ) -> FloatTensor<Self> {
        let [w, b, v, c] = weights.each_ref().map(|tensor| tensor.node.clone());
        match Perceptron
            .prepare::<C>([x.node.clone(), w, b, v, c])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let x_tracked = x.is_tracked();
                let kept = weights.each_ref().map(|tensor| tensor.primitive.clone());
                let output = B::perceptron(x.primitive.clone(), kept.clone(), activation);
                prep.finish((x.primitive, kept, activation, x_tracked), output)
            }
            OpsKind::UnTracked(_) => {
                let weights = weights.map(|tensor| tensor.primitive);
                constant::<B>(B::perceptron(x.primitive, weights, activation))
            }
        }
    }

    fn linear_splines(
        points: FloatTensor<Self>,
        curves: &[usize],
        sums: usize,
        weights: [FloatTensor<Self>; 4],
        slope: f64,
    ) -> FloatTensor<Self> {
        let [w, c, v, b] = weights.each_ref().map(|tensor| tensor.node.clone());
        match LinearSplines
            .prepare::<C>([points.node.clone(), w, c, v, b])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let of_points = points.is_tracked();
                let kept = weights.each_ref().map(|tensor| tensor.primitive.clone());
                let output =
                    B::linear_splines(points.primitive.clone(), curves, sums, kept.clone(), slope);
                let curves = (curves.to_vec(), sums);
                let state = (points.primitive, curves, kept, slope, of_points);
                prep.finish(state, output)
            }
            OpsKind::UnTracked(_) => {
                let weights = weights.map(|tensor| tensor.primitive);
                let points = points.primitive;
                constant::<B>(B::linear_splines(points, curves, sums, weights, slope))
            }
        }
    }

    fn softmax_sums(logits: FloatTensor<Self>, values: FloatTensor<Self>) -> FloatTensor<Self> {
        match SoftmaxSums
            .prepare::<C>([logits.node.clone(), values.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept = [logits.primitive, values.primitive];
                let [logits, values] = kept.clone();
                prep.finish(kept, B::softmax_sums(logits, values))
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::softmax_sums(logits.primitive, values.primitive))
            }
        }
    }

    fn softmax_moments(
        logits: FloatTensor<Self>,
        values: FloatTensor<Self>,
        present: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let present = present.primitive;
        match SoftmaxMoments
            .prepare::<C>([logits.node.clone(), values.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept = [logits.primitive, values.primitive, present];
                let [logits, values, present] = kept.clone();
                prep.finish(kept, B::softmax_moments(logits, values, present))
            }
            OpsKind::UnTracked(_) => constant::<B>(B::softmax_moments(
                logits.primitive,
                values.primitive,
                present,
            )),
        }
    }

    fn own_normal_log_probs(
        values: FloatTensor<Self>,
        classes: FloatTensor<Self>,
        means: FloatTensor<Self>,
        precisions: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if classes.is_tracked() {
            return portable::own_normal_log_probs::<Self>(values, classes, means, precisions);
        }
        let classes = classes.primitive;
        let of_values = values.is_tracked();
        let nodes = [&values, &means, &precisions].map(|t| t.node.clone());
        let [values, means, precisions] = [values, means, precisions].map(|t| t.primitive);
        match OwnNormalLogProbs
            .prepare::<C>(nodes)
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let normals = [means.clone(), precisions.clone()];
                let kept = (values.clone(), classes.clone(), normals, of_values);
                let log_probs = B::own_normal_log_probs(values, classes, means, precisions);
                prep.finish(kept, log_probs)
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::own_normal_log_probs(values, classes, means, precisions))
            }
        }
    }

    fn add_pieces(
        rows: FloatTensor<Self>,
        sources: FloatTensor<Self>,
        pieces: &Pieces,
        weight: f64,
    ) -> FloatTensor<Self> {
        if rows.is_tracked() {
            return portable::add_pieces::<Self>(rows, sources, pieces, weight);
        }
        let (rows, shape) = (rows.primitive, sources.shape());
        match AddPieces
            .prepare::<C>([sources.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::add_pieces(rows, sources.primitive, pieces, weight);
                prep.finish(([shape[0], shape[1]], pieces.clone(), weight), output)
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::add_pieces(rows, sources.primitive, pieces, weight))
            }
        }
    }

    fn categorical_log_probabilities(
        logits: FloatTensor<Self>,
        classes: usize,
    ) -> FloatTensor<Self> {
        match CategoricalLogProbabilities
            .prepare::<C>([logits.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::categorical_log_probabilities(logits.primitive, classes);
                prep.finish((output.clone(), classes), output)
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::categorical_log_probabilities(logits.primitive, classes))
            }
        }
    }

    fn largest_classes(entries: FloatTensor<Self>, classes: usize) -> FloatTensor<Self> {
        constant::<B>(B::largest_classes(entries.primitive, classes))
    }

    fn swapped_classes(
        logits: FloatTensor<Self>,
        logarithms: FloatTensor<Self>,
        classes: usize,
        pairs: &[(usize, usize)],
    ) -> FloatTensor<Self> {
        let [logits, logarithms] = [logits, logarithms].map(|tensor| tensor.primitive);
        constant::<B>(B::swapped_classes(logits, logarithms, classes, pairs))
    }

    fn softmax_rows(x: FloatTensor<Self>, temperature: FloatTensor<Self>) -> FloatTensor<Self> {
        let prepared = SoftmaxRows.prepare::<C>([x.node.clone(), temperature.node.clone()]);
        let learned = temperature.is_tracked();
        let (x, temperature) = (x.primitive, temperature.primitive);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let kept = learned.then(|| x.clone());
                let output = B::softmax_rows(x, temperature.clone());
                prep.finish((kept, [temperature, output.clone()]), output)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::softmax_rows(x, temperature)),
        }
    }

    fn fused_sigmoid(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match Sigmoid
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::fused_sigmoid(x.primitive);
                prep.finish(output.clone(), output)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::fused_sigmoid(x.primitive)),
        }
    }

    fn side_by_side(parts: Vec<FloatTensor<Self>>) -> FloatTensor<Self> {
        if parts.iter().any(|part| part.is_tracked()) {
            return portable::side_by_side::<Self>(parts);
        }
        let parts = parts.into_iter().map(|part| part.primitive);
        let all = B::side_by_side(parts.collect());
        constant::<B>(all)
    }

    fn own_differences(
        values: FloatTensor<Self>,
        classes: FloatTensor<Self>,
        centres: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let all = [values, classes, centres];
        if all.iter().any(|t| t.is_tracked()) {
            let [values, classes, centres] = all;
            return portable::own_differences::<Self>(values, classes, centres);
        }
        let [values, classes, centres] = all.map(|t| t.primitive);
        let differences = B::own_differences(values, classes, centres);
        constant::<B>(differences)
    }

    fn normal_gamma_log_prob(
        parameters: [FloatTensor<Self>; 4],
        value: [FloatTensor<Self>; 2],
    ) -> FloatTensor<Self> {
        let [mean, nu, alpha, beta] = parameters.each_ref().map(|t| t.node.clone());
        let [mu, tau] = value.each_ref().map(|t| t.node.clone());
        let prepared = NormalGammaLogProb.prepare::<C>([mean, nu, alpha, beta, mu, tau]);
        let parameters = parameters.map(|t| t.primitive);
        let value = value.map(|t| t.primitive);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let kept = (parameters.clone(), value.clone());
                prep.finish(kept, B::normal_gamma_log_prob(parameters, value))
            }
            OpsKind::UnTracked(_) => constant::<B>(B::normal_gamma_log_prob(parameters, value)),
        }
    }

    fn normal_log_prob(
        mean: FloatTensor<Self>,
        deviation: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let nodes = [&mean, &deviation, &x].map(|t| t.node.clone());
        let prepared = NormalLogProb.prepare::<C>(nodes);
        let [mean, deviation, x] = [mean, deviation, x].map(|t| t.primitive);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let kept = [mean.clone(), deviation.clone(), x.clone()];
                prep.finish(kept, B::normal_log_prob(mean, deviation, x))
            }
            OpsKind::UnTracked(_) => constant::<B>(B::normal_log_prob(mean, deviation, x)),
        }
    }

    fn normal_gamma_posterior(
        prior: [f64; 4],
        moments: FloatTensor<Self>,
        dimensions: usize,
    ) -> FloatTensor<Self> {
        let prepared = NormalGammaPosterior.prepare::<C>([moments.node.clone()]);
        let moments = moments.primitive;
        let posterior = B::normal_gamma_posterior(prior, moments.clone(), dimensions);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((prior, moments, dimensions), posterior),
            OpsKind::UnTracked(_) => constant::<B>(posterior),
        }
    }

    fn normal_log_probs(
        values: FloatTensor<Self>,
        means: FloatTensor<Self>,
        precisions: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        if [&values, &means, &precisions]
            .iter()
            .any(|t| t.is_tracked())
        {
            return portable::normal_log_probs::<Self>(values, means, precisions);
        }
        let [values, means, precisions] = [values, means, precisions].map(|t| t.primitive);
        let log_probs = B::normal_log_probs(values, means, precisions);
        constant::<B>(log_probs)
    }

    fn fused_activation(x: FloatTensor<Self>, activation: Activation) -> FloatTensor<Self> {
        match Activated
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::fused_activation(x.primitive, activation);
                prep.finish((output.clone(), activation), output)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::fused_activation(x.primitive, activation)),
        }
    }

    fn bounded_exp(x: FloatTensor<Self>, bound: f64) -> FloatTensor<Self> {
        match BoundedExp
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let output = B::bounded_exp(x.primitive.clone(), bound);
                prep.finish((x.primitive, bound), output)
            }
            OpsKind::UnTracked(_) => constant::<B>(B::bounded_exp(x.primitive, bound)),
        }
    }

    fn bounded_log(x: FloatTensor<Self>, low: f64, high: f64) -> FloatTensor<Self> {
        match x.is_tracked() {
            true => portable::bounded_log::<Self>(x, low, high),
            false => constant::<B>(B::bounded_log(x.primitive, low, high)),
        }
    }

    fn with_gradient_of(
        values: FloatTensor<Self>,
        carrier: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let prepared = Carried.prepare::<C>([values.node.clone(), carrier.node.clone()]);
        let values = B::with_gradient_of(values.primitive, carrier.primitive);
        match prepared.compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((), values),
            OpsKind::UnTracked(_) => constant::<B>(values),
        }
    }

    fn beta_log_prob(
        a: FloatTensor<Self>,
        b: FloatTensor<Self>,
        x: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        match BetaLogProb
            .prepare::<C>([&a, &b, &x].map(|tensor| tensor.node.clone()))
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept = [&a, &b, &x].map(|tensor| tensor.primitive.clone());
                let [a, b, x] = kept.clone();
                prep.finish(kept, B::beta_log_prob(a, b, x))
            }
            OpsKind::UnTracked(_) => {
                constant::<B>(B::beta_log_prob(a.primitive, b.primitive, x.primitive))
            }
        }
    }

    fn squared_norms(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match SquaredNorms
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                prep.finish(x.primitive.clone(), B::squared_norms(x.primitive))
            }
            OpsKind::UnTracked(_) => constant::<B>(B::squared_norms(x.primitive)),
        }
    }

    fn directions(x: FloatTensor<Self>, epsilon: f64) -> FloatTensor<Self> {
        match Directions
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => {
                let kept = (x.primitive.clone(), epsilon);
                prep.finish(kept, B::directions(x.primitive, epsilon))
            }
            OpsKind::UnTracked(_) => constant::<B>(B::directions(x.primitive, epsilon)),
        }
    }

    fn log_gamma(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match LogGamma
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => prep.finish(x.primitive.clone(), B::log_gamma(x.primitive)),
            OpsKind::UnTracked(_) => constant::<B>(B::log_gamma(x.primitive)),
        }
    }

    fn digamma(x: FloatTensor<Self>) -> FloatTensor<Self> {
        match Digamma
            .prepare::<C>([x.node.clone()])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prep) => prep.finish(x.primitive.clone(), B::digamma(x.primitive)),
            OpsKind::UnTracked(_) => constant::<B>(B::digamma(x.primitive)),
        }
    }
}

/// A result without a tape. burn keeps operations of constants among its tapes, for others to be recomputed from, and looks through
/// all of them after each backward pass. Ours recompute nothing.
fn constant<B: Backend>(value: FloatTensor<B>) -> FloatTensor<Autodiff<B>> {
    Autodiff::<B>::from_inner(value)
}

/// Registers the gradient of each parent that has a tape.
fn register_all<B: Backend, const N: usize>(
    grads: &mut Gradients,
    parents: [Option<NodeId>; N],
    gradients: [FloatTensor<B>; N],
) {
    for (node, gradient) in parents.into_iter().zip(gradients) {
        if let Some(node) = node {
            grads.register::<B>(node, gradient);
        }
    }
}
