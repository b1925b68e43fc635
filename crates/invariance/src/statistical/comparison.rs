//! A number against its threshold, and what it could have found.

/// The probability with which a discrepancy of the size that a comparison [`sees`](Comparison::sees) is found.
pub const POWER: f64 = 0.99;

/// One number against its threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub name: String,
    /// The statistic.
    pub statistic: f64,
    /// The comparison fails if the statistic reaches this.
    pub threshold: f64,
    /// The probability of that if there is nothing to find, at most.
    pub false_alarm: f64,
    /// Samples used.
    pub samples: usize,
    /// The smallest discrepancy that is found with probability [`POWER`].
    pub sees: f64,
    /// What [`sees`](Self::sees) measures.
    pub unit: &'static str,
}

impl Comparison {
    /// Whether the statistic stays below its threshold; a NaN does not.
    pub fn passed(&self) -> bool {
        self.statistic < self.threshold
    }

    /// About how many samples are needed to see a `discrepancy`, in the same unit, with probability [`POWER`]. All
    /// tests here see discrepancies that shrink as 1/√n.
    ///
    /// ```
    /// # let c = helmholtz_invariance::Comparison {
    /// #     name: "x".into(), statistic: 0.0, threshold: 0.1, false_alarm: 1e-6, samples: 1000, sees: 0.1, unit: "" };
    /// assert_eq!((c.samples, c.sees), (1000, 0.1));
    /// assert_eq!(c.samples_to_see(0.01), 100_000);
    /// ```
    pub fn samples_to_see(&self, discrepancy: f64) -> usize {
        // The relative slack keeps rounding from adding a sample.
        let needed = self.samples as f64 * (self.sees / discrepancy).powi(2);
        (needed * (1.0 - 1e-12)).ceil() as usize
    }
}
