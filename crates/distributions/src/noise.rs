//! Where the uniforms of a draw come from.

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use helmholtz_random::Stream;

/// A source of uniforms in [0, 1), filled in order. A [`Stream`] in production; in a proof, a list.
pub trait Noise {
    /// Fills `out` with the next uniforms.
    fn fill(&mut self, out: &mut [f32]);
}

impl Noise for Stream {
    fn fill(&mut self, out: &mut [f32]) {
        self.fill_uniform_f32(out);
    }
}

/// The uniforms of `noise`, row by row, as a tensor `[rows, columns]` of the given dtype.
pub fn uniforms<B: Backend>(
    shape: [usize; 2],
    dtype: DType,
    device: &B::Device,
    noise: &mut impl Noise,
) -> Tensor<B, 2> {
    let mut values = vec![0.0f32; shape[0] * shape[1]];
    noise.fill(&mut values);
    Tensor::from_data(TensorData::new(values, shape), (device, dtype))
}

/// Uniforms from a list.
#[cfg(test)]
pub(crate) struct List(pub std::vec::IntoIter<f32>);

#[cfg(test)]
impl Noise for List {
    fn fill(&mut self, out: &mut [f32]) {
        out.fill_with(|| self.0.next().expect("enough uniforms"));
    }
}
