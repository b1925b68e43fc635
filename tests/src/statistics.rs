//! The few tests here that sample instead of enumerating, and how often they fail by chance.
//!
//! Seeds are fixed and were not chosen by their results; a test that fails is not run again. All of them together fail
//! a correct implementation with probability below 1e-6: they make fewer than 100 comparisons, each at the level 1e-8.

use helmholtz_random::{Purpose, Stream};

/// P(|z| > 5.731) = 1e-8 for a standard normal z.
pub const NORMAL_LIMIT: f64 = 5.731;

/// Batches of [`batch_means`].
pub const BATCHES: usize = 100;

/// P(|t| > 6.27) < 1e-8 for Student's t with 99 degrees of freedom.
pub const STUDENT_LIMIT: f64 = 6.27;

/// P(|t| > 6.95) < 1e-9 for Student's t with 99 degrees of freedom: for the estimators whose every coordinate is compared,
/// fewer than 1000 in all.
pub const STUDENT_LIMIT_OF_MANY: f64 = 6.95;

/// The largest |mean − exact| in standard errors, over coordinates, of [`BATCHES`] estimates, each a mean over many draws.
/// Coordinates that never vary must be exact to rounding.
pub fn largest_t(exact: &[f64], mut estimate: impl FnMut(&mut Stream) -> Vec<f64>) -> f64 {
    let draw = |batch| {
        estimate(&mut Stream::new(
            20_260_301,
            Purpose::new("largest"),
            [batch, 0],
        ))
    };
    let series: Vec<Vec<f64>> = (0..BATCHES as u64).map(draw).collect();
    let (mean, error) = batch_means(&series);
    let t = mean
        .iter()
        .zip(&error)
        .zip(exact)
        .map(|((mean, error), exact)| {
            let rounding = 1e-9 * exact.abs().max(1e-3);
            (mean - exact).abs() / error.max(rounding)
        });
    t.fold(0.0, |max, t| if t > max || t.is_nan() { t } else { max })
}

/// The mean of a correlated series of vectors and its standard error, from [`BATCHES`] means of equal stretches.
///
/// # Panics
/// If the series does not divide into that many.
pub fn batch_means(series: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    assert!(series.len().is_multiple_of(BATCHES) && !series.is_empty());
    let means: Vec<Vec<f64>> = series.chunks(series.len() / BATCHES).map(mean).collect();
    let centre = mean(&means);
    let error = |(i, centre): (usize, &f64)| {
        let squares: f64 = means.iter().map(|m| (m[i] - centre).powi(2)).sum();
        (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt()
    };
    let errors = centre.iter().enumerate().map(error).collect();
    (centre, errors)
}

fn mean(vectors: &[Vec<f64>]) -> Vec<f64> {
    let pairs = vectors
        .iter()
        .map(|v| (1.0 / vectors.len() as f64, v.as_slice()));
    crate::vectors::weighted_sum(vectors[0].len(), pairs)
}
