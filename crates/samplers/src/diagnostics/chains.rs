//! Chains as the diagnostics take them: checked, split, on a common scale.

use super::autocovariance::mean;
use crate::SamplerError;

/// Halves of chains, all of one length of 2 or more, of finite draws that are not all the same.
///
/// The draws are shifted, and scaled to (-2, 2), so that no square overflows or vanishes. The scale is a power of two: by
/// another, distances from the median that are equal would not stay so, and their ranks would be those of rounding.
pub(super) struct Halves {
    pub chains: Vec<Vec<f64>>,
    /// The draws in the middle of chains of odd length, which are in no half.
    middle: Vec<f64>,
    /// A draw is `origin` + `scale` times its value here.
    pub origin: f64,
    pub scale: f64,
}

impl Halves {
    /// # Errors
    /// [`SamplerError::ChainLength`], [`SamplerError::NonFiniteDraw`], [`SamplerError::Constant`].
    pub fn new(chains: &[impl AsRef<[f64]>]) -> Result<Self, SamplerError> {
        let n = chains.first().map_or(0, |chain| chain.as_ref().len());
        if chains.is_empty() {
            return Err(too_short(0, 0));
        }
        for (c, chain) in chains.iter().map(AsRef::as_ref).enumerate() {
            if chain.len() < 4 {
                return Err(too_short(c, chain.len()));
            }
            if chain.len() != n {
                return Err(SamplerError::ChainLength {
                    chain: c,
                    found: chain.len(),
                    expected: format!("chain 0 has {n}"),
                });
            }
            if let Some((draw, &value)) = chain.iter().enumerate().find(|(_, x)| !x.is_finite()) {
                return Err(SamplerError::NonFiniteDraw {
                    chain: c,
                    draw,
                    value,
                });
            }
        }
        let halves = chains
            .iter()
            .map(AsRef::as_ref)
            .flat_map(|chain| [&chain[..n / 2], &chain[n - n / 2..]]);
        let origin = chains[0].as_ref()[0];
        // Halved, as the difference of two finite draws may overflow.
        let offset = |x: f64| 0.5 * x - 0.5 * origin;
        let middle = (chains.iter().map(AsRef::as_ref)).flat_map(|chain| &chain[n / 2..n - n / 2]);
        if halves.clone().flatten().all(|&x| x == origin) {
            return Err(SamplerError::Constant { what: "the draws" });
        }
        let largest = (halves.clone().flatten().chain(middle.clone()))
            .fold(0.0, |largest: f64, &x| largest.max(offset(x).abs()));
        let unit = power_of_two(largest);
        Ok(Self {
            chains: halves
                .map(|half| half.iter().map(|&x| offset(x) / unit).collect())
                .collect(),
            middle: middle.map(|&x| offset(x) / unit).collect(),
            origin,
            scale: 2.0 * unit,
        })
    }

    /// The halves with every draw replaced.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
        let map = |chain: &Vec<f64>| chain.iter().map(|&x| f(x)).collect();
        self.chains.iter().map(map).collect()
    }

    /// All draws, those between halves too.
    pub fn all(&self) -> Vec<f64> {
        let mut draws = self.chains.concat();
        draws.extend_from_slice(&self.middle);
        draws
    }
}

/// The largest power of two that is not above `x`, for a positive normal number; the least normal number below those.
fn power_of_two(x: f64) -> f64 {
    let without_fraction = f64::from_bits(x.to_bits() >> 52 << 52);
    without_fraction.max(f64::MIN_POSITIVE)
}

fn too_short(chain: usize, found: usize) -> SamplerError {
    SamplerError::ChainLength {
        chain,
        found,
        expected: "4 are needed".to_owned(),
    }
}

/// The spread of chains within and between them.
pub(super) struct Spread {
    /// W: the mean of the chains' variances.
    pub within: f64,
    /// var⁺ = (N-1)/N W + B/N: the variance of a draw, if the chains have the same law.
    pub total: f64,
}

