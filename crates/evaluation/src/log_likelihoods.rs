//! The estimate of ln p(x) of each datum, so that two models can be compared datum by datum.

use crate::LogWeights;
use crate::accumulate::mean_and_error;

const MAGIC: &[u8; 8] = b"HHLOGLIK";
const VERSION: u32 = 1;

/// ln (1/S) Σ_s p(x, h_s) / q(h_s | x) of each datum, in nats, for one number of samples S or several.
///
/// As bytes, all numbers little endian:
///
/// | bytes | content |
/// |---|---|
/// | 8 | `HHLOGLIK` |
/// | 4 | the version of this format, 1 (u32) |
/// | 4 | k, how many S (u32) |
/// | 8 | n, how many data (u64) |
/// | 8 k | each S (u64) |
/// | 8 k n | the estimates (f64), datum by datum, of each datum in the order of the S |
#[derive(Clone, Debug, PartialEq)]
pub struct LogLikelihoods {
    samples: Vec<u64>,
    /// `[data, samples]`
    values: Vec<f64>,
}

/// Bytes that hold no estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: not the log-likelihoods of a run, or damaged; make them again with `evaluate --out`, or restore them from a copy"
)]
pub struct NoLogLikelihoods(&'static str);

impl LogLikelihoods {
    /// Of `weights`, `[data, samples]`, as [`log_weights_at`](crate::log_weights_at) gives them for these numbers of samples.
    ///
    /// # Panics
    /// If they are not whole data.
    pub fn new(samples: &[usize], weights: &[LogWeights]) -> Self {
        assert!(
            weights.len().is_multiple_of(samples.len().max(1)),
            "whole data"
        );
        Self {
            samples: samples.iter().map(|&samples| samples as u64).collect(),
            values: weights.iter().map(|datum| datum.log_mean).collect(),
        }
    }

    /// The numbers of samples.
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// The estimates with this many samples, datum by datum; none if there are no such.
    pub fn with(&self, samples: u64) -> Option<Vec<f64>> {
        let column = self.samples.iter().position(|&own| own == samples)?;
        let values = self.values.iter().skip(column);
        Some(values.step_by(self.samples.len()).copied().collect())
    }

    /// The mean of this NLL less another's over the same data, with this many samples, and its standard error over data, nats:
    /// what the models share in each datum cancels. None where one lacks this S, or their data are not as many.
    pub fn nll_difference(&self, other: &Self, samples: u64) -> Option<(f64, f64)> {
        let (own, other) = (self.with(samples)?, other.with(samples)?);
        let pairs = own.iter().zip(&other);
        (own.len() == other.len()).then(|| mean_and_error(pairs.map(|(own, other)| other - own)))
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let data = self.values.len() / self.samples.len().max(1);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((self.samples.len() as u32).to_le_bytes());
        bytes.extend((data as u64).to_le_bytes());
        bytes.extend(
            self.samples
                .iter()
                .flat_map(|samples| samples.to_le_bytes()),
        );
        bytes.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// Bytes of another kind, version or length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NoLogLikelihoods> {
        let rest = bytes
            .strip_prefix(MAGIC)
            .ok_or(NoLogLikelihoods("another kind of file"))?;
        let cut = NoLogLikelihoods("a file of another length");
        let (version, rest) = rest.split_first_chunk::<4>().ok_or(cut)?;
        if u32::from_le_bytes(*version) != VERSION {
            return Err(NoLogLikelihoods("another version of the format"));
        }
        let (columns, rest) = rest.split_first_chunk::<4>().ok_or(cut)?;
        let (data, rest) = rest.split_first_chunk::<8>().ok_or(cut)?;
        let (columns, data) = (
            u64::from(u32::from_le_bytes(*columns)),
            u64::from_le_bytes(*data),
        );
        let (numbers, torn) = rest.as_chunks::<8>();
        let expected = data
            .checked_add(1)
            .and_then(|rows| rows.checked_mul(columns));
        if !torn.is_empty() || expected != Some(numbers.len() as u64) {
            return Err(cut);
        }
        let (samples, values) = numbers.split_at(columns as usize);
        Ok(Self {
            samples: samples
                .iter()
                .map(|&bytes| u64::from_le_bytes(bytes))
                .collect(),
            values: values
                .iter()
                .map(|&bytes| f64::from_le_bytes(bytes))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[usize], values: &[f64]) -> LogLikelihoods {
        let weights = values.iter().map(|&log_mean| LogWeights {
            log_mean,
            mean_log: 0.0,
        });
        LogLikelihoods::new(samples, &weights.collect::<Vec<_>>())
    }

    #[test]
    fn bytes_come_back_in_the_same_bits_and_damaged_ones_do_not() {
        let some = of(&[100, 1000], &[-1.5, -1.25, f64::NEG_INFINITY, 0.1 + 0.2]);
        let bytes = some.to_bytes();
        assert_eq!(bytes.len(), 8 + 4 + 4 + 8 + 16 + 32);
        assert_eq!(LogLikelihoods::from_bytes(&bytes).unwrap(), some);
        for length in 0..bytes.len() {
            assert!(LogLikelihoods::from_bytes(&bytes[..length]).is_err());
        }
        for at in 0..24 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(LogLikelihoods::from_bytes(&damaged).is_err(), "{at}");
        }
    }

    #[test]
    fn a_difference_in_pairs_has_the_error_of_the_differences() {
        let own = of(&[10, 20], &[0.0, -100.0, 0.0, -50.0, 0.0, -75.0]);
        let other = of(&[20], &[-101.0, -52.0, -78.0]);
        let (mean, error) = own.nll_difference(&other, 20).unwrap();
        // Differences of 1, 2 and 3 nats less: mean −2, sd 1.
        assert!((mean + 2.0).abs() < 1e-12 && (error - 1.0 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!(own.nll_difference(&other, 10), None);
        assert_eq!(own.nll_difference(&of(&[20], &[-1.0]), 20), None);
    }

    #[test]
    fn the_numbers_of_samples_are_those_given() {
        assert_eq!(of(&[100, 7], &[-1.0, -2.0]).samples(), [100, 7]);
    }
}
