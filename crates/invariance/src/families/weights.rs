//! Log-weights with extremes.

use std::ops::RangeInclusive;

use proptest::prelude::*;

/// As many log-weights as `len` allows: most between -5 and 5, the others 0 (for ties), -300, 300 or -inf. All may be
/// -inf.
pub fn log_weights(len: RangeInclusive<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(log_weight(), len)
}

/// [`log_weights`] with NaN and +inf among them, which no log-weight should be: for code that must refuse or skip them.
pub fn hostile_log_weights(len: RangeInclusive<usize>) -> impl Strategy<Value = Vec<f64>> {
    let hostile = prop_oneof![
        8 => log_weight(),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
    ];
    prop::collection::vec(hostile, len)
}

pub(crate) fn log_weight() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -5.0f64..5.0,
        1 => Just(0.0),
        1 => Just(-300.0),
        1 => Just(300.0),
        1 => Just(f64::NEG_INFINITY),
    ]
}
