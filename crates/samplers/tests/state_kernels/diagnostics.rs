//! Diagnostics of chains: known answers, and what must not change them.

use helmholtz_random::{Draws, Purpose, Stream};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::diagnostics::*;

/// A stationary chain x' = ρ x + √(1 - ρ²) z.
fn ar1(rho: f64, n: usize, which: u64) -> Vec<f64> {
    let mut stream = Stream::new(8, Purpose::new("test"), [which, 0]);
    let mut x = stream.normal();
    (0..n)
        .map(|_| {
            x = rho * x + (1.0 - rho * rho).sqrt() * stream.normal();
            x
        })
        .collect()
}

fn four(rho: f64, n: usize) -> Vec<Vec<f64>> {
    (0..4).map(|i| ar1(rho, n, 10 * n as u64 + i)).collect()
}

/// τ̂ has relative variance 2 (2 T + 1) / S when summed to lag T (Sokal, 1997, §3); here T is where the
/// correlation falls to the noise 2 / √S. The bound is 6 of these standard deviations: 2e-9 a comparison, for the
/// normal limit.
#[test]
fn the_ess_of_an_autoregression_is_the_closed_form() {
    let draws = 4.0 * 20_000.0f64;
    for rho in [0.0f64, 0.5, 0.9, -0.5] {
        let chains = four(rho, 20_000);
        let window = ((2.0 / draws.sqrt()).ln() / rho.abs().max(0.1).ln()).ceil();
        let bound = 6.0 * (2.0 * (2.0 * window + 1.0) / draws).sqrt();
        let expected = draws * (1.0 - rho) / (1.0 + rho);
        for found in [ess(&chains).unwrap(), bulk_ess(&chains).unwrap()] {
            let off = (found / expected).ln();
            assert!(off.abs() < bound, "ρ = {rho}: {off} beyond {bound}");
        }
    }
}

#[test]
fn independent_draws_are_worth_themselves_in_the_tails_too() {
    // The same bound, with one lag: 6 √(2 · 3 / S) = 0.09.
    let tail = tail_ess(&four(0.0, 10_000)).unwrap() / 40_000.0;
    assert!((tail - 1.0).abs() < 0.09, "{tail}");
}

/// R̂² - 1 is about (F - 1) / 500 with F of 7 degrees of freedom for 8 halves of 500 draws; 1.01 asks for F > 11, which
/// has probability below 1e-13.
#[test]
fn chains_of_one_law_agree_and_of_different_laws_do_not() {
    let chains = four(0.0, 1000);
    assert!(r_hat(&chains).unwrap() < 1.01);
    let mut shifted = chains.clone();
    shifted[2].iter_mut().for_each(|x| *x += 1.0);
    assert!(r_hat(&shifted).unwrap() > 1.05, "another location");
    let mut wide = chains.clone();
    wide[2].iter_mut().for_each(|x| *x *= 3.0);
    assert!(r_hat(&wide).unwrap() > 1.05, "another scale");
    let mut drifting = chains;
    for chain in &mut drifting {
        (0..)
            .zip(chain)
            .for_each(|(i, x)| *x += f64::from(i) / 400.0);
    }
    assert!(r_hat(&drifting).unwrap() > 1.05, "halves of a drift");
}

#[test]
fn stuck_chains_are_worth_little() {
    // Four chains that do not move from where they started, but for a little noise.
    let chains: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            let noise = ar1(0.0, 500, 700 + i);
            noise.iter().map(|z| i as f64 + 1e-3 * z).collect()
        })
        .collect();
    assert!(ess(&chains).unwrap() < 8.0);
    assert!(bulk_ess(&chains).unwrap() < 8.0);
    assert!(r_hat(&chains).unwrap() > 2.0);
}

#[test]
fn a_constant_quantity_is_a_typed_error() {
    let chains = [[0.3; 10], [0.3; 10]];
    let all = [
        ess(&chains),
        bulk_ess(&chains),
        tail_ess(&chains),
        r_hat(&chains),
        monte_carlo_error(&chains),
        summary(&chains).map(|summary| summary.mean),
    ];
    for result in all {
        assert!(matches!(result, Err(SamplerError::Constant { .. })));
    }
}

