//! Latent states on the host: from the packed words that a batch has to the packed rows that a store keeps, and back.

use burn::tensor::TensorData;
use helmholtz_samplers::{Latents, Layer, SamplerError, Values};

/// Bits of a word.
const WORD: usize = u32::BITS as usize;

/// Columns that a layer has as values: one a variable, or one a class.
pub(crate) fn values_of(layer: &Layer) -> usize {
    match *layer {
        Layer::Categorical { variables, classes } => variables * classes as usize,
        _ => layer.variables(),
    }
}

/// Words of a row of a layer's values.
pub(crate) fn words_of(layer: &Layer) -> usize {
    values_of(layer).div_ceil(WORD)
}

/// A layer's values `[rows, words]` as they came from the device: packed already, or numbers `[rows, values]`.
pub(crate) fn words(data: &TensorData) -> Vec<u32> {
    if let Ok(words) = data.as_slice::<u32>() {
        return words.to_vec();
    }
    let width = data.shape[1];
    let numbers = crate::host::numbers::<f32>(data);
    let rows = numbers.chunks_exact(width.max(1));
    let words = rows.flat_map(|row| {
        row.chunks(WORD).map(|piece| {
            let bits = piece.iter().enumerate();
            bits.fold(0, |word, (at, &v)| word | u32::from(v > 0.5) << at)
        })
    });
    words.collect()
}

/// Packs one array of words `[rows, words]` a layer, one-hot where it is categorical, into `[rows, bytes_per_row]`.
///
/// # Errors
/// [`SamplerError`] of a variable without a class, and of real variables.
pub(crate) fn pack(latents: &Latents, layers: &[Vec<u32>]) -> Result<Vec<u8>, SamplerError> {
    let rows = |layer: &Layer, words: &[u32]| words.len() / words_of(layer);
    let count = rows(&latents.kinds()[0], &layers[0]);
    if !are_bits(latents) {
        let layers = latents.kinds().iter().zip(layers).enumerate();
        let values = layers.map(|(index, (layer, words))| codes(index, layer, words));
        return latents.pack_values(&values.collect::<Result<Vec<_>, _>>()?);
    }
    let bytes = latents.bytes_per_row();
    let mut packed = vec![0; count * bytes];
    for (n, row) in packed.chunks_exact_mut(bytes).enumerate() {
        let mut first = 0;
        for (layer, words) in latents.kinds().iter().zip(layers) {
            let (bits, own) = (values_of(layer), words_of(layer));
            for (index, &word) in words[n * own..][..own].iter().enumerate() {
                put(
                    row,
                    first + WORD * index,
                    (bits - WORD * index).min(WORD),
                    word,
                );
            }
            first += bits;
        }
    }
    Ok(packed)
}

/// Unpacks what [`pack`] packed.
///
/// # Errors
/// [`SamplerError`] of rows that are not whole or damaged, and of real variables.
pub(crate) fn unpack(latents: &Latents, packed: &[u8]) -> Result<Vec<Vec<u32>>, SamplerError> {
    if !are_bits(latents) {
        let layers = latents.kinds().iter().zip(latents.unpack_values(packed)?);
        let words = layers
            .enumerate()
            .map(|(index, (layer, values))| one_hot(index, layer, values));
        return words.collect();
    }
    let rows = || packed.chunks_exact(latents.bytes_per_row());
    let mut first = 0;
    let layers = latents.kinds().iter().map(|layer| {
        let (bits, begin) = (values_of(layer), first);
        first += bits;
        let words = rows().flat_map(|row| {
            let pieces = (0..bits).step_by(WORD);
            pieces.map(move |at| get(row, begin + at, (bits - at).min(WORD)))
        });
        words.collect()
    });
    Ok(layers.collect())
}

/// `count` bits of a row from bit `first` on, at most 32.
fn get(row: &[u8], first: usize, count: usize) -> u32 {
    let mut bytes = [0; 8];
    let from = &row[first / 8..(first + count).div_ceil(8)];
    bytes[..from.len()].copy_from_slice(from);
    let bits = u64::from_le_bytes(bytes) >> (first % 8);
    bits as u32 & (u32::MAX >> (WORD - count))
}

/// Sets `count` bits of a row that are 0, from bit `first` on, at most 32.
fn put(row: &mut [u8], first: usize, count: usize, bits: u32) {
    let bytes = (u64::from(bits) << (first % 8)).to_le_bytes();
    let to = &mut row[first / 8..(first + count).div_ceil(8)];
    to.iter_mut().zip(bytes).for_each(|(to, byte)| *to |= byte);
}

/// Whether bit `at` is set.
fn bit(words: &[u32], at: usize) -> bool {
    words[at / WORD] >> (at % WORD) & 1 == 1
}

