//! The fast path for burn's CPU backend: f32, contiguous, one pass per operation, the best instruction set found at run
//! time. Every other dtype goes to the portable definition.

use std::mem::MaybeUninit;
use std::ops::Range;

use burn::tensor::{DType, Element, TensorData};
use burn_flex::{Flex, FlexTensor};

use crate::backend::{portable, special};
use crate::{
    Activation, AdamStep, AdditiveGradients, Backend, LinearGradients, OwnNormalGradients,
    PerceptronGradients, Pieces,
};

mod activation;
mod adam;
mod additive;
mod beside;
mod beta;
pub(crate) mod bits;
mod categorical;
mod columns;
pub(crate) mod correlation;
mod differences;
mod elementwise;
mod exp;
mod gamma;
mod lengths;
mod linear;
mod live;
mod means;
mod moments;
mod normal;
mod normal_gamma;
mod normal_law;
mod normalised;
mod perceptron;
mod pieces;
mod posterior;
mod product;
mod relaxation;
mod rows;
mod softmax;
mod splines;
mod swaps;
mod vector;
mod words;

/// Runs `$function::<FMA>((arguments))` compiled for the best instruction set of this machine.
///
/// The arguments go in one tuple that the closure consumes: a closure that could run twice is called through a shim,
/// which the compiler leaves without the instruction set.
macro_rules! dispatch {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        let arguments = ($($argument,)*);
        let arch = pulp::Arch::new();
        if matches!(arch, pulp::Arch::Scalar) {
            $function::<false>(arguments)
        } else {
            arch.dispatch(#[inline(always)] move || $function::<true>(arguments))
        }
    }};
}
use dispatch;

/// The widest vector register of f32 that we write for; narrower machines use several.
const LANES: usize = 16;

/// a · b + c, in one rounding where the machine has the instruction (elsewhere it would be a slow library call).
#[inline(always)]
fn multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

impl Backend for Flex {
    const PACKS_BITS: bool = true;

    fn pack_bits(values: FlexTensor) -> FlexTensor {
        bits::pack(&values.to_contiguous())
    }

    fn unpack_bits(words: FlexTensor, columns: usize, dtype: DType) -> FlexTensor {
        bits::unpack(&words.to_contiguous(), columns, dtype)
    }

    fn bit_columns(words: FlexTensor, columns: usize, range: Range<usize>) -> FlexTensor {
        bits::columns(&words.to_contiguous(), columns, range)
    }

    fn sample_bits(logits: FlexTensor, uniforms: FlexTensor) -> FlexTensor {
        match all_f32([&logits, &uniforms]) {
            true => bits::sample(&logits.to_contiguous(), &uniforms.to_contiguous()),
            false => {
                bits::pack(&portable::sample_bernoulli::<Self>(logits, uniforms).to_contiguous())
            }
        }
    }

    fn bit_bernoulli_log_prob(logits: FlexTensor, words: FlexTensor) -> FlexTensor {
        if !all_f32([&logits]) {
            let values = portable::unpack_like::<Self>(words, &logits, 1);
            return portable::bernoulli_log_prob::<Self>(logits, values);
        }
        bits::log_prob(&logits.to_contiguous(), &words.to_contiguous())
    }

    fn bit_bernoulli_log_prob_and_residual(
        logits: FlexTensor,
        words: FlexTensor,
    ) -> (FlexTensor, FlexTensor) {
        if !all_f32([&logits]) {
            let values = portable::unpack_like::<Self>(words, &logits, 1);
            return portable::bernoulli_log_prob_and_residual::<Self>(logits, values);
        }
        bits::log_prob_and_residual(logits.to_contiguous_owned(), &words.to_contiguous())
    }

    fn bit_linear(words: FlexTensor, weight: FlexTensor, bias: FlexTensor) -> FlexTensor {
        let [words, weight, bias] = [words, weight, bias].map(|t| t.to_contiguous());
        bits::linear(&words, &weight, &bias)
    }

