//! A number of a table of samplers.

use helmholtz_report::Cell;
use serde::{Deserialize, Serialize};

/// A mean with its standard error over instances of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Measured {
    /// Computes mean and standard error of these values, at least two.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        Self {
            mean,
            standard_error: (squares / (count - 1.0) / count).sqrt(),
        }
    }

    /// `1.25 ± 0.07`, of our runs.
    pub fn cell(&self, digits: usize) -> Cell {
        Cell::measured(self.mean, self.standard_error, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standard_error_is_that_of_the_mean() {
        let expected = Measured {
            mean: 2.0,
            standard_error: 1.0,
        };
        assert_eq!(Measured::of(&[1.0, 3.0]), expected);
    }
}