impl Spread {
    /// Of two chains or more, of one length N of two or more (Vehtari et al., 2021, eqs. 1-3).
    pub fn of(chains: &[Vec<f64>]) -> Self {
        let n = chains[0].len() as f64;
        let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
        let variances: Vec<f64> = chains.iter().map(|chain| variance(chain)).collect();
        let within = mean(&variances);
        Self {
            within,
            total: (n - 1.0) / n * within + variance(&means),
        }
    }
}

/// The unbiased variance of two draws or more.
pub(super) fn variance(draws: &[f64]) -> f64 {
    let mean = mean(draws);
    let squares: f64 = draws.iter().map(|x| (x - mean).powi(2)).sum();
    squares / (draws.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(chains: &[&[f64]]) -> SamplerError {
        Halves::new(chains).err().expect("refused")
    }

    #[test]
    fn what_cannot_be_diagnosed_is_a_typed_error() {
        let good = [1.0, 2.0, 3.0, 5.0];
        assert!(matches!(
            error(&[]),
            SamplerError::ChainLength { found: 0, .. }
        ));
        assert!(matches!(
            error(&[&good, &good[1..]]),
            SamplerError::ChainLength {
                chain: 1,
                found: 3,
                ..
            }
        ));
        assert!(matches!(
            error(&[&good, &[1.0; 5]]),
            SamplerError::ChainLength {
                chain: 1,
                found: 5,
                ..
            }
        ));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(
                error(&[&good, &[1.0, bad, 2.0, 3.0]]),
                SamplerError::NonFiniteDraw {
                    chain: 1,
                    draw: 1,
                    ..
                }
            ));
        }
        assert!(matches!(
            error(&[&[0.1; 7], &[0.1; 7]]),
            SamplerError::Constant { .. }
        ));
    }

    #[test]
    fn halves_are_the_draws_without_an_odd_middle() {
        let halves = Halves::new(&[[4.0, 5.0, 77.0, 6.0, 8.0]]).unwrap();
        let back = halves.map(|x| halves.origin + halves.scale * x);
        assert_eq!(back, [[4.0, 5.0], [6.0, 8.0]]);
        let all = halves.all().into_iter();
        let all: Vec<f64> = all.map(|x| halves.origin + halves.scale * x).collect();
        assert_eq!(all, [4.0, 5.0, 6.0, 8.0, 77.0]);
        let middle_alone = [[1.0, 1.0, 77.0, 1.0, 1.0]];
        assert!(
            Halves::new(&middle_alone).is_err(),
            "its halves are constant"
        );
    }

    #[test]
    fn extreme_draws_stay_finite() {
        for scale in [f64::MAX, f64::MIN_POSITIVE] {
            let halves = Halves::new(&[[scale, -scale, 0.0, scale]]).unwrap();
            let one = -halves.chains[0][1];
            assert!((1.0..2.0).contains(&one));
            assert_eq!(halves.chains, [[0.0, -one], [-0.5 * one, 0.0]]);
        }
    }

    #[test]
    fn a_power_of_two_is_found_at_both_ends_of_the_range() {
        for (x, power) in [(1.0, 1.0), (7.9, 4.0), (0.3, 0.25)] {
            assert_eq!(power_of_two(x), power);
        }
        assert_eq!(power_of_two(f64::MAX), 2f64.powi(1023));
        assert_eq!(power_of_two(5e-324), f64::MIN_POSITIVE);
    }

    #[test]
    fn the_spread_is_that_of_the_formulas() {
        // Means 1 and 5, variances 2 and 8; W = 5, B/N = 8.
        let spread = Spread::of(&[vec![0.0, 2.0], vec![3.0, 7.0]]);
        assert_eq!((spread.within, spread.total), (5.0, 0.5 * 5.0 + 8.0));
    }
}
