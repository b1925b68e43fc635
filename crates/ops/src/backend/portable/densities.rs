//! Log-densities.

use std::f64::consts::PI;

use burn::tensor::Tensor;
use burn::tensor::ops::FloatTensor;

use super::{cycle, unwrap, wrap};
use crate::{Backend, OwnNormalGradients, cat};

pub fn own_normal_log_probs<B: Backend>(
    values: FloatTensor<B>,
    classes: FloatTensor<B>,
    means: FloatTensor<B>,
    precisions: FloatTensor<B>,
) -> FloatTensor<B> {
    let classes = wrap::<B, 3>(classes);
    let all = wrap::<B, 3>(B::normal_log_probs(values, means, precisions));
    // Another's density counts for nothing, whatever it is.
    let all = all.mask_fill(classes.clone().equal_elem(0.0), 0.0);
    unwrap((classes * all).sum_dim(2).squeeze_dim::<2>(2))
}

pub fn own_normal_log_probs_backward<B: Backend>(
    values: FloatTensor<B>,
    classes: FloatTensor<B>,
    normals: [FloatTensor<B>; 2],
    grad: FloatTensor<B>,
    of_values: bool,
) -> OwnNormalGradients<B> {
    let (values, classes) = (wrap::<B, 3>(values), wrap::<B, 3>(classes));
    let [means, precisions] = normals.map(wrap::<B, 3>);
    let ([r, n, d], [g, ..]) = (values.dims(), means.dims());
    let weights = classes * wrap::<B, 2>(grad).unsqueeze_dim::<3>(2);
    let x = cycle(values.reshape([r, n * d]), g).reshape([g, n, 1, d]);
    let away = x - means.unsqueeze_dim::<4>(1);
    // Another's density counts for nothing, whatever it is.
    let nothing = weights.clone().equal_elem(0.0).unsqueeze_dim::<4>(3);
    let away = away.clone().mask_fill(nothing.expand(away.dims()), 0.0);
    let weighted = away.clone() * weights.clone().unsqueeze_dim::<4>(3);
    let over_data = |of: Tensor<B, 4>| of.sum_dim(1).squeeze_dim::<3>(1);
    let counts = weights.sum_dim(1).swap_dims(1, 2);
    let squares = over_data(weighted.clone() * away);
    let of_precisions = (counts / precisions.clone() - squares) * 0.5;
    let of_means = over_data(weighted.clone()) * precisions.clone();
    let of_values = of_values.then(|| {
        let pulls = (weighted * precisions.unsqueeze_dim::<4>(1)).sum_dim(2);
        let rows = pulls.neg().reshape([g / r, r * n * d]).sum_dim(0);
        unwrap(rows.reshape([r, n, d]))
    });
    OwnNormalGradients {
        values: of_values,
        normals: [of_means, of_precisions].map(unwrap),
    }
}

