//! Rows of one variable: as many of them at a time as there are lanes.

use crate::flex::LANES;
use crate::flex::exp::{EXP_IS_ZERO, exp, ln};
use crate::flex::rows::Cyclic;

/// See [`super::score`].
#[inline(always)]
pub fn score<const FMA: bool>(
    (classes, logits, values, log_prob, mut residual): (
        usize,
        Cyclic<'_>,
        Cyclic<'_>,
        &mut [f32],
        Option<&mut [f32]>,
    ),
) {
    let mut rows = Rows::new(classes);
    for first in (0..logits.rows).step_by(LANES) {
        let count = rows.set::<FMA>(&logits, first);
        let normalisers = rows.normalise::<FMA>();
        for lane in 0..count {
            let normaliser = f64::from(rows.largest[lane]) + f64::from(normalisers[lane]);
            for n in (first + lane..log_prob.len()).step_by(logits.rows) {
                let values = &values.row(n)[1..];
                let mut linear = 0.0;
                for (z, logits) in values.iter().zip(&rows.logits[1..]) {
                    linear += f64::from(*z) * f64::from(logits[lane]);
                }
                log_prob[n] = (linear - normaliser) as f32;
                if let Some(residual) = &mut residual {
                    let residual = &mut residual[n * (classes - 1)..][..classes - 1];
                    for ((r, z), p) in residual.iter_mut().zip(values).zip(&rows.weights[1..]) {
                        *r = z - p[lane];
                    }
                }
            }
        }
    }
}

/// See [`super::invert`].
#[inline(always)]
pub fn invert<const FMA: bool>(
    (classes, logits, uniforms, values): (usize, Cyclic<'_>, &[f32], &mut [f32]),
) {
    let mut rows = Rows::new(classes);
    for first in (0..logits.rows).step_by(LANES) {
        let count = rows.set::<FMA>(&logits, first);
        rows.accumulate();
        let (total, cumulative) = rows.weights.split_last().expect("a class");
        for lane in 0..count {
            for n in (first + lane..uniforms.len()).step_by(logits.rows) {
                let scaled = uniforms[n] * total[lane];
                // Not those that it reaches: with logits that are no numbers it is the last class.
                let below = cumulative.iter().filter(|f| scaled < f[lane]).count();
                values[n * classes + cumulative.len() - below] = 1.0;
            }
        }
    }
}

/// What follows from some rows of logits: for each class a lane a row.
struct Rows {
    /// φ of all classes, the pinned one too.
    logits: Vec<[f32; LANES]>,
    /// e^(φ − m); then what is made of them in place.
    weights: Vec<[f32; LANES]>,
    /// m, the largest φ of a row.
    largest: [f32; LANES],
}

impl Rows {
    fn new(classes: usize) -> Self {
        Self {
            logits: vec![[0.0; LANES]; classes],
            weights: vec![[0.0; LANES]; classes],
            largest: [0.0; LANES],
        }
    }

    /// The rows from `first` on, and how many they are.
    #[inline(always)]
    fn set<const FMA: bool>(&mut self, logits: &Cyclic<'_>, first: usize) -> usize {
        let count = LANES.min(logits.rows - first);
        self.largest = [0.0; LANES];
        for lane in 0..count {
            for (all, logit) in self.logits[1..].iter_mut().zip(logits.row(first + lane)) {
                all[lane] = *logit;
            }
        }
        for logits in &self.logits {
            for (largest, &logit) in self.largest.iter_mut().zip(logits) {
                *largest = largest.max(logit);
            }
        }
        for (weights, logits) in self.weights.iter_mut().zip(&self.logits) {
            for lane in 0..LANES {
                let shifted = logits[lane] - self.largest[lane];
                let e = exp::<FMA>(shifted);
                weights[lane] = if shifted < EXP_IS_ZERO { 0.0 } else { e };
            }
        }
        count
    }

    /// Weights become probabilities; returns ln Σ_c e^(φ − m).
    #[inline(always)]
    fn normalise<const FMA: bool>(&mut self) -> [f32; LANES] {
        let mut sum = [0.0; LANES];
        for weights in &self.weights {
            (0..LANES).for_each(|lane| sum[lane] += weights[lane]);
        }
        for weights in &mut self.weights {
            (0..LANES).for_each(|lane| weights[lane] /= sum[lane]);
        }
        sum.map(ln::<FMA>)
    }

    /// Weights become cumulative weights.
    #[inline(always)]
    fn accumulate(&mut self) {
        for class in 1..self.weights.len() {
            let before = self.weights[class - 1];
            (0..LANES).for_each(|lane| self.weights[class][lane] += before[lane]);
        }
    }
}
