//! The bytes of a whole store: a header, the body, a checksum. A snapshot in memory and a base file are both this.
//!
//! ```text
//! header   "hhchain1" | layers u64 | rows u64 | generation u64 | bits of each layer u64
//! body     packed states, rows x bytes_per_row | initialised, one bit a row
//! seal     CRC-32 of all that precedes, u32
//! ```
//! Integers are little endian.

use crate::{Latents, SamplerError};

const MAGIC: [u8; 8] = *b"hhchain1";

/// What a store holds: a layout for each of `rows` rows. It reads and writes bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub latents: Latents,
    pub rows: usize,
}

impl Shape {
    pub fn new(latents: &Latents, rows: usize) -> Result<Self, SamplerError> {
        if rows > u32::MAX as usize || rows.checked_mul(latents.bytes_per_row() + 1).is_none() {
            return Err(SamplerError::TooManyRows { rows });
        }
        Ok(Self {
            latents: latents.clone(),
            rows,
        })
    }

    pub fn body_len(&self) -> usize {
        self.rows * self.latents.bytes_per_row() + self.rows.div_ceil(8)
    }

    pub fn header(&self, generation: u64) -> Vec<u8> {
        let layers = self.latents.layers();
        let numbers = [layers.len() as u64, self.rows as u64, generation];
        let bits = layers.iter().map(|&bits| bits as u64);
        MAGIC
            .into_iter()
            .chain(numbers.into_iter().chain(bits).flat_map(u64::to_le_bytes))
            .collect()
    }

    /// The body within an image of this shape and generation.
    pub fn body_range(&self) -> std::ops::Range<usize> {
        let header = 8 * (4 + self.latents.layers().len());
        header..header + self.body_len()
    }

    /// Checks that `image` is of this shape and generation, and undamaged.
    pub fn check_image(&self, image: &[u8], generation: u64) -> Result<(), SamplerError> {
        let damaged = |reason: &str| SamplerError::Damaged {
            reason: reason.to_owned(),
        };
        let header = self.header(generation);
        if !image.starts_with(&header) {
            return Err(match describe(image) {
                Some((found, of)) if of == generation => SamplerError::Shape {
                    found,
                    expected: self.to_string(),
                },
                _ => damaged("its header is not that of a chain store"),
            });
        }
        match image.split_last_chunk::<4>() {
            Some((sealed, seal)) if image.len() == self.body_range().end + 4 => {
                if crc32fast::hash(sealed) == u32::from_le_bytes(*seal) {
                    Ok(())
                } else {
                    Err(damaged("its checksum is wrong"))
                }
            }
            _ => Err(damaged("its length is not that of its rows")),
        }
    }

    /// Checks that every row exists and that `packed` bytes hold as many states.
    pub fn check_rows(&self, rows: &[u32], packed: usize) -> Result<(), SamplerError> {
        if let Some(&row) = rows.iter().find(|&&row| row as usize >= self.rows) {
            return Err(SamplerError::Row {
                row,
                rows: self.rows,
            });
        }
        let expected = rows.len() * self.latents.bytes_per_row();
        if packed != expected {
            return Err(SamplerError::Length {
                what: "the array of packed states",
                found: packed,
                expected,
            });
        }
        Ok(())
    }

    /// Copies the states of `rows`, which exist, out of `body`.
    pub fn gather(&self, body: &[u8], rows: &[u32], packed: &mut [u8]) {
        let bytes = self.latents.bytes_per_row();
        for (&row, state) in rows.iter().zip(packed.chunks_exact_mut(bytes)) {
            state.copy_from_slice(&body[row as usize * bytes..][..bytes]);
        }
    }

    /// Puts the state of one row, which exists, into `body`.
    pub fn put(&self, body: &mut [u8], row: u32, state: &[u8]) {
        let (row, bytes) = (row as usize, self.latents.bytes_per_row());
        body[row * bytes..][..bytes].copy_from_slice(state);
        body[self.rows * bytes + row / 8] |= 1 << (row % 8);
    }

    pub fn is_initialised(&self, body: &[u8], row: u32) -> bool {
        let row = row as usize;
        row < self.rows
            && body[self.rows * self.latents.bytes_per_row() + row / 8] >> (row % 8) & 1 == 1
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows of {}", self.rows, self.latents)
    }
}

/// The shape and generation that the header of `image` tells, in words.
fn describe(image: &[u8]) -> Option<(String, u64)> {
    let (words, _) = image.strip_prefix(&MAGIC)?.as_chunks::<8>();
    let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
    let (layers, rows, generation) = (words.next()?, words.next()?, words.next()?);
    let layers: Vec<usize> = words
        .take(usize::try_from(layers).ok()?)
        .map(|bits| bits as usize)
        .collect();
    let shape = Shape {
        latents: Latents::new(&layers).ok()?,
        rows: usize::try_from(rows).ok()?,
    };
    Some((shape.to_string(), generation))
}
