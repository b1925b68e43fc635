//! Leaky rectifier and its gradient, in place.

use burn_flex::FlexTensor;

use super::{dispatch, elements};

/// See [`crate::Backend::fused_leaky_relu`].
pub fn leaky_relu(mut x: FlexTensor, slope: f32) -> FlexTensor {
    dispatch!(rectify(x.storage_mut(), slope));
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
    dispatch!(rectify_gradient(
        elements(output),
        grad.storage_mut(),
        slope
    ));
    grad
}

#[inline(always)]
fn rectify_gradient<const FMA: bool>((output, grad, slope): (&[f32], &mut [f32], f32)) {
    for (&y, g) in output.iter().zip(grad) {
        *g = if y > 0.0 { *g } else { *g * slope };
    }
}
