//! Uniforms in ascending order, without sorting.

use helmholtz_random::Draws;

/// The order statistics of `n` independent uniforms, one after the other, each from one uniform.
///
/// Given U_(i-1), the others above it are uniform on its right, and the least of n - i + 1 of them has
/// 1 - U_(i) = (1 - U_(i-1)) V^{1/(n-i+1)}, V uniform (Bentley and Saxe, 1980). The logarithm of the left side is kept:
/// one logarithm and one exponential each. Values are in [0, 1]; 1 only by rounding.
pub(super) struct SortedUniforms {
    left: usize,
    /// ln(1 - U) of the last one.
    log_above: f64,
}

impl SortedUniforms {
    pub(super) fn new(n: usize) -> Self {
        Self {
            left: n,
            log_above: 0.0,
        }
    }

    /// The next one; may be called `n` times.
    pub(super) fn next(&mut self, draws: &mut (impl Draws + ?Sized)) -> f64 {
        self.log_above += (1.0 - draws.uniform()).ln() / self.left as f64;
        self.left -= 1;
        1.0 - self.log_above.exp()
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream};

    use super::*;

    /// U_(i) of n uniforms is Beta(i, n-i+1), of mean i/(n+1) and variance below 1/(4(n+2)). 20 means over 10^4 runs,
    /// each within 6.5 standard deviations of its own: 2e-9 in all.
    #[test]
    fn they_ascend_with_the_means_of_order_statistics() {
        let (n, runs) = (20, 10_000);
        let mut stream = Stream::new(3, Purpose::new("test"), [0, 0]);
        let mut means = vec![0.0; n];
        for _ in 0..runs {
            let (mut sorted, mut before) = (SortedUniforms::new(n), 0.0);
            for mean in &mut means {
                let u = sorted.next(&mut stream);
                assert!((before..=1.0).contains(&u));
                *mean += u / f64::from(runs);
                before = u;
            }
        }
        for (i, mean) in (1..).zip(means) {
            let expected = f64::from(i) / (n + 1) as f64;
            let variance = expected * (1.0 - expected) / (n + 2) as f64;
            assert!(
                (mean - expected).abs() < 6.5 * (variance / f64::from(runs)).sqrt(),
                "U_({i})"
            );
        }
    }
}
