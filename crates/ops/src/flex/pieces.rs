//! Pieces of rows added to rows, and what of a gradient goes back to the pieces.

use burn::tensor::TensorData;
use burn_flex::FlexTensor;

use super::{dispatch, elements, multiply_add, size, zeros};
use crate::{Piece, Pieces};

/// See [`crate::Backend::add_pieces`].
pub fn add(rows: &FlexTensor, sources: &FlexTensor, pieces: &Pieces, weight: f32) -> FlexTensor {
    let width = size(rows, 1);
    let mut output = Vec::with_capacity(pieces.groups() * width);
    let own = size(sources, 1);
    let (rows, sources) = (elements(rows), elements(sources));
    for (group, pieces) in pieces.by_group().enumerate() {
        let start = output.len();
        output.extend_from_slice(&rows[start % rows.len()..][..width]);
        let source = &sources[group * own % sources.len()..][..own];
        dispatch!(place(pieces, source, weight, &mut output[start..]));
    }
    FlexTensor::from_data(TensorData::new(output, [pieces.groups(), width]))
}

#[inline(always)]
fn place<const FMA: bool>((pieces, source, weight, output): (&[Piece], &[f32], f32, &mut [f32])) {
    for &Piece { to, from, length } in pieces {
        let pairs = output[to..to + length].iter_mut();
        let pairs = pairs.zip(&source[from..from + length]);
        pairs.for_each(|(to, &value)| *to = multiply_add::<FMA>(weight, value, *to));
    }
}

/// See [`crate::Backend::add_pieces_backward`].
pub fn backward(
    grad: &FlexTensor,
    sources: [usize; 2],
    pieces: &Pieces,
    weight: f32,
) -> FlexTensor {
    let [count, own] = sources;
    let width = size(grad, 1);
    let mut output = zeros(sources);
    let all = output.storage_mut::<f32>();
    let groups = elements(grad).chunks_exact(width).zip(pieces.by_group());
    for (group, (grad, pieces)) in groups.enumerate() {
        let output = &mut all[group % count * own..][..own];
        dispatch!(take(pieces, grad, weight, output));
    }
    output
}

#[inline(always)]
fn take<const FMA: bool>((pieces, grad, weight, output): (&[Piece], &[f32], f32, &mut [f32])) {
    for &Piece { to, from, length } in pieces {
        let pairs = output[from..from + length].iter_mut();
        let pairs = pairs.zip(&grad[to..to + length]);
        pairs.for_each(|(to, &g)| *to = multiply_add::<FMA>(weight, g, *to));
    }
}
