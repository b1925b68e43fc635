//! A linear or logarithmic axis, chosen at run time.

use plotters::coord::combinators::{IntoLogRange, LogCoord};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// Room on both sides of the values, as a share of their span.
const ROOM: f64 = 0.04;

/// From values to pixels.
pub enum Scale {
    /// In proportion.
    Linear(RangedCoordf64),
    /// In proportion to the logarithm.
    Log(LogCoord<f64>),
}

impl Scale {
    /// An axis that spans these values, all of which can be drawn on it.
    pub fn new(log: bool, values: impl Iterator<Item = f64>) -> Self {
        let transformed = values.map(|value| if log { value.ln() } else { value });
        let (low, high) = transformed.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = match high - low {
            span if span > 0.0 => (low - ROOM * span, high + ROOM * span),
            // One value, or none.
            0.0 => (
                low - 0.5 * low.abs().max(1.0),
                high + 0.5 * high.abs().max(1.0),
            ),
            _ => (0.0, 1.0),
        };
        match log {
            true => Self::Log((low.exp()..high.exp()).log_scale().into()),
            false => Self::Linear((low..high).into()),
        }
    }
}

impl Scale {
    /// A value just below the end of the axis.
    pub fn near_end(&self) -> f64 {
        let Range { start, end } = self.range();
        match self {
            Self::Linear(_) => end - ROOM * (end - start),
            Self::Log(_) => end * (start / end).powf(ROOM),
        }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        match self {
            Self::Linear(scale) => scale.map(value, limit),
            Self::Log(scale) => scale.map(value, limit),
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match self {
            Self::Linear(scale) => scale.key_points(hint),
            Self::Log(scale) => scale.key_points(hint),
        }
    }

    fn range(&self) -> Range<f64> {
        match self {
            Self::Linear(scale) => scale.range(),
            Self::Log(scale) => scale.range(),
        }
    }
}

impl ValueFormatter<f64> for Scale {
    /// A tick's label, without the rounding errors of its computation.
    fn format_ext(&self, value: &f64) -> String {
        let Range { start, end } = self.range();
        match self {
            Self::Linear(_) if value.abs() < 1e-9 * (end - start) => "0".into(),
            _ if (1e-3..1e5).contains(&value.abs()) => {
                let text = format!("{value:.6}");
                text.trim_end_matches('0').trim_end_matches('.').into()
            }
            _ => {
                // Through a number, to lose the zeros at the end.
                let short: f64 = format!("{value:.5e}").parse().unwrap_or(*value);
                format!("{short:e}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_spans_its_values_and_labels_them_plainly() {
        let scale = Scale::new(false, [-2.0, 8.0].into_iter());
        assert_eq!(scale.range(), -2.4..8.4);
        assert!(scale.map(&-2.0, (0, 100)) > 0 && scale.map(&8.0, (0, 100)) < 100);
        for (value, label) in [
            (0.1 + 0.2, "0.3"),
            (1e-17, "0"),
            (20.0, "20"),
            (-2e-4, "-2e-4"),
            (3e6, "3e6"),
        ] {
            assert_eq!(scale.format_ext(&value), label);
        }
    }

    #[test]
    fn a_logarithmic_axis_gives_each_decade_the_same_room() {
        let scale = Scale::new(true, [1e-8, 1.0].into_iter());
        let at = [1e-8, 1e-4, 1.0].map(|value| scale.map(&value, (0, 1000)));
        assert!((at[0] + at[2] - 2 * at[1]).abs() <= 1, "{at:?}");
        assert_eq!(scale.format_ext(&1e-8), "1e-8");
    }

    #[test]
    fn one_value_or_none_still_makes_an_axis() {
        assert_eq!(Scale::new(false, [3.0].into_iter()).range(), 1.5..4.5);
        assert_eq!(Scale::new(false, [].into_iter()).range(), 0.0..1.0);
        let range = Scale::new(true, [2.0].into_iter()).range();
        assert!(range.start > 0.0 && range.contains(&2.0));
    }
}
