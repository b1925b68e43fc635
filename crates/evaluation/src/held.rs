//! A chain store held fixed.

use helmholtz_samplers::{ChainStore, Latents, SamplerError};

/// A chain store as it is: what is read comes from it, and what is written is forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a, S: ?Sized>(pub &'a S);

impl<S: ChainStore + ?Sized> ChainStore for Held<'_, S> {
    fn latents(&self) -> &Latents {
        self.0.latents()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_initialised(&self, row: u32) -> bool {
        self.0.is_initialised(row)
    }

    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        self.0.load(rows, packed)
    }

    fn store(&mut self, _rows: &[u32], _packed: &[u8]) -> Result<(), SamplerError> {
        Ok(())
    }
}