    fn bit_linear_backward(words: FlexTensor, columns: usize, grad: FlexTensor) -> [FlexTensor; 2] {
        bits::backward(&words.to_contiguous(), columns, &grad.to_contiguous())
    }

    fn bernoulli_log_prob(logits: FlexTensor, values: FlexTensor) -> FlexTensor {
        match all_f32([&logits, &values]) {
            true => rows::log_prob(&logits.to_contiguous(), &values.to_contiguous()),
            false => portable::bernoulli_log_prob::<Self>(logits, values),
        }
    }

    fn bernoulli_log_prob_and_residual(
        logits: FlexTensor,
        values: FlexTensor,
    ) -> (FlexTensor, FlexTensor) {
        if !all_f32([&logits, &values]) {
            return portable::bernoulli_log_prob_and_residual::<Self>(logits, values);
        }
        rows::log_prob_and_residual(logits.to_contiguous_owned(), &values.to_contiguous())
    }

    fn bernoulli_mean_log_prob(means: FlexTensor, values: FlexTensor, floor: f64) -> FlexTensor {
        if !all_f32([&means, &values]) {
            return portable::bernoulli_mean_log_prob::<Self>(means, values, floor);
        }
        let (means, values) = (means.to_contiguous(), values.to_contiguous());
        means::log_prob(&means, &values, floor as f32, None)
    }

    fn bernoulli_mean_log_prob_and_slope(
        means: FlexTensor,
        values: FlexTensor,
        floor: f64,
    ) -> (FlexTensor, FlexTensor) {
        if !all_f32([&means, &values]) {
            return portable::bernoulli_mean_log_prob_and_slope::<Self>(means, values, floor);
        }
        let (means, values) = (means.to_contiguous(), values.to_contiguous());
        let (count, width) = (size(&means, 0).max(size(&values, 0)), size(&means, 1));
        let mut slopes = zeros([count, width]);
        let out = Some(slopes.storage_mut());
        let log_prob = means::log_prob(&means, &values, floor as f32, out);
        (log_prob, slopes)
    }

    fn categorical_log_prob(logits: FlexTensor, values: FlexTensor, classes: usize) -> FlexTensor {
        if !all_f32([&logits, &values]) {
            return portable::categorical_log_prob::<Self>(logits, values, classes);
        }
        let (logits, values) = (logits.to_contiguous(), values.to_contiguous());
        categorical::log_prob(&logits, &values, classes, None)
    }

    fn categorical_log_prob_and_residual(
        logits: FlexTensor,
        values: FlexTensor,
        classes: usize,
    ) -> (FlexTensor, FlexTensor) {
        if !all_f32([&logits, &values]) {
            return portable::categorical_log_prob_and_residual::<Self>(logits, values, classes);
        }
        let (logits, values) = (logits.to_contiguous(), values.to_contiguous());
        let (count, width) = (size(&logits, 0).max(size(&values, 0)), size(&logits, 1));
        let mut residual = zeros([count, width]);
        let out = Some(residual.storage_mut());
        let log_prob = categorical::log_prob(&logits, &values, classes, out);
        (log_prob, residual)
    }

    fn categorical_move(
        logits: FlexTensor,
        uniforms: FlexTensor,
        from: FlexTensor,
    ) -> [FlexTensor; 3] {
        if !all_f32([&logits, &uniforms, &from]) {
            return portable::categorical_move::<Self>(logits, uniforms, from);
        }
        let [logits, uniforms, from] = [logits, uniforms, from].map(|t| t.to_contiguous());
        categorical::moves(&logits, &uniforms, &from, None)
    }

