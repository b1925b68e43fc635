//! Matrix products into memory that is written once.
//!
//! The backend's own product zeroes its output, copies it into aligned memory, and only then multiplies; and a bias
//! would be another pass. At the sizes of a training step that is a tenth of the time.

use std::mem::MaybeUninit;

use burn_flex::FlexTensor;

use super::{size, written};
use crate::threads::{each, threads};

/// a b + bias (to each row), for a `[M, K]` and b `[K, N]` in any layout, bias `[N]`: `[M, N]`. Its blocks of rows share the threads.
pub fn product(a: &FlexTensor, b: &FlexTensor, bias: Option<&[f32]>) -> FlexTensor {
    let (rows, inner, columns) = (size(a, 0), size(a, 1), size(b, 1));
    assert_eq!(
        inner,
        size(b, 0),
        "the inner dimensions of a product must agree"
    );
    assert!(
        bias.is_none_or(|bias| bias.len() == columns),
        "the bias must be as long as a row"
    );
    let (a, b) = (forwards(a), forwards(b));
    let (a_at, [a_row, a_column]) = view(&a);
    let (b_at, [b_row, b_column]) = view(&b);
    let threads = threads(rows * columns * inner);
    let block = block(rows, threads);
    let multiply = |number: usize, room: &mut [MaybeUninit<f32>]| {
        if let Some(bias) = bias {
            for row in room.chunks_exact_mut(columns) {
                row.write_copy_of_slice(bias);
            }
        }
        // SAFETY: `a_at` and `b_at` with their strides stay inside the tensors' storage, as `view` asserts, and the rows of the
        // block are rows of a. The room is that of the block's elements in row-major order; it is read only if all of them were
        // written, with a bias.
        unsafe {
            gemm::gemm(
                room.len() / columns,
                columns,
                inner,
                room.as_mut_ptr().cast::<f32>(),
                1,
                columns as isize,
                bias.is_some(),
                a_at.as_ptr().offset((number * block) as isize * a_row),
                a_column,
                a_row,
                b_at.as_ptr(),
                b_column,
                b_row,
                1.0f32,
                1.0f32,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
    };
    written([rows, columns], |room| {
        let blocks = room.chunks_mut((block * columns).max(1));
        each(threads, blocks, multiply);
    })
}

/// Rows of each block, for so many blocks at most, as even as can be. None is of 64 rows or fewer, whose products gemm adds up in another
/// order.
fn block(rows: usize, blocks: usize) -> usize {
    let mut sizes = rows.div_ceil(blocks).max(65)..;
    let fits = |size: &usize| *size >= rows || !(1..=64).contains(&(rows % size));
    sizes.find(fits).expect("one is larger than all rows")
}

/// The matrix itself, or a copy of one that lies backwards in memory.
fn forwards(matrix: &FlexTensor) -> FlexTensor {
    match matrix.layout().strides().iter().any(|&stride| stride < 0) {
        true => matrix.to_contiguous(),
        false => matrix.clone(),
    }
}

/// The elements of a matrix from its first one on, and the strides of its rows and columns.
fn view(matrix: &FlexTensor) -> (&[f32], [isize; 2]) {
    let layout = matrix.layout();
    let &[row, column] = layout.strides() else {
        panic!("a matrix has two dimensions");
    };
    let elements = &matrix.storage::<f32>()[layout.start_offset()..];
    assert!(
        row >= 0 && column >= 0,
        "the strides of a matrix must not be negative"
    );
    let last = (size(matrix, 0).max(1) - 1) * row as usize
        + (size(matrix, 1).max(1) - 1) * column as usize;
    let empty = layout.num_elements() == 0;
    assert!(
        empty || last < elements.len(),
        "a matrix must lie inside its storage"
    );
    (elements, [row, column])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_even_and_none_is_of_rows_that_gemm_adds_up_in_another_order() {
        for rows in 0..1100 {
            for blocks in 1..9 {
                let size = block(rows, blocks);
                let last = rows % size;
                assert!(size > 64 && size * blocks >= rows);
                assert!(
                    size >= rows || last == 0 || last > 64,
                    "{rows} rows, {last} in the last block"
                );
            }
        }
        assert_eq!([block(200, 2), block(4001, 2)], [100, 2001]);
        assert_eq!([block(129, 2), block(130, 2), block(200, 8)], [129, 65, 67]);
    }
}
