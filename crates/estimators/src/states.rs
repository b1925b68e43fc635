//! Latent states on the host: from the numbers that tensors hold to packed rows, and back.

use helmholtz_samplers::{Latents, Layer, SamplerError, Values};

/// Columns that a layer has as a tensor: one a variable, or one a class.
pub(crate) fn values_of(layer: &Layer) -> usize {
    match *layer {
        Layer::Categorical { variables, classes } => variables * classes as usize,
        _ => layer.variables(),
    }
}

/// Packs one array `[rows, values]` a layer, of 0.0 / 1.0 or one-hot, into `[rows, bytes_per_row]`.
///
/// # Errors
/// [`SamplerError`] of arrays that do not fit the layout, of a variable without a class, and of real variables.
pub(crate) fn pack(latents: &Latents, layers: &[Vec<f32>]) -> Result<Vec<u8>, SamplerError> {
    if are_bits(latents) {
        return latents.pack(&layers.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
    let layers = latents.kinds().iter().zip(layers).enumerate();
    let values = layers.map(|(index, (layer, values))| match *layer {
        Layer::Bernoulli(_) => Ok(Values::Bernoulli(values.iter().map(|&v| v > 0.5).collect())),
        Layer::Categorical { classes, .. } => {
            let one_hot = values.chunks(classes as usize);
            let code = |one_hot: &[f32]| one_hot.iter().position(|&v| v > 0.5);
            // No class is refused as a code that names none.
            let codes = one_hot.map(|v| code(v).map_or(classes, |code| code as u32));
            Ok(Values::Categorical(codes.collect()))
        }
        Layer::F32(_) | Layer::F64(_) => Err(not_discrete(index, layer)),
    });
    latents.pack_values(&values.collect::<Result<Vec<_>, _>>()?)
}

/// Unpacks what [`pack`] packed.
///
/// # Errors
/// [`SamplerError`] of rows that are not whole or damaged, and of real variables.
pub(crate) fn unpack(latents: &Latents, packed: &[u8]) -> Result<Vec<Vec<f32>>, SamplerError> {
    if are_bits(latents) {
        return latents.unpack(packed);
    }
    let layers = latents.kinds().iter().zip(latents.unpack_values(packed)?);
    let numbers = layers.enumerate().map(|(index, pair)| match pair {
        (_, Values::Bernoulli(bits)) => {
            Ok(bits.into_iter().map(|b| f32::from(u8::from(b))).collect())
        }
        (Layer::Categorical { classes, .. }, Values::Categorical(codes)) => {
            let mut one_hot = vec![0.0; codes.len() * *classes as usize];
            for (value, code) in one_hot.chunks_mut(*classes as usize).zip(codes) {
                value[code as usize] = 1.0;
            }
            Ok(one_hot)
        }
        (layer, _) => Err(not_discrete(index, layer)),
    });
    numbers.collect()
}

fn are_bits(latents: &Latents) -> bool {
    let mut kinds = latents.kinds().iter();
    kinds.all(|layer| matches!(layer, Layer::Bernoulli(_)))
}

fn not_discrete(index: usize, layer: &Layer) -> SamplerError {
    SamplerError::Kind {
        index,
        layer: layer.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGIT: Layer = Layer::Categorical {
        variables: 2,
        classes: 5,
    };

    #[test]
    fn bits_and_classes_come_back_as_they_went() {
        let bits = vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let one_hot = |codes: [usize; 4]| -> Vec<f32> {
            let value = |code| (0..5).map(move |c| f32::from(u8::from(c == code)));
            codes.into_iter().flat_map(value).collect()
        };
        let digits = one_hot([0, 4, 3, 1]);
        for (kinds, layers) in [
            (vec![Layer::Bernoulli(3)], vec![bits.clone()]),
            (vec![DIGIT], vec![digits.clone()]),
            (vec![Layer::Bernoulli(3), DIGIT], vec![bits, digits]),
        ] {
            let latents = Latents::mixed(&kinds).unwrap();
            let packed = pack(&latents, &layers).unwrap();
            assert_eq!(packed.len(), 2 * latents.bytes_per_row());
            assert_eq!(unpack(&latents, &packed).unwrap(), layers);
            let widths: Vec<usize> = kinds.iter().map(values_of).collect();
            assert_eq!(
                widths,
                layers.iter().map(|l| l.len() / 2).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_is_no_class_or_not_discrete_is_refused() {
        let latents = Latents::mixed(&[DIGIT]).unwrap();
        let none = vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN];
        let error = pack(&latents, &[none]).unwrap_err();
        assert!(
            matches!(error, SamplerError::Class { code: 5, .. }),
            "{error}"
        );
        let real = Latents::mixed(&[DIGIT, Layer::F32(1)]).unwrap();
        let error = pack(&real, &[vec![0.0; 10], vec![0.5]]).unwrap_err();
        assert!(
            matches!(error, SamplerError::Kind { index: 1, .. }),
            "{error}"
        );
        let packed = vec![0; real.bytes_per_row()];
        assert!(unpack(&real, &packed).is_err());
    }
}
