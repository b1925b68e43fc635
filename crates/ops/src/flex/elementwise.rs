//! The bounded exponential, its gradient, and the bounded logarithm, in place.

use burn_flex::FlexTensor;

use super::exp::{exp, ln};
use super::{dispatch, elements};
use crate::threads::{block, each, threads};

/// How long a logarithm takes, in multiplications of a product.
const LOG_COST: usize = 64;

/// See [`crate::Backend::bounded_exp`].
pub fn bounded_exp(mut x: FlexTensor, bound: f32) -> FlexTensor {
    dispatch!(exponentiate(x.storage_mut(), bound));
    x
}

#[inline(always)]
fn exponentiate<const FMA: bool>((x, bound): (&mut [f32], f32)) {
    for x in x {
        // Not `clamp`, whose bounds the compiler would check at every turn.
        let below = if *x > bound { bound } else { *x };
        *x = exp::<FMA>(if below < -bound { -bound } else { below });
    }
}

/// See [`crate::Backend::bounded_exp_backward`].
pub fn bounded_exp_backward(x: &FlexTensor, bound: f32, mut grad: FlexTensor) -> FlexTensor {
    dispatch!(exponentiate_gradient(
        elements(x),
        bound,
        grad.storage_mut()
    ));
    grad
}

#[inline(always)]
fn exponentiate_gradient<const FMA: bool>((x, bound, grad): (&[f32], f32, &mut [f32])) {
    for (&x, g) in x.iter().zip(grad) {
        let outside = x.abs() > bound || *g == 0.0;
        let of_x = *g * exp::<FMA>(if outside { 0.0 } else { x });
        *g = if outside { 0.0 } else { of_x };
    }
}

/// See [`crate::Backend::bounded_log`]. Blocks share the threads.
pub fn bounded_log(mut x: FlexTensor, low: f32, high: f32) -> FlexTensor {
    let values = x.storage_mut::<f32>();
    let threads = threads(values.len() * LOG_COST);
    let block = block(values.len(), threads);
    each(threads, values.chunks_mut(block), |_, values| {
        dispatch!(logarithms(values, low, high));
    });
    x
}

#[inline(always)]
fn logarithms<const FMA: bool>((x, low, high): (&mut [f32], f32, f32)) {
    for x in x {
        let above = if *x < low { low } else { *x };
        *x = ln::<FMA>(if above > high { high } else { above });
    }
}
