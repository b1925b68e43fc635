//! The layout of a latent state.

mod layer;
mod values;

use std::fmt;

pub use layer::Layer;
pub use values::Values;

use crate::{SamplerError, pack_bits, unpack_bits};

/// The layers of a latent state, such as 200 bits, or 200 bits and one variable of 10 classes.
///
/// A state is the whole tuple of layers, packed without gaps: ceil(bits / 8) bytes a datum.
///
/// | layer | bits a variable | packed and unpacked by |
/// |---|---|---|
/// | [`Bernoulli`](Layer::Bernoulli) | 1 | [`pack`](Self::pack) from tensors of 0.0 / 1.0, [`pack_values`](Self::pack_values) |
/// | [`Categorical`](Layer::Categorical) of C classes | ceil(log2 C) | [`pack_values`](Self::pack_values) |
/// | [`F32`](Layer::F32), [`F64`](Layer::F64) | 32, 64 | [`pack_values`](Self::pack_values) |
///
/// ```
/// use helmholtz_samplers::{Latents, Layer, Values};
///
/// let latents = Latents::new(&[200, 201])?; // two layers of bits
/// assert_eq!((latents.bits(), latents.bytes_per_row()), (401, 51));
///
/// let digit = Layer::Categorical { variables: 1, classes: 10 };
/// let latents = Latents::mixed(&[Layer::Bernoulli(3), digit, Layer::F64(1)])?;
/// assert_eq!((latents.bits(), latents.bytes_per_row()), (3 + 4 + 64, 9));
///
/// let state = [
///     Values::Bernoulli(vec![true, false, true]),
///     Values::Categorical(vec![7]),
///     Values::F64(vec![-0.25]),
/// ];
/// let packed = latents.pack_values(&state)?;
/// assert_eq!(latents.unpack_values(&packed)?, state);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latents {
    kinds: Vec<Layer>,
    /// Bits of each layer.
    layers: Vec<usize>,
    bits: usize,
}

impl Latents {
    /// The layout of binary layers, given by their bits, the one nearest the data first.
    ///
    /// # Errors
    /// [`SamplerError::Layers`] without layers, or with an empty one.
    pub fn new(layers: &[usize]) -> Result<Self, SamplerError> {
        let kinds: Vec<Layer> = layers.iter().map(|&bits| Layer::Bernoulli(bits)).collect();
        Self::mixed(&kinds).map_err(|_| SamplerError::Layers {
            layers: layers.to_vec(),
        })
    }

    /// The layout of layers of any kinds, the one nearest the data first.
    ///
    /// # Errors
    /// [`SamplerError::Layers`] without layers, [`SamplerError::Layer`] with one of no variables or of fewer than 2
    /// classes, or if the bits of all are more than a `usize` holds.
    pub fn mixed(layers: &[Layer]) -> Result<Self, SamplerError> {
        if layers.is_empty() {
            return Err(SamplerError::Layers { layers: vec![] });
        }
        let (mut bits, mut all) = (Vec::with_capacity(layers.len()), 0usize);
        for (index, layer) in layers.iter().enumerate() {
            let sum = layer
                .variables()
                .checked_mul(layer.width() as usize)
                .filter(|&of_layer| of_layer > 0)
                .and_then(|of_layer| {
                    bits.push(of_layer);
                    all.checked_add(of_layer)
                });
            all = sum.ok_or_else(|| SamplerError::Layer {
                index,
                layer: layer.to_string(),
            })?;
        }
        Ok(Self {
            kinds: layers.to_vec(),
            layers: bits,
            bits: all,
        })
    }

    /// The layers and their kinds.
    pub fn kinds(&self) -> &[Layer] {
        &self.kinds
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

    /// Whether all layers are binary.
    pub(crate) fn is_binary(&self) -> bool {
        self.check_binary().is_ok()
    }

    fn check_binary(&self) -> Result<(), SamplerError> {
        let other = |layer: &Layer| !matches!(layer, Layer::Bernoulli(_));
        match self.kinds.iter().position(other) {
            Some(index) => Err(SamplerError::Kind {
                index,
                layer: self.kinds[index].to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Packs one array of 0.0 / 1.0 a layer, each `[rows, bits of the layer]`, into `[rows, bytes_per_row]`.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if the arrays are not as many as the layers, or not of as many rows each;
    /// [`SamplerError::Kind`] if a layer is not binary.
    pub fn pack(&self, layers: &[&[f32]]) -> Result<Vec<u8>, SamplerError> {
        self.check_binary()?;
        length("the list of layers", layers.len(), self.layers.len())?;
        let rows = layers[0].len() / self.layers[0];
        for (values, &bits) in layers.iter().zip(&self.layers) {
            length(
                "the array of a layer",
                values.len(),
                rows.saturating_mul(bits),
            )?;
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
    /// [`SamplerError::Length`] if `packed` is not made of whole rows; [`SamplerError::Kind`] if a layer is not binary.
    pub fn unpack(&self, packed: &[u8]) -> Result<Vec<Vec<f32>>, SamplerError> {
        self.check_binary()?;
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
        if self.is_binary() {
            let layers: Vec<String> = self.layers.iter().map(usize::to_string).collect();
            return write!(f, "{} bits", layers.join(" + "));
        }
        let layers: Vec<String> = self.kinds.iter().map(Layer::to_string).collect();
        f.write_str(&layers.join(" + "))
    }
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), SamplerError> {
    if found == expected {
        Ok(())
    } else {
        Err(SamplerError::Length {
            what,
            found,
            expected,
        })
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
        let categorical = |variables, classes| Layer::Categorical { variables, classes };
        for (index, layers) in [
            (0, [categorical(1, 0), Layer::F32(1)]),
            (0, [categorical(1, 1), Layer::F32(1)]),
            (1, [Layer::F32(1), Layer::F64(0)]),
            (1, [Layer::F32(1), categorical(0, 5)]),
            (0, [Layer::F64(usize::MAX / 63), Layer::F32(1)]),
            (1, [Layer::F64(usize::MAX / 64), Layer::F32(2)]),
        ] {
            let error = Latents::mixed(&layers).unwrap_err();
            assert!(
                matches!(error, SamplerError::Layer { index: found, .. } if found == index),
                "{error}"
            );
        }
        assert!(Latents::mixed(&[]).is_err());
        let reals = Latents::mixed(&[Layer::Bernoulli(2), Layer::F32(1)]).unwrap();
        assert!(matches!(
            reals.pack(&[&[0.0; 2], &[0.0; 32]]),
            Err(SamplerError::Kind { index: 1, .. })
        ));
        assert!(matches!(
            reals.unpack(&[0; 5]),
            Err(SamplerError::Kind { index: 1, .. })
        ));
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
