//! Running mean and variance of a learning signal.

use serde::{Deserialize, Serialize};

/// Decay of the running averages.
const DECAY: f64 = 0.8;

/// Exponential moving mean and variance (Mnih & Gregor 2014, section 2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// c.
    pub mean: f64,
    /// v.
    pub variance: f64,
}

impl Moments {
    /// c ← 0.8 c + 0.2 s̄ and v ← 0.8 v + 0.2 (1/n) Σ_i (s_i − s̄)², s̄ the mean of n ≥ 1 signals; of none both become NaN.
    pub fn update(&mut self, signals: &[f64]) {
        let count = signals.len() as f64;
        let mean = signals.iter().sum::<f64>() / count;
        let variance = signals.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count;
        self.mean = DECAY * self.mean + (1.0 - DECAY) * mean;
        self.variance = DECAY * self.variance + (1.0 - DECAY) * variance;
    }

    /// max(1, √v), what a signal is divided by.
    pub fn scale(&self) -> f64 {
        self.variance.sqrt().max(1.0)
    }
}
