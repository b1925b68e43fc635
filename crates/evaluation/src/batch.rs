//! Images as a tensor.

use burn::tensor::{Tensor, TensorData, backend::Backend};
use helmholtz_datasets::Images;

/// These images as a tensor `[images, pixels]` of f32.
pub fn batch_of<B: Backend>(
    images: &Images,
    rows: impl ExactSizeIterator<Item = usize>,
    device: &B::Device,
) -> Tensor<B, 2> {
    let shape = [rows.len(), images.pixels()];
    let mut pixels = vec![0.0f32; shape[0] * shape[1]];
    for (row, index) in pixels.chunks_exact_mut(images.pixels()).zip(rows) {
        images.write_row_f32(index, row);
    }
    Tensor::from_data(TensorData::new(pixels, shape), device)
}
