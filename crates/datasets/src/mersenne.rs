//! The draws of numpy's legacy generator, which published splits are named by: MT19937 (Matsumoto & Nishimura 1998), seeded with
//! a number.

use rand_mt::Mt;

/// `numpy.random.RandomState(seed)`.
pub(crate) struct Mersenne(Mt);

impl Mersenne {
    pub(crate) fn new(seed: u32) -> Self {
        Self(Mt::new(seed))
    }

    /// `random_sample()`: uniform on [0, 1) with 53 bits.
    pub(crate) fn uniform(&mut self) -> f64 {
        let (high, low) = (self.0.next_u32() >> 5, self.0.next_u32() >> 6);
        (f64::from(high) * f64::from(1 << 26) + f64::from(low)) / (1u64 << 53) as f64
    }

    /// `permutation(len)`: the numbers below `len`, each place from the last on exchanged with one of those up to it.
    pub(crate) fn permutation(&mut self, len: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..len).collect();
        for place in (1..len).rev() {
            order.swap(place as usize, self.up_to(place) as usize);
        }
        order
    }

    /// Uniform on 0..=most: masked to the bits of `most`, and drawn again where it is beyond.
    fn up_to(&mut self, most: u32) -> u32 {
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let value = self.0.next_u32() & mask;
            if value <= most {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against numpy 2.4.6.
    #[test]
    fn draws_are_those_of_numpy() {
        let mut five = Mersenne::new(5);
        let expected = [
            0.22199317108973948,
            0.8707323061773764,
            0.20671915533942642,
            0.9186109079379216,
            0.48841118879482914,
        ];
        assert_eq!(expected.map(|_| five.uniform()), expected);
        let order = Mersenne::new(123).permutation(10);
        assert_eq!(order, [4, 0, 7, 5, 8, 3, 1, 6, 9, 2]);
        let order = Mersenne::new(123).permutation(24_345);
        assert_eq!(order[..5], PERMUTED);
        assert_eq!(order[24_340..], PERMUTED_END);
    }

    const PERMUTED: [u32; 5] = [17795, 4791, 14296, 974, 5953];
    const PERMUTED_END: [u32; 5] = [15377, 21602, 17730, 15725, 19966];
}
