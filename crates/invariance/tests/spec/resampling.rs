//! Resampling.

use helmholtz_invariance::families::{for_every, hostile_log_weights};
use helmholtz_invariance::{Unbiased, Uniforms, expectation, on_grid};
use helmholtz_random::{Enumerator, Stream};
use helmholtz_samplers::resampling::{
    Multinomial, MultinomialByChoice, Resampler, Residual, Ssp, Stratified, Systematic,
};

use crate::SUITE;

/// Weights of which one is zero, and multiples of 1/20.
const WEIGHTS: [f64; 5] = [0.35, 0.0, 0.05, 0.4, 0.2];
const SLOTS: usize = 4;

fn log_weights() -> Vec<f64> {
    WEIGHTS.iter().map(|w| w.ln() - 700.0).collect()
}

/// How often each particle is chosen.
fn counts<C: ?Sized>(
    scheme: &impl Resampler<C>,
    log_w: &[f64],
    slots: usize,
    chance: &mut C,
) -> Vec<f64> {
    let mut ancestors = vec![0; slots];
    scheme.resample(log_w, chance, &mut ancestors).unwrap();
    let mut counts = vec![0.0; log_w.len()];
    ancestors.iter().for_each(|&a| counts[a as usize] += 1.0);
    counts
}

fn due() -> [f64; 5] {
    WEIGHTS.map(|w| w * SLOTS as f64)
}

#[test]
fn the_mean_counts_are_exact_where_the_randomness_is_discrete() {
    fn check(scheme: impl Resampler<Enumerator>) {
        let mean = expectation(|chance| counts(&scheme, &log_weights(), SLOTS, chance));
        for (mean, due) in mean.iter().zip(due()) {
            assert!((mean - due).abs() < 1e-12);
        }
    }
    check(MultinomialByChoice);
    check(Ssp);
}

#[test]
fn systematic_counts_are_the_floor_or_ceiling_of_what_is_due_and_exact_on_average() {
    // The breakpoints in u are multiples of 1/5: cumulative weights times 4 are.
    let n = 100;
    let on_grid = on_grid(n, |chance| {
        counts(&Systematic, &log_weights(), SLOTS, chance)
    });
    for counts in &on_grid {
        for (count, due) in counts.iter().zip(due()) {
            let due = (due * 1e9).round() / 1e9;
            assert!(
                *count == due.floor() || *count == due.ceil(),
                "{count} {due}"
            );
        }
    }
    for (j, due) in due().iter().enumerate() {
        let mean = on_grid[1..=n].iter().map(|c| c[j]).sum::<f64>() / n as f64;
        assert!((mean - due).abs() < 1e-12);
    }
}

#[test]
fn uniform_weights_leave_the_systematic_set_unchanged() {
    for counts in on_grid(50, |chance| counts(&Systematic, &[-3.0; 7], 7, chance)) {
        assert_eq!(counts, [1.0; 7]);
    }
}

#[test]
fn the_mean_counts_are_right_where_uniforms_are_drawn() {
    fn check(name: &str, scheme: impl Resampler<Stream>) {
        Unbiased::new(&due())
            .samples(20_000)
            .bounded(0.0, SLOTS as f64)
            .test(
                |rng, out| out.copy_from_slice(&counts(&scheme, &log_weights(), SLOTS, rng)),
                SUITE.share(name).unwrap(),
            )
            .unwrap()
            .assert_passed();
    }
    check("multinomial counts", Multinomial);
    check("stratified counts", Stratified);
    check("systematic counts", Systematic);
    check("residual counts", Residual);
}

/// Each particle in proportion to the square root of its weight.
struct Flattened;

impl Resampler<Stream> for Flattened {
    fn resample(
        &self,
        log_w: &[f64],
        chance: &mut Stream,
        ancestors: &mut [u32],
    ) -> Result<(), helmholtz_samplers::SamplerError> {
        let flat: Vec<f64> = log_w.iter().map(|l| 0.5 * l).collect();
        Multinomial.resample(&flat, chance, ancestors)
    }
}

#[test]
fn counts_that_are_not_in_proportion_are_found() {
    Unbiased::new(&due())
        .samples(20_000)
        .bounded(0.0, SLOTS as f64)
        .test(
            |rng, out| out.copy_from_slice(&counts(&Flattened, &log_weights(), SLOTS, rng)),
            SUITE.share("flattened counts").unwrap(),
        )
        .unwrap()
        .assert_failed();
}

#[test]
fn residual_counts_reach_the_floor_of_what_is_due() {
    let mut stream = Stream::new(1, helmholtz_random::Purpose::new("residual"), [0, 0]);
    for _ in 0..500 {
        let counts = counts(&Residual, &log_weights(), SLOTS, &mut stream);
        for (count, due) in counts.iter().zip(due()) {
            assert!(*count >= (due - 1e-9).floor());
        }
    }
}

/// At the ends of the interval of uniforms, one after the other and mixed, on weights with -inf, ±300 and ties.
#[test]
fn a_particle_of_weight_zero_is_never_chosen_whatever_the_uniforms() {
    for_every(hostile_log_weights(1..=7), |log_w| {
        let usable = log_w.iter().all(|l| !l.is_nan() && *l < f64::INFINITY)
            && log_w.iter().any(|l| l.is_finite());
        for uniforms in [&[0.0][..], &[1.0], &[0.0, 1.0], &[1.0, 0.5, 0.0]] {
            let check = |scheme: &dyn Resampler<Uniforms>| {
                let mut ancestors = [u32::MAX; 6];
                let outcome = scheme.resample(log_w, &mut Uniforms::new(uniforms), &mut ancestors);
                if usable {
                    outcome.unwrap();
                    assert!(ancestors.iter().all(|&a| log_w[a as usize].is_finite()));
                } else {
                    assert!(outcome.is_err());
                    assert_eq!(ancestors, [u32::MAX; 6], "untouched");
                }
            };
            check(&Multinomial);
            check(&MultinomialByChoice);
            check(&Stratified);
            check(&Systematic);
            check(&Residual);
            check(&Ssp);
        }
        Ok(())
    });
}
