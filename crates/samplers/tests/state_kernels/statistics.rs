//! Independent replicates, and Kolmogorov's test.
//!
//! A kernel that leaves p invariant turns an exact draw of p into an exact draw of p, after any number of steps. So the
//! ends of replicates that start in exact draws are independent draws, with no autocorrelation to correct for.

use helmholtz_random::{Purpose, Stream};

/// The false-alarm rate of one Kolmogorov test. There are fewer than 50 in this suite.
pub const FALSE_ALARM: f64 = 1e-8;

/// `n` results of `run`, each with a stream of its own.
pub fn replicate<T>(n: u64, which: u64, mut run: impl FnMut(&mut Stream) -> T) -> Vec<T> {
    (0..n)
        .map(|i| run(&mut Stream::new(4, Purpose::new("test"), [which, i])))
        .collect()
}

/// sup |F_n - F|.
pub fn ks_distance(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    (0..)
        .map(f64::from)
        .zip(&draws)
        .map(|(i, &x)| f64::max(cdf(x) - i / n, (i + 1.0) / n - cdf(x)))
        .fold(0.0, f64::max)
}

/// P(sup |F_n - F| > d) <= 2 exp(-2 n d²) (Massart, 1990), for every n.
pub fn ks_bound(n: usize) -> f64 {
    ((2.0 / FALSE_ALARM).ln() / (2.0 * n as f64)).sqrt()
}

pub fn assert_ks(draws: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    let bound = ks_bound(draws.len());
    let distance = ks_distance(draws, cdf);
    assert!(distance < bound, "distance {distance}, bound {bound}");
}

/// The normal distribution function by Simpson's rule on [0, x].
pub fn normal_cdf(x: f64) -> f64 {
    let h = x / 100.0;
    let density = |i: i32| (-0.5 * (h * f64::from(i)).powi(2)).exp();
    let inner: f64 = (1..100)
        .map(|i| f64::from(2 + 2 * (i % 2)) * density(i))
        .sum();
    0.5 + (density(0) + inner + density(100)) * h / 3.0 / (2.0 * std::f64::consts::PI).sqrt()
}

#[test]
fn a_wrong_scale_is_noticed() {
    use helmholtz_random::Draws;
    let draws = |scale: f64| replicate(4000, 99, |stream| scale * stream.normal());
    assert_ks(draws(1.0), normal_cdf);
    assert!(ks_distance(draws(1.25), normal_cdf) > ks_bound(4000));
}
