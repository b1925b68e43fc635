//! Chain stores with a fault, for twins that must fail.

use helmholtz_samplers::{ChainStore, Latents, MemoryStore, SamplerError};

/// A store that gets rows wrong: it reads, or writes, the rows of a call in reverse order.
#[derive(Clone, Debug)]
pub struct Faulty {
    /// The store behind it.
    pub inner: MemoryStore,
    /// Reverses the rows of each load.
    pub loads: bool,
    /// Reverses the rows of each store.
    pub stores: bool,
}

impl ChainStore for Faulty {
    fn latents(&self) -> &Latents {
        self.inner.latents()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn is_initialised(&self, row: u32) -> bool {
        self.inner.is_initialised(row)
    }

    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        self.inner.load(&reversed_if(self.loads, rows), packed)
    }

    fn store(&mut self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError> {
        self.inner.store(&reversed_if(self.stores, rows), packed)
    }
}

fn reversed_if(reversed: bool, rows: &[u32]) -> Vec<u32> {
    let mut rows = rows.to_vec();
    if reversed {
        rows.reverse();
    }
    rows
}
