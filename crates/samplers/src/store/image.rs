//! The bytes of a whole store: a header, the body, a checksum. A snapshot in memory and a base file are both this.
//!
//! ```text
//! header   magic | layers u64 | rows u64 | generation u64 | each layer
//!          all layers binary:  magic "hhchain1", a layer is its bits u64
//!          otherwise:          magic "hhchain2", a layer is kind u64 | variables u64 | classes u64
//!                              kind 1 Bernoulli, 2 categorical, 3 f32, 4 f64; classes is 0 but for kind 2
//! body     packed states, rows x bytes_per_row | initialised, one bit a row
//! seal     CRC-32 of all that precedes, u32
//! ```
//! Integers are little endian.

use crate::{Latents, Layer, SamplerError};

const BINARY: [u8; 8] = *b"hhchain1";
const MIXED: [u8; 8] = *b"hhchain2";

/// Bytes of an image of another shape that are read at most to name that shape.
pub(super) const DESCRIBED: usize = 1 << 12;

/// What a store holds: a layout for each of `rows` rows. It reads and writes bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub latents: Latents,
    pub rows: usize,
}

impl Shape {
    pub fn new(latents: &Latents, rows: usize) -> Result<Self, SamplerError> {
        let shape = Self {
            latents: latents.clone(),
            rows,
        };
        // The image of a store, with one bit a row rounded up to a byte, must have a length.
        let body = rows.checked_mul(latents.bytes_per_row() + 1);
        let image = body.and_then(|body| body.checked_add(shape.header_len() + 4));
        match image {
            Some(bytes) if rows <= u32::MAX as usize && isize::try_from(bytes).is_ok() => Ok(shape),
            _ => Err(SamplerError::TooManyRows { rows }),
        }
    }

    pub fn body_len(&self) -> usize {
        self.rows * self.latents.bytes_per_row() + self.rows.div_ceil(8)
    }

    pub fn header(&self, generation: u64) -> Vec<u8> {
        let kinds = self.latents.kinds();
        let numbers = [kinds.len() as u64, self.rows as u64, generation];
        let (magic, layers): (_, Vec<u64>) = if self.latents.is_binary() {
            (
                BINARY,
                kinds.iter().map(|layer| layer.variables() as u64).collect(),
            )
        } else {
            (MIXED, kinds.iter().flat_map(words).collect())
        };
        magic
            .into_iter()
            .chain(numbers.into_iter().chain(layers).flat_map(u64::to_le_bytes))
            .collect()
    }

    pub fn header_len(&self) -> usize {
        let words = if self.latents.is_binary() { 1 } else { 3 };
        8 * (4 + words * self.latents.kinds().len())
    }

    /// The body within an image of this shape.
    pub fn body_range(&self) -> std::ops::Range<usize> {
        let header = self.header_len();
        header..header + self.body_len()
    }

    pub fn image_len(&self) -> usize {
        self.body_range().end + 4
    }

    /// Checks the header of an image of `image_len` bytes, the first of which are `head`. The header must be of this
    /// shape and generation, and the image must have the length that belongs to them.
    pub fn check_header(
        &self,
        head: &[u8],
        image_len: u64,
        generation: u64,
    ) -> Result<(), SamplerError> {
        if !head.starts_with(&self.header(generation)) {
            return Err(match describe(&head[..head.len().min(DESCRIBED)]) {
                Some((found, of)) if of == generation => SamplerError::Shape {
                    found,
                    expected: self.to_string(),
                },
                _ => damaged("its header is not that of a chain store"),
            });
        }
        if image_len != self.image_len() as u64 {
            return Err(damaged("its length is not that of its rows"));
        }
        Ok(())
    }

    /// Checks that `image` is of this shape and generation, and undamaged.
    pub fn check_image(&self, image: &[u8], generation: u64) -> Result<(), SamplerError> {
        self.check_header(image, image.len() as u64, generation)?;
        match image.split_last_chunk::<4>() {
            Some((sealed, seal)) => check_seal(crc32fast::hash(sealed), *seal),
            None => Err(damaged("its length is not that of its rows")),
        }
    }

