//! A generator whose uniforms are chosen.

use std::convert::Infallible;

use rand_core::TryRng;

/// A generator that gives the uniforms it was made of, over and over.
///
/// Code that draws uniforms, not coins, cannot be enumerated. But it can be fed a fine grid ([`on_grid`]) and the ends
/// of the interval, where strict and non-strict comparisons differ. A resampling that can pick a particle of weight
/// zero does so at u = 0.
///
/// ```
/// use helmholtz_invariance::Uniforms;
/// use helmholtz_random::{Chance, Draws};
///
/// let mut ends = Uniforms::new(&[0.0, 1.0]);
/// assert_eq!([ends.uniform(), ends.uniform()], [0.0, 1.0 - 0.5f64.powi(53)]);
/// assert_eq!(ends.choose(&[f64::NEG_INFINITY, 0.0]), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct Uniforms {
    words: Vec<u64>,
    next: usize,
}

impl Uniforms {
    /// Gives `uniforms` in turn, rounded down to multiples of 2^-53 and kept within `[0, 1)`: 1 stands for the largest
    /// uniform there is, 1 - 2^-53. Without any, all are 0.
    pub fn new(uniforms: &[f64]) -> Self {
        const SCALE: f64 = (1u64 << 53) as f64;
        let word = |u: f64| ((u * SCALE) as u64).min((1 << 53) - 1) << 11;
        Self {
            words: uniforms.iter().map(|&u| word(u)).collect(),
            next: 0,
        }
    }
}

impl TryRng for Uniforms {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.try_next_u64()? >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let word = self.words.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1) % self.words.len().max(1);
        Ok(word)
    }

    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        for bytes in dst.chunks_mut(8) {
            bytes.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

/// The n + 2 answers of `f` when all its uniforms are u, in increasing order of u. The values of u are the two ends of
/// `[0, 1)` and the midpoints (i + 1/2) / n between.
///
/// For a function of one uniform, whose breakpoints are multiples of 1/n, the midpoints are all cases there are, each
/// with probability 1/n.
pub fn on_grid<T>(n: usize, mut f: impl FnMut(&mut Uniforms) -> T) -> Vec<T> {
    let midpoints = (0..n).map(|i| (i as f64 + 0.5) / n as f64);
    std::iter::once(0.0)
        .chain(midpoints)
        .chain([1.0])
        .map(|u| f(&mut Uniforms::new(&[u])))
        .collect()
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Chance, Draws};

    use super::*;

    #[test]
    fn a_grid_counts_a_choice_exactly() {
        let log_w = [0.1f64, 0.0, 0.9].map(f64::ln);
        let chosen = on_grid(1000, |u| u.choose(&log_w).unwrap());
        assert_eq!(chosen.len(), 1002);
        assert_eq!(chosen.iter().filter(|&&i| i == 0).count(), 101);
        assert!(chosen.iter().all(|&i| i != 1));
    }

    #[test]
    fn uniforms_come_back_as_given() {
        let mut u = Uniforms::new(&[0.25, 0.625, 2.0, -1.0, f64::NAN]);
        let drawn: Vec<f64> = (0..6).map(|_| u.uniform()).collect();
        assert_eq!(drawn, [0.25, 0.625, 1.0 - 0.5f64.powi(53), 0.0, 0.0, 0.25]);
        assert_eq!(Uniforms::new(&[]).uniform(), 0.0);
    }
}
