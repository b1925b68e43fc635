//! A chain store in memory.

use super::ChainStore;
use super::image::Shape;
use crate::{Latents, SamplerError};

/// A chain store in memory: the packed states and one bit a row, 25.1 bytes a datum for 200 latents.
///
/// A checkpoint keeps [`snapshot`](Self::snapshot); what [`restore`](Self::restore) makes of it is bit-identical.
///
/// ```
/// use helmholtz_samplers::{ChainStore, Latents, MemoryStore};
///
/// let latents = Latents::new(&[12])?;
/// let mut store = MemoryStore::new(&latents, 1000)?;
/// store.store(&[7, 3], &[1, 2, 3, 4])?;
///
/// let mut packed = [0; 4];
/// let restored = MemoryStore::restore(&store.snapshot(), &latents, 1000)?;
/// restored.load(&[3, 8], &mut packed)?;
/// assert_eq!(packed, [3, 4, 0, 0]);
/// assert!(restored.is_initialised(3) && !restored.is_initialised(8));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryStore {
    shape: Shape,
    body: Vec<u8>,
}

impl MemoryStore {
    /// A store of `rows` rows, none of them initialised.
    ///
    /// # Errors
    /// [`SamplerError::TooManyRows`] for more than a `u32` can name, or memory can hold.
    pub fn new(latents: &Latents, rows: usize) -> Result<Self, SamplerError> {
        let shape = Shape::new(latents, rows)?;
        // Asked for first, since what cannot be had ends the process; and given back, since only zeroed memory comes untouched.
        Vec::<u8>::new()
            .try_reserve_exact(shape.body_len())
            .map_err(|_| SamplerError::TooManyRows { rows })?;
        Ok(Self {
            body: vec![0; shape.body_len()],
            shape,
        })
    }

    /// The store as bytes: header (layout, rows), states, checksum.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut image = self.shape.header(0);
        image.extend_from_slice(&self.body);
        image.extend_from_slice(&crc32fast::hash(&image).to_le_bytes());
        image
    }

    /// The store that made this `snapshot`, which must have been of `rows` rows of `latents`.
    ///
    /// # Errors
    /// [`SamplerError::Shape`] if it was of others, [`SamplerError::Damaged`] if it does not hold together.
    pub fn restore(snapshot: &[u8], latents: &Latents, rows: usize) -> Result<Self, SamplerError> {
        let shape = Shape::new(latents, rows)?;
        shape.check_image(snapshot, 0)?;
        Ok(Self {
            body: snapshot[shape.body_range()].to_vec(),
            shape,
        })
    }
}

impl ChainStore for MemoryStore {
    fn latents(&self) -> &Latents {
        &self.shape.latents
    }

    fn len(&self) -> usize {
        self.shape.rows
    }

    fn is_initialised(&self, row: u32) -> bool {
        self.shape.is_initialised(&self.body, row)
    }

    fn load(&self, rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        self.shape.check_rows(rows, packed.len())?;
        self.shape.gather(&self.body, rows, packed)
    }

    fn store(&mut self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError> {
        self.shape.check_states(rows, packed)?;
        for (&row, state) in rows
            .iter()
            .zip(packed.chunks_exact(self.shape.latents.bytes_per_row()))
        {
            self.shape.put(&mut self.body, row, state);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled() -> (Latents, MemoryStore) {
        let latents = Latents::new(&[11, 6]).unwrap();
        let mut store = MemoryStore::new(&latents, 21).unwrap();
        store
            .store(&[0, 20, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9])
            .unwrap();
        (latents, store)
    }

    #[test]
    fn two_hundred_latents_take_less_than_26_bytes_a_datum() {
        let store = MemoryStore::new(&Latents::new(&[200]).unwrap(), 50_000).unwrap();
        assert!(store.body.len() < 26 * 50_000);
        assert!(store.snapshot().len() < 26 * 50_000);
    }

    #[test]
    fn more_rows_than_memory_holds_are_an_error() {
        let wide = Latents::new(&[1 << 33]).unwrap();
        for rows in [1 << 30, u32::MAX as usize] {
            let error = MemoryStore::new(&wide, rows).unwrap_err();
            assert!(matches!(error, SamplerError::TooManyRows { rows: found } if found == rows));
        }
    }

    #[test]
    fn untouched_rows_are_unchanged_and_the_later_of_two_wins() {
        let (_, mut store) = filled();
        store
            .store(&[5, 3, 5], &[9, 9, 9, 1, 1, 1, 7, 7, 7])
            .unwrap();
        let mut packed = [0; 15];
        store.load(&[3, 5, 0, 20, 4], &mut packed).unwrap();
        assert_eq!(packed, [1, 1, 1, 7, 7, 7, 1, 2, 3, 4, 5, 6, 0, 0, 0]);
        assert!(
            [0, 3, 5, 20]
                .into_iter()
                .all(|row| store.is_initialised(row))
        );
        assert!(
            [1, 4, 19, 21, u32::MAX]
                .into_iter()
                .all(|row| !store.is_initialised(row))
        );
    }

    #[test]
    fn rows_and_lengths_that_do_not_fit_are_refused_and_nothing_changes() {
        let (_, mut store) = filled();
        let before = store.clone();
        assert!(matches!(
            store.store(&[1, 21], &[0; 6]),
            Err(SamplerError::Row { row: 21, rows: 21 })
        ));
        assert!(matches!(
            store.store(&[1], &[0; 4]),
            Err(SamplerError::Length {
                found: 4,
                expected: 3,
                ..
            })
        ));
        assert!(matches!(
            store.load(&[1], &mut [0; 2]),
            Err(SamplerError::Length { .. })
        ));
        assert_eq!(store, before);
    }

    #[test]
    fn a_snapshot_of_another_shape_is_refused_by_name() {
        let (latents, store) = filled();
        let snapshot = store.snapshot();
        for (other, rows) in [(latents.clone(), 22), (Latents::new(&[17]).unwrap(), 21)] {
            let error = MemoryStore::restore(&snapshot, &other, rows).unwrap_err();
            assert!(
                matches!(&error, SamplerError::Shape { found, .. } if found == "21 rows of 11 + 6 bits"),
                "{error}"
            );
        }
    }

    #[test]
    fn any_flipped_bit_and_any_cut_of_a_snapshot_is_noticed() {
        let (latents, store) = filled();
        let snapshot = store.snapshot();
        for i in 0..8 * snapshot.len() {
            let mut flipped = snapshot.clone();
            flipped[i / 8] ^= 1 << (i % 8);
            assert!(
                MemoryStore::restore(&flipped, &latents, 21).is_err(),
                "bit {i}"
            );
        }
        for cut in 0..snapshot.len() {
            assert!(
                MemoryStore::restore(&snapshot[..cut], &latents, 21).is_err(),
                "cut at {cut}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_restored_store_is_bit_identical(rows in 0usize..40, writes in prop::collection::vec((0u32..40, any::<[u8; 3]>()), 0..30)) {
            let latents = Latents::new(&[20]).unwrap();
            let mut store = MemoryStore::new(&latents, rows).unwrap();
            for (row, state) in writes.into_iter().filter(|w| (w.0 as usize) < rows) {
                store.store(&[row], &state).unwrap();
            }
            prop_assert_eq!(MemoryStore::restore(&store.snapshot(), &latents, rows).unwrap(), store);
        }
    }
}
