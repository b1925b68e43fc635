//! A seeded random subset of rows.

use helmholtz_random::Stream;

/// `count` of the rows `0..len`, every subset equally likely, in ascending order; all rows when `count >= len`.
///
/// Never take a prefix instead: the test rows of binarised MNIST are sorted by digit. One pass, one uniform a row:
/// row `i` is taken with probability (rows still wanted) / (rows still left) (Knuth, The Art of Computer Programming,
/// vol. 2, §3.4.2, algorithm S).
///
/// ```
/// use helmholtz_datasets::random_subset;
/// use helmholtz_random::{Purpose, Stream};
/// let rows = random_subset(10_000, 500, &mut Stream::new(1, Purpose::new("subset"), [0, 0]));
/// assert_eq!(rows.len(), 500);
/// ```
pub fn random_subset(len: usize, count: usize, stream: &mut Stream) -> Vec<u32> {
    let mut wanted = count.min(len);
    let mut rows = Vec::with_capacity(wanted);
    for row in 0..len {
        let left = (len - row) as f64;
        if stream.uniform_f64() * left < wanted as f64 {
            rows.push(row as u32);
            wanted -= 1;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use helmholtz_random::Purpose;

    const TEST: Purpose = Purpose::new("test");

    #[test]
    fn a_subset_has_the_size_asked_and_ascends_without_repeats() {
        for (len, count) in [
            (0, 0),
            (0, 3),
            (1, 1),
            (10, 0),
            (10, 10),
            (10, 99),
            (1000, 137),
        ] {
            let rows = random_subset(len, count, &mut Stream::new(3, TEST, [0, 0]));
            assert_eq!(rows.len(), count.min(len));
            assert!(rows.windows(2).all(|w| w[0] < w[1]));
            assert!(rows.iter().all(|&row| (row as usize) < len));
        }
    }

    #[test]
    fn the_same_stream_gives_the_same_subset_and_another_gives_another() {
        let at = |seed| random_subset(10_000, 100, &mut Stream::new(seed, TEST, [0, 0]));
        assert_eq!(at(1), at(1));
        assert_ne!(at(1), at(2));
    }

    /// 6000 draws of 2 of 4: each of the 6 pairs is expected 1000 times, standard deviation 28.9. A fair sampler leaves
    /// the band of 5 standard deviations in any pair with probability below 4e-6; the seed is fixed, so the outcome is.
    #[test]
    fn every_subset_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for draw in 0..6000 {
            let rows = random_subset(4, 2, &mut Stream::new(draw, TEST, [0, 0]));
            *counts.entry(rows).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|&n: &i32| (n - 1000).abs() < 145),
            "{counts:?}"
        );
    }
}
