//! Bits packed into words.

use std::ops::Range;

use burn::tensor::ops::{FloatTensor, IntTensor};
use burn::tensor::{DType, ElementConversion, Int, Tensor, TensorMetadata};

use super::{unwrap, wrap};
use crate::{Backend, cat};

/// Bits of a word.
pub(crate) const WORD: usize = u32::BITS as usize;

/// The places 0 … 31 of the bits of a word, `[1, 1, 32]`.
fn places<B: Backend>(words: &Tensor<B, 2, Int>) -> Tensor<B, 3, Int> {
    let places = Tensor::<B, 1, Int>::arange(0..WORD as i64, &words.device());
    places.cast(DType::U32).reshape([1, 1, WORD])
}

pub fn pack_bits<B: Backend>(values: FloatTensor<B>) -> IntTensor<B> {
    let values = wrap::<B, 2>(values);
    let [rows, columns] = values.dims();
    let per_row = columns.div_ceil(WORD);
    let room = Tensor::<B, 2>::zeros(
        [rows, per_row * WORD - columns],
        (&values.device(), values.dtype()),
    );
    let ones = cat(vec![values, room], 1).greater_elem(0.5);
    let ones = ones.int().cast(DType::U32).reshape([rows, per_row, WORD]);
    let shifts = places(&ones.clone().reshape([rows * per_row, WORD]));
    let shifted = ones.bitwise_left_shift(shifts.expand([rows, per_row, WORD]));
    shifted.sum_dim(2).reshape([rows, per_row]).into_primitive()
}

pub fn unpack_bits<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    dtype: DType,
) -> FloatTensor<B> {
    let words = Tensor::<B, 2, Int>::from_primitive(words);
    let [rows, per_row] = words.dims();
    let all = [rows, per_row, WORD];
    let shifts = places(&words).expand(all);
    let shifted = words
        .unsqueeze_dim::<3>(2)
        .expand(all)
        .bitwise_right_shift(shifts);
    let bits = shifted.bitwise_and_scalar(1.elem());
    let bits = bits.reshape([rows, per_row * WORD]).narrow(1, 0, columns);
    unwrap(bits.float().cast(dtype))
}

pub fn bit_columns<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    range: Range<usize>,
) -> IntTensor<B> {
    let numbers = wrap::<B, 2>(B::unpack_bits(words, columns, DType::F32));
    B::pack_bits(unwrap(numbers.narrow(1, range.start, range.len())))
}

/// Packed bits as numbers of the dtype of a matrix, as many columns as its `dimension` is long.
pub fn unpack_like<B: Backend>(
    words: IntTensor<B>,
    matrix: &FloatTensor<B>,
    dimension: usize,
) -> FloatTensor<B> {
    B::unpack_bits(words, matrix.shape()[dimension], matrix.dtype())
}

pub fn bit_linear_backward<B: Backend>(
    words: IntTensor<B>,
    columns: usize,
    grad: FloatTensor<B>,
) -> [FloatTensor<B>; 2] {
    let x = B::unpack_bits(words, columns, grad.dtype());
    let gradients = B::fused_linear_backward(Some(x), None, grad);
    gradients.parameters.expect("x was given").into()
}
