//! One chain state a datum.

mod image;
#[cfg(feature = "mmap")]
mod log;
#[cfg(feature = "mmap")]
mod mapped;
mod memory;
#[cfg(feature = "mmap")]
mod working_copy;

#[cfg(feature = "mmap")]
pub use mapped::{MappedStore, Mark};
pub use memory::MemoryStore;

use crate::{Latents, SamplerError};

/// The chains of all data: one packed latent state a datum, by row.
///
/// A row without a state yet is not *initialised*: its chain starts from a first proposal. Log-weights are not stored,
/// since the parameters they belong to have moved on: recompute them.
pub trait ChainStore {
    /// The layout of a state.
    fn latents(&self) -> &Latents;

    /// Rows, one a datum.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of a state.
    fn bits(&self) -> usize {
        self.latents().bits()
    }

    /// Whether `row` has a state; false for a row beyond the store.
    fn is_initialised(&self, row: u32) -> bool;

    /// Copies the packed states of `rows` to `packed`, `[rows, bytes_per_row]`; zeros where there is none.
    ///
    /// # Errors
    /// [`SamplerError::Row`] on a row beyond the store, [`SamplerError::Length`] if `packed` does not fit,
    /// [`SamplerError::Damaged`] if a code in a state names none of its variable's classes.
    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError>;

    /// Sets the states of `rows` from `packed`, `[rows, bytes_per_row]`; of a row that comes twice, the later wins.
    ///
    /// # Errors
    /// [`SamplerError::Row`] and [`SamplerError::Length`] as of [`load`](Self::load), [`SamplerError::Class`] on a code
    /// that names no class, and [`SamplerError::Io`]; the store is then unchanged.
    fn store(&mut self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError>;
}
