//! Log-densities of normal-gamma laws and their derivatives, element by element.

use std::f32::consts::PI;

use burn_flex::FlexTensor;

use super::exp::ln;
use super::gamma::{digamma_of, log_gamma_of};
use super::{dispatch, elements};

/// See [`crate::Backend::normal_gamma_log_prob`].
pub fn log_prob(parameters: &[FlexTensor; 4], value: [FlexTensor; 2]) -> FlexTensor {
    let [mut mu, tau] = value;
    let parameters = parameters.each_ref().map(elements);
    dispatch!(densities(parameters, mu.storage_mut(), elements(&tau)));
    mu
}

#[inline(always)]
fn densities<const FMA: bool>(
    ([mean, nu, alpha, beta], mu, tau): ([&[f32]; 4], &mut [f32], &[f32]),
) {
    let constant = 0.5 * (2.0 * PI).ln();
    let laws = mean.iter().zip(nu).zip(alpha).zip(beta);
    for ((mu, &tau), (((&mean, &nu), &alpha), &beta)) in mu.iter_mut().zip(tau).zip(laws) {
        let log_tau = ln::<FMA>(tau);
        let of_tau = alpha * ln::<FMA>(beta) - log_gamma_of::<FMA>(alpha);
        let of_tau = of_tau + (alpha - 1.0) * log_tau - beta * tau;
        let away = *mu - mean;
        let of_mu = 0.5 * (ln::<FMA>(nu) + log_tau - nu * tau * away * away) - constant;
        let inside = tau > 0.0 && alpha > 0.0 && beta > 0.0 && nu > 0.0;
        *mu = if inside { of_tau + of_mu } else { f32::NAN };
    }
}

/// See [`crate::Backend::normal_gamma_log_prob_backward`].
pub fn backward(
    mut parameters: [FlexTensor; 4],
    mut value: [FlexTensor; 2],
    grad: &FlexTensor,
) -> ([FlexTensor; 4], [FlexTensor; 2]) {
    let laws = parameters.each_mut().map(FlexTensor::storage_mut);
    let values = value.each_mut().map(FlexTensor::storage_mut);
    dispatch!(differentiate(laws, values, elements(grad)));
    (parameters, value)
}

#[inline(always)]
fn differentiate<const FMA: bool>(
    ([mean, nu, alpha, beta], [mu, tau], grad): ([&mut [f32]; 4], [&mut [f32]; 2], &[f32]),
) {
    let laws = mean.iter_mut().zip(nu).zip(alpha).zip(beta);
    let values = mu.iter_mut().zip(tau).zip(grad);
    for (((mu, tau), &g), (((mean, nu), alpha), beta)) in values.zip(laws) {
        let away = *mu - *mean;
        let pull = *nu * *tau * away;
        let squares = 0.5 * away * away;
        let of_nu = 0.5 / *nu - *tau * squares;
        let of_alpha = ln::<FMA>(*beta) - digamma_of::<FMA>(*alpha) + ln::<FMA>(*tau);
        let of_beta = *alpha / *beta - *tau;
        let of_tau = (*alpha - 0.5) / *tau - *beta - *nu * squares;
        let inside = *tau > 0.0 && *alpha > 0.0 && *beta > 0.0 && *nu > 0.0;
        // Nothing of an element whose gradient is zero, whatever it holds.
        let weigh = |slope: f32| {
            let slope = if inside { slope } else { f32::NAN };
            if g == 0.0 { 0.0 } else { g * slope }
        };
        (*mean, *nu) = (weigh(pull), weigh(of_nu));
        (*alpha, *beta) = (weigh(of_alpha), weigh(of_beta));
        (*mu, *tau) = (weigh(-pull), weigh(of_tau));
    }
}
