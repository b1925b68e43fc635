//! The exponential of many numbers at once.

/// Replaces each x by exp(x), to 4e-16 of it, for x up to 700; by 0 below -700, and NaN by NaN.
///
/// By vectors of as many numbers as the processor has, with the same bits on all of them: no operation is fused.
pub(crate) fn exp_each(values: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { exp_each_wide(values) };
    }
    exp_each_plain(values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn exp_each_wide(values: &mut [f64]) {
    exp_each_plain(values);
}

#[inline(always)]
fn exp_each_plain(values: &mut [f64]) {
    for value in values {
        *value = exp(*value);
    }
}

/// The range in which 2ⁿ is a normal number.
const LIMIT: f64 = 700.0;

/// 1.5 · 2⁵²: adding it rounds to a whole number, which the last bits of the sum then hold.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts, the first short enough that its product with n is exact (Cody and Waite, 1980).
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// 1 / k! for k = 13, ..., 0.
const TAYLOR: [f64; 14] = {
    let mut series = [1.0; 14];
    let mut k = 1;
    while k < 14 {
        series[13 - k] = series[14 - k] / k as f64;
        k += 1;
    }
    series
};

/// exp(x) = 2ⁿ exp(r) with n = round(x / ln 2), |r| ≤ ln 2 / 2, by Taylor's series to r¹³, whose rest is below 4e-18.
#[inline(always)]
fn exp(x: f64) -> f64 {
    let rounded = x * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    let series = TAYLOR.iter().fold(0.0, |sum, term| sum * r + term);
    // The whole number goes to the exponent: the bits of ROUND above it are shifted out.
    let scaled = f64::from_bits(series.to_bits().wrapping_add(rounded.to_bits() << 52));
    match x {
        _ if x < -LIMIT => 0.0,
        _ if x.is_nan() => x,
        _ => scaled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_of_the_standard_library() {
        let grid = (-70_000..=70_000).map(|i| 0.01 * f64::from(i) + 1e-3 * (f64::from(i)).sin());
        let mut found: Vec<f64> = grid.filter(|x| x.abs() <= LIMIT).collect();
        let expected: Vec<f64> = found.iter().map(|x| x.exp()).collect();
        exp_each(&mut found);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() <= 4e-16,
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn it_is_right_at_the_ends() {
        let mut found = [0.0, -0.0, f64::NEG_INFINITY, -701.0, -1e308, f64::NAN];
        exp_each(&mut found);
        assert_eq!(found[..5], [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(found[5].is_nan());
    }

    /// A number alone and one among others, by any instructions.
    #[test]
    fn the_bits_are_the_same_wherever_a_number_stands() {
        let mut together: Vec<f64> = (0..37).map(|i| -20.0 + 1.37 * f64::from(i)).collect();
        let alone: Vec<f64> = together.iter().map(|x| exp(*x)).collect();
        exp_each(&mut together);
        assert_eq!(together, alone);
    }
}
