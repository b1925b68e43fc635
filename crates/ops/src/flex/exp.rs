//! The exponential, written so that a loop over it becomes vector instructions.

use super::multiply_add;

/// Below, the exponential and the sigmoid are zero in f32: no uniform may be less.
pub const EXP_IS_ZERO: f32 = -104.0;

/// eˣ for x ≤ 0 to 2 units in the last place: x = n ln 2 + r with |r| ≤ ½ ln 2, a polynomial in r (Taylor to r⁷, whose
/// remainder is below 6·10⁻⁹), and n added to the exponent. Below −87 the result is e⁻⁸⁷.
#[inline(always)]
pub fn exp_of_negative<const FMA: bool>(x: f32) -> f32 {
    /// 1.5 · 2²³: adding it rounds to an integer, which is then found in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_145_75;
    const LN_2_LOW: f32 = 1.428_606_8e-6;
    // Not `max`, which would make a number of what is none.
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = multiply_add::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = multiply_add::<FMA>(n, -LN_2_LOW, multiply_add::<FMA>(n, -LN_2_HIGH, x));
    let mut power = 1.0 / 5040.0;
    for coefficient in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        power = multiply_add::<FMA>(power, r, coefficient);
    }
    power * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2⁻²⁴, the relative error of one rounding.
    const ROUNDING: f64 = 1.0 / (1 << 24) as f64;

    #[test]
    fn the_exponential_is_good_to_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -87.0 * i as f32 / 200_000.0;
            for found in [exp_of_negative::<true>(x), exp_of_negative::<false>(x)] {
                let error = f64::from(found) / f64::from(x).exp() - 1.0;
                assert!(error.abs() <= 4.0 * ROUNDING, "exp({x}): {error:e}");
            }
        }
    }
}
