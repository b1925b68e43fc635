//! Arithmetic on flat gradients.

/// `sum += scale * term`.
pub fn add_scaled(sum: &mut [f64], scale: f64, term: &[f64]) {
    assert_eq!(sum.len(), term.len());
    sum.iter_mut()
        .zip(term)
        .for_each(|(sum, term)| *sum += scale * term);
}

/// Σ weight · vector over the pairs, of vectors with `len` entries.
pub fn weighted_sum<'a>(len: usize, pairs: impl IntoIterator<Item = (f64, &'a [f64])>) -> Vec<f64> {
    let mut sum = vec![0.0; len];
    for (weight, vector) in pairs {
        add_scaled(&mut sum, weight, vector);
    }
    sum
}

/// max |a − b|.
pub fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |max, d| if d > max || d.is_nan() { d } else { max })
}

/// max |a − b| / max |b|: the error of `a` relative to the largest entry of the expected `b`.
pub fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    max_difference(a, b) / max_difference(b, &vec![0.0; b.len()])
}

/// ln Σ exp.
pub fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = values.clone().fold(f64::NEG_INFINITY, f64::max);
    max + values.map(|v| (v - max).exp()).sum::<f64>().ln()
}

/// ‖a − b‖.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}
