//! The diagnostics beside ArviZ 0.23.4 (`arviz.stats.diagnostics`), on chains that both languages make in the same bits.

use helmholtz_samplers::diagnostics::summary;

/// x' = ρ x + u - ½ with the uniforms of a linear congruential generator.
fn chain(rho: f64, n: usize, seed: u32) -> Vec<f64> {
    let (mut s, mut x) = (seed, 0.0);
    (0..n)
        .map(|_| {
            s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            x = rho * x + (f64::from(s) / 4_294_967_296.0 - 0.5);
            x
        })
        .collect()
}

struct Case {
    rho: f64,
    draws: usize,
    chains: u32,
    /// ⌊4 x⌋ in place of x, for ties.
    whole: bool,
    /// Mean, standard deviation, Monte Carlo error, bulk and tail ESS, R̂; NaN where ArviZ gives none, or counts an
    /// indicator that never varies.
    expected: [f64; 6],
}

const fn case(rho: f64, draws: usize, chains: u32, whole: bool, expected: [f64; 6]) -> Case {
    Case {
        rho,
        draws,
        chains,
        whole,
        expected,
    }
}

#[rustfmt::skip]
const CASES: [Case; 8] = [
    case(0.9, 500, 4, false, [0.13534138631097067, 0.6649225569651419, 0.07443489877126405, 80.5438259815804, 225.5309125111398, 1.054185234455891]),
    case(0.9, 501, 4, false, [0.13600139167832473, 0.6649561388853346, 0.07425302738443751, 80.94295905390166, 223.49454509564748, 1.053275318537065]),
    case(-0.7, 501, 4, false, [0.008368153865869298, 0.3935832432780944, 0.00484391894119177, 6602.059991327962, 1372.3182853700325, 1.0037976508343327]),
    case(0.3, 9, 2, false, [-0.12797250278227368, 0.22761695334182097, 0.051857279912934436, 19.265919722494797, f64::NAN, 0.9549253635958758]),
    case(0.0, 101, 1, false, [0.00969820387089754, 0.2958749797966926, 0.029172825760257447, 103.61544026350099, 78.85227489645436, f64::NAN]),
    case(0.99, 2000, 3, false, [0.13738961416378986, 2.073972380939257, 0.46722444499513943, 18.122626010236743, 57.366273627519355, 1.1533289154976931]),
    case(0.5, 301, 4, true, [-0.4186046511627907, 1.3477061747075778, 0.06550804264569629, 422.40405932856686, 697.8739328033712, 1.002057398969387]),
    case(-0.9, 12, 2, false, [-0.0332523068140265, 0.4558895279696391, 0.07921021923061075, 33.12506980107854, 17.419354838709683, 1.0995550359059663]),
];

#[test]
fn the_summary_is_that_of_arviz_but_for_rounding() {
    for case in CASES {
        let scale = |x: f64| if case.whole { (4.0 * x).floor() } else { x };
        let chains: Vec<Vec<f64>> = (1..=case.chains)
            .map(|seed| {
                chain(case.rho, case.draws, seed)
                    .into_iter()
                    .map(scale)
                    .collect()
            })
            .collect();
        let s = summary(&chains).unwrap();
        let found = [
            s.mean,
            s.sd,
            s.monte_carlo_error,
            s.bulk_ess,
            s.tail_ess,
            s.r_hat,
        ];
        for (found, expected) in found.into_iter().zip(case.expected) {
            if !expected.is_nan() {
                let off = (found / expected - 1.0).abs();
                assert!(off < 1e-11, "ρ = {}: {found}, not {expected}", case.rho);
            }
        }
    }
}
