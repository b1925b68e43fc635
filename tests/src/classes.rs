//! Categorical variables in plain `f64`, the logit of each first class 0.

use std::ops::Range;

/// The probabilities of C classes for each variable of these logits `[V (C − 1)]`: `[V, C]`.
pub fn probabilities(logits: &[f64], classes: usize) -> Vec<Vec<f64>> {
    let softmax = |logits: &[f64]| {
        let all = std::iter::once(0.0).chain(logits.iter().copied());
        let largest = all.clone().fold(0.0, f64::max);
        let weights: Vec<f64> = all.map(|phi| (phi - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    };
    logits.chunks(classes - 1).map(softmax).collect()
}

/// Each variable's probabilities beside its one-hot value, of values `[V C]`.
fn pairs<'a>(
    probabilities: &'a [Vec<f64>],
    values: &'a [f64],
) -> impl Iterator<Item = (&'a [f64], &'a [f64])> {
    let values = values.chunks(probabilities[0].len());
    probabilities.iter().map(Vec::as_slice).zip(values)
}

fn class_of(one_hot: &[f64]) -> usize {
    let class = one_hot.iter().position(|&z| z == 1.0);
    class.expect("a one-hot value")
}

/// The log-probability of one-hot values, and its derivatives in the logits, z − p.
pub fn score(probabilities: &[Vec<f64>], values: &[f64]) -> (f64, Vec<f64>) {
    let log_p = pairs(probabilities, values).map(|(p, value)| p[class_of(value)].ln());
    let residuals = pairs(probabilities, values)
        .flat_map(|(p, value)| value.iter().zip(p).skip(1).map(|(z, p)| z - p));
    (log_p.sum(), residuals.collect())
}

/// The interval [F(c − 1), F(c)) of uniforms that draws each variable's class c.
pub fn intervals(probabilities: &[Vec<f64>], values: &[f64]) -> Vec<Range<f64>> {
    let interval = |(p, value): (&[f64], &[f64])| {
        let class = class_of(value);
        let reached = |count: usize| p[..count].iter().sum::<f64>();
        reached(class)..reached(class + 1)
    };
    pairs(probabilities, values).map(interval).collect()
}

/// Every one-hot value of a variable.
pub fn one_hot(classes: usize) -> Vec<Vec<f64>> {
    let value = |class| (0..classes).map(move |c| f64::from(u8::from(c == class)));
    (0..classes).map(|class| value(class).collect()).collect()
}