pub fn normal_gamma_log_prob<B: Backend>(
    parameters: [FloatTensor<B>; 4],
    value: [FloatTensor<B>; 2],
) -> FloatTensor<B> {
    let [mean, nu, alpha, beta] = parameters.map(wrap::<B, 1>);
    let [mu, tau] = value.map(wrap::<B, 1>);
    let log_gamma = wrap::<B, 1>(B::log_gamma(unwrap(alpha.clone())));
    let log_tau = tau.clone().log();
    let of_tau = alpha.clone() * beta.clone().log() - log_gamma;
    let of_tau = of_tau + (alpha - 1.0) * log_tau.clone() - beta * tau.clone();
    let squares = (mu - mean).square() * nu.clone() * tau;
    unwrap(of_tau + (nu.log() + log_tau - squares - (2.0 * PI).ln()) * 0.5)
}
pub fn normal_gamma_log_prob_backward<B: Backend>(
    parameters: [FloatTensor<B>; 4],
    value: [FloatTensor<B>; 2],
    grad: FloatTensor<B>,
) -> ([FloatTensor<B>; 4], [FloatTensor<B>; 2]) {
    let [mean, nu, alpha, beta] = parameters.map(wrap::<B, 1>);
    let [mu, tau] = value.map(wrap::<B, 1>);
    let grad = wrap::<B, 1>(grad);
    let digamma = wrap::<B, 1>(B::digamma(unwrap(alpha.clone())));
    let away = mu - mean;
    let squares = away.clone().square() * 0.5;
    let pull = away * nu.clone() * tau.clone();
    let of_nu = nu.clone().recip() * 0.5 - tau.clone() * squares.clone();
    let of_alpha = beta.clone().log() - digamma + tau.clone().log();
    let of_beta = alpha.clone() / beta.clone() - tau.clone();
    let of_tau = (alpha - 0.5) / tau - beta - nu * squares;
    // Nothing of an element whose gradient is zero, whatever it holds.
    let nothing = grad.clone().equal_elem(0.0);
    let weigh = |slope: Tensor<B, 1>| {
        let slope = slope * grad.clone();
        unwrap(slope.mask_fill(nothing.clone(), 0.0))
    };
    (
        [pull.clone(), of_nu, of_alpha, of_beta].map(weigh),
        [pull.neg(), of_tau].map(weigh),
    )
}

/// ½ Σ_d (log τ − log 2π − τ (x − μ)²).
pub fn normal_log_probs<B: Backend>(
    values: FloatTensor<B>,
    means: FloatTensor<B>,
    precisions: FloatTensor<B>,
) -> FloatTensor<B> {
    let values = wrap::<B, 3>(values);
    let (means, precisions) = (wrap::<B, 3>(means), wrap::<B, 3>(precisions));
    let ([r, n, d], [g, m, _]) = (values.dims(), means.dims());
    let own = [g / r, r, 1, m, d];
    let norm = (precisions.clone().log() - (2.0 * PI).ln()).sum_dim(2);
    let norm = norm.reshape([g / r, r, 1, m, 1]);
    let away = (values.reshape([1, r, n, 1, d]) - means.reshape(own)).square();
    let energy = (away * precisions.reshape(own)).sum_dim(4);
    unwrap(((norm - energy) * 0.5).reshape([g, n, m]))
}

pub fn normal_log_prob<B: Backend>(
    mean: FloatTensor<B>,
    deviation: FloatTensor<B>,
    x: FloatTensor<B>,
) -> FloatTensor<B> {
    let [mean, deviation, x] = [mean, deviation, x].map(wrap::<B, 1>);
    let z = (x - mean) / deviation.clone();
    unwrap(z.square() * -0.5 - deviation.log() - 0.5 * (2.0 * PI).ln())
}

pub fn normal_log_prob_backward<B: Backend>(
    [mean, deviation, x]: [FloatTensor<B>; 3],
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 3] {
    let [mean, deviation, x, grad] = [mean, deviation, x, grad].map(wrap::<B, 1>);
    let z = (x - mean) / deviation.clone();
    let pull = z.clone() / deviation.clone();
    let of_deviation = (z.square() - 1.0) / deviation;
    // Nothing of an element whose gradient is zero, whatever it holds.
    let nothing = grad.clone().equal_elem(0.0);
    [pull.clone(), of_deviation, pull.neg()].map(|slope| {
        let slope = slope * grad.clone();
        unwrap(slope.mask_fill(nothing.clone(), 0.0))
    })
}

/// S₁ `[R, 1]`, and S₂, S₃ and S₄ `[R, D]`.
fn statistics<B: Backend>(moments: Tensor<B, 2>, d: usize) -> [Tensor<B, 2>; 4] {
    let last = moments.dims()[1] / 2 - d;
    let of = |from, count| moments.clone().narrow(1, from, count);
    [of(0, 1), of(1, d), of(1 + last, d), of(1 + 2 * last + d, d)]
}

