//! Data as values.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_datasets::Data;
use helmholtz_ops::{Backend, Values};

/// These rows as values `[rows, width]` that read as f32: packed bits where all data are bits and the backend multiplies bits so.
pub fn batch_of<B: Backend>(
    data: &(impl Data + ?Sized),
    rows: impl ExactSizeIterator<Item = usize>,
    device: &B::Device,
) -> Values<B> {
    let shape = [rows.len(), data.width()];
    let rows: Vec<usize> = rows.collect();
    let bits: Option<Vec<_>> = rows.iter().map(|&row| data.row_bits(row)).collect();
    if let Some(bits) = bits.filter(|rows| !rows.is_empty()) {
        let mut words = Vec::with_capacity(shape[0] * shape[1].div_ceil(32));
        for row in bits {
            let (whole, rest) = row.as_chunks::<4>();
            words.extend(whole.iter().map(|&bytes| u32::from_le_bytes(bytes)));
            if !rest.is_empty() {
                let mut last = [0; 4];
                last[..rest.len()].copy_from_slice(rest);
                words.push(u32::from_le_bytes(last));
            }
        }
        return Values::of_words(words, shape, (device, DType::F32));
    }
    let mut numbers = vec![0.0f32; shape[0] * shape[1]];
    for (out, row) in numbers.chunks_exact_mut(shape[1]).zip(rows) {
        data.write_row(row, out);
    }
    Tensor::from_data(TensorData::new(numbers, shape), device).into()
}