    fn categorical_move_and_residual(
        logits: FlexTensor,
        uniforms: FlexTensor,
        from: FlexTensor,
    ) -> ([FlexTensor; 3], FlexTensor) {
        if !all_f32([&logits, &uniforms, &from]) {
            return portable::categorical_move_and_residual::<Self>(logits, uniforms, from);
        }
        let [logits, uniforms, from] = [logits, uniforms, from].map(|t| t.to_contiguous());
        let mut residual = zeros([size(&logits, 0), size(&logits, 1)]);
        let out = Some(residual.storage_mut());
        let moves = categorical::moves(&logits, &uniforms, &from, out);
        (moves, residual)
    }

    fn fold_rows(weights: FlexTensor, rows: FlexTensor, folded: usize) -> FlexTensor {
        match all_f32([&weights, &rows]) {
            true => rows::fold(&weights.to_contiguous(), rows.to_contiguous_owned(), folded),
            false => portable::fold_rows::<Self>(weights, rows, folded),
        }
    }

    fn sample_bernoulli(logits: FlexTensor, uniforms: FlexTensor) -> FlexTensor {
        match all_f32([&logits, &uniforms]) {
            true => rows::sample(&logits.to_contiguous(), uniforms.to_contiguous_owned()),
            false => portable::sample_bernoulli::<Self>(logits, uniforms),
        }
    }

    fn sample_categorical(logits: FlexTensor, uniforms: FlexTensor, classes: usize) -> FlexTensor {
        if !all_f32([&logits, &uniforms]) {
            return portable::sample_categorical::<Self>(logits, uniforms, classes);
        }
        categorical::sample(&logits.to_contiguous(), &uniforms.to_contiguous(), classes)
    }

    fn fused_linear(x: FlexTensor, weight: FlexTensor, bias: FlexTensor) -> FlexTensor {
        match all_f32([&x, &weight, &bias]) {
            true => product::product(&x, &weight, Some(elements(&bias.to_contiguous()))),
            false => portable::linear::<Self>(x, weight, bias),
        }
    }

    fn fused_linear_backward(
        x: Option<FlexTensor>,
        weight: Option<FlexTensor>,
        grad: FlexTensor,
    ) -> LinearGradients<Self> {
        let all_f32 = [Some(&grad), x.as_ref(), weight.as_ref()]
            .into_iter()
            .flatten()
            .all(|tensor| tensor.dtype() == DType::F32);
        match all_f32 {
            true => linear::backward(
                x.map(Contiguous::to_contiguous_owned),
                weight,
                grad.to_contiguous_owned(),
            ),
            false => portable::linear_backward::<Self>(x, weight, grad),
        }
    }

    fn additive_scores(
        queries: FlexTensor,
        keys: FlexTensor,
        weights: FlexTensor,
        activation: Activation,
    ) -> FlexTensor {
        if !all_f32([&queries, &keys, &weights]) {
            return portable::additive_scores::<Self>(queries, keys, weights, activation);
        }
        let [queries, keys, weights] = [queries, keys, weights].map(|t| t.to_contiguous());
        additive::scores(&queries, &keys, &weights, activation)
    }

    fn additive_scores_backward(
        queries: FlexTensor,
        keys: FlexTensor,
        weights: FlexTensor,
        activation: Activation,
        grad: FlexTensor,
    ) -> AdditiveGradients<Self> {
        if !all_f32([&queries, &keys, &weights, &grad]) {
            return portable::additive_scores_backward::<Self>(
                queries, keys, weights, activation, grad,
            );
        }
        let [queries, keys, weights, grad] =
            [queries, keys, weights, grad].map(|t| t.to_contiguous());
        additive::backward(&queries, &keys, &weights, activation, &grad)
    }

    fn perceptron(x: FlexTensor, weights: [FlexTensor; 4], activation: Activation) -> FlexTensor {
        if !all_f32([&x]) || !all_f32(weights.each_ref()) {
            return portable::perceptron::<Self>(x, weights, activation);
        }
        let weights = weights.map(|t| t.to_contiguous());
        perceptron::forward(&x.to_contiguous(), &weights, activation)
    }