pub fn normal_gamma_posterior<B: Backend>(
    [mean, nu, alpha, beta]: [f64; 4],
    moments: FloatTensor<B>,
    dimensions: usize,
) -> FloatTensor<B> {
    let [count, located, sum, squares] = statistics(wrap::<B, 2>(moments), dimensions);
    let (shape, shift) = (located.shape(), count.clone() * mean);
    let nu = count.clone() + nu;
    let located = (located - shift.clone()) / nu.clone() + mean;
    let squares = squares - (sum.clone() * 2.0 - shift.clone()) * mean;
    let sum = sum - shift;
    let beta = (squares - sum.clone() * (sum / nu.clone())) * 0.5 + beta;
    let alpha = count * 0.5 + alpha;
    let [nu, alpha] = [nu, alpha].map(|of| of.expand(shape.clone()));
    let all = [located, nu, alpha, beta].map(Tensor::unsqueeze::<3>);
    unwrap(cat(all.to_vec(), 0))
}

pub fn normal_gamma_posterior_backward<B: Backend>(
    [mean, nu, ..]: [f64; 4],
    moments: FloatTensor<B>,
    dimensions: usize,
    grad: FloatTensor<B>,
) -> FloatTensor<B> {
    let moments = wrap::<B, 2>(moments);
    let twice = moments.dims()[1] == 1 + 4 * dimensions;
    let [count, located, sum, _] = statistics(moments, dimensions);
    let grad = wrap::<B, 3>(grad);
    let of = |parameter| grad.clone().narrow(0, parameter, 1).squeeze_dim::<2>(0);
    let [of_mean, of_nu, of_alpha, of_beta] = [0, 1, 2, 3].map(of);
    let (nu, shift) = (count.clone() + nu, count * mean);
    let average = |sum: Tensor<B, 2>| (sum - shift.clone()) / nu.clone() + mean;
    let pull = of_mean / nu.clone();
    let x = average(sum);
    let of_count = of_nu + of_alpha * 0.5 + of_beta.clone() * x.clone().square() * 0.5;
    let of_count = (of_count - pull.clone() * average(located)).sum_dim(1);
    let of_sum = of_beta.clone().neg() * x;
    let of_squares = of_beta * 0.5;
    let columns = match twice {
        true => vec![of_count, pull, of_sum, of_squares.zeros_like(), of_squares],
        false => vec![of_count, pull + of_sum, of_squares],
    };
    unwrap(cat(columns, 1))
}

pub fn beta_log_prob<B: Backend>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    x: FloatTensor<B>,
) -> FloatTensor<B> {
    let [a, b, x] = [a, b, x].map(wrap::<B, 1>);
    let log_gamma = |of: Tensor<B, 1>| wrap::<B, 1>(B::log_gamma(unwrap(of)));
    let log_norm = log_gamma(a.clone()) + log_gamma(b.clone()) - log_gamma(a.clone() + b.clone());
    unwrap((a - 1.0) * x.clone().log() + (b - 1.0) * x.neg().log1p() - log_norm)
}

pub fn beta_log_prob_backward<B: Backend>(
    a: FloatTensor<B>,
    b: FloatTensor<B>,
    x: FloatTensor<B>,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 3] {
    let [a, b, x, grad] = [a, b, x, grad].map(wrap::<B, 1>);
    let digamma = |of: &Tensor<B, 1>| wrap::<B, 1>(B::digamma(unwrap(of.clone())));
    let of_sum = digamma(&(a.clone() + b.clone()));
    let in_a = x.clone().log() - digamma(&a) + of_sum.clone();
    let in_b = x.clone().neg().log1p() - digamma(&b) + of_sum;
    let in_x = (a - 1.0) / x.clone() - (b - 1.0) / (x.neg() + 1.0);
    // Nothing of an element whose gradient is zero, whatever it holds.
    let nothing = grad.clone().equal_elem(0.0);
    [in_a, in_b, in_x].map(|slope| {
        let slope = slope * grad.clone();
        unwrap(slope.mask_fill(nothing.clone(), 0.0))
    })
}
