//! The exact mean of an estimator with discrete randomness.

use helmholtz_random::{Enumerator, enumerate};

/// E\[f\], coordinate by coordinate, over every branch of what `f` asks its chance: unbiasedness as an equation, where
/// [`Unbiased`](crate::Unbiased) can only fail to refute it.
///
/// An empty vector if `f` gives one; coordinates that a branch does not give count as 0 there.
///
/// ```
/// use helmholtz_invariance::expectation;
/// use helmholtz_random::Chance;
///
/// // Importance sampling of a normalising constant, 2 + 3, with two draws from q = (1/4, 3/4).
/// let (weights, q) = ([2.0, 3.0], [0.25f64, 0.75]);
/// let z = expectation(|chance| {
///     let mut draw = || chance.choose(&q.map(f64::ln)).map_or(0.0, |i| weights[i] / q[i]);
///     vec![(draw() + draw()) / 2.0]
/// });
/// assert!((z[0] - 5.0).abs() < 1e-12);
/// ```
pub fn expectation(f: impl FnMut(&mut Enumerator) -> Vec<f64>) -> Vec<f64> {
    let mut mean = Vec::new();
    for (probability, values) in enumerate(f) {
        if mean.len() < values.len() {
            mean.resize(values.len(), 0.0);
        }
        for (sum, value) in mean.iter_mut().zip(values) {
            *sum += probability * value;
        }
    }
    mean
}
