//! The bounded exponential and its gradient, in place.

use burn_flex::FlexTensor;

use super::exp::exp;
use super::{dispatch, elements};

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