    fn perceptron_backward(
        x: FlexTensor,
        weights: [FlexTensor; 4],
        activation: Activation,
        grad: FlexTensor,
        of_input: bool,
    ) -> PerceptronGradients<Self> {
        if !all_f32([&x, &grad]) || !all_f32(weights.each_ref()) {
            return portable::perceptron_backward::<Self>(x, weights, activation, grad, of_input);
        }
        let weights = weights.map(|t| t.to_contiguous());
        let [x, grad] = [x, grad].map(|t| t.to_contiguous());
        perceptron::backward(&x, &weights, activation, &grad, of_input)
    }

    fn linear_splines(
        points: FlexTensor,
        curves: &[usize],
        sums: usize,
        weights: [FlexTensor; 4],
        slope: f64,
    ) -> FlexTensor {
        if !all_f32([&points]) || !all_f32(weights.each_ref()) {
            return portable::linear_splines::<Self>(points, curves, sums, weights, slope);
        }
        let weights = weights.map(|t| t.to_contiguous());
        splines::forward(&points.to_contiguous(), curves, sums, &weights, slope)
    }

    fn linear_splines_backward(
        points: FlexTensor,
        curves: &[usize],
        sums: usize,
        weights: [FlexTensor; 4],
        slope: f64,
        grad: FlexTensor,
        of_points: bool,
    ) -> PerceptronGradients<Self> {
        if !all_f32([&points, &grad]) || !all_f32(weights.each_ref()) {
            return portable::linear_splines_backward::<Self>(
                points, curves, sums, weights, slope, grad, of_points,
            );
        }
        let weights = weights.map(|t| t.to_contiguous());
        let [points, grad] = [points, grad].map(|t| t.to_contiguous());
        splines::backward(&points, curves, sums, &weights, slope, &grad, of_points)
    }

    fn softmax_sums(logits: FlexTensor, values: FlexTensor) -> FlexTensor {
        match all_f32([&logits, &values]) {
            true => softmax::sums(&logits.to_contiguous(), &values.to_contiguous()),
            false => portable::softmax_sums::<Self>(logits, values),
        }
    }

    fn softmax_sums_backward(
        logits: FlexTensor,
        values: FlexTensor,
        grad: FlexTensor,
    ) -> [FlexTensor; 2] {
        if !all_f32([&logits, &values, &grad]) {
            return portable::softmax_sums_backward::<Self>(logits, values, grad);
        }
        let [logits, values] = [logits, values].map(Contiguous::to_contiguous_owned);
        softmax::backward(logits, values, &grad.to_contiguous())
    }

    fn softmax_moments(logits: FlexTensor, values: FlexTensor, present: FlexTensor) -> FlexTensor {
        if !all_f32([&logits, &values, &present]) {
            return portable::softmax_moments::<Self>(logits, values, present);
        }
        let [logits, values, present] = [logits, values, present].map(|t| t.to_contiguous());
        moments::sums(&logits, &values, &present)
    }

    fn softmax_moments_backward(
        logits: FlexTensor,
        values: FlexTensor,
        present: FlexTensor,
        grad: FlexTensor,
    ) -> [FlexTensor; 2] {
        if !all_f32([&logits, &values, &present, &grad]) {
            return portable::softmax_moments_backward::<Self>(logits, values, present, grad);
        }
        let [logits, values] = [logits, values].map(Contiguous::to_contiguous_owned);
        let [present, grad] = [present, grad].map(|t| t.to_contiguous());
        moments::backward(logits, values, &present, &grad)
    }

    fn own_normal_log_probs(
        values: FlexTensor,
        classes: FlexTensor,
        means: FlexTensor,
        precisions: FlexTensor,
    ) -> FlexTensor {
        if !all_f32([&values, &classes, &means, &precisions]) {
            return portable::own_normal_log_probs::<Self>(values, classes, means, precisions);
        }
        let [values, classes] = [values, classes].map(|t| t.to_contiguous());
        let [means, precisions] = [means, precisions].map(|t| t.to_contiguous());
        normal::own_log_probs(&values, &classes, &means, &precisions)
    }

