//! Squared lengths and directions of rows.

use burn_flex::FlexTensor;

use super::columns::by_width;
use super::{dispatch, elements, size, zeros};

/// See [`crate::Backend::squared_norms`].
pub fn squared_norms(x: &FlexTensor) -> FlexTensor {
    let mut output = zeros([size(x, 0)]);
    dispatch!(norms(elements(x), size(x, 1).max(1), output.storage_mut()));
    output
}

#[inline(always)]
fn norms<const FMA: bool>((x, width, output): (&[f32], usize, &mut [f32])) {
    by_width!(width, norms_of(x, output), {
        for (output, row) in output.iter_mut().zip(x.chunks_exact(width)) {
            *output = square(row);
        }
    });
}

#[inline(always)]
fn norms_of<const W: usize>(x: &[f32], output: &mut [f32]) {
    for (output, row) in output.iter_mut().zip(x.as_chunks::<W>().0) {
        *output = square(row);
    }
}

/// See [`crate::Backend::squared_norms_backward`].
pub fn squared_norms_backward(mut x: FlexTensor, grad: &FlexTensor) -> FlexTensor {
    let width = size(&x, 1).max(1);
    dispatch!(scale(elements(grad), width, x.storage_mut()));
    x
}

#[inline(always)]
fn scale<const FMA: bool>((grad, width, x): (&[f32], usize, &mut [f32])) {
    by_width!(width, scale_few(grad, x), {
        for (row, &g) in x.chunks_exact_mut(width).zip(grad) {
            row.iter_mut().for_each(|x| *x *= 2.0 * g);
        }
    });
}

#[inline(always)]
fn scale_few<const W: usize>(grad: &[f32], x: &mut [f32]) {
    for (row, &g) in x.as_chunks_mut::<W>().0.iter_mut().zip(grad) {
        row.iter_mut().for_each(|x| *x *= 2.0 * g);
    }
}

/// See [`crate::Backend::directions`].
pub fn directions(mut x: FlexTensor, epsilon: f32) -> FlexTensor {
    let width = size(&x, 1).max(1);
    dispatch!(direct(width, epsilon, x.storage_mut()));
    x
}

#[inline(always)]
fn direct<const FMA: bool>((width, epsilon, x): (usize, f32, &mut [f32])) {
    by_width!(width, direct_few(epsilon, x), {
        x.chunks_exact_mut(width)
            .for_each(|row| direct_row(epsilon, row));
    });
}

#[inline(always)]
fn direct_few<const W: usize>(epsilon: f32, x: &mut [f32]) {
    for row in x.as_chunks_mut::<W>().0 {
        direct_row(epsilon, row);
    }
}

#[inline(always)]
fn direct_row(epsilon: f32, row: &mut [f32]) {
    let length = (square(row) + epsilon).sqrt();
    row.iter_mut().for_each(|x| *x /= length);
}

/// See [`crate::Backend::directions_backward`].
pub fn directions_backward(x: &FlexTensor, epsilon: f32, mut grad: FlexTensor) -> FlexTensor {
    let width = size(x, 1).max(1);
    dispatch!(across(elements(x), width, epsilon, grad.storage_mut()));
    grad
}

#[inline(always)]
fn across<const FMA: bool>((x, width, epsilon, grad): (&[f32], usize, f32, &mut [f32])) {
    by_width!(width, across_few(x, epsilon, grad), {
        let rows = x.chunks_exact(width).zip(grad.chunks_exact_mut(width));
        rows.for_each(|(row, grad)| across_row(row, epsilon, grad));
    });
}

#[inline(always)]
fn across_few<const W: usize>(x: &[f32], epsilon: f32, grad: &mut [f32]) {
    let rows = x.as_chunks::<W>().0.iter().zip(grad.as_chunks_mut::<W>().0);
    rows.for_each(|(row, grad)| across_row(row, epsilon, grad));
}

/// (g − y (y·g)) / √(‖x‖² + ε), for y the direction of x.
#[inline(always)]
fn across_row(row: &[f32], epsilon: f32, grad: &mut [f32]) {
    let squared = square(row) + epsilon;
    let length = squared.sqrt();
    let along: f32 = row.iter().zip(&*grad).map(|(x, g)| x * g).sum();
    let along = along / squared;
    for (g, x) in grad.iter_mut().zip(row) {
        *g = (*g - x * along) / length;
    }
}

#[inline(always)]
fn square(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum()
}
