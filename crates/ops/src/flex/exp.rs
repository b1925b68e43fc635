//! The exponential, the hyperbolic tangent and the logarithm, written so that a loop over them becomes vector instructions.

use super::multiply_add;

/// Below, the exponential and the sigmoid are zero in f32: no uniform may be less.
pub const EXP_IS_ZERO: f32 = -104.0;

/// x = n ln 2 + r with |r| ≤ ½ ln 2, for x ≤ 87; x below −87 is taken for −87.
struct Reduced {
    r: f32,
    /// 2ⁿ.
    scale: f32,
}

impl Reduced {
    #[inline(always)]
    fn of<const FMA: bool>(x: f32) -> Self {
        /// 1.5 · 2²³: adding it rounds to an integer, which is then found in the low bits.
        const ROUND: f32 = 12_582_912.0;
        const LN_2_HIGH: f32 = 0.693_145_75;
        const LN_2_LOW: f32 = 1.428_606_8e-6;
        // Not `max`, which would make a number of what is none.
        let x = if x < -87.0 { -87.0 } else { x };
        let shifted = multiply_add::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        Self {
            r: multiply_add::<FMA>(n, -LN_2_LOW, multiply_add::<FMA>(n, -LN_2_HIGH, x)),
            scale: f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23)),
        }
    }

    /// (eʳ − 1) / r by Taylor to r⁶, whose remainder is below 2·10⁻⁸.
    #[inline(always)]
    fn slope<const FMA: bool>(&self) -> f32 {
        let mut slope = 1.0 / 5040.0;
        for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
            slope = multiply_add::<FMA>(slope, self.r, coefficient);
        }
        slope
    }
}

/// eˣ for x ≤ 87 to 2 units in the last place. Below −87 the result is e⁻⁸⁷.
#[inline(always)]
pub fn exp<const FMA: bool>(x: f32) -> f32 {
    let reduced = Reduced::of::<FMA>(x);
    multiply_add::<FMA>(reduced.slope::<FMA>(), reduced.r, 1.0) * reduced.scale
}

/// tanh x to 4 units in the last place, as x P(x²) / Q(x²) up to where it rounds to 1. P and Q of the fourth degree have the least
/// greatest relative error, 2·10⁻⁸, there.
#[inline(always)]
pub fn tanh<const FMA: bool>(x: f32) -> f32 {
    const END: f32 = 9.02;
    const P: [f32; 4] = [1.341_920_9e-8, 2.065_569e-5, 3.498_427_6e-3, 0.133_834_2];
    const Q: [f32; 4] = [7.802_973e-7, 3.290_272_4e-4, 0.025_887_796, 0.467_167_37];
    let size = x.abs();
    // Not `min`, which would make a number of what is none; the same below.
    let size = if size > END { END } else { size };
    let square = size * size;
    let by = |[first, rest @ ..]: [f32; 4]| {
        let sum = rest
            .iter()
            .fold(first, |sum, &c| multiply_add::<FMA>(sum, square, c));
        multiply_add::<FMA>(sum, square, 1.0)
    };
    let t = size * by(P) / by(Q);
    let t = if t > 1.0 { 1.0 } else { t };
    t.copysign(x)
}

/// ln x for finite normal x > 0, to 2 units in the last place. Here x = 2ⁿ m with m from √½ to √2, and the series of
/// 2 artanh((m − 1) / (m + 1)) to the ninth power, whose remainder is below 3·10⁻⁹ of it.
#[inline(always)]
pub fn ln<const FMA: bool>(x: f32) -> f32 {
    const LN_2: f32 = std::f32::consts::LN_2;
    const SQRT_HALF: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    // Exponents count from √½.
    let n = (x.to_bits().wrapping_sub(SQRT_HALF) as i32) >> 23;
    let m = f32::from_bits(x.to_bits().wrapping_sub((n << 23) as u32));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut series = 2.0 / 9.0;
    for coefficient in [2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0] {
        series = multiply_add::<FMA>(series, z, coefficient);
    }
    // Nothing, but where x is not a number.
    let nothing = x * 0.0;
    multiply_add::<FMA>(n as f32, LN_2, s * series) + nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2⁻²⁴, the relative error of one rounding.
    const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

    #[test]
    fn the_exponential_is_good_to_two_units_in_the_last_place() {
        for i in -200_000..200_000 {
            let x = 87.0 * i as f32 / 200_000.0;
            for found in [exp::<true>(x), exp::<false>(x)] {
                let error = f64::from(found) / f64::from(x).exp() - 1.0;
                assert!(error.abs() <= 4.0 * ROUNDING, "exp({x}): {error:e}");
            }
        }
    }

    #[test]
    fn the_hyperbolic_tangent_is_good_to_four_units_in_the_last_place() {
        // Every binade down to the subnormal numbers, and densely where the range is reduced.
        let small = (0..4000).map(|i| 2f32.powf(-(i as f32) / 30.0));
        let dense = (0..200_000).map(|i| i as f32 * 1e-4);
        for x in small.chain(dense).flat_map(|x| [x, -x]) {
            let expected = f64::from(x).tanh();
            for found in [tanh::<true>(x), tanh::<false>(x)] {
                let error = (f64::from(found) - expected).abs();
                let bound = 8.0 * ROUNDING * expected.abs();
                assert!(found.abs() <= 1.0, "tanh({x:e}) = {found}");
                assert!(
                    error <= bound.max(1e-45),
                    "tanh({x:e}) = {found:e}: {error:e}"
                );
            }
        }
        for (x, expected) in [(f32::INFINITY, 1.0), (f32::NEG_INFINITY, -1.0), (1e30, 1.0)] {
            assert_eq!(tanh::<true>(x), expected);
        }
        assert!(tanh::<true>(f32::NAN).is_nan());
    }

    #[test]
    fn the_logarithm_is_good_to_two_units_in_the_last_place() {
        let powers = (0..30_000).map(|i| 2f32.powf(i as f32 / 120.0 - 125.0));
        let near_one = (0..100_000).map(|i| 0.5 + i as f32 * 2e-5);
        for x in powers.chain(near_one) {
            let expected = f64::from(x).ln();
            for found in [ln::<true>(x), ln::<false>(x)] {
                let error = (f64::from(found) - expected).abs();
                assert!(
                    error <= 4.0 * ROUNDING * expected.abs(),
                    "ln({x:e}) = {found:e}: {error:e}"
                );
            }
        }
    }
}