#[test]
fn a_tail_that_never_varies_is_left_out_and_two_are_an_error() {
    // Both quantiles are the value of all draws but one: the smaller, and then the larger of the two.
    let mut rare = [[0.0; 500], [0.0; 500]];
    rare[1][77] = 1.0;
    assert!(tail_ess(&rare).is_ok(), "1[x <= 0] varies");
    let common = rare.map(|chain| chain.map(|x| 1.0 - x));
    assert!(
        matches!(tail_ess(&common), Err(SamplerError::Constant { .. })),
        "1[x <= 1] does not"
    );
    // Fair coins: only the lower quantile has an indicator that varies.
    let coins: Vec<Vec<f64>> = (0..2)
        .map(|i| {
            let normals = ar1(0.0, 500, 600 + i);
            normals.iter().map(|x| f64::from(*x > 0.0)).collect()
        })
        .collect();
    assert_eq!(tail_ess(&coins).unwrap(), ess(&coins).unwrap());
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

#[test]
fn no_diagnostic_changes_with_shift_or_positive_scale() {
    let chains = four(0.6, 500);
    let of = |shift: f64, scale: f64| {
        let moved: Vec<Vec<f64>> = chains
            .iter()
            .map(|chain| chain.iter().map(|x| shift + scale * x).collect())
            .collect();
        summary(&moved).unwrap()
    };
    let (plain, raw) = (of(0.0, 1.0), ess(&chains).unwrap());
    for (shift, scale) in [(3.0, 1.0), (0.0, 1e-200), (0.0, 1e200), (-40.0, 7.3)] {
        let moved = of(shift, scale);
        assert!(close(moved.bulk_ess, plain.bulk_ess));
        assert!(close(moved.tail_ess, plain.tail_ess));
        assert!(close(moved.r_hat, plain.r_hat));
        assert!(close(moved.sd, scale * plain.sd));
        assert!(close(
            moved.monte_carlo_error,
            scale * plain.monte_carlo_error
        ));
        assert!(((moved.mean - shift) / scale - plain.mean).abs() < 1e-12);
    }
    let scaled: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.iter().map(|x| 1e200 * x).collect())
        .collect();
    assert!(close(ess(&scaled).unwrap(), raw));
}

#[test]
fn rank_normalised_ones_do_not_change_with_an_increasing_transformation() {
    let chains = four(0.6, 501);
    let bent: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.iter().map(|x| (3.0 * x).exp()).collect())
        .collect();
    assert_eq!(bulk_ess(&bent).unwrap(), bulk_ess(&chains).unwrap());
    assert_eq!(tail_ess(&bent).unwrap(), tail_ess(&chains).unwrap());
    let plain = ess(&chains).unwrap();
    assert!(!close(ess(&bent).unwrap(), plain), "the plain one does");
}

#[test]
fn draws_without_a_variance_have_diagnostics() {
    let cauchy: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            let (a, b) = (ar1(0.0, 1000, 800 + i), ar1(0.0, 1000, 900 + i));
            a.iter().zip(b).map(|(a, b)| a / b).collect()
        })
        .collect();
    // 6 √(2 · 3 / 4000) = 0.23, as above.
    assert!((bulk_ess(&cauchy).unwrap() / 4000.0 - 1.0).abs() < 0.23);
    assert!(r_hat(&cauchy).unwrap() < 1.01);
}

/// z = mean / error over 400 pairs of chains. Σ z² / 400 is 1 up to √(2/400), of which the bound is 6, and up to the
/// few percent by which an error from 2000 draws is too small.
#[test]
fn the_error_of_a_mean_is_as_large_as_it_says_and_the_naive_one_is_not() {
    let (mut corrected, mut naive) = (0.0, 0.0);
    for i in 0..400 {
        let chains = [
            ar1(0.7, 1000, 10_000 + 2 * i),
            ar1(0.7, 1000, 10_001 + 2 * i),
        ];
        let summary = summary(&chains).unwrap();
        corrected += (summary.mean / summary.monte_carlo_error).powi(2) / 400.0;
        naive += (summary.mean / (summary.sd / 2000f64.sqrt())).powi(2) / 400.0;
    }
    assert!((corrected - 1.0).abs() < 0.5, "{corrected}");
    assert!(naive > 3.0, "twin, 5.7 expected: {naive}");
}