    fn own_normal_log_probs_backward(
        values: FlexTensor,
        classes: FlexTensor,
        normals: [FlexTensor; 2],
        grad: FlexTensor,
        of_values: bool,
    ) -> OwnNormalGradients<Self> {
        if !all_f32([&values, &classes, &grad]) || !all_f32(normals.each_ref()) {
            return portable::own_normal_log_probs_backward::<Self>(
                values, classes, normals, grad, of_values,
            );
        }
        let normals = normals.map(|t| t.to_contiguous());
        let data = [values, classes, grad].map(|t| t.to_contiguous());
        normal::own_backward(&data, &normals, of_values)
    }

    fn add_pieces(
        rows: FlexTensor,
        sources: FlexTensor,
        pieces: &Pieces,
        weight: f64,
    ) -> FlexTensor {
        if !all_f32([&rows, &sources]) {
            return portable::add_pieces::<Self>(rows, sources, pieces, weight);
        }
        let [rows, sources] = [rows, sources].map(|t| t.to_contiguous());
        pieces::add(&rows, &sources, pieces, weight as f32)
    }

    fn add_pieces_backward(
        grad: FlexTensor,
        sources: [usize; 2],
        pieces: &Pieces,
        weight: f64,
    ) -> FlexTensor {
        match all_f32([&grad]) {
            true => pieces::backward(&grad.to_contiguous(), sources, pieces, weight as f32),
            false => portable::add_pieces_backward::<Self>(grad, sources, pieces, weight),
        }
    }

    fn categorical_log_probabilities(logits: FlexTensor, classes: usize) -> FlexTensor {
        match all_f32([&logits]) {
            true => relaxation::log_probabilities(&logits.to_contiguous(), classes),
            false => portable::categorical_log_probabilities::<Self>(logits, classes),
        }
    }

    fn categorical_log_probabilities_backward(
        output: FlexTensor,
        grad: FlexTensor,
        classes: usize,
    ) -> FlexTensor {
        if !all_f32([&output, &grad]) {
            return portable::categorical_log_probabilities_backward::<Self>(output, grad, classes);
        }
        relaxation::backward(&output.to_contiguous(), &grad.to_contiguous(), classes)
    }

    fn largest_classes(entries: FlexTensor, classes: usize) -> FlexTensor {
        match all_f32([&entries]) {
            true => relaxation::largest(&entries.to_contiguous(), classes),
            false => portable::largest_classes::<Self>(entries, classes),
        }
    }

    fn swapped_classes(
        logits: FlexTensor,
        logarithms: FlexTensor,
        classes: usize,
        pairs: &[(usize, usize)],
    ) -> FlexTensor {
        if !all_f32([&logits, &logarithms]) {
            return portable::swapped_classes::<Self>(logits, logarithms, classes, pairs);
        }
        let [logits, logarithms] = [logits, logarithms].map(|tensor| tensor.to_contiguous());
        swaps::classes(&logits, &logarithms, classes, pairs)
    }

    fn softmax_rows(x: FlexTensor, temperature: FlexTensor) -> FlexTensor {
        if !all_f32([&x, &temperature]) {
            return portable::softmax_rows::<Self>(x, temperature);
        }
        normalised::softmax(x.to_contiguous_owned(), &temperature.to_contiguous())
    }

    fn softmax_rows_backward(
        x: Option<FlexTensor>,
        temperature: FlexTensor,
        output: FlexTensor,
        grad: FlexTensor,
    ) -> (FlexTensor, Option<FlexTensor>) {
        if !all_f32([&temperature, &output, &grad]) {
            return portable::softmax_rows_backward::<Self>(x, temperature, output, grad);
        }
        let x = x.map(|x| x.to_contiguous());
        let [temperature, output] = [temperature, output].map(|t| t.to_contiguous());
        let grad = grad.to_contiguous_owned();
        normalised::softmax_backward(x.as_ref(), &temperature, &output, grad)
    }

