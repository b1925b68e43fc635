//! What must hold of any log-weights whatever: called by property tests here, and by a fuzzer on raw bytes.

use std::convert::Infallible;

use helmholtz_random::{Purpose, Stream};
use helmholtz_samplers::SamplerError;
use helmholtz_samplers::resampling::*;
use rand_core::TryRng;

/// A generator that repeats one word: uniforms at either end of their range.
struct Constant(u64);

impl TryRng for Constant {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}

/// Reads slots, a seed and log-weights from bytes, and checks them.
pub fn check_bytes(bytes: &[u8]) {
    let Some((&[slots, seed], rest)) = bytes.split_first_chunk::<2>() else {
        return;
    };
    let log_weights: Vec<f64> = rest
        .as_chunks::<8>()
        .0
        .iter()
        .map(|eight| f64::from_le_bytes(*eight))
        .collect();
    check(&log_weights, usize::from(slots), u64::from(seed));
}

/// Checks every scheme on these log-weights, with uniforms of 0, of 1 - 2^-53, and of a stream.
///
/// # Panics
/// If a claim fails.
pub fn check(log_weights: &[f64], slots: usize, seed: u64) {
    check_with(log_weights, slots, || Constant(0));
    check_with(log_weights, slots, || Constant(u64::MAX));
    check_with(log_weights, slots, || {
        Stream::new(seed, Purpose::new("check"), [0, 0])
    });
}

fn check_with<C: TryRng<Error = Infallible>>(
    log_weights: &[f64],
    slots: usize,
    chance: impl Fn() -> C,
) {
    let answer = |scheme: &dyn Resampler<C>| answer(scheme, log_weights, slots, &mut chance());
    answer(&Multinomial);
    answer(&MultinomialByChoice);
    answer(&Stratified);
    let systematic = answer(&Systematic);
    let residual = answer(&Residual);
    let ssp = answer(&Ssp);
    let (Some(systematic), Some(residual), Some(ssp)) = (systematic, residual, ssp) else {
        return;
    };
    for (j, expected) in expected(log_weights, slots).into_iter().enumerate() {
        // Rounding may decide on which side of a whole number an expectation lies.
        let least = (expected - 1e-9).floor().max(0.0) as usize;
        let most = (expected + 1e-9).ceil() as usize;
        let copies = |ancestors: &[u32]| ancestors.iter().filter(|&&a| a as usize == j).count();
        assert!(
            (least..=most).contains(&copies(&systematic)),
            "systematic, {j}"
        );
        assert!((least..=most).contains(&copies(&ssp)), "ssp, {j}");
        assert!(copies(&residual) >= least, "residual, {j}");
    }
    let pinned: Vec<usize> = [0, log_weights.len() / 2, log_weights.len() - 1].to_vec();
    for (slot, j) in pinned.into_iter().enumerate() {
        let given = |scheme: &dyn ConditionalResampler<C>| {
            let mut ancestors = vec![u32::MAX; slots];
            let drawn =
                scheme.resample_given(slot, j as u32, log_weights, &mut chance(), &mut ancestors);
            if slot < slots && relative(log_weights, j) > 0.0 {
                drawn.expect("the slot exists and the particle is possible");
                assert_eq!(ancestors[slot], j as u32);
                assert_possible(&ancestors, log_weights);
            } else {
                assert!(matches!(drawn, Err(SamplerError::Pinned { .. })));
            }
        };
        given(&Multinomial);
        given(&Stratified);
        given(&Systematic);
    }
}

/// The ancestors, if the log-weights are any; they or the error must be right.
pub fn answer<C>(
    scheme: &(impl Resampler<C> + ?Sized),
    log_weights: &[f64],
    slots: usize,
    chance: &mut C,
) -> Option<Vec<u32>> {
    let mut ancestors = vec![u32::MAX; slots];
    let drawn = scheme.resample(log_weights, chance, &mut ancestors);
    let bad = log_weights
        .iter()
        .position(|l| l.is_nan() || *l == f64::INFINITY);
    match (drawn, bad) {
        (Err(SamplerError::LogWeight { index, .. }), Some(bad)) => assert_eq!(index, bad),
        (Err(SamplerError::NoWeights), None) => assert!(log_weights.is_empty()),
        (Err(SamplerError::AllWeightsZero { particles }), None) => {
            assert!(particles > 0 && log_weights.iter().all(|l| *l == f64::NEG_INFINITY));
        }
        (Ok(()), None) => {
            assert!(log_weights.iter().any(|l| l.is_finite()));
            assert_possible(&ancestors, log_weights);
            return Some(ancestors);
        }
        (drawn, bad) => panic!("{drawn:?}, with a bad log-weight at {bad:?}"),
    }
    assert!(
        ancestors.iter().all(|&a| a == u32::MAX),
        "untouched after an error"
    );
    None
}

/// exp(ℓ_j - max ℓ).
fn relative(log_weights: &[f64], j: usize) -> f64 {
    let max = log_weights
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    (log_weights[j] - max).exp()
}

fn expected(log_weights: &[f64], slots: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..log_weights.len())
        .map(|j| relative(log_weights, j))
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w * slots as f64 / total).collect()
}

/// Ancestors exist and have weight above zero.
pub fn assert_possible(ancestors: &[u32], log_weights: &[f64]) {
    for &a in ancestors {
        assert!(
            (a as usize) < log_weights.len(),
            "ancestor {a} does not exist"
        );
        assert!(
            relative(log_weights, a as usize) > 0.0,
            "ancestor {a} has weight zero"
        );
    }
}