/// What a layer's words are as values of the layout.
fn codes(index: usize, layer: &Layer, words: &[u32]) -> Result<Values, SamplerError> {
    let rows = words.chunks_exact(words_of(layer));
    match *layer {
        Layer::Bernoulli(bits) => {
            let values = rows.flat_map(|row| (0..bits).map(|at| bit(row, at)));
            Ok(Values::Bernoulli(values.collect()))
        }
        Layer::Categorical { variables, classes } => {
            let code = |row: &[u32], variable: usize| {
                let class =
                    (0..classes).find(|&c| bit(row, variable * classes as usize + c as usize));
                // No class is refused as a code that names none.
                class.unwrap_or(classes)
            };
            let codes = rows.flat_map(|row| (0..variables).map(move |v| code(row, v)));
            Ok(Values::Categorical(codes.collect()))
        }
        Layer::F32(_) | Layer::F64(_) => Err(not_discrete(index, layer)),
    }
}

/// What a layer's values are as words.
fn one_hot(index: usize, layer: &Layer, values: Values) -> Result<Vec<u32>, SamplerError> {
    let (width, own) = (values_of(layer), words_of(layer));
    // The places of the ones among all rows' values.
    let (ones, rows): (Vec<usize>, usize) = match (layer, values) {
        (_, Values::Bernoulli(bits)) => {
            let rows = bits.len() / width;
            let ones = bits.into_iter().enumerate().filter(|&(_, bit)| bit);
            (ones.map(|(at, _)| at).collect(), rows)
        }
        (&Layer::Categorical { variables, classes }, Values::Categorical(codes)) => {
            let rows = codes.len() / variables;
            let ones = codes.into_iter().enumerate();
            let place = |(at, code)| at * classes as usize + code as usize;
            (ones.map(place).collect(), rows)
        }
        (layer, _) => return Err(not_discrete(index, layer)),
    };
    let mut words = vec![0; rows * own];
    for at in ones {
        let (row, column) = (at / width, at % width);
        words[row * own + column / WORD] |= 1 << (column % WORD);
    }
    Ok(words)
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

    /// More than a word of classes.
    const LETTER: Layer = Layer::Categorical {
        variables: 2,
        classes: 21,
    };

    /// What a backend has that packs no bits.
    #[test]
    fn numbers_are_packed_as_words() {
        let ones = [[0, 31, 32, 39], [5, 6, 33, 38]];
        let mut numbers = vec![0.0f32; 80];
        let mut expected = vec![0u32; 4];
        for (row, ones) in ones.iter().enumerate() {
            for &at in ones {
                numbers[40 * row + at] = 1.0;
                expected[2 * row + at / 32] += 1 << (at % 32);
            }
        }
        numbers[1] = 0.5;
        assert_eq!(words(&TensorData::new(numbers, [2, 40])), expected);
    }

    #[test]
    fn bits_and_classes_come_back_as_they_went() {
        let bits = vec![0b101, 0b100];
        let long = |row: u32| [row, !row, 0x1f ^ row & 0x1f];
        let long = [long(0x1234_5678), long(0x9abc_def0)].concat();
        let digits = vec![1 | 1 << 9, 1 << 3 | 1 << 6];
        for (kinds, layers) in [
            (vec![Layer::Bernoulli(3)], vec![bits.clone()]),
            (
                vec![Layer::Bernoulli(3), Layer::Bernoulli(69)],
                vec![bits.clone(), long.clone()],
            ),
            (
                vec![Layer::Bernoulli(69), Layer::Bernoulli(3)],
                vec![long.clone(), bits.clone()],
            ),
            (vec![DIGIT], vec![digits.clone()]),
            (
                vec![LETTER],
                vec![vec![1 << 3, 1 << 1, 1 << 20 | 1 << 21, 0]],
            ),
            (vec![Layer::Bernoulli(3), DIGIT], vec![bits, digits]),
        ] {
            let latents = Latents::mixed(&kinds).unwrap();
            let packed = pack(&latents, &layers).unwrap();
            assert_eq!(packed.len(), 2 * latents.bytes_per_row());
            assert_eq!(unpack(&latents, &packed).unwrap(), layers);
            // As the layout itself packs them.
            let values = kinds.iter().zip(&layers).enumerate();
            let values = values.map(|(i, (kind, words))| codes(i, kind, words).unwrap());
            let expected = latents.pack_values(&values.collect::<Vec<_>>()).unwrap();
            assert_eq!(packed, expected);
        }
    }

    #[test]
    fn what_is_no_class_or_not_discrete_is_refused() {
        let latents = Latents::mixed(&[DIGIT]).unwrap();
        let error = pack(&latents, &[vec![1]]).unwrap_err();
        assert!(
            matches!(error, SamplerError::Class { code: 5, .. }),
            "{error}"
        );
        let real = Latents::mixed(&[DIGIT, Layer::F32(1)]).unwrap();
        let error = pack(&real, &[vec![1 | 1 << 5], vec![1]]).unwrap_err();
        assert!(
            matches!(error, SamplerError::Kind { index: 1, .. }),
            "{error}"
        );
        let packed = vec![0; real.bytes_per_row()];
        assert!(unpack(&real, &packed).is_err());
    }
}
