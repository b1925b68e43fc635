//! The layout of a latent state.

use std::fmt;

use crate::{SamplerError, pack_bits, unpack_bits};

/// Bits per layer of a binary latent state, such as `[200]` or, for two stochastic layers, `[200, 200]`.
///
/// A state is the whole tuple of layers, packed without gaps: ceil(bits / 8) bytes a datum.
///
/// ```
/// use helmholtz_samplers::Latents;
/// let latents = Latents::new(&[200, 201])?;
/// assert_eq!((latents.bits(), latents.bytes_per_row()), (401, 51));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latents {
    layers: Vec<usize>,
    bits: usize,
}

impl Latents {
    /// The layout of these layers, the one nearest the data first.
    ///
    /// # Errors
    /// [`SamplerError::Layers`] without layers, or with an empty one.
    pub fn new(layers: &[usize]) -> Result<Self, SamplerError> {
        let bits = layers
            .iter()
            .try_fold(0usize, |sum, &layer| sum.checked_add(layer));
        match bits {
            Some(bits) if bits > 0 && !layers.contains(&0) => Ok(Self {
                layers: layers.to_vec(),
                bits,
            }),
            _ => Err(SamplerError::Layers {
                layers: layers.to_vec(),
            }),
        }
    }

    /// Bits per layer.
    pub fn layers(&self) -> &[usize] {
        &self.layers
    }

    /// Bits of a state.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Bytes of a packed state, ceil(bits / 8).
    pub fn bytes_per_row(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// Packs one array of 0.0 / 1.0 a layer, each `[rows, bits of the layer]`, into `[rows, bytes_per_row]`.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if the arrays are not as many as the layers, or not of as many rows each.
    pub fn pack(&self, layers: &[&[f32]]) -> Result<Vec<u8>, SamplerError> {
        let length = |what, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(SamplerError::Length {
                    what,
                    found,
                    expected,
                })
            }
        };
        length("the list of layers", layers.len(), self.layers.len())?;
        let rows = layers[0].len() / self.layers[0];
        for (values, &bits) in layers.iter().zip(&self.layers) {
            length("the array of a layer", values.len(), rows * bits)?;
        }
        let mut packed = vec![0; rows * self.bytes_per_row()];
        if let [only] = layers {
            pack_bits(only, self.bits, &mut packed)?;
            return Ok(packed);
        }
        let mut state = Vec::with_capacity(self.bits);
        for (row, packed) in packed.chunks_exact_mut(self.bytes_per_row()).enumerate() {
            state.clear();
            for (values, &bits) in layers.iter().zip(&self.layers) {
                state.extend_from_slice(&values[row * bits..(row + 1) * bits]);
            }
            pack_bits(&state, self.bits, packed)?;
        }
        Ok(packed)
    }

    /// Unpacks `[rows, bytes_per_row]` into one array of 0.0 / 1.0 a layer, `[rows, bits of the layer]`.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if `packed` is not made of whole rows.
    pub fn unpack(&self, packed: &[u8]) -> Result<Vec<Vec<f32>>, SamplerError> {
        let rows = packed.len() / self.bytes_per_row();
        let mut states = vec![0.0; rows * self.bits];
        unpack_bits(packed, self.bits, &mut states)?;
        if self.layers.len() == 1 {
            return Ok(vec![states]);
        }
        let mut layers: Vec<Vec<f32>> = self
            .layers
            .iter()
            .map(|bits| Vec::with_capacity(rows * bits))
            .collect();
        for state in states.chunks_exact(self.bits) {
            let mut rest = state;
            for (values, &bits) in layers.iter_mut().zip(&self.layers) {
                let (layer, after) = rest.split_at(bits);
                values.extend_from_slice(layer);
                rest = after;
            }
        }
        Ok(layers)
    }
}

impl fmt::Display for Latents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers: Vec<String> = self.layers.iter().map(usize::to_string).collect();
        write!(f, "{} bits", layers.join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tuples_of_layers_come_back_whole(layers in prop::collection::vec(1usize..30, 1..4), rows in 0usize..4, coins in prop::collection::vec(any::<bool>(), 30 * 3 * 4)) {
            let latents = Latents::new(&layers).unwrap();
            let mut coins = coins.into_iter().map(|c| f32::from(u8::from(c)));
            let values: Vec<Vec<f32>> = layers.iter().map(|bits| coins.by_ref().take(rows * bits).collect()).collect();
            let views: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
            let packed = latents.pack(&views).unwrap();
            prop_assert_eq!(packed.len(), rows * latents.bytes_per_row());
            prop_assert_eq!(latents.unpack(&packed).unwrap(), values);
        }
    }

    #[test]
    fn layers_are_contiguous() {
        let packed = Latents::new(&[3, 7])
            .unwrap()
            .pack(&[&[1.0, 0.0, 1.0], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
            .unwrap();
        assert_eq!(packed, [0b0000_1101, 0b10]);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        for layers in [&[][..], &[0], &[3, 0], &[usize::MAX, 2]] {
            assert!(matches!(
                Latents::new(layers),
                Err(SamplerError::Layers { .. })
            ));
        }
        let latents = Latents::new(&[2, 3]).unwrap();
        assert!(matches!(
            latents.pack(&[&[0.0; 4]]),
            Err(SamplerError::Length {
                found: 1,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            latents.pack(&[&[0.0; 4], &[0.0; 5]]),
            Err(SamplerError::Length {
                found: 5,
                expected: 6,
                ..
            })
        ));
        assert!(matches!(
            Latents::new(&[9]).unwrap().unpack(&[0; 3]),
            Err(SamplerError::Length {
                found: 3,
                expected: 2,
                ..
            })
        ));
    }
}