    fn fused_sigmoid(x: FlexTensor) -> FlexTensor {
        match all_f32([&x]) {
            true => normalised::sigmoid(x.to_contiguous_owned()),
            false => portable::sigmoid::<Self>(x),
        }
    }

    fn fused_sigmoid_backward(output: FlexTensor, grad: FlexTensor) -> FlexTensor {
        if !all_f32([&output, &grad]) {
            return portable::sigmoid_backward::<Self>(output, grad);
        }
        normalised::sigmoid_backward(&output.to_contiguous(), grad.to_contiguous_owned())
    }

    fn side_by_side(parts: Vec<FlexTensor>) -> FlexTensor {
        if parts.iter().any(|part| part.dtype() != DType::F32) {
            return portable::side_by_side::<Self>(parts);
        }
        let parts: Vec<_> = parts.iter().map(FlexTensor::to_contiguous).collect();
        beside::side_by_side(&parts)
    }

    fn own_differences(values: FlexTensor, classes: FlexTensor, centres: FlexTensor) -> FlexTensor {
        if !all_f32([&values, &classes, &centres]) {
            return portable::own_differences::<Self>(values, classes, centres);
        }
        let [values, classes, centres] = [values, classes, centres].map(|t| t.to_contiguous());
        differences::own_differences(&values, &classes, &centres)
    }

    fn normal_gamma_log_prob(parameters: [FlexTensor; 4], value: [FlexTensor; 2]) -> FlexTensor {
        if !all_f32(parameters.each_ref()) || !all_f32(value.each_ref()) {
            return portable::normal_gamma_log_prob::<Self>(parameters, value);
        }
        let parameters = parameters.map(|t| t.to_contiguous());
        normal_gamma::log_prob(&parameters, value.map(Contiguous::to_contiguous_owned))
    }

    fn normal_gamma_log_prob_backward(
        parameters: [FlexTensor; 4],
        value: [FlexTensor; 2],
        grad: FlexTensor,
    ) -> ([FlexTensor; 4], [FlexTensor; 2]) {
        if !all_f32(parameters.each_ref()) || !all_f32(value.each_ref()) || !all_f32([&grad]) {
            return portable::normal_gamma_log_prob_backward::<Self>(parameters, value, grad);
        }
        normal_gamma::backward(
            parameters.map(Contiguous::to_contiguous_owned),
            value.map(Contiguous::to_contiguous_owned),
            &grad.to_contiguous(),
        )
    }

    fn normal_log_prob(mean: FlexTensor, deviation: FlexTensor, x: FlexTensor) -> FlexTensor {
        if !all_f32([&mean, &deviation, &x]) {
            return portable::normal_log_prob::<Self>(mean, deviation, x);
        }
        let [mean, deviation] = [mean, deviation].map(|t| t.to_contiguous());
        normal_law::log_prob(&mean, &deviation, x.to_contiguous_owned())
    }

    fn normal_log_prob_backward(
        mean: FlexTensor,
        deviation: FlexTensor,
        x: FlexTensor,
        grad: FlexTensor,
    ) -> [FlexTensor; 3] {
        if !all_f32([&mean, &deviation, &x, &grad]) {
            return portable::normal_log_prob_backward::<Self>([mean, deviation, x], grad);
        }
        let all = [mean, deviation, x].map(Contiguous::to_contiguous_owned);
        normal_law::backward(all, &grad.to_contiguous())
    }

    fn normal_gamma_posterior(
        prior: [f64; 4],
        moments: FlexTensor,
        dimensions: usize,
    ) -> FlexTensor {
        match all_f32([&moments]) {
            true => posterior::parameters(prior, &moments.to_contiguous(), dimensions),
            false => portable::normal_gamma_posterior::<Self>(prior, moments, dimensions),
        }
    }

