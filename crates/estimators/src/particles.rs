//! Many particles: their latents as tensors.

use burn::tensor::{Tensor, Transaction, backend::Backend};

use crate::host::numbers;

/// The latents of some rows: one tensor `[rows, values]` a stochastic layer, nearest the data first.
///
/// Rows are particle-major: with B data, row `p · B + b` is particle p of datum b.
#[derive(Clone, Debug)]
pub struct Particles<B: Backend> {
    layers: Vec<Tensor<B, 2>>,
}

impl<B: Backend> Particles<B> {
    /// Particles from their layers, nearest the data first.
    pub fn new(layers: Vec<Tensor<B, 2>>) -> Self {
        Self { layers }
    }

    /// The layers, nearest the data first.
    pub fn layers(&self) -> &[Tensor<B, 2>] {
        &self.layers
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.dims()[0])
    }

    /// The values on the host, one array `[rows, values]` a layer, in one transaction.
    pub fn to_host(&self) -> Vec<Vec<f32>> {
        let transaction = self
            .layers
            .iter()
            .fold(Transaction::default(), |t, layer| t.register(layer.clone()));
        transaction.execute().iter().map(numbers).collect()
    }
}
