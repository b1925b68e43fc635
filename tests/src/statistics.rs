//! The few tests here that sample instead of enumerating, and how often they fail by chance.
//!
//! Seeds are fixed and were not chosen by their results; a test that fails is not run again. All of them together fail
//! a correct implementation with probability below 1e-6: they make fewer than 100 comparisons, each at the level 1e-8.

use helmholtz_random::{Purpose, Stream};

/// P(|z| > 5.731) = 1e-8 for a standard normal z.
pub const NORMAL_LIMIT: f64 = 5.731;

/// P(|t| > 6.27) < 1e-8 for Student's t with 99 degrees of freedom.
pub const STUDENT_LIMIT: f64 = 6.27;

pub use helmholtz_invariance::gradients::{BATCHES, LIMIT as STUDENT_LIMIT_OF_MANY, batch_means};

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
