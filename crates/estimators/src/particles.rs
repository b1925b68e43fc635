//! Many particles: their latents as values.

use helmholtz_ops::{Backend, Values};

/// The latents of some rows: values `[rows, values]` of each stochastic layer, nearest the data first.
///
/// Rows are particle-major: with B data, row `p · B + b` is particle p of datum b.
#[derive(Clone, Debug)]
pub struct Particles<B: Backend> {
    layers: Vec<Values<B>>,
}

impl<B: Backend> Particles<B> {
    /// Particles from their layers, nearest the data first: bits, or numbers.
    pub fn new<V: Into<Values<B>>>(layers: Vec<V>) -> Self {
        Self {
            layers: layers.into_iter().map(Into::into).collect(),
        }
    }

    /// The layers, nearest the data first.
    pub fn layers(&self) -> &[Values<B>] {
        &self.layers
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.layers.first().map_or(0, |layer| layer.dims()[0])
    }
}
