//! Images as values.

use burn::tensor::{DType, Tensor, TensorData};
use helmholtz_datasets::Images;
use helmholtz_ops::{Backend, Values};

/// These images as values `[images, pixels]` that read as f32: packed bits where the images are binary and the backend multiplies
/// bits so.
pub fn batch_of<B: Backend>(
    images: &Images,
    rows: impl ExactSizeIterator<Item = usize>,
    device: &B::Device,
) -> Values<B> {
    let shape = [rows.len(), images.pixels()];
    if images.are_binary() {
        let mut words = Vec::with_capacity(shape[0] * shape[1].div_ceil(32));
        for index in rows {
            let (whole, rest) = images.row_bits(index).as_chunks::<4>();
            words.extend(whole.iter().map(|&bytes| u32::from_le_bytes(bytes)));
            if !rest.is_empty() {
                let mut last = [0; 4];
                last[..rest.len()].copy_from_slice(rest);
                words.push(u32::from_le_bytes(last));
            }
        }
        return Values::of_words(words, shape, (device, DType::F32));
    }
    let mut pixels = vec![0.0f32; shape[0] * shape[1]];
    for (row, index) in pixels.chunks_exact_mut(images.pixels()).zip(rows) {
        images.write_row_f32(index, row);
    }
    Tensor::from_data(TensorData::new(pixels, shape), device).into()
}
