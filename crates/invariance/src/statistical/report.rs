//! What a test found, and what it could have found.

use std::fmt;

use crate::statistical::{Comparison, POWER, Ranks};

/// The outcome of one test: all its comparisons, which share its false-alarm rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The name of the share that was spent.
    pub name: String,
    /// What was compared.
    pub comparisons: Vec<Comparison>,
    /// The ranks of each function, two comparisons a function; only of a [`Calibration`](crate::Calibration).
    pub ranks: Vec<Ranks>,
}

impl Report {
    /// A picture, as SVG, of the ranks of a [`Calibration`](crate::Calibration): histograms and differences of
    /// distribution functions, with bands that hold for all bins and ranks at once. `None` for other tests.
    pub fn to_svg(&self) -> Option<String> {
        (!self.ranks.is_empty())
            .then(|| super::rank_plot::svg(&self.name, &self.ranks, &self.comparisons))
    }

    /// Whether every comparison passed. A test that compared nothing has not passed.
    pub fn passed(&self) -> bool {
        !self.comparisons.is_empty() && self.comparisons.iter().all(Comparison::passed)
    }

    /// The test's share of the suite's false-alarm rate.
    pub fn false_alarm(&self) -> f64 {
        self.comparisons.iter().map(|c| c.false_alarm).sum()
    }

    /// For the last line of a test.
    ///
    /// # Panics
    /// With the whole table if a comparison failed.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.passed(), "{self}");
    }

    /// For the last line of a negative control: a test of something that is known to be wrong.
    ///
    /// # Panics
    /// With the whole table if every comparison passed, or nothing was compared.
    #[track_caller]
    pub fn assert_failed(&self) {
        let found = self.comparisons.iter().any(|c| !c.passed());
        assert!(found, "nothing was found: {self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.comparisons.iter().filter(|c| !c.passed()).count();
        if self.comparisons.is_empty() {
            write!(f, "{}: FAILED, nothing was compared", self.name)?;
        } else if failed == 0 {
            write!(f, "{}: passed", self.name)?;
        } else {
            write!(
                f,
                "{}: FAILED, {failed} of {} comparisons",
                self.name,
                self.comparisons.len()
            )?;
        }
        writeln!(f, " (false-alarm rate {:.1e})", self.false_alarm())?;
        let width = (self.comparisons.iter().map(|c| c.name.chars().count()))
            .max()
            .unwrap_or(0)
            .max(10);
        writeln!(
            f,
            "  {:width$} {:>10} {:>10} {:>8} {:>8}  sees with probability {POWER}",
            "comparison", "statistic", "threshold", "rate", "samples"
        )?;
        for c in &self.comparisons {
            writeln!(
                f,
                "{} {:width$} {:>10.4} {:>10.4} {:>8.1e} {:>8}  {} of {:.3e}",
                if c.passed() { " " } else { ">" },
                c.name,
                c.statistic,
                c.threshold,
                c.false_alarm,
                c.samples,
                c.unit,
                c.sees
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(name: &str, statistic: f64) -> Comparison {
        Comparison {
            name: name.into(),
            statistic,
            threshold: 5.0,
            false_alarm: 1e-7,
            samples: 400,
            sees: 0.25,
            unit: "bias",
        }
    }

    #[test]
    fn the_failed_line_is_marked_and_the_rate_is_the_sum() {
        let report = Report {
            name: "a test".into(),
            comparisons: vec![comparison("x", 1.0), comparison("x squared", 7.5)],
            ranks: Vec::new(),
        };
        assert!(!report.passed());
        let text = report.to_string();
        assert!(text.contains("a test: FAILED, 1 of 2 comparisons (false-alarm rate 2.0e-7)"));
        assert!(
            text.lines()
                .any(|l| l.starts_with("> x squared") && l.ends_with("bias of 2.500e-1")),
            "{text}"
        );
        report.assert_failed();
    }

    #[test]
    fn a_statistic_that_is_nan_or_on_the_threshold_fails() {
        assert!(comparison("x", 4.999).passed());
        assert!(!comparison("x", 5.0).passed());
        assert!(!comparison("x", f64::NAN).passed());
    }

    #[test]
    fn a_test_that_compared_nothing_proves_nothing() {
        let report = Report {
            name: "t".into(),
            comparisons: vec![],
            ranks: Vec::new(),
        };
        assert!(!report.passed());
        assert!(report.to_string().contains("nothing was compared"));
        assert!(std::panic::catch_unwind(|| report.assert_failed()).is_err());
    }

    #[test]
    #[should_panic(expected = "FAILED, 1 of 1")]
    fn asserting_shows_the_table() {
        let comparisons = vec![comparison("x", 6.0)];
        Report {
            name: "t".into(),
            comparisons,
            ranks: Vec::new(),
        }
        .assert_passed();
    }
}
