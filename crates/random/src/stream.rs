//! The keyed generator: ChaCha with eight rounds, whose key is the stream's name.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;

use chacha20::ChaCha8Rng;
use rand_core::{Rng, SeedableRng, TryRng};

use crate::Purpose;

/// Words converted at a time by [`Stream::fill_uniform_f32`].
const CHUNK: usize = 256;

/// A random stream named by (seed, purpose, position).
///
/// The 256-bit ChaCha8 key is `seed | purpose | at[0] | at[1]`, each a `u64` in little endian: no hashing, so distinct
/// names have distinct keys. The position is (epoch, step) for training noise, (datum, block of samples) for
/// evaluation. The words are those of the published cipher (Bernstein, 2008) with zero nonce, the same on every
/// machine. A stream is cheap to make and is never stored: make it anew from its name.
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `purpose` at position `at` in the run with this `seed`.
    pub fn new(seed: u64, purpose: Purpose, at: [u64; 2]) -> Self {
        let mut key = [0; 32];
        for (bytes, word) in key
            .chunks_exact_mut(8)
            .zip([seed, purpose.key(), at[0], at[1]])
        {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A uniform in `[0, 1)`: a multiple of 2^-24, from the top 24 bits of one word.
    #[inline]
    pub fn uniform_f32(&mut self) -> f32 {
        unit_f32(self.0.next_u32())
    }

    /// Fills `out` with the values that as many calls of [`uniform_f32`](Self::uniform_f32) give, faster.
    pub fn fill_uniform_f32(&mut self, out: &mut [f32]) {
        let mut bytes = [0u8; 4 * CHUNK];
        for values in out.chunks_mut(CHUNK) {
            let bytes = &mut bytes[..4 * values.len()];
            self.0.fill_bytes(bytes);
            for (value, word) in values.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = unit_f32(u32::from_le_bytes(*word));
            }
        }
    }

    /// A uniform in `[0, 1)`: a multiple of 2^-53, from the top 53 bits of two words.
    #[inline]
    pub fn uniform_f64(&mut self) -> f64 {
        unit_f64(self)
    }

    /// A uniform integer in `0..bound`, without bias (Lemire, 2019); 0 for a bound of 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        // A draw is the high half of word * bound. Low halves under 2^32 mod bound would be one too many.
        let surplus = if bound == 0 {
            0
        } else {
            bound.wrapping_neg() % bound
        };
        loop {
            let scaled = u64::from(self.0.next_u32()) * u64::from(bound);
            if scaled as u32 >= surplus {
                return (scaled >> 32) as u32;
            }
        }
    }

    /// A uniform permutation of `0..n` (Durstenfeld, 1964).
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last as usize, self.below(last + 1) as usize);
        }
        order
    }
}

/// The top 24 bits of `word` as a multiple of 2^-24; through `i32`, whose conversion is one vector instruction.
#[inline]
fn unit_f32(word: u32) -> f32 {
    const ULP: f32 = 1.0 / (1 << 24) as f32;
    (word >> 8) as i32 as f32 * ULP
}

/// The top 53 bits of the generator's next `u64` as a multiple of 2^-53, in `[0, 1)`.
#[inline]
pub(crate) fn unit_f64(rng: &mut (impl Rng + ?Sized)) -> f64 {
    const ULP: f64 = 1.0 / (1u64 << 53) as f64;
    (rng.next_u64() >> 11) as f64 * ULP
}

