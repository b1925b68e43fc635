//! Rows of several matrices side by side.

use burn_flex::FlexTensor;

use super::columns::by_width;
use super::{dispatch, elements, size, zeros};

/// See [`crate::Backend::side_by_side`].
pub fn side_by_side(parts: &[FlexTensor]) -> FlexTensor {
    let rows = parts.iter().map(|part| size(part, 0)).max().unwrap_or(0);
    let width = parts.iter().map(|part| size(part, 1)).sum();
    let mut output = zeros([rows, width]);
    let mut first = 0;
    for part in parts {
        let own = size(part, 1);
        let to = output.storage_mut();
        dispatch!(place(elements(part), [own, width, first], to));
        first += own;
    }
    output
}

#[inline(always)]
fn place<const FMA: bool>((part, [own, width, first], output): (&[f32], [usize; 3], &mut [f32])) {
    if part.is_empty() {
        return;
    }
    for output in output.chunks_mut(part.len() / own * width) {
        by_width!(own, place_few(part, width, first, output), {
            for (to, from) in output.chunks_exact_mut(width).zip(part.chunks_exact(own)) {
                to[first..first + own].copy_from_slice(from);
            }
        });
    }
}

#[inline(always)]
fn place_few<const W: usize>(part: &[f32], width: usize, first: usize, output: &mut [f32]) {
    for (to, from) in output.chunks_exact_mut(width).zip(part.as_chunks::<W>().0) {
        to[first..first + W].copy_from_slice(from);
    }
}
