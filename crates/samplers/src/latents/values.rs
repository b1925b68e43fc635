//! The values of a layer, by kind, and how they become bits.

use super::{Latents, Layer, length};
use crate::SamplerError;
use crate::bit_fields::{read_bits, write_bits};

/// The values of a layer for some rows, `[rows, variables]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Of a [`Layer::Bernoulli`].
    Bernoulli(Vec<bool>),
    /// Of a [`Layer::Categorical`]: codes from 0.
    Categorical(Vec<u32>),
    /// Of a [`Layer::F32`].
    F32(Vec<f32>),
    /// Of a [`Layer::F64`].
    F64(Vec<f64>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Bernoulli(values) => values.len(),
            Self::Categorical(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    fn with_capacity(layer: &Layer, rows: usize) -> Self {
        let capacity = rows * layer.variables();
        match layer {
            Layer::Bernoulli(_) => Self::Bernoulli(Vec::with_capacity(capacity)),
            Layer::Categorical { .. } => Self::Categorical(Vec::with_capacity(capacity)),
            Layer::F32(_) => Self::F32(Vec::with_capacity(capacity)),
            Layer::F64(_) => Self::F64(Vec::with_capacity(capacity)),
        }
    }

    /// Checks that these can be values of `layer`, the `index`-th of a state.
    fn check(&self, index: usize, layer: &Layer) -> Result<(), SamplerError> {
        match (self, *layer) {
            (Self::Categorical(codes), Layer::Categorical { classes, .. }) => {
                match codes.iter().find(|&&code| code >= classes) {
                    Some(&code) => Err(SamplerError::Class {
                        layer: index,
                        code,
                        classes,
                    }),
                    None => Ok(()),
                }
            }
            (Self::Bernoulli(_), Layer::Bernoulli(_))
            | (Self::F32(_), Layer::F32(_))
            | (Self::F64(_), Layer::F64(_)) => Ok(()),
            _ => Err(SamplerError::Kind {
                index,
                layer: layer.to_string(),
            }),
        }
    }

    /// The i-th value, as bits.
    fn bits(&self, i: usize) -> u64 {
        match self {
            Self::Bernoulli(values) => u64::from(values[i]),
            Self::Categorical(values) => u64::from(values[i]),
            Self::F32(values) => u64::from(values[i].to_bits()),
            Self::F64(values) => values[i].to_bits(),
        }
    }

    fn push(&mut self, bits: u64) {
        match self {
            Self::Bernoulli(values) => values.push(bits == 1),
            Self::Categorical(values) => values.push(bits as u32),
            Self::F32(values) => values.push(f32::from_bits(bits as u32)),
            Self::F64(values) => values.push(f64::from_bits(bits)),
        }
    }
}

impl Latents {
    /// Packs the values of each layer into `[rows, bytes_per_row]`. Real values keep their bits, those of a NaN too.
    ///
    /// # Errors
    /// [`SamplerError::Kind`] on values of another kind than their layer's, [`SamplerError::Class`] on a code that is
    /// no class. [`SamplerError::Length`] if the values are not those of as many layers, or not of as many rows each.
    pub fn pack_values(&self, layers: &[Values]) -> Result<Vec<u8>, SamplerError> {
        length("the list of layers", layers.len(), self.kinds.len())?;
        let rows = layers[0].len() / self.kinds[0].variables();
        for (index, (values, layer)) in layers.iter().zip(&self.kinds).enumerate() {
            values.check(index, layer)?;
            length(
                "the array of a layer",
                values.len(),
                rows.saturating_mul(layer.variables()),
            )?;
        }
        let mut packed = vec![0; rows * self.bytes_per_row()];
        for (row, packed) in packed.chunks_exact_mut(self.bytes_per_row()).enumerate() {
            let mut at = 0;
            for (values, layer) in layers.iter().zip(&self.kinds) {
                for i in 0..layer.variables() {
                    let value = values.bits(row * layer.variables() + i);
                    write_bits(packed, at, layer.width(), value);
                    at += layer.width() as usize;
                }
            }
        }
        Ok(packed)
    }

    /// Unpacks `[rows, bytes_per_row]` into the values of each layer.
    ///
    /// # Errors
    /// [`SamplerError::Length`] if `packed` is not made of whole rows, [`SamplerError::Damaged`] if a code is no class.
    pub fn unpack_values(&self, packed: &[u8]) -> Result<Vec<Values>, SamplerError> {
        let rows = packed.len() / self.bytes_per_row();
        length(
            "the array of packed rows",
            packed.len(),
            rows * self.bytes_per_row(),
        )?;
        self.check_codes(packed)
            .map_err(|error| SamplerError::Damaged {
                reason: error.to_string(),
            })?;
        let empty = |layer| Values::with_capacity(layer, rows);
        let mut layers: Vec<Values> = self.kinds.iter().map(empty).collect();
        for packed in packed.chunks_exact(self.bytes_per_row()) {
            let mut at = 0;
            for (values, layer) in layers.iter_mut().zip(&self.kinds) {
                for _ in 0..layer.variables() {
                    values.push(read_bits(packed, at, layer.width()));
                    at += layer.width() as usize;
                }
            }
        }
        Ok(layers)
    }

    /// Checks that all codes in whole rows name classes.
    pub(crate) fn check_codes(&self, packed: &[u8]) -> Result<(), SamplerError> {
        let mut start = 0;
        for (index, (layer, bits)) in self.kinds.iter().zip(&self.layers).enumerate() {
            if let Some(classes) = layer.classes_with_gaps() {
                let width = layer.width();
                for packed in packed.chunks_exact(self.bytes_per_row()) {
                    for at in (start..start + bits).step_by(width as usize) {
                        let code = read_bits(packed, at, width) as u32;
                        if code >= classes {
                            return Err(SamplerError::Class {
                                layer: index,
                                code,
                                classes,
                            });
                        }
                    }
                }
            }
            start += bits;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A layer, and values of it from these numbers.
    fn layer() -> impl Strategy<Value = Layer> {
        let classes = prop_oneof![2u32..70, Just(u32::MAX), Just(1 << 31), Just((1 << 31) + 1)];
        prop_oneof![
            (1usize..70).prop_map(Layer::Bernoulli),
            (1usize..5, classes)
                .prop_map(|(variables, classes)| Layer::Categorical { variables, classes }),
            (1usize..4).prop_map(Layer::F32),
            (1usize..4).prop_map(Layer::F64),
        ]
    }

    fn values(layer: &Layer, rows: usize, mut number: impl FnMut() -> u64) -> Values {
        let mut values = Values::with_capacity(layer, rows);
        for _ in 0..rows * layer.variables() {
            values.push(match *layer {
                Layer::Bernoulli(_) => number() & 1,
                Layer::Categorical { classes, .. } => number() % u64::from(classes),
                Layer::F32(_) => number() >> 32,
                Layer::F64(_) => number(),
            });
        }
        values
    }

    /// Numbers that make NaNs of either sign, infinities, subnormals and zeros of both signs, too.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            any::<f64>().prop_map(f64::to_bits),
            any::<f32>().prop_map(|x| u64::from(x.to_bits()) << 32),
            Just(u64::MAX),
            Just(0),
            Just(1 << 63),
        ]
    }

    fn assert_same_bits(left: &[Values], right: &[Values]) {
        assert_eq!(left.len(), right.len());
        for (left, right) in left.iter().zip(right) {
            assert_eq!(std::mem::discriminant(left), std::mem::discriminant(right));
            let bits = |values: &Values| -> Vec<u64> {
                (0..values.len()).map(|i| values.bits(i)).collect()
            };
            assert_eq!(bits(left), bits(right));
        }
    }

    proptest! {
        #[test]
        fn values_of_all_kinds_come_back_bit_for_bit(layers in prop::collection::vec(layer(), 1..6), rows in 0usize..4, numbers in prop::collection::vec(number(), 1..50)) {
            let latents = Latents::mixed(&layers).unwrap();
            let mut numbers = numbers.into_iter().cycle();
            let given: Vec<Values> = layers.iter().map(|layer| values(layer, rows, || numbers.next().unwrap())).collect();
            let packed = latents.pack_values(&given).unwrap();
            prop_assert_eq!(packed.len(), rows * latents.bits().div_ceil(8));
            assert_same_bits(&latents.unpack_values(&packed).unwrap(), &given);
            latents.check_codes(&packed).unwrap();
        }

        #[test]
        fn bits_are_packed_as_by_the_binary_layout(layers in prop::collection::vec(1usize..30, 1..4), coins in prop::collection::vec(any::<bool>(), 30 * 3)) {
            let latents = Latents::new(&layers).unwrap();
            let bernoulli: Vec<Layer> = layers.iter().map(|&bits| Layer::Bernoulli(bits)).collect();
            prop_assert_eq!(&Latents::mixed(&bernoulli).unwrap(), &latents);
            let mut coins = coins.into_iter();
            let coins: Vec<Vec<bool>> = layers.iter().map(|&bits| coins.by_ref().take(bits).collect()).collect();
            let floats: Vec<Vec<f32>> = coins.iter().map(|layer| layer.iter().map(|&c| f32::from(u8::from(c))).collect()).collect();
            let views: Vec<&[f32]> = floats.iter().map(Vec::as_slice).collect();
            let typed: Vec<Values> = coins.into_iter().map(Values::Bernoulli).collect();
            prop_assert_eq!(latents.pack_values(&typed).unwrap(), latents.pack(&views).unwrap());
        }

        #[test]
        fn a_code_that_is_no_class_is_damage(before in 0usize..20, classes in 3u32..1000, variables in 1usize..4, which in 0usize..4, excess: u32) {
            prop_assume!(!classes.is_power_of_two());
            let categorical = Layer::Categorical { variables, classes };
            let latents = Latents::mixed(&[Layer::Bernoulli(before + 1), categorical, Layer::F32(1)]).unwrap();
            let (which, width) = (which % variables, categorical.width());
            let code = classes + excess % ((1 << width) - classes);
            let mut packed = vec![0; 2 * latents.bytes_per_row()];
            latents.unpack_values(&packed).unwrap();
            write_bits(&mut packed[latents.bytes_per_row()..], before + 1 + which * width as usize, width, u64::from(code));
            let found = latents.unpack_values(&packed);
            prop_assert!(matches!(found, Err(SamplerError::Damaged { .. })), "{:?}", found);
        }
    }

    #[test]
    fn two_hundred_bits_and_a_digit_take_26_bytes() {
        let digit = Layer::Categorical {
            variables: 1,
            classes: 10,
        };
        let latents = Latents::mixed(&[Layer::Bernoulli(200), digit]).unwrap();
        assert_eq!((latents.bits(), latents.bytes_per_row()), (204, 26));
        let values = [
            Values::Bernoulli(vec![true; 200]),
            Values::Categorical(vec![9]),
        ];
        let packed = latents.pack_values(&values).unwrap();
        assert_eq!((packed[24], packed[25]), (0xff, 9));
    }

    #[test]
    fn a_class_takes_as_few_bits_as_can_be() {
        for (classes, bits) in [
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (10, 4),
            (256, 8),
            (257, 9),
            (u32::MAX, 32),
        ] {
            let layer = Layer::Categorical {
                variables: 3,
                classes,
            };
            assert_eq!(
                Latents::mixed(&[layer]).unwrap().bits(),
                3 * bits,
                "{classes}"
            );
        }
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let digits = Layer::Categorical {
            variables: 2,
            classes: 10,
        };
        let latents = Latents::mixed(&[digits, Layer::F64(1)]).unwrap();
        let pack = |codes: &[u32], reals| {
            latents.pack_values(&[Values::Categorical(codes.to_vec()), reals])
        };
        assert!(pack(&[3, 9], Values::F64(vec![0.5])).is_ok());
        assert!(matches!(
            pack(&[3, 10], Values::F64(vec![0.5])),
            Err(SamplerError::Class {
                layer: 0,
                code: 10,
                classes: 10
            })
        ));
        assert!(matches!(
            pack(&[3, 9], Values::F32(vec![0.5])),
            Err(SamplerError::Kind { index: 1, .. })
        ));
        assert!(matches!(
            pack(&[3, 9], Values::F64(vec![0.5; 2])),
            Err(SamplerError::Length {
                found: 2,
                expected: 1,
                ..
            })
        ));
        assert!(matches!(
            pack(&[3, 9, 1], Values::F64(vec![0.5])),
            Err(SamplerError::Length {
                found: 3,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            latents.pack_values(&[]),
            Err(SamplerError::Length {
                found: 0,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            latents.unpack_values(&[0; 10]),
            Err(SamplerError::Length {
                found: 10,
                expected: 9,
                ..
            })
        ));
    }
}