    /// Checks that every row exists, and that `packed` are as many states, in which all codes name classes.
    pub fn check_states(&self, rows: &[u32], packed: &[u8]) -> Result<(), SamplerError> {
        self.check_rows(rows, packed.len())?;
        self.latents.check_codes(packed)
    }

    /// Checks that every row exists and that `packed` bytes hold as many states.
    pub fn check_rows(&self, rows: &[u32], packed: usize) -> Result<(), SamplerError> {
        if let Some(&row) = rows.iter().find(|&&row| row as usize >= self.rows) {
            return Err(SamplerError::Row {
                row,
                rows: self.rows,
            });
        }
        let expected = rows.len().saturating_mul(self.latents.bytes_per_row());
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
    pub fn gather(&self, body: &[u8], rows: &[u32], packed: &mut [u8]) -> Result<(), SamplerError> {
        let bytes = self.latents.bytes_per_row();
        for (&row, state) in rows.iter().zip(packed.chunks_exact_mut(bytes)) {
            state.copy_from_slice(&body[row as usize * bytes..][..bytes]);
        }
        self.latents
            .check_codes(packed)
            .map_err(|error| damaged(&error.to_string()))
    }

    /// Puts the state of one row, which exists, into `body`.
    pub fn put(&self, body: &mut [u8], row: u32, state: &[u8]) {
        let (row, bytes) = (row as usize, self.latents.bytes_per_row());
        body[row * bytes..][..bytes].copy_from_slice(state);
        let (byte, bit) = (self.rows * bytes + row / 8, 1 << (row % 8));
        // A page that does not change need not be written out.
        if body[byte] & bit == 0 {
            body[byte] |= bit;
        }
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

pub(super) fn damaged(reason: &str) -> SamplerError {
    SamplerError::Damaged {
        reason: reason.to_owned(),
    }
}

/// Compares the checksum of an image with its seal.
pub(super) fn check_seal(checksum: u32, seal: [u8; 4]) -> Result<(), SamplerError> {
    if checksum == u32::from_le_bytes(seal) {
        Ok(())
    } else {
        Err(damaged("its checksum is wrong"))
    }
}

/// A layer of a mixed layout: kind, variables, classes.
fn words(layer: &Layer) -> [u64; 3] {
    let variables = layer.variables() as u64;
    match *layer {
        Layer::Bernoulli(_) => [1, variables, 0],
        Layer::Categorical { classes, .. } => [2, variables, u64::from(classes)],
        Layer::F32(_) => [3, variables, 0],
        Layer::F64(_) => [4, variables, 0],
    }
}

fn layer(kind: u64, variables: u64, classes: u64) -> Option<Layer> {
    let (variables, classes) = (
        usize::try_from(variables).ok()?,
        u32::try_from(classes).ok()?,
    );
    match kind {
        1 => Some(Layer::Bernoulli(variables)),
        2 => Some(Layer::Categorical { variables, classes }),
        3 => Some(Layer::F32(variables)),
        4 => Some(Layer::F64(variables)),
        _ => None,
    }
}

/// The shape and generation that a header tells, in words.
fn describe(head: &[u8]) -> Option<(String, u64)> {
    let (magic, numbers) = head.split_first_chunk::<8>()?;
    let words = numbers.as_chunks::<8>().0.iter();
    let words: Vec<u64> = words.map(|word| u64::from_le_bytes(*word)).collect();
    let (&[layers, rows, generation], words) = words.split_first_chunk::<3>()?;
    let layers = usize::try_from(layers).ok()?;
    let layers: Option<Vec<Layer>> = match *magic {
        BINARY => words
            .get(..layers)?
            .iter()
            .map(|&bits| layer(1, bits, 0))
            .collect(),
        MIXED => {
            let words = words
                .get(..layers.checked_mul(3)?)?
                .as_chunks::<3>()
                .0
                .iter();
            words
                .map(|&[kind, variables, classes]| layer(kind, variables, classes))
                .collect()
        }
        _ => None,
    };
    let shape = Shape::new(&Latents::mixed(&layers?).ok()?, usize::try_from(rows).ok()?).ok()?;
    Some((shape.to_string(), generation))
}
