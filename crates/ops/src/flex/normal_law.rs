//! Log-densities of normal laws and their derivatives, element by element.

use std::f32::consts::PI;

use burn_flex::FlexTensor;

use super::exp::ln;
use super::{dispatch, elements};

/// See [`crate::Backend::normal_log_prob`].
pub fn log_prob(mean: &FlexTensor, deviation: &FlexTensor, mut x: FlexTensor) -> FlexTensor {
    let parameters = [elements(mean), elements(deviation)];
    dispatch!(densities(parameters, x.storage_mut()));
    x
}

#[inline(always)]
fn densities<const FMA: bool>(([mean, deviation], x): ([&[f32]; 2], &mut [f32])) {
    let constant = 0.5 * (2.0 * PI).ln();
    for ((x, &mean), &deviation) in x.iter_mut().zip(mean).zip(deviation) {
        let z = (*x - mean) / deviation;
        *x = -0.5 * z * z - ln::<FMA>(deviation) - constant;
    }
}

/// See [`crate::Backend::normal_log_prob_backward`].
pub fn backward(mut all: [FlexTensor; 3], grad: &FlexTensor) -> [FlexTensor; 3] {
    let slices = all.each_mut().map(FlexTensor::storage_mut);
    dispatch!(differentiate(slices, elements(grad)));
    all
}

#[inline(always)]
fn differentiate<const FMA: bool>(([mean, deviation, x], grad): ([&mut [f32]; 3], &[f32])) {
    let laws = mean.iter_mut().zip(deviation);
    for (((mean, deviation), x), &g) in laws.zip(x).zip(grad) {
        let inverse = 1.0 / *deviation;
        let z = (*x - *mean) * inverse;
        // Nothing of an element whose gradient is zero, whatever it holds.
        let weigh = |slope: f32| if g == 0.0 { 0.0 } else { g * slope };
        (*mean, *deviation) = (weigh(z * inverse), weigh((z * z - 1.0) * inverse));
        *x = -*mean;
    }
}
