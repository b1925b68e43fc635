//! Products with bits, and what else is done with them, on packed words. f32 and f64.

use std::mem::MaybeUninit;
use std::ops::Range;

use burn::tensor::{DType, Element, TensorData};
use burn_flex::FlexTensor;

mod choice;
mod source;
mod sums;
mod tables;

#[cfg(test)]
mod tests;

pub use choice::Way;
use choice::{way, way_of};
use source::Source;
use sums::Sums;
use tables::Tables;

use super::live::live_rows;
use super::product::product;
use super::rows;
use super::vector::Number;
use super::words::{Codes, Lists, Rows, WORD, unpack_row};
use super::{elements, size, written};
use crate::threads::{block, each, threads};

/// How many times as fast as a dense product one with bits is, about.
const FASTER: usize = 4;

/// A whole tensor of words as rows of `columns` bits.
fn rows_of(words: &FlexTensor, columns: usize) -> Rows<'_> {
    Rows::new(whole(words), size(words, 0), columns)
}

/// The elements of a contiguous tensor.
fn numbers<T: Number + Element>(tensor: &FlexTensor) -> &[T] {
    whole(tensor)
}

/// The elements of a contiguous tensor, of which an empty one has none.
fn whole<T: Element + pulp::bytemuck::Pod>(tensor: &FlexTensor) -> &[T] {
    match tensor.layout().num_elements() {
        0 => &[],
        _ => tensor.as_slice().expect("the tensor was made contiguous"),
    }
}

/// See [`crate::Backend::bit_linear`].
pub fn linear(words: &FlexTensor, weight: &FlexTensor, bias: &FlexTensor) -> FlexTensor {
    let way = way_of(rows_of(words, size(weight, 0)), size(weight, 1));
    linear_by(way, words, weight, bias)
}

/// The product by one of the ways: benches compare them. f64 has no dense one.
pub fn linear_by(
    way: Way,
    words: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
) -> FlexTensor {
    match (weight.dtype(), way) {
        (DType::F64, _) => forward::<f64>(way, words, weight, bias),
        (_, Way::Dense) => {
            let x = unpack(words, size(weight, 0), DType::F32);
            product(&x, weight, Some(elements(bias)))
        }
        _ => forward::<f32>(way, words, weight, bias),
    }
}

fn forward<T: Number + Element>(
    way: Way,
    words: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
) -> FlexTensor {
    let (inner, columns) = (size(weight, 0), size(weight, 1));
    let bits = rows_of(words, inner);
    let matrix = Source::new(numbers::<T>(weight), inner, columns);
    let bias = Some(numbers::<T>(bias));
    let arch = pulp::Arch::new();
    written([bits.count(), columns], |out: &mut [MaybeUninit<T>]| {
        let shape = [bits.count(), inner, columns];
        if way == Way::Sums {
            let lists = &Lists::of_rows(bits);
            share(out, shape, |rows, out| {
                arch.dispatch(Sums {
                    lists,
                    rows,
                    matrix,
                    bias,
                    out,
                });
            });
        } else {
            let codes = &Codes::of_rows(bits);
            share(out, shape, |rows, out| {
                arch.dispatch(Tables {
                    codes,
                    rows,
                    matrix,
                    bias,
                    out,
                });
            });
        }
    })
}

/// Does `of` for blocks of the rows of a product `[N, K]` · `[K, M]`, which share the threads.
fn share<T: Send>(
    out: &mut [MaybeUninit<T>],
    [rows, inner, columns]: [usize; 3],
    of: impl Fn(Range<usize>, &mut [MaybeUninit<T>]) + Sync,
) {
    let threads = threads(rows * inner * columns / FASTER);
    let block = block(rows, threads);
    let blocks = out.chunks_mut((block * columns).max(1));
    each(threads, blocks, |number, out| {
        let first = number * block;
        of(first..rows.min(first + block), out);
    });
}

/// See [`crate::Backend::bit_linear_backward`]. Rows of g that are zero throughout take no part.
pub fn backward(words: &FlexTensor, columns: usize, grad: &FlexTensor) -> [FlexTensor; 2] {
    match grad.dtype() {
        DType::F64 => gradients::<f64>(words, columns, grad),
        _ => gradients::<f32>(words, columns, grad),
    }
}

fn gradients<T: Number + Element>(
    words: &FlexTensor,
    columns: usize,
    grad: &FlexTensor,
) -> [FlexTensor; 2] {
    let (bits, width) = (rows_of(words, columns), size(grad, 1));
    let delta = numbers::<T>(grad);
    let mut bias = vec![T::default(); width];
    let live = live_rows(delta, &mut bias);
    let bias = FlexTensor::from_data(TensorData::new(bias, [width]));
    let ones = live.iter().map(|&n| bits.ones_of(n)).sum();
    let way = way(columns, live.len(), ones, width);
    if way == Way::Dense && grad.dtype() == DType::F32 {
        let x = unpack(words, columns, DType::F32);
        return [super::linear::weight_gradient(&x, grad, &live), bias];
    }
    let matrix = Source::new(delta, bits.count(), width).only(&live);
    let arch = pulp::Arch::new();
    let weight = written([columns, width], |out: &mut [MaybeUninit<T>]| {
        let shape = [columns, live.len(), width];
        if way == Way::Sums {
            let lists = &Lists::of_columns(bits, &live);
            share(out, shape, |rows, out| {
                arch.dispatch(Sums {
                    lists,
                    rows,
                    matrix,
                    bias: None,
                    out,
                });
            });
        } else {
            let codes = &Codes::of_columns(bits, &live);
            share(out, shape, |rows, out| {
                arch.dispatch(Tables {
                    codes,
                    rows,
                    matrix,
                    bias: None,
                    out,
                });
            });
        }
    });
    [weight, bias]
}

