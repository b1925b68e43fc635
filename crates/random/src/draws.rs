//! Continuous randomness.

use rand_core::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::stream::unit_f64;

/// Continuous draws, for kernels that no enumeration can prove. Every random generator implements it,
/// [`Enumerator`](crate::Enumerator) does not.
pub trait Draws {
    /// A uniform in `[0, 1)`, a multiple of 2^-53.
    fn uniform(&mut self) -> f64;

    /// A standard normal, by the ziggurat method (Marsaglia and Tsang, 2000).
    fn normal(&mut self) -> f64;
}

impl<R: Rng + ?Sized> Draws for R {
    fn uniform(&mut self) -> f64 {
        unit_f64(self)
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Stream};

    const TEST: Purpose = Purpose::new("test");

    #[test]
    fn values_are_stable() {
        let mut stream = Stream::new(1, TEST, [0, 0]);
        assert_eq!([stream.uniform(), stream.normal()], GOLDEN);
    }
    const GOLDEN: [f64; 2] = [0.8674309294289606, 0.8884431494637992];

    /// Kolmogorov's test. P(sup|F_n - F| > d) <= 2 exp(-2 n d^2) (Massart, 1990): 1e-9 a test.
    fn assert_law(mut draws: Vec<f64>, cdf: impl Fn(f64) -> f64) {
        let n = draws.len() as f64;
        draws.sort_by(f64::total_cmp);
        let bound = ((2.0 / 1e-9f64).ln() / (2.0 * n)).sqrt();
        for (i, &x) in draws.iter().enumerate() {
            let distance = f64::max(cdf(x) - i as f64 / n, (i + 1) as f64 / n - cdf(x));
            assert!(
                distance < bound,
                "distance {distance} at {x}, bound {bound}"
            );
        }
    }

    #[test]
    fn uniforms_and_normals_follow_their_laws() {
        let mut stream = Stream::new(2, TEST, [0, 0]);
        assert_law((0..20_000).map(|_| stream.uniform()).collect(), |x| x);
        assert_law((0..20_000).map(|_| stream.normal()).collect(), normal_cdf);
    }

    #[test]
    #[should_panic(expected = "distance")]
    fn a_wrong_scale_is_noticed() {
        let mut stream = Stream::new(2, TEST, [1, 0]);
        assert_law(
            (0..20_000).map(|_| 1.1 * stream.normal()).collect(),
            normal_cdf,
        );
    }

    /// The normal distribution function by Simpson's rule on [0, x].
    fn normal_cdf(x: f64) -> f64 {
        let h = x / 200.0;
        let density = |i: i32| (-0.5 * (h * f64::from(i)).powi(2)).exp();
        let inner: f64 = (1..200)
            .map(|i| f64::from(2 + 2 * (i % 2)) * density(i))
            .sum();
        0.5 + (density(0) + inner + density(200)) * h / 3.0 / (2.0 * std::f64::consts::PI).sqrt()
    }
}