    fn normal_gamma_posterior_backward(
        prior: [f64; 4],
        moments: FlexTensor,
        dimensions: usize,
        grad: FlexTensor,
    ) -> FlexTensor {
        if !all_f32([&moments, &grad]) {
            return portable::normal_gamma_posterior_backward::<Self>(
                prior, moments, dimensions, grad,
            );
        }
        let [moments, grad] = [moments, grad].map(|t| t.to_contiguous());
        posterior::backward(prior, &moments, dimensions, &grad)
    }

    fn normal_log_probs(
        values: FlexTensor,
        means: FlexTensor,
        precisions: FlexTensor,
    ) -> FlexTensor {
        if !all_f32([&values, &means, &precisions]) {
            return portable::normal_log_probs::<Self>(values, means, precisions);
        }
        let [values, means, precisions] = [values, means, precisions].map(|t| t.to_contiguous());
        normal::log_probs(&values, &means, &precisions)
    }

    fn cross_correlation(images: FlexTensor, templates: FlexTensor) -> FlexTensor {
        match all_f32([&images, &templates]) {
            true => correlation::responses(&images.to_contiguous(), &templates.to_contiguous()),
            false => portable::cross_correlation::<Self>(images, templates),
        }
    }

    fn fused_activation(x: FlexTensor, activation: Activation) -> FlexTensor {
        match all_f32([&x]) {
            true => activation::activate(x.to_contiguous_owned(), activation),
            false => portable::activation::<Self>(x, activation),
        }
    }

    fn fused_activation_backward(
        output: FlexTensor,
        grad: FlexTensor,
        activation: Activation,
    ) -> FlexTensor {
        if !all_f32([&output, &grad]) {
            return portable::activation_backward::<Self>(output, grad, activation);
        }
        activation::backward(
            &output.to_contiguous(),
            grad.to_contiguous_owned(),
            activation,
        )
    }

    fn bounded_exp(x: FlexTensor, bound: f64) -> FlexTensor {
        match all_f32([&x]) {
            true => elementwise::bounded_exp(x.to_contiguous_owned(), bound as f32),
            false => portable::bounded_exp::<Self>(x, bound),
        }
    }

    fn bounded_exp_backward(x: FlexTensor, bound: f64, grad: FlexTensor) -> FlexTensor {
        if !all_f32([&x, &grad]) {
            return portable::bounded_exp_backward::<Self>(x, bound, grad);
        }
        let grad = grad.to_contiguous_owned();
        elementwise::bounded_exp_backward(&x.to_contiguous(), bound as f32, grad)
    }

    fn bounded_log(x: FlexTensor, low: f64, high: f64) -> FlexTensor {
        match all_f32([&x]) {
            true => elementwise::bounded_log(x.to_contiguous_owned(), low as f32, high as f32),
            false => portable::bounded_log::<Self>(x, low, high),
        }
    }

    fn beta_log_prob(a: FlexTensor, b: FlexTensor, x: FlexTensor) -> FlexTensor {
        if !all_f32([&a, &b, &x]) {
            return portable::beta_log_prob::<Self>(a, b, x);
        }
        beta::log_prob(
            &a.to_contiguous(),
            &b.to_contiguous(),
            x.to_contiguous_owned(),
        )
    }

    fn beta_log_prob_backward(
        a: FlexTensor,
        b: FlexTensor,
        x: FlexTensor,
        grad: FlexTensor,
    ) -> [FlexTensor; 3] {
        if !all_f32([&a, &b, &x, &grad]) {
            return portable::beta_log_prob_backward::<Self>(a, b, x, grad);
        }
        let [a, b, x] = [a, b, x].map(Contiguous::to_contiguous_owned);
        beta::backward(a, b, x, &grad.to_contiguous())
    }

