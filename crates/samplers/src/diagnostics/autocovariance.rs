//! Autocovariances of a chain.

use super::fourier::{Complex, transform};

/// γ_t = 1/N Σ_i (x_i - m)(x_{i+t} - m) for lags t = 0..=`max_lag`, with the chain's own mean m.
///
/// The divisor is N at every lag, which makes the sequence positive definite (Geyer, 1992, §3.1). Lags from N on have
/// no terms: the result stops before them. All lags come from one Fourier transform, in O(N log N); the rounding error
/// of each is about 1e-16 times γ_0.
///
/// ```
/// use helmholtz_samplers::diagnostics::autocovariance;
/// let found = autocovariance(&[1.0, -1.0, 1.0, -1.0], 2);
/// let expected = [1.0, -0.75, 0.5];
/// assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
/// ```
pub fn autocovariance(chain: &[f64], max_lag: usize) -> Vec<f64> {
    let mut all = mean_autocovariance(&[chain]);
    all.truncate(max_lag.saturating_add(1));
    all
}

/// The mean over chains, all of one length N, of γ_t for t = 0..N.
///
/// The inverse transform of |X_k|² is Σ_i x_i x_{i+t} when zeros keep the ends apart (Wiener and Khinchin). Two real
/// chains a and b share a transform as a + i b, whose autocovariance has the sum of theirs as its real part; and spectra
/// are summed before the one inverse transform.
pub(super) fn mean_autocovariance(chains: &[impl AsRef<[f64]>]) -> Vec<f64> {
    let n = chains.first().map_or(0, |chain| chain.as_ref().len());
    let mut spectrum: Vec<Complex> = vec![[0.0, 0.0]; (2 * n).next_power_of_two()];
    let mut values = spectrum.clone();
    for pair in chains.chunks(2) {
        values.fill([0.0, 0.0]);
        for (part, chain) in pair.iter().map(AsRef::as_ref).enumerate() {
            let mean = mean(chain);
            for (value, x) in values.iter_mut().zip(chain) {
                value[part] = x - mean;
            }
        }
        transform(&mut values);
        for (power, value) in spectrum.iter_mut().zip(&values) {
            power[0] += value[0] * value[0] + value[1] * value[1];
        }
    }
    // The spectrum is real, so the transform and its inverse have the same real part.
    let scale = 1.0 / (spectrum.len() * n * chains.len()) as f64;
    transform(&mut spectrum);
    spectrum.iter().take(n).map(|s| s[0] * scale).collect()
}

pub(super) fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14 * (1.0 + expected[0].abs());
        assert!(found.iter().zip(expected).all(near), "{found:?}");
    }

    #[test]
    fn it_is_the_sum_of_the_formula() {
        let chain = [2.0, 3.0, 7.0, 0.0]; // mean 3: -1, 0, 4, -3
        assert_close(&autocovariance(&chain, 9), &[6.5, -3.0, -1.0, 0.75]);
        assert_close(&autocovariance(&chain, 0), &[6.5]);
        assert_eq!(autocovariance(&[], 3), [0.0; 0]);
        assert_eq!(autocovariance(&[4.0], usize::MAX), [0.0]);
    }

    /// The double sum, for one to five chains of lengths around powers of two.
    #[test]
    fn the_mean_over_chains_is_the_double_sum() {
        for n in [2, 3, 31, 32, 33, 100] {
            let chains: Vec<Vec<f64>> = (0..5)
                .map(|c| {
                    let value = |i: usize| ((i * i * 7 + 13 * c + i) % 29) as f64 - 10.0;
                    (0..n).map(value).collect()
                })
                .collect();
            for count in 1..=5 {
                let expected: Vec<f64> = (0..n)
                    .map(|t| {
                        let of = |chain: &Vec<f64>| {
                            let m = mean(chain);
                            let products = chain.iter().zip(&chain[t..]);
                            products.map(|(a, b)| (a - m) * (b - m)).sum::<f64>() / n as f64
                        };
                        chains[..count].iter().map(of).sum::<f64>() / count as f64
                    })
                    .collect();
                assert_close(&mean_autocovariance(&chains[..count]), &expected);
            }
        }
    }
}
