//! Rows of zeros and ones as bits.

use crate::SamplerError;

/// Packs rows of 0.0 / 1.0 into bits, the first in the lowest bit of the first byte.
///
/// `values` is `[rows, bits]`, `packed` is `[rows, ceil(bits / 8)]`; bits beyond the row are 0. A value above 1/2 is a
/// one, anything else (a NaN too) a zero.
///
/// # Errors
/// [`SamplerError::Length`] if the lengths do not fit; [`SamplerError::Layers`] if `bits` is 0.
///
/// ```
/// use helmholtz_samplers::{pack_bits, unpack_bits};
/// let rows = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]; // two rows of three bits
/// let mut packed = [0u8; 2];
/// pack_bits(&rows, 3, &mut packed)?;
/// assert_eq!(packed, [0b001, 0b111]);
///
/// let mut unpacked = [f32::NAN; 6];
/// unpack_bits(&packed, 3, &mut unpacked)?;
/// assert_eq!(unpacked, rows);
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
pub fn pack_bits(values: &[f32], bits: usize, packed: &mut [u8]) -> Result<(), SamplerError> {
    let rows = check(values.len(), bits, packed.len())?;
    for (row, packed) in values
        .chunks_exact(bits)
        .zip(packed.chunks_exact_mut(bits.div_ceil(8)))
        .take(rows)
    {
        let (bytes, rest) = row.as_chunks::<8>();
        for (eight, byte) in bytes.iter().zip(packed.iter_mut()) {
            *byte = pack_byte(eight);
        }
        if let (false, Some(byte)) = (rest.is_empty(), packed.last_mut()) {
            *byte = pack_byte(rest);
        }
    }
    Ok(())
}

/// Unpacks what [`pack_bits`] packed: `packed` is `[rows, ceil(bits / 8)]`, `values` is `[rows, bits]`.
///
/// # Errors
/// [`SamplerError::Length`] if the lengths do not fit; [`SamplerError::Layers`] if `bits` is 0.
pub fn unpack_bits(packed: &[u8], bits: usize, values: &mut [f32]) -> Result<(), SamplerError> {
    let rows = check(values.len(), bits, packed.len())?;
    for (row, packed) in values
        .chunks_exact_mut(bits)
        .zip(packed.chunks_exact(bits.div_ceil(8)))
        .take(rows)
    {
        let (bytes, rest) = row.as_chunks_mut::<8>();
        for (eight, &byte) in bytes.iter_mut().zip(packed) {
            *eight = unpack_byte(byte);
        }
        if let (false, Some(&byte)) = (rest.is_empty(), packed.last()) {
            rest.copy_from_slice(&unpack_byte(byte)[..rest.len()]);
        }
    }
    Ok(())
}

/// The number of rows, if `values` and `packed` have the same.
fn check(values: usize, bits: usize, packed: usize) -> Result<usize, SamplerError> {
    if bits == 0 {
        return Err(SamplerError::Layers { layers: vec![0] });
    }
    let rows = values / bits;
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
    length("the array of values", values, rows * bits)?;
    length("the array of packed rows", packed, rows * bits.div_ceil(8))?;
    Ok(rows)
}

#[inline]
fn pack_byte(values: &[f32]) -> u8 {
    values
        .iter()
        .enumerate()
        .fold(0, |byte, (i, &v)| byte | u8::from(v > 0.5) << i)
}

#[inline]
fn unpack_byte(byte: u8) -> [f32; 8] {
    std::array::from_fn(|i| f32::from(byte >> i & 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unpacking_gives_back_what_was_packed(bits in 1usize..70, rows in 0usize..5, coins in prop::collection::vec(any::<bool>(), 70 * 5)) {
            let values: Vec<f32> = coins[..rows * bits].iter().map(|&c| f32::from(u8::from(c))).collect();
            let mut packed = vec![0xff; rows * bits.div_ceil(8)];
            pack_bits(&values, bits, &mut packed).unwrap();
            for (row, bytes) in packed.chunks_exact(bits.div_ceil(8)).enumerate() {
                for i in 0..8 * bytes.len() {
                    let expected = i < bits && coins[row * bits + i];
                    prop_assert_eq!(bytes[i / 8] >> (i % 8) & 1 == 1, expected);
                }
            }
            let mut unpacked = vec![f32::NAN; values.len()];
            unpack_bits(&packed, bits, &mut unpacked).unwrap();
            prop_assert_eq!(unpacked, values);
        }
    }

    #[test]
    fn a_value_is_a_one_above_a_half() {
        let mut packed = [0];
        pack_bits(
            &[0.5, 0.50001, f32::NAN, -1.0, 2.0, f32::INFINITY],
            6,
            &mut packed,
        )
        .unwrap();
        assert_eq!(packed, [0b110010]);
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        assert!(matches!(
            pack_bits(&[0.0; 7], 3, &mut [0; 2]),
            Err(SamplerError::Length {
                found: 7,
                expected: 6,
                ..
            })
        ));
        assert!(matches!(
            unpack_bits(&[0; 3], 3, &mut [0.0; 6]),
            Err(SamplerError::Length {
                found: 3,
                expected: 2,
                ..
            })
        ));
        assert!(matches!(
            pack_bits(&[], 0, &mut []),
            Err(SamplerError::Layers { .. })
        ));
    }
}
