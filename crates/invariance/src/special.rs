//! Tail probabilities, accurate far out where a suite's thresholds lie.
//!
//! Everything stands on the regularised upper incomplete gamma function Q(a, x): the normal tail is Q(1/2, z²/2) / 2,
//! the χ² tail with k degrees of freedom Q(k/2, x/2).

use std::f64::consts::PI;

/// ln Γ(x) for x > 0, by Lanczos's approximation with Godfrey's nine coefficients (g = 7); about 1e-14 relative.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        // Reflection: Γ(x) Γ(1 - x) = π / sin(π x).
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = COEFFICIENTS
        .iter()
        .enumerate()
        .skip(1)
        .fold(COEFFICIENTS[0], |sum, (i, c)| sum + c / (x + i as f64));
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// ln C(n, k).
pub(crate) fn ln_binomial(n: u64, k: u64) -> f64 {
    ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0)
}

/// ln Q(a, x), Q(a, x) = Γ(a, x) / Γ(a), for a > 0 and x >= 0.
///
/// Below a + 1 one minus the power series of P (DLMF 8.11.4), above it the continued fraction (DLMF 8.9.2) by Lentz's
/// method as modified by Thompson and Barnett (1986), which keeps its relative precision however small Q is.
pub(crate) fn ln_gamma_q(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if x <= 0.0 {
        return 0.0;
    }
    let ln_prefactor = a * x.ln() - x - ln_gamma(a);
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (-(ln_prefactor.exp() * sum)).ln_1p();
    }
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let numerator = -i * (i - a);
        b += 2.0;
        d = numerator * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + numerator / c;
        c = if c.abs() < TINY { TINY } else { c };
        let factor = d * c;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    ln_prefactor + fraction.ln()
}

/// ln P(N > `z`) of a standard normal N, for z >= 0.
pub(crate) fn ln_normal_tail(z: f64) -> f64 {
    ln_gamma_q(0.5, 0.5 * z * z) - std::f64::consts::LN_2
}

/// The z >= 0 with P(N > z) = `tail`, for 0 < tail <= 1/2: Newton's method on the logarithm of the tail, which is
/// concave, from above.
pub(crate) fn normal_quantile(tail: f64) -> f64 {
    let mut z = (-2.0 * tail.ln()).sqrt();
    for _ in 0..50 {
        let ln_tail = ln_normal_tail(z);
        let hazard = (-0.5 * z * z - 0.5 * (2.0 * PI).ln() - ln_tail).exp();
        let step = (ln_tail - tail.ln()) / hazard;
        z = (z + step).max(0.0);
        if step.abs() <= 1e-14 * z.max(1.0) {
            break;
        }
    }
    z
}

/// ln P(X > `x`) of a χ² variable with `degrees` of freedom.
pub(crate) fn ln_chi_square_tail(x: f64, degrees: f64) -> f64 {
    ln_gamma_q(0.5 * degrees, 0.5 * x)
}

/// The x with P(X > x) = `tail`, by bisection.
pub(crate) fn chi_square_quantile(tail: f64, degrees: f64) -> f64 {
    let above = |x: f64| ln_chi_square_tail(x, degrees) > tail.ln();
    let mut high = degrees + 1.0;
    while above(high) {
        high *= 2.0;
    }
    bisect(0.0, high, above)
}

