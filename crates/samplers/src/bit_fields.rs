//! Numbers of any width at any bit of an array of bytes.
//!
//! Bits are numbered from the lowest of the first byte, as in [`pack_bits`](crate::pack_bits); a number's lowest bit
//! comes first.

/// Sets the `width` bits (1 to 64) from bit `at` on to the lowest ones of `value`. Bits around them stay.
#[inline]
pub(crate) fn write_bits(bytes: &mut [u8], at: usize, width: u32, value: u64) {
    let field = &mut bytes[at / 8..(at + width as usize).div_ceil(8)];
    let mut word = [0; 16];
    word[..field.len()].copy_from_slice(field);
    let mask = u128::from(u64::MAX >> (64 - width)) << (at % 8);
    let word = u128::from_le_bytes(word) & !mask | u128::from(value) << (at % 8) & mask;
    field.copy_from_slice(&word.to_le_bytes()[..field.len()]);
}

/// The number in the `width` bits (1 to 64) from bit `at` on.
#[inline]
pub(crate) fn read_bits(bytes: &[u8], at: usize, width: u32) -> u64 {
    let field = &bytes[at / 8..(at + width as usize).div_ceil(8)];
    let mut word = [0; 16];
    word[..field.len()].copy_from_slice(field);
    (u128::from_le_bytes(word) >> (at % 8)) as u64 & (u64::MAX >> (64 - width))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_comes_back_and_its_surroundings_stay(mut bytes: [u8; 32], at in 0usize..192, width in 1u32..=64, value: u64) {
            let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (i % 8) & 1;
            let before = bytes;
            write_bits(&mut bytes, at, width, value);
            prop_assert_eq!(read_bits(&bytes, at, width), value & (u64::MAX >> (64 - width)));
            for i in 0..256usize {
                let expected = match i.checked_sub(at) {
                    Some(j) if j < width as usize => (value >> j & 1) as u8,
                    _ => bit(&before, i),
                };
                prop_assert_eq!(bit(&bytes, i), expected, "bit {}", i);
            }
        }
    }
}
