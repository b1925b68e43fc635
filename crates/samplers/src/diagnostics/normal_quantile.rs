//! The normal quantile function.

/// Φ⁻¹(`p`) for 0 < `p` < 1, to about 1 part in 10¹⁶: rational approximations in three pieces (Wichura, 1988,
/// Algorithm AS 241, PPND16).
pub(super) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.425 * 0.425 - q * q;
        return q * ratio(&CENTRE, r);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let x = if r <= 5.0 {
        ratio(&TAIL, r - 1.6)
    } else {
        ratio(&FAR_TAIL, r - 5.0)
    };
    x.copysign(q)
}

/// Numerator and denominator, from the constant up.
type Rational = [[f64; 8]; 2];

fn ratio(coefficients: &Rational, r: f64) -> f64 {
    let [numerator, denominator] =
        coefficients.map(|c| c.iter().rev().fold(0.0, |sum, c| sum * r + c));
    numerator / denominator
}

const CENTRE: Rational = [
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
const TAIL: Rational = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
const FAR_TAIL: Rational = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_9,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn density(x: f64) -> f64 {
        (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    /// Φ(-x) for x >= 2, by Laplace's continued fraction φ(x) / (x + 1/(x + 2/(x + ...))).
    fn tail(x: f64) -> f64 {
        density(x)
            / (1..400)
                .rev()
                .fold(x, |fraction, k| x + f64::from(k) / fraction)
    }

    /// Φ(x) - 1/2 by Simpson's rule.
    fn centre(x: f64) -> f64 {
        let h = x / 4000.0;
        let inner = (1..4000).map(|i| f64::from(2 + 2 * (i % 2)) * density(h * f64::from(i)));
        (density(0.0) + inner.sum::<f64>() + density(x)) * h / 3.0
    }

    #[test]
    fn it_inverts_the_distribution_function_to_its_last_digits() {
        for i in 1..1000 {
            let p = f64::from(i) / 1000.0;
            let x = normal_quantile(p);
            if x.abs() < 2.5 {
                assert!((0.5 + centre(x) - p).abs() < 1e-13, "{p}");
            }
        }
        for exponent in [1.7, 2.0, 3.0, 5.0, 9.0, 10.8, 10.9, 15.0, 60.0, 300.0] {
            let p = 10f64.powf(-exponent);
            let relative = tail(-normal_quantile(p)) / p - 1.0;
            // An error of x is one of x² relative in the tail.
            assert!(relative.abs() < 1e-12, "{p}: {relative}");
        }
    }

    #[test]
    fn it_is_odd_about_one_half_and_continuous_where_the_pieces_meet() {
        assert_eq!(normal_quantile(0.5), 0.0);
        for p in [0.25, 0.125, 0.0625, 2f64.powi(-30)] {
            assert_eq!(normal_quantile(p), -normal_quantile(1.0 - p));
        }
        for joint in [0.075, (-25f64).exp()] {
            let around = [joint * (1.0 - 1e-12), joint * (1.0 + 1e-12)].map(normal_quantile);
            assert!(around[0] < around[1] && around[1] - around[0] < 1e-11);
        }
    }
}