impl Clone for Stream {
    /// A stream that gives the same values from here on.
    fn clone(&self) -> Self {
        Self(ChaCha8Rng::deserialize_state(&self.0.serialize_state()))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("words_drawn", &self.0.get_word_pos())
            .finish_non_exhaustive()
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: Purpose = Purpose::new("test");

    /// The ChaCha block function with eight rounds, written out from its definition (Bernstein, 2008).
    fn chacha8_block(key: &[u8; 32], block: u64) -> [u32; 16] {
        let mut input = [0; 16];
        input[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
        for (word, bytes) in input[4..12].iter_mut().zip(key.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        (input[12], input[13]) = (block as u32, (block >> 32) as u32);
        let mut x = input;
        for round in 0..8 {
            for i in 0..4 {
                let slant = |row: usize| 4 * row + if round % 2 == 0 { i } else { (i + row) % 4 };
                let (a, b, c, d) = (i, slant(1), slant(2), slant(3));
                for (shift_d, shift_b) in [(16, 12), (8, 7)] {
                    x[a] = x[a].wrapping_add(x[b]);
                    x[d] = (x[d] ^ x[a]).rotate_left(shift_d);
                    x[c] = x[c].wrapping_add(x[d]);
                    x[b] = (x[b] ^ x[c]).rotate_left(shift_b);
                }
            }
        }
        std::array::from_fn(|i| x[i].wrapping_add(input[i]))
    }

    /// The first block of ChaCha8 for the all-zero 256-bit key and nonce (Strombergson, 2013, test vector TC1).
    const ZERO_KEY: &str = "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e\
                            984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42";

    #[test]
    fn the_zero_key_gives_the_published_keystream() {
        let mut stream = Stream::new(0, Purpose::new("a"), [0, 0]);
        stream.0 = ChaCha8Rng::from_seed([0; 32]); // no purpose packs to zero
        let mut bytes = [0; 64];
        stream.fill_bytes(&mut bytes);
        assert_eq!(
            bytes.iter().map(|b| format!("{b:02x}")).collect::<String>(),
            ZERO_KEY
        );
        let own: Vec<u8> = chacha8_block(&[0; 32], 0)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        assert_eq!(own, bytes);
    }

    #[test]
    fn a_stream_is_chacha8_under_the_key_that_is_its_name() {
        let (seed, at) = (0x0123_4567_89ab_cdef, [3, u64::MAX - 1]);
        let mut key = [0; 32];
        for (i, word) in [seed, TEST.key(), at[0], at[1]].into_iter().enumerate() {
            key[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        let mut stream = Stream::new(seed, TEST, at);
        for block in 0..9 {
            for word in chacha8_block(&key, block) {
                assert_eq!(stream.next_u32(), word, "in block {block}");
            }
        }
    }

    #[test]
    fn values_are_stable() {
        let mut stream = Stream::new(1, Purpose::new("noise"), [2, 3]);
        assert_eq!([stream.next_u32(), stream.next_u32()], GOLDEN_U32);
        assert_eq!([stream.uniform_f32(), stream.uniform_f32()], GOLDEN_F32);
        assert_eq!(stream.uniform_f64(), GOLDEN_F64);
        assert_eq!(stream.permutation(8), GOLDEN_ORDER);
    }
    const GOLDEN_ORDER: [u32; 8] = [2, 7, 4, 0, 6, 3, 5, 1];
    const GOLDEN_U32: [u32; 2] = [2_288_556_912, 818_459_370];
    const GOLDEN_F32: [f32; 2] = [0.520024, 0.32896507];
    const GOLDEN_F64: f64 = 0.7068691464241978;

    #[test]
    fn streams_of_distinct_names_differ() {
        let mut seen = std::collections::HashSet::new();
        for seed in [0, 1, 1 << 63] {
            for purpose in [TEST, Purpose::new("tess"), Purpose::new("t")] {
                for at in [[0, 0], [0, 1], [1, 0], [1 << 40, 0], [0, 1 << 40]] {
                    assert!(seen.insert(Stream::new(seed, purpose, at).next_u64()));
                }
            }
        }
    }

    #[test]
    fn bulk_and_single_uniforms_are_the_same_values() {
        for (before, len) in [
            (0, 0),
            (0, 1),
            (1, 63),
            (3, 64),
            (5, CHUNK),
            (7, 3 * CHUNK + 11),
        ] {
            let mut bulk = Stream::new(9, TEST, [before as u64, len as u64]);
            let mut single = bulk.clone();
            for _ in 0..before {
                assert_eq!(bulk.next_u32(), single.next_u32());
            }
            let mut values = vec![0.0; len];
            bulk.fill_uniform_f32(&mut values);
            assert!(values.iter().all(|&v| v == single.uniform_f32()));
            assert_eq!(
                bulk.next_u32(),
                single.next_u32(),
                "and the streams stay in step"
            );
        }
    }

    #[test]
    fn a_clone_continues_at_any_position() {
        let mut stream = Stream::new(4, TEST, [0, 0]);
        for _ in 0..200 {
            let (mut a, mut b) = (stream.clone(), stream.clone());
            let expected: Vec<u32> = (0..130).map(|_| a.next_u32()).collect();
            assert_eq!((0..130).map(|_| b.next_u32()).collect::<Vec<_>>(), expected);
            assert_eq!(stream.next_u32(), expected[0]);
        }
    }

    #[test]
    fn a_uniform_reaches_zero_and_stays_below_one() {
        assert_eq!(unit_f32(0), 0.0);
        assert_eq!(unit_f32(255), 0.0);
        assert_eq!(unit_f32(256), 2f32.powi(-24));
        assert_eq!(unit_f32(u32::MAX), 1.0 - 2f32.powi(-24));
    }

    #[test]
    fn integers_are_uniform_below_their_bound() {
        let mut stream = Stream::new(5, TEST, [0, 0]);
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
        for bound in [3, 10, 3 << 30] {
            // Thirds of the range are equally likely: each count within 6.5 standard deviations (1e-10). Those of the
            // largest bound are the residues: a draw that should have been rejected has residue 0.
            let mut thirds = [0i32; 3];
            for _ in 0..30_000 {
                let draw = stream.below(bound);
                assert!(draw < bound);
                let third = match bound {
                    3 | 10 => draw * 3 / bound,
                    _ => draw % 3,
                };
                thirds[third as usize] += 1;
            }
            let shares = if bound == 10 {
                [12_000, 9_000, 9_000]
            } else {
                [10_000; 3]
            };
            assert!(
                thirds
                    .iter()
                    .zip(shares)
                    .all(|(n, share)| (n - share).abs() < 550),
                "{thirds:?}"
            );
        }
    }

    #[test]
    fn every_permutation_is_equally_likely() {
        let mut counts = std::collections::HashMap::new();
        for i in 0..24_000 {
            *counts
                .entry(Stream::new(6, TEST, [i, 0]).permutation(4))
                .or_insert(0i32) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(
            counts.values().all(|n| (n - 1000).abs() < 205),
            "6.5 standard deviations each: {counts:?}"
        );
        assert_eq!(Stream::new(6, TEST, [0, 1]).permutation(0), [0u32; 0]);
    }

    #[test]
    fn a_stream_can_go_to_another_thread() {
        fn is_send<T: Send + Sync + Clone>() {}
        is_send::<Stream>();
    }
}