/// See [`crate::Backend::unpack_bits`].
pub fn unpack(words: &FlexTensor, columns: usize, dtype: DType) -> FlexTensor {
    match dtype {
        DType::F64 => unpacked::<f64>(rows_of(words, columns)),
        _ => unpacked::<f32>(rows_of(words, columns)),
    }
}

fn unpacked<T: Number + Element>(bits: Rows<'_>) -> FlexTensor {
    let mut output = vec![T::default(); bits.count() * bits.columns()];
    let rows = output.chunks_exact_mut(bits.columns().max(1));
    let rows = bits.iter().zip(rows);
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || rows.for_each(|(row, out)| unpack_row(row, out)),
    );
    FlexTensor::from_data(TensorData::new(output, [bits.count(), bits.columns()]))
}

/// See [`crate::Backend::pack_bits`].
pub fn pack(values: &FlexTensor) -> FlexTensor {
    match values.dtype() {
        DType::F64 => packed(numbers::<f64>(values), values, |v| v > 0.5),
        _ => packed(numbers::<f32>(values), values, |v| v > 0.5),
    }
}

/// Rows of bits that tell of each element whether it is a one.
fn packed<T: Copy>(values: &[T], of: &FlexTensor, one: impl Fn(T) -> bool) -> FlexTensor {
    let (rows, width) = (size(of, 0), size(of, 1));
    let per_row = width.div_ceil(WORD);
    let mut words = Vec::with_capacity(rows * per_row);
    for row in values.chunks_exact(width.max(1)) {
        let word = |piece: &[T]| {
            let bits = piece.iter().enumerate();
            bits.fold(0u32, |word, (at, &v)| word | u32::from(one(v)) << at)
        };
        words.extend(row.chunks(WORD).map(word));
    }
    FlexTensor::from_data(TensorData::new(words, [rows, per_row]))
}

/// See [`crate::Backend::sample_bits`].
pub fn sample(logits: &FlexTensor, uniforms: &FlexTensor) -> FlexTensor {
    let (rows, width) = (size(uniforms, 0), size(uniforms, 1));
    let probabilities = rows::probabilities(logits);
    let per_row = width.div_ceil(WORD);
    let mut words = vec![0u32; rows * per_row];
    let uniforms = elements(uniforms);
    super::dispatch!(threshold(
        probabilities.as_slice(),
        uniforms,
        width,
        words.as_mut_slice()
    ));
    FlexTensor::from_data(TensorData::new(words, [rows, per_row]))
}

/// Bit 1 where u < p, for probabilities that repeat cyclically.
#[inline(always)]
fn threshold<const FMA: bool>(
    (probabilities, uniforms, width, words): (&[f32], &[f32], usize, &mut [u32]),
) {
    let per_row = width.div_ceil(WORD);
    let laws = probabilities.chunks_exact(width.max(1)).cycle();
    let rows = uniforms.chunks_exact(width.max(1)).zip(laws);
    for ((uniforms, law), out) in rows.zip(words.chunks_exact_mut(per_row.max(1))) {
        let (u, u_tail) = uniforms.as_chunks::<WORD>();
        let (p, p_tail) = law.as_chunks::<WORD>();
        for ((u, p), out) in u.iter().zip(p).zip(out.iter_mut()) {
            *out = below(u, p);
        }
        if !u_tail.is_empty() {
            let (mut u, mut p) = ([0.0; WORD], [0.0; WORD]);
            u[..u_tail.len()].copy_from_slice(u_tail);
            p[..p_tail.len()].copy_from_slice(p_tail);
            out[per_row - 1] = below(&u, &p);
        }
    }
}

/// Bit j set where u_j < p_j.
#[inline(always)]
fn below(u: &[f32; WORD], p: &[f32; WORD]) -> u32 {
    // Powers of two in four bytes of each of eight lanes: sums of distinct ones, which are their union.
    let mut lanes = [0u32; 8];
    for part in 0..4 {
        for (lane, own) in lanes.iter_mut().enumerate() {
            let at = 8 * part + lane;
            *own |= u32::from(u[at] < p[at]) << at;
        }
    }
    lanes.iter().fold(0, |word, &own| word | own)
}

/// See [`crate::Backend::bit_bernoulli_log_prob`].
pub fn log_prob(logits: &FlexTensor, words: &FlexTensor) -> FlexTensor {
    rows::log_prob_of(logits, rows_of(words, size(logits, 1)))
}

/// See [`crate::Backend::bit_bernoulli_log_prob_and_residual`].
pub fn log_prob_and_residual(logits: FlexTensor, words: &FlexTensor) -> (FlexTensor, FlexTensor) {
    let width = size(&logits, 1);
    rows::log_prob_and_residual_of(logits, rows_of(words, width))
}

/// See [`crate::Backend::bit_columns`].
pub fn columns(words: &FlexTensor, columns: usize, range: std::ops::Range<usize>) -> FlexTensor {
    let bits = rows_of(words, columns);
    let per_row = range.len().div_ceil(WORD);
    let mut output = Vec::with_capacity(bits.count() * per_row);
    for row in bits.iter() {
        for first in range.clone().step_by(WORD) {
            let (word, shift) = (first / WORD, first % WORD);
            let next = row.get(word + 1).copied().unwrap_or(0);
            let both = u64::from(row[word]) | u64::from(next) << WORD;
            let kept = (range.end - first).min(WORD);
            output.push((both >> shift) as u32 & (u32::MAX >> (WORD - kept)));
        }
    }
    FlexTensor::from_data(TensorData::new(output, [bits.count(), per_row]))
}
