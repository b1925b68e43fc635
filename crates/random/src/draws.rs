//! Continuous randomness.

use rand_core::Rng;
use rand_distr::{Beta, Distribution, Gamma, StandardNormal};

use crate::stream::unit_f64;

/// Continuous draws, for kernels that no enumeration can prove. Every random generator implements it,
/// [`Enumerator`](crate::Enumerator) does not.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no continuous draws",
    label = "uniforms, normals, gammas and betas are asked for here",
    note = "every `rand_core` generator has them; an `Enumerator` walks coins and choices only, as real numbers cannot be enumerated",
    note = "to test a kernel that draws real numbers, use `OneStep`, `Geweke` or `Calibration` of `helmholtz-invariance`"
)]
pub trait Draws {
    /// A uniform in `[0, 1)`, a multiple of 2^-53.
    fn uniform(&mut self) -> f64;

    /// A standard normal, by the ZIGNOR variant of the ziggurat method (Doornik, 2005).
    fn normal(&mut self) -> f64;

    /// A gamma variate of this shape and rate 1, by Marsaglia and Tsang's (2000) method.
    ///
    /// Of a small shape it may be 0, being below the least number; of one that is not positive and finite it is NaN.
    fn gamma(&mut self, shape: f64) -> f64;

    /// A beta variate, by Cheng's (1978) methods. Of parameters that are not positive and finite it is NaN.
    fn beta(&mut self, a: f64, b: f64) -> f64;
}

#[diagnostic::do_not_recommend]
impl<R: Rng + ?Sized> Draws for R {
    fn uniform(&mut self) -> f64 {
        unit_f64(self)
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        match Gamma::new(shape, 1.0) {
            Ok(gamma) if shape.is_finite() => gamma.sample(self),
            _ => f64::NAN,
        }
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        match Beta::new(a, b) {
            Ok(beta) if a.is_finite() && b.is_finite() => beta.sample(self),
            _ => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use crate::{Purpose, Stream};

    const TEST: Purpose = Purpose::new("test");

    #[test]
    fn values_are_stable() {
        let mut stream = Stream::new(1, TEST, [0, 0]);
        let draws = [
            stream.uniform(),
            stream.normal(),
            stream.gamma(0.3),
            stream.beta(2.0, 0.5),
        ];
        assert_eq!(draws, GOLDEN);
    }
    const GOLDEN: [f64; 4] = [
        0.8674309294289606,
        0.8884431494637992,
        0.00011055164875602535,
        0.9974869847591246,
    ];

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
    fn gamma_variates_follow_their_laws() {
        let mut stream = Stream::new(2, TEST, [2, 0]);
        let mut draws = |shape| (0..20_000).map(|_| stream.gamma(shape)).collect();
        // Half of a squared normal, an exponential, and a sum of three.
        assert_law(draws(0.5), |x| 2.0 * normal_cdf((2.0 * x).sqrt()) - 1.0);
        assert_law(draws(1.0), |x| -(-x).exp_m1());
        assert_law(draws(3.0), |x| 1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x));
    }

    #[test]
    fn beta_variates_follow_their_laws() {
        let mut stream = Stream::new(2, TEST, [3, 0]);
        let mut draws = |a, b| (0..20_000).map(|_| stream.beta(a, b)).collect();
        assert_law(draws(0.5, 0.5), |x| x.sqrt().asin() / FRAC_PI_2);
        assert_law(draws(1.0, 3.0), |x| 1.0 - (1.0 - x).powi(3));
        assert_law(draws(2.0, 2.0), |x| x * x * (3.0 - 2.0 * x));
        assert_law(draws(40.0, 1.0), |x| x.powi(40));
        assert_law(draws(0.02, 1.0), |x| x.powf(0.02));
    }

    #[test]
    fn variates_of_impossible_shapes_are_not_numbers() {
        let mut stream = Stream::new(3, TEST, [0, 0]);
        for shape in [0.0, -0.5, -2.0, f64::NAN, f64::INFINITY] {
            assert!(stream.gamma(shape).is_nan());
            assert!(stream.beta(shape, 1.0).is_nan() && stream.beta(1.0, shape).is_nan());
        }
    }

    #[test]
    #[should_panic(expected = "distance")]
    fn a_wrong_shape_is_noticed() {
        let mut stream = Stream::new(2, TEST, [2, 1]);
        assert_law((0..20_000).map(|_| stream.gamma(1.1)).collect(), |x| {
            -(-x).exp_m1()
        });
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
