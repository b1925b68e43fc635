//! Many coins at once.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::stream::unit_f64;

/// Coins, each with its own probability of heads, ready to be [tossed](crate::Chance::toss) many times.
///
/// ```
/// use helmholtz_random::{Chance, Coins, Purpose, Stream};
///
/// let mut coins = Coins::default();
/// coins.extend([0.0, 0.3, 1.0]);
/// let mut heads = Vec::new();
/// Stream::new(7, Purpose::new("coins"), [0, 0]).toss(&coins, &mut heads);
/// assert!(!heads.contains(&0) && heads.contains(&2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coins {
    probabilities: Vec<f64>,
    /// The last step, of 256 in \[0, 1\], that begins below the probability.
    steps: Vec<u8>,
}

/// How many values a byte has.
const STEPS: f64 = 256.0;

/// Coins that are tossed at a time.
const CHUNK: usize = 1024;

/// A NaN is step 0, and nothing is below it.
fn step(probability: f64) -> u8 {
    (probability * STEPS) as u8
}

impl Coins {
    /// No coins.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The probabilities of heads.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Gives the coin at `place` the probability of heads `probability`, in \[0, 1\]. A NaN is never heads.
    ///
    /// # Panics
    /// If there is none.
    pub fn set(&mut self, place: usize, probability: f64) {
        self.probabilities[place] = probability;
        self.steps[place] = step(probability);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.probabilities.clear();
        self.steps.clear();
    }

    pub(crate) fn toss(&self, rng: &mut (impl Rng + ?Sized), heads: &mut Vec<usize>) {
        let (mut bytes, mut open) = ([0u8; CHUNK], [0u8; CHUNK]);
        for (chunk, steps) in self.steps.chunks(CHUNK).enumerate() {
            let (bytes, open) = (&mut bytes[..steps.len()], &mut open[..steps.len()]);
            rng.fill_bytes(bytes);
            for ((open, byte), step) in open.iter_mut().zip(bytes.iter()).zip(steps) {
                *open = u8::from(byte <= step);
            }
            let mut settle = |at: usize| {
                let place = CHUNK * chunk + at;
                // A uniform in the byte's step is below the probability: surely, perhaps, or not at all.
                let below = self.probabilities[place] * STEPS - f64::from(bytes[at]);
                if below >= 1.0 || unit_f64(rng) < below {
                    heads.push(place);
                }
            };
            for (first, group) in open.chunks(64).enumerate() {
                let mut left = mask(group);
                while left != 0 {
                    settle(64 * first + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        }
    }
}

/// Bit i is the last bit of byte i, of up to 64 bytes that are 0 or 1.
fn mask(group: &[u8]) -> u64 {
    let (eights, rest) = group.as_chunks::<8>();
    // Each byte's bit is shifted to a place of its own in the highest byte of the product.
    let gathered =
        |eight: [u8; 8]| u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    let mut mask = 0;
    for (at, eight) in eights.iter().enumerate() {
        mask |= gathered(*eight) << (8 * at);
    }
    if !rest.is_empty() {
        let mut eight = [0; 8];
        eight[..rest.len()].copy_from_slice(rest);
        mask |= gathered(eight) << (8 * eights.len());
    }
    mask
}

impl Extend<f64> for Coins {
    /// More coins, by their probabilities of heads, in \[0, 1\].
    fn extend<I: IntoIterator<Item = f64>>(&mut self, probabilities: I) {
        let first = self.probabilities.len();
        self.probabilities.extend(probabilities);
        let more = self.probabilities[first..].iter().map(|p| step(*p));
        self.steps.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_core::TryRng;

    use super::*;
    use crate::{Chance, Purpose, Stream};

    /// Gives these bytes in bulk, and this `u64` each time that one is asked for.
    struct Given<'a>(&'a [u8], u64, u32);
    impl TryRng for Given<'_> {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("coins are tossed in bulk")
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            self.2 += 1;
            Ok(self.1)
        }
        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            let (own, rest) = self.0.split_at(bytes.len());
            self.0 = rest;
            bytes.copy_from_slice(own);
            Ok(())
        }
    }

    fn coins(probabilities: impl IntoIterator<Item = f64>) -> Coins {
        let mut coins = Coins::new();
        coins.extend(probabilities);
        coins
    }

    /// Heads, and how many `u64` were spent.
    fn tossed(mut rng: Given<'_>, coins: &Coins) -> (Vec<usize>, u32) {
        let mut heads = vec![77];
        rng.toss(coins, &mut heads);
        assert_eq!(heads.remove(0), 77, "heads are appended");
        assert!(rng.0.is_empty(), "a byte a coin");
        (heads, rng.2)
    }