/// The point in [`low`, `high`] where `before` turns from true to false, to the last bits.
pub(crate) fn bisect(mut low: f64, mut high: f64, before: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if before(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(X >= `k`) of a binomial variable with `n` trials of probability `p`, by summing up what is on the smaller side.
pub(crate) fn binomial_upper(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    if k > n {
        return 0.0;
    }
    let sum = |range: std::ops::RangeInclusive<u64>| -> f64 {
        range.map(|i| ln_binomial_mass(i, n, p).exp()).sum()
    };
    if k as f64 > n as f64 * p {
        sum(k..=n).min(1.0)
    } else {
        (1.0 - sum(0..=k - 1)).max(0.0)
    }
}

/// ln P(X = `k`) of a binomial variable, 0 < p < 1.
pub(crate) fn ln_binomial_mass(k: u64, n: u64, p: f64) -> f64 {
    ln_binomial(n, k) + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, relative: f64) {
        assert!(
            (found - expected).abs() <= relative * expected.abs(),
            "{found:e} instead of {expected:e}"
        );
    }

    #[test]
    fn the_gamma_function_is_factorial_and_right_at_a_half() {
        let mut factorial = 0.0;
        for n in 1..170 {
            assert!((ln_gamma(f64::from(n)) - factorial).abs() <= 1e-13 * factorial.max(1.0));
            factorial += f64::from(n).ln();
        }
        assert_close(ln_gamma(0.5), 0.5 * PI.ln(), 1e-14);
        assert_close(ln_gamma(0.1), 2.252_712_651_734_206, 1e-14);
        assert_close(ln_binomial(50, 25), 126_410_606_437_752f64.ln(), 1e-13);
    }

    /// Abramowitz and Stegun (1964), tables 26.1 and 26.2: Q(z), and -log10 Q(z) far out.
    #[test]
    fn the_normal_tail_is_the_tabled_one() {
        for (z, tail) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_05),
            (2.0, 0.022_750_131_948_179_2),
            (3.0, 1.349_898_031_630_094_5e-3),
            (5.0, 2.866_515_718_791_939e-7),
            (6.0, 9.865_876_450_376_98e-10),
            (10.0, 7.619_853_024_160_527e-24),
        ] {
            assert_close(ln_normal_tail(z).exp(), tail, 1e-12);
        }
        for (z, minus_log10) in [(15.0, 50.43522), (30.0, 197.30921), (100.0, 2173.87154)] {
            assert!((-ln_normal_tail(z) / std::f64::consts::LN_10 - minus_log10).abs() < 6e-6);
        }
    }

    #[test]
    fn the_normal_quantile_inverts_the_tail() {
        assert_close(normal_quantile(0.025), 1.959_963_984_540_054, 1e-13);
        assert_close(normal_quantile(0.01), 2.326_347_874_040_841, 1e-13);
        for exponent in [0.4, 1.0, 3.0, 9.0, 30.0, 200.0] {
            let tail = 10f64.powf(-exponent);
            assert_close(ln_normal_tail(normal_quantile(tail)).exp(), tail, 1e-10);
        }
        assert!(normal_quantile(0.5) < 1e-10);
    }

    #[test]
    fn the_chi_square_tail_is_known_in_closed_form_for_even_degrees() {
        for x in [0.1f64, 1.0, 7.0, 40.0, 300.0] {
            assert_close(ln_chi_square_tail(x, 2.0), -0.5 * x, 1e-13);
            // With four degrees: (1 + x/2) exp(-x/2).
            assert!(
                (ln_chi_square_tail(x, 4.0) - ((0.5 * x).ln_1p() - 0.5 * x)).abs()
                    < 1e-13 * x.max(1.0)
            );
            // With one: twice the normal tail.
            assert!(
                (ln_chi_square_tail(x, 1.0) - ln_normal_tail(x.sqrt()) - 2f64.ln()).abs() < 1e-12
            );
        }
        assert_close(
            chi_square_quantile(0.05, 10.0),
            18.307_038_053_275_146,
            1e-12,
        );
        for (tail, degrees) in [(1e-9, 1.0), (1e-3, 7.0), (1e-12, 200.0), (0.9, 3.0)] {
            let x = chi_square_quantile(tail, degrees);
            assert_close(ln_chi_square_tail(x, degrees).exp(), tail, 1e-10);
        }
    }

    #[test]
    fn binomial_tails_are_exact() {
        assert_close(binomial_upper(8, 10, 0.5), 56.0 / 1024.0, 1e-12);
        assert_close(binomial_upper(3, 10, 0.5), 968.0 / 1024.0, 1e-12);
        assert_close(binomial_upper(10, 10, 0.1), 1e-10, 1e-12);
        assert_eq!(binomial_upper(0, 10, 0.1), 1.0);
        assert_eq!(binomial_upper(11, 10, 0.1), 0.0);
    }
}
