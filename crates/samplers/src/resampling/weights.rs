//! Log-weights made ready: checked, relative to the largest, and summed.

use crate::SamplerError;

/// The largest uniform.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// An expected number of copies below a whole number by this share of itself, or this much if it is below one, is that
/// number. The rounding of log-weights of a million is as large, and ⌊M W_j⌋ must not depend on it: a certain copy would
/// become one of many chances.
const WHOLE: f64 = 1e-10;

/// Weights w_j = exp(ℓ_j - max ℓ), in [0, 1] and at least one of them 1, with their sum.
///
/// They are computed from the log-weights when asked for, each time with the same result, so that nothing is allocated.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    log_weights: &'a [f64],
    max: f64,
    total: f64,
    largest: usize,
}

impl<'a> Weights<'a> {
    pub(super) fn new(log_weights: &'a [f64]) -> Result<Self, SamplerError> {
        if log_weights.len() > u32::MAX as usize {
            return Err(SamplerError::TooManyParticles {
                particles: log_weights.len(),
            });
        }
        let (mut largest, mut max) = (0, f64::NEG_INFINITY);
        for (index, &value) in log_weights.iter().enumerate() {
            if value.is_nan() || value == f64::INFINITY {
                return Err(SamplerError::LogWeight { index, value });
            }
            if value > max {
                (largest, max) = (index, value);
            }
        }
        if log_weights.is_empty() {
            return Err(SamplerError::NoWeights);
        }
        if max == f64::NEG_INFINITY {
            return Err(SamplerError::AllWeightsZero {
                particles: log_weights.len(),
            });
        }
        let total = log_weights.iter().map(|l| (l - max).exp()).sum();
        Ok(Self {
            log_weights,
            max,
            total,
            largest,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.log_weights.len()
    }

    /// w_j.
    pub(super) fn get(&self, j: usize) -> f64 {
        (self.log_weights[j] - self.max).exp()
    }

    /// A particle of weight 1.
    pub(super) fn largest(&self) -> u32 {
        self.largest as u32
    }

    /// M W_j: ⌊M W_j⌋ certain copies, and the rest, in [0, 1).
    pub(super) fn copies(&self, j: usize, slots: usize) -> (usize, f64) {
        let expected = self.get(j) * slots as f64 / self.total;
        let certain = (expected + WHOLE * expected.max(1.0)).floor();
        (certain as usize, (expected - certain).max(0.0))
    }

    /// # Errors
    /// [`SamplerError::Pinned`] if the slot or the particle does not exist, or the particle has weight zero.
    pub(super) fn check_pinned(
        &self,
        slot: usize,
        slots: usize,
        ancestor: u32,
    ) -> Result<(), SamplerError> {
        let j = ancestor as usize;
        if slot < slots && j < self.len() && self.get(j) > 0.0 {
            return Ok(());
        }
        Err(SamplerError::Pinned {
            slot,
            slots,
            ancestor,
            particles: self.len(),
        })
    }

    /// The position, as a stratum i and i's uniform, at the share `v` of the way through the particle's interval
    /// [S_{j-1}, S_j) of the cumulative sums, scaled so that the last is `slots`.
    pub(super) fn position_of(&self, ancestor: u32, slots: usize, v: f64) -> (usize, f64) {
        let j = ancestor as usize;
        let below: f64 = (0..j).map(|i| self.get(i)).sum();
        let scaled = |sum: f64| sum * slots as f64 / self.total;
        let lower = scaled(below);
        let position = lower + v * (scaled(below + self.get(j)) - lower);
        // The very end of the last interval may round up to `slots`.
        let stratum = (position as usize).min(slots - 1);
        (stratum, (position - stratum as f64).min(BELOW_ONE))
    }

    /// The cumulative sums of the weights, scaled so that the last is `parts`.
    pub(super) fn cursor(self, parts: usize) -> Cursor<impl Fn(usize) -> f64> {
        let last = (0..self.len()).rfind(|&j| self.get(j) > 0.0);
        Cursor::new(
            move |j| self.get(j),
            last.unwrap_or(self.largest),
            self.total,
            parts,
        )
    }
}

/// Walks up the cumulative sums S_j = parts (w_0 + … + w_j) / Σ w of non-negative weights, once.
pub(super) struct Cursor<F> {
    weight: F,
    /// The last weight above zero: S is at its end there, whatever rounding says.
    last: usize,
    total: f64,
    parts: f64,
    index: usize,
    sum: f64,
    /// S at `index`.
    upper: f64,
}

impl<F: Fn(usize) -> f64> Cursor<F> {
    /// Over the weights `weight(0)`, … , of sum `total`, the last of them above zero at `last`.
    pub(super) fn new(weight: F, last: usize, total: f64, parts: usize) -> Self {
        let mut cursor = Self {
            weight,
            last,
            total,
            parts: parts as f64,
            index: 0,
            sum: 0.0,
            upper: 0.0,
        };
        cursor.enter(0);
        cursor
    }

    fn enter(&mut self, index: usize) {
        self.index = index;
        self.sum += (self.weight)(index);
        // Multiplied first, so that equal weights have their bounds at whole numbers.
        self.upper = self.sum * self.parts / self.total;
    }

    /// The first j with S_j > `whole` + `part`. Positions must not descend from call to call.
    ///
    /// A particle of weight zero is never the answer: its S is that of the one before, or 0, and is passed with it.
    pub(super) fn seek(&mut self, whole: f64, part: f64) -> u32 {
        // The difference is exact where it is close to `part`; the sum of whole and part would round up at the top.
        while self.index < self.last && part >= self.upper - whole {
            self.enter(self.index + 1);
        }
        self.index as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    #[test]
    fn what_is_no_log_weight_is_named() {
        let error = |log_weights: &[f64]| Weights::new(log_weights).err();
        assert!(matches!(error(&[]), Some(SamplerError::NoWeights)));
        assert!(matches!(
            error(&[NINF; 3]),
            Some(SamplerError::AllWeightsZero { particles: 3 })
        ));
        assert!(matches!(
            error(&[0.0, f64::NAN]),
            Some(SamplerError::LogWeight { index: 1, value }) if value.is_nan()
        ));
        assert!(matches!(
            error(&[NINF, NINF, f64::INFINITY]),
            Some(SamplerError::LogWeight {
                index: 2,
                value: f64::INFINITY
            })
        ));
    }

    #[test]
    fn the_largest_weight_is_one_at_any_scale() {
        for shift in [-1e300, -700.0, 0.0, 1e300] {
            let log_weights = [NINF, shift, shift, -f64::MAX];
            let weights = Weights::new(&log_weights).expect("weights");
            assert_eq!((weights.total, weights.largest()), (2.0, 1));
            assert_eq!([0, 1, 2].map(|j| weights.get(j)), [0.0, 1.0, 1.0]);
        }
    }

    #[test]
    fn the_cursor_passes_zeros_at_both_ends_of_the_uniform() {
        let log_weights = [NINF, 0.0, NINF, 0.0, NINF];
        let weights = Weights::new(&log_weights).expect("weights");
        let top = 1.0 - f64::EPSILON / 2.0;
        assert_eq!(weights.cursor(1).seek(0.0, 0.0), 1);
        assert_eq!(weights.cursor(1).seek(0.0, 0.5), 3);
        assert_eq!(weights.cursor(1).seek(0.0, top), 3);
        assert_eq!(weights.cursor(2).seek(0.0, top), 1);
        assert_eq!(weights.cursor(2).seek(1.0, 0.0), 3);
        assert_eq!(weights.cursor(1).seek(0.0, 1.0), 3, "beyond the end");
    }
}