    fn squared_norms(x: FlexTensor) -> FlexTensor {
        match all_f32([&x]) {
            true => lengths::squared_norms(&x.to_contiguous()),
            false => portable::squared_norms::<Self>(x),
        }
    }

    fn squared_norms_backward(x: FlexTensor, grad: FlexTensor) -> FlexTensor {
        match all_f32([&x, &grad]) {
            true => lengths::squared_norms_backward(x.to_contiguous_owned(), &grad.to_contiguous()),
            false => portable::squared_norms_backward::<Self>(x, grad),
        }
    }

    fn directions(x: FlexTensor, epsilon: f64) -> FlexTensor {
        match all_f32([&x]) {
            true => lengths::directions(x.to_contiguous_owned(), epsilon as f32),
            false => portable::directions::<Self>(x, epsilon),
        }
    }

    fn directions_backward(x: FlexTensor, epsilon: f64, grad: FlexTensor) -> FlexTensor {
        match all_f32([&x, &grad]) {
            true => lengths::directions_backward(
                &x.to_contiguous(),
                epsilon as f32,
                grad.to_contiguous_owned(),
            ),
            false => portable::directions_backward::<Self>(x, epsilon, grad),
        }
    }

    fn log_gamma(x: FlexTensor) -> FlexTensor {
        match all_f32([&x]) {
            true => gamma::log_gamma(x.to_contiguous_owned()),
            false => special::log_gamma::<Self>(x),
        }
    }

    fn digamma(x: FlexTensor) -> FlexTensor {
        match all_f32([&x]) {
            true => gamma::digamma(x.to_contiguous_owned()),
            false => special::digamma::<Self>(x),
        }
    }

    fn adam(
        parameter: FlexTensor,
        grad: FlexTensor,
        moment_1: FlexTensor,
        moment_2: FlexTensor,
        step: AdamStep,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        match all_f32([&parameter, &grad, &moment_1, &moment_2]) {
            true => adam::update(
                parameter.to_contiguous_owned(),
                &grad.to_contiguous(),
                moment_1.to_contiguous_owned(),
                moment_2.to_contiguous_owned(),
                step,
            ),
            false => portable::adam::<Self>(parameter, grad, moment_1, moment_2, step),
        }
    }
}

fn all_f32<const N: usize>(tensors: [&FlexTensor; N]) -> bool {
    tensors.iter().all(|tensor| tensor.dtype() == DType::F32)
}

fn size(tensor: &FlexTensor, dimension: usize) -> usize {
    tensor.layout().shape()[dimension]
}

fn zeros<const D: usize>(shape: [usize; D]) -> FlexTensor {
    let elements = shape.iter().product();
    FlexTensor::from_data(TensorData::new(vec![0.0f32; elements], shape))
}

/// A matrix that `write` fills throughout.
fn written<T: Element>(shape: [usize; 2], write: impl FnOnce(&mut [MaybeUninit<T>])) -> FlexTensor {
    let count = shape[0] * shape[1];
    let mut output = Vec::<T>::with_capacity(count);
    write(&mut output.spare_capacity_mut()[..count]);
    // SAFETY: the kernels write each element of what they are given, as their documentation says and their tests hold.
    unsafe { output.set_len(count) };
    FlexTensor::from_data(TensorData::new(output, shape))
}

/// The elements of a contiguous f32 tensor, in order.
fn elements(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("the tensor was made contiguous")
}

/// Consuming forms, which keep a tensor unique where it was.
trait Contiguous {
    /// Contiguous from offset 0 over its whole storage, without a copy where it is so already.
    fn to_contiguous_owned(self) -> FlexTensor;
}

impl Contiguous for FlexTensor {
    fn to_contiguous_owned(self) -> FlexTensor {
        let whole = self.layout().num_elements() == self.bytes().len() / size_of::<f32>();
        if self.is_contiguous() && self.layout().start_offset() == 0 && whole {
            self
        } else {
            self.to_contiguous()
        }
    }
}