    /// Every byte as often as another, across several chunks and a rest.
    #[test]
    fn coins_fall_with_their_probabilities() {
        let bytes: Vec<u8> = (0..256 * 13 + 3).map(|i| (i % 256) as u8).collect();
        for heads_of_256 in [0u8, 1, 64, 128, 255] {
            let p = f64::from(heads_of_256) / 256.0;
            let all = coins(vec![p; bytes.len()]);
            assert_eq!((all.len(), all.is_empty()), (bytes.len(), false));
            let (heads, more) = tossed(Given(&bytes, 0, 0), &all);
            let below = |i: &usize| bytes[*i] < heads_of_256;
            assert_eq!(heads, (0..bytes.len()).filter(below).collect::<Vec<_>>());
            let open = bytes.iter().filter(|b| **b == heads_of_256).count();
            assert_eq!(more as usize, open);
        }
        let every_third = coins((0..2779).map(|i| f64::from(i % 3 == 2)));
        let (heads, _) = tossed(Given(&[255; 2779], u64::MAX, 0), &every_third);
        assert_eq!(heads, (2..2779).step_by(3).collect::<Vec<_>>());
    }

    #[test]
    fn a_mask_has_the_bits_of_its_bytes() {
        for length in 0..=64 {
            let bytes: Vec<u8> = (0..length).map(|i| (i * i % 7 % 2) as u8).collect();
            let bits = bytes.iter().enumerate();
            let expected = bits.fold(0u64, |mask, (at, byte)| mask | u64::from(*byte) << at);
            assert_eq!(mask(&bytes), expected, "{length}");
        }
        assert_eq!(mask(&[1; 64]), u64::MAX);
    }

    /// p 256 lies between two bytes, and the rest of it is compared with one more uniform.
    #[test]
    fn a_probability_is_not_rounded_to_the_bits_of_a_byte() {
        let with = |p: f64, byte, more| tossed(Given(&[byte], more, 0), &coins([p]));
        let p = (5.0 + 0.25) / STEPS;
        assert_eq!(with(p, 4, u64::MAX), (vec![0], 0));
        assert_eq!(with(p, 6, 0), (vec![], 0));
        assert_eq!(with(p, 5, (1 << 62) - (1 << 11)), (vec![0], 1));
        assert_eq!(with(p, 5, 1 << 62), (vec![], 1));
        // Far below a byte's share, and the ends.
        let tiny = 2f64.powi(-40);
        assert_eq!(with(tiny, 0, 0), (vec![0], 1));
        assert_eq!(with(tiny, 0, 1 << 33), (vec![], 1));
        assert_eq!(with(1.0, 255, u64::MAX), (vec![0], 0));
        assert_eq!(with(0.0, 0, 0), (vec![], 1));
        assert_eq!(with(f64::NAN, 0, 0).0, []);
        assert_eq!(tossed(Given(&[], 0, 0), &coins([])), (vec![], 0));
    }

    #[test]
    fn a_coin_is_given_another_probability() {
        let mut all = coins([0.5, 0.5, 0.5]);
        all.set(1, 1.0);
        assert_eq!(all, coins([0.5, 1.0, 0.5]));
        assert_eq!(all.probabilities(), [0.5, 1.0, 0.5]);
        all.clear();
        assert!(all.is_empty() && all == Coins::new());
    }

    /// 100,000 tosses each; six and a half standard deviations are a false alarm in 1e10.
    #[test]
    fn a_stream_tosses_coins_by_their_law() {
        let probabilities = [0.001, 0.3, 0.5, 0.998];
        let all = coins((0..100_000).flat_map(|_| probabilities));
        let mut heads = Vec::new();
        Stream::new(1, Purpose::new("coins"), [0, 0]).toss(&all, &mut heads);
        assert!(heads.is_sorted());
        for (i, p) in probabilities.into_iter().enumerate() {
            let found = heads.iter().filter(|place| *place % 4 == i).count() as f64;
            let deviation = (1e5 * p * (1.0 - p)).sqrt();
            assert!((found - 1e5 * p).abs() < 6.5 * deviation, "{p}: {found}");
        }
    }

    #[test]
    fn coins_are_enumerated_one_by_one() {
        let all = coins([0.25, 0.0, 0.5, 1.0, f64::NAN]);
        let outcomes = crate::enumerate(|chance| {
            let mut heads = Vec::new();
            chance.toss(&all, &mut heads);
            heads
        });
        let expected = [
            (0.375, vec![3]),
            (0.375, vec![2, 3]),
            (0.125, vec![0, 3]),
            (0.125, vec![0, 2, 3]),
        ];
        assert_eq!(outcomes, expected);
    }
}
