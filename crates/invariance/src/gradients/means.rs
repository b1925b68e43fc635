//! Means over draws, and how far they are from what they should be.

use std::ops::Range;

use helmholtz_random::{Purpose, Stream};

/// Batches of [`batch_means`].
pub const BATCHES: usize = 100;

/// P(|t| > 7.3) < 1e-10 for Student's t with 99 degrees of freedom: for estimators whose every coordinate is compared, fewer
/// than 10,000 in all.
pub const LIMIT: f64 = 7.3;

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
    let share = 1.0 / vectors.len() as f64;
    let mut mean = vec![0.0; vectors[0].len()];
    for vector in vectors {
        let places = mean.iter_mut().zip(vector);
        places.for_each(|(mean, v)| *mean += share * v);
    }
    mean
}

/// The mean of [`BATCHES`] estimates, each with a stream of its own, and its standard error.
pub fn mean_of(mut estimate: impl FnMut(&mut Stream) -> Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let purpose = Purpose::new("certify");
    let draw = |batch| estimate(&mut Stream::new(20_261_121, purpose, [batch, 1]));
    let series: Vec<Vec<f64>> = (0..BATCHES as u64).map(draw).collect();
    batch_means(&series)
}

/// max_i |mean_i − exact_i| / max(e_i, 1e-9 s) among some coordinates, with e the standard errors and s = max(1e-3, max_j |exact_j|);
/// NaN if a mean is. So a coordinate that never varies must be exact to rounding.
pub fn largest_t((mean, error): &(Vec<f64>, Vec<f64>), exact: &[f64], among: Range<usize>) -> f64 {
    let scale = exact.iter().fold(1e-3f64, |max, e| max.max(e.abs()));
    among
        .map(|i| (mean[i] - exact[i]).abs() / error[i].max(1e-9 * scale))
        .fold(0.0, |max, t| if t > max || t.is_nan() { t } else { max })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_mean_is_that_of_its_batches() {
        // Batches of two, whose means are 0 and 1 in turn: their variance is 100 / 4 / 99.
        let series: Vec<Vec<f64>> = (0..2 * BATCHES)
            .map(|i| vec![(i / 2 % 2) as f64 + [-3.0, 3.0][i % 2]])
            .collect();
        let (mean, error) = batch_means(&series);
        assert!((mean[0] - 0.5).abs() < 1e-12);
        assert!((error[0] - (0.25f64 / 99.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_coordinate_that_never_varies_must_be_exact_to_rounding() {
        let t = |mean: f64| largest_t(&(vec![mean], vec![0.0]), &[100.0], 0..1);
        assert!(t(100.0 + 1e-8) < 1.0);
        assert!(t(100.0 + 1e-6) > LIMIT);
    }
}
