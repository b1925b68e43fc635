//! Layers of bits, of classes and of counts: scores, means and relaxations are what they are said to be.

mod counts;
mod enumerated;
mod relaxed;
mod shapes;

use burn::tensor::{DType, Device, Tensor, TensorData};
use helmholtz_ops::Backend;
use helmholtz_random::{Purpose, Stream};

/// Two variables of four classes.
const CLASSES: helmholtz_distributions::Classes = helmholtz_distributions::Classes {
    variables: 2,
    classes: 4,
};
const LOGITS_OF_CLASSES: [f64; 6] = [0.3, -2.0, 1.5, 1.0, 0.2, -0.4];

const BITS: helmholtz_distributions::Bits = helmholtz_distributions::Bits(3);
const LOGITS_OF_BITS: [f64; 3] = [0.3, -2.0, 1.5];

fn matrix<B: Backend>(elements: &[f64], columns: usize) -> Tensor<B, 2> {
    let shape = [elements.len() / columns, columns];
    let data = TensorData::new(elements.to_vec(), shape);
    Tensor::from_data(data, (&Device::<B>::default(), DType::F64))
}

/// One row, `rows` times.
fn rows<B: Backend>(row: &[f64], rows: usize) -> Tensor<B, 2> {
    matrix::<B>(row, row.len()).expand([rows, row.len()])
}

/// Uniforms in [0, 1).
fn uniforms<B: Backend>(shape: [usize; 2], seed: u64) -> Tensor<B, 2> {
    let mut stream = Stream::new(seed, Purpose::new("layers"), [0, 0]);
    helmholtz_distributions::uniforms(shape, DType::F64, &Default::default(), &mut stream)
}

fn numbers<B: Backend, const D: usize>(tensor: Tensor<B, D>) -> Vec<f64> {
    tensor.into_data().to_vec().expect("f64")
}
