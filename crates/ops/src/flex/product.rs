//! Matrix products into memory that is written once.
//!
//! The backend's own product zeroes its output, copies it into aligned memory, and only then multiplies; and a bias
//! would be another pass. At the sizes of a training step that is a tenth of the time.

use std::mem::MaybeUninit;

use burn::tensor::TensorData;
use burn_flex::FlexTensor;

use super::size;
use crate::threads::{block, each, threads};

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
    let mut output: Vec<f32> = Vec::with_capacity(rows * columns);
    let (a, b) = (forwards(a), forwards(b));
    let (a_at, [a_row, a_column]) = view(&a);
    let (b_at, [b_row, b_column]) = view(&b);
    let threads = threads(rows * columns * inner);
    let block = block(rows, threads);
    let room = &mut output.spare_capacity_mut()[..rows * columns];
    let blocks = room.chunks_mut((block * columns).max(1));
    each(threads, blocks, |number, room: &mut [MaybeUninit<f32>]| {
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
    });
    // SAFETY: The products have written each element.
    unsafe { output.set_len(rows * columns) };
    FlexTensor::from_data(TensorData::new(output, [rows, columns]))
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
