//! A linear or logarithmic axis, chosen at run time.

/// Room on both sides of the values, as a share of their span.
const ROOM: f64 = 0.04;

/// From values to shares of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Whether it is logarithmic.
    pub log: bool,
    /// The value at its beginning.
    pub low: f64,
    /// The value at its end.
    pub high: f64,
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
            true => Self {
                log,
                low: low.exp(),
                high: high.exp(),
            },
            false => Self { log, low, high },
        }
    }

    /// Place of a value on the axis: 0 at its beginning, 1 at its end.
    pub fn share(&self, value: f64) -> f64 {
        match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        }
    }

    /// At most `most` round values within the axis, evenly spaced: multiples of 1, 2 or 5 times a power of ten. On a logarithmic axis
    /// that spans two decades or more, powers of ten.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10(), self.high.log10());
        if self.log && last - first >= 2.0 {
            let step = ((last - first) / most as f64).ceil().max(1.0);
            let multiples = (first / step).ceil() as i64..=(last / step).floor() as i64;
            return multiples.map(|k| 10f64.powf(k as f64 * step)).collect();
        }
        let rough = (self.high - self.low) / most as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|round| round * power);
        let step = step.into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let multiples = (self.low / step).ceil() as i64..=(self.high / step).floor() as i64;
        multiples.map(|k| k as f64 * step).collect()
    }

    /// A tick's label, without the rounding errors of its computation.
    pub fn label(&self, value: f64) -> String {
        if !self.log && value.abs() < 1e-9 * (self.high - self.low) {
            return "0".into();
        }
        if (1e-3..1e5).contains(&value.abs()) {
            let text = format!("{value:.6}");
            return text.trim_end_matches('0').trim_end_matches('.').into();
        }
        // Through a number, to lose the zeros at the end.
        let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
        format!("{short:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_spans_its_values_and_labels_them_plainly() {
        let scale = Scale::new(false, [-2.0, 8.0].into_iter());
        assert_eq!((scale.low, scale.high), (-2.4, 8.4));
        assert!(scale.share(-2.0) > 0.0 && scale.share(8.0) < 1.0);
        for (value, label) in [
            (0.1 + 0.2, "0.3"),
            (1e-17, "0"),
            (20.0, "20"),
            (-2e-4, "-2e-4"),
            (3e6, "3e6"),
        ] {
            assert_eq!(scale.label(value), label);
        }
        // What is zero, but for rounding, is a matter of the span.
        let label = |low, high, value| {
            let log = false;
            Scale { log, low, high }.label(value)
        };
        assert_eq!(label(-5.0, 5.0, 1e-17), "0");
        assert_eq!(label(0.0, 1e-12, 1e-13), "1e-13");
        assert_eq!(label(0.0, 1e-12, 1e-25), "0");
    }

    #[test]
    fn a_logarithmic_axis_gives_each_decade_the_same_room() {
        let scale = Scale::new(true, [1e-8, 1.0].into_iter());
        let at = [1e-8, 1e-4, 1.0].map(|value| scale.share(value));
        assert!((at[0] + at[2] - 2.0 * at[1]).abs() <= 1e-9, "{at:?}");
        let ends = Scale {
            log: true,
            low: 2.0,
            high: 32.0,
        };
        let shares = [2.0, 4.0, 8.0, 32.0].map(|value| ends.share(value));
        assert_eq!(shares, [0.0, 0.25, 0.5, 1.0]);
        assert_eq!(scale.label(1e-8), "1e-8");
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let ticks = |log, low, high| {
            let scale = Scale { log, low, high };
            let labels = scale.ticks(7).into_iter().map(|tick| scale.label(tick));
            labels.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(false, -2.4, 8.4), "-2 0 2 4 6 8");
        assert_eq!(ticks(false, 94.7, 107.2), "96 98 100 102 104 106");
        assert_eq!(ticks(false, 0.0, 1000.0), "0 200 400 600 800 1000");
        assert_eq!(ticks(true, 3e-9, 2.0), "1e-8 1e-6 1e-4 0.01 1");
        assert_eq!(ticks(true, 8.0, 40.0), "10 15 20 25 30 35 40");
        assert_eq!(
            ticks(true, 1e-30, 3e10),
            "1e-30 1e-24 1e-18 1e-12 1e-6 1 1e6"
        );
        assert_eq!(ticks(true, 1e6, 3e12), "1e6 1e7 1e8 1e9 1e10 1e11 1e12");
        assert_eq!(ticks(false, 0.0, 420.0), "0 100 200 300 400");
        assert_eq!(ticks(false, -60.0, 0.0), "-60 -50 -40 -30 -20 -10 0");
    }

    #[test]
    fn one_value_or_none_still_makes_an_axis() {
        let ends = |log, values: &[f64]| {
            let scale = Scale::new(log, values.iter().copied());
            (scale.low, scale.high)
        };
        assert_eq!(ends(false, &[3.0]), (1.5, 4.5));
        assert_eq!(ends(false, &[]), (0.0, 1.0));
        let (low, high) = ends(true, &[2.0]);
        assert!(0.0 < low && low < 2.0 && 2.0 < high);
    }
}
