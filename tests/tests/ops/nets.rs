//! Outputs and gradients of small nets of one hidden layer, and their comparison.

use crate::data::assert_within;

/// Outputs, and the gradients of Σ (coefficient · output) in the input and in four arrays of weights.
pub struct Outcome {
    pub outputs: Vec<f64>,
    pub gradients: [Vec<f64>; 5],
}

impl Outcome {
    /// Asserts that nothing is further from `expected` than its bound: the outputs' first.
    #[track_caller]
    pub fn assert_agrees(&self, expected: &Self, names: [&str; 5], bounds: [f64; 6]) {
        assert_within("outputs", &self.outputs, &expected.outputs, |_| bounds[0]);
        for (i, name) in names.into_iter().enumerate() {
            let (found, expected) = (&self.gradients[i], &expected.gradients[i]);
            assert_within(name, found, expected, |_| bounds[i + 1]);
        }
    }

    /// Asserts that each gradient is further from `other`'s than ten bounds.
    #[track_caller]
    pub fn assert_gradients_differ(&self, other: &Self, names: [&str; 5], bounds: [f64; 6]) {
        for (i, name) in names.into_iter().enumerate() {
            let (found, other) = (&self.gradients[i], &other.gradients[i]);
            assert!(is_off(found, other, bounds[i + 1]), "{name}");
        }
    }

    /// Whether some output is further from `other`'s than ten bounds.
    pub fn outputs_differ(&self, other: &Self, bound: f64) -> bool {
        is_off(&self.outputs, &other.outputs, bound)
    }
}

fn is_off(found: &[f64], other: &[f64], bound: f64) -> bool {
    let errors = found.iter().zip(other).map(|(a, b)| (a - b).abs());
    errors.fold(0.0, f64::max) > 10.0 * bound
}
