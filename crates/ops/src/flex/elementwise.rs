//! Leaky rectifier, bounded exponential, and their gradients, in place.

use burn_flex::FlexTensor;

use super::exp::exp;
use super::{dispatch, elements};
use crate::threads::{block, each, threads};

/// How long an element takes, in multiplications of a product: it is read and written, and little else.
const COST: usize = 64;

/// See [`crate::Backend::fused_leaky_relu`].
pub fn leaky_relu(mut x: FlexTensor, slope: f32) -> FlexTensor {
    let all = x.storage_mut::<f32>();
    let threads = threads(all.len() * COST);
    let blocks = all.chunks_mut(block(all.len(), threads));
    each(threads, blocks, |_, x| dispatch!(rectify(x, slope)));
    x
}

#[inline(always)]
fn rectify<const FMA: bool>((x, slope): (&mut [f32], f32)) {
    for x in x {
        *x = if *x > 0.0 { *x } else { *x * slope };
    }
}

/// See [`crate::Backend::fused_leaky_relu_backward`].
pub fn leaky_relu_backward(output: &FlexTensor, mut grad: FlexTensor, slope: f32) -> FlexTensor {
    let (output, all) = (elements(output), grad.storage_mut::<f32>());
    let threads = threads(all.len() * COST);
    let block = block(all.len(), threads);
    let blocks = output.chunks(block).zip(all.chunks_mut(block));
    each(threads, blocks, |_, (output, grad)| {
        dispatch!(rectify_gradient(output, grad, slope));
    });
    grad
}

#[inline(always)]
fn rectify_gradient<const FMA: bool>((output, grad, slope): (&[f32], &mut [f32], f32)) {
    for (&y, g) in output.iter().zip(grad) {
        *g = if y > 0.0 { *g } else { *g * slope };
    }
}

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
