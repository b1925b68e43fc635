//! Discrete randomness, as a kernel asks for it.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::Coins;
use crate::math::{exp, ln};
use crate::stream::unit_f64;

/// Discrete chance: coins and weighted choices, given in log-probabilities (nats).
///
/// Every random generator implements it by sampling, [`Enumerator`](crate::Enumerator) by walking all branches. A
/// kernel written over `Chance` is therefore sampled in production and enumerated in proofs.
pub trait Chance {
    /// True with probability min(1, exp(`log_prob`)).
    ///
    /// `-inf` and NaN: never. A generator spends exactly one `u64` whatever the answer, and accepts iff
    /// `log_prob` >= 0 or ln u < `log_prob`, u in (0, 1]; nothing unbounded is exponentiated.
    fn accept(&mut self, log_prob: f64) -> bool;

    /// The index k with probability softmax(`log_weights`)_k; `None` if no entry is finite.
    ///
    /// Only finite entries can be chosen: -inf is weight zero, and NaN or +inf (which no log-weight should be) counts
    /// as weight zero too. A generator spends exactly one `u64`, and inverts the cumulative sums of the weights after
    /// subtracting their maximum.
    fn choose(&mut self, log_weights: &[f64]) -> Option<usize>;

    /// The index k with probability w_k / Σ w of non-negative `weights`; `None` if their sum is not positive and finite.
    ///
    /// The law of [`choose`](Self::choose) where the weights themselves are at hand: no exponential. A generator spends
    /// exactly one `u64`.
    fn choose_by_weight(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().sum();
        let log_weights: Vec<f64> = weights.iter().map(|w| ln(*w)).collect();
        match total > 0.0 && total.is_finite() {
            true => self.choose(&log_weights),
            false => None,
        }
    }

    /// Tosses each of `coins`, independently, and appends the places of heads to `heads`, in order.
    ///
    /// The law of as many calls of [`accept`](Self::accept), for many coins at once and without logarithms. A generator
    /// spends a byte a coin, in bulk, and a `u64` more where these 8 bits leave the answer open: with probability 1/256. So
    /// no probability is rounded to them.
    fn toss(&mut self, coins: &Coins, heads: &mut Vec<usize>) {
        for (place, &p) in coins.probabilities().iter().enumerate() {
            if self.choose_by_weight(&[1.0 - p, p]) == Some(1) {
                heads.push(place);
            }
        }
    }
}

impl<R: Rng + ?Sized> Chance for R {
    fn accept(&mut self, log_prob: f64) -> bool {
        let u = 1.0 - unit_f64(self);
        log_prob >= 0.0 || ln(u) < log_prob
    }

    fn choose(&mut self, log_weights: &[f64]) -> Option<usize> {
        let u = unit_f64(self);
        let max = finite_max(log_weights)?;
        let total: f64 = log_weights.iter().map(|&l| relative_weight(l, max)).sum();
        let weights = log_weights.iter().map(|&l| relative_weight(l, max));
        inverted(weights, u * total)
    }

    #[inline]
    fn choose_by_weight(&mut self, weights: &[f64]) -> Option<usize> {
        let u = unit_f64(self);
        let total: f64 = weights.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        inverted(weights.iter().copied(), u * total)
    }

    fn toss(&mut self, coins: &Coins, heads: &mut Vec<usize>) {
        coins.toss(self, heads);
    }
}

/// The first index whose cumulative sum is above `end`, or the last of a positive weight.
#[inline]
fn inverted(weights: impl Iterator<Item = f64>, end: f64) -> Option<usize> {
    let (mut sum, mut last) = (0.0, None);
    for (k, weight) in weights.enumerate() {
        if weight > 0.0 {
            last = Some(k);
            sum += weight;
            if end < sum {
                break;
            }
        }
    }
    last
}

/// The largest finite entry, if there is one.
pub(crate) fn finite_max(log_weights: &[f64]) -> Option<f64> {
    log_weights
        .iter()
        .copied()
        .filter(|l| l.is_finite())
        .reduce(f64::max)
}

/// exp(`log_weight` - `max`), zero for an entry that is not finite.
pub(crate) fn relative_weight(log_weight: f64, max: f64) -> f64 {
    if log_weight.is_finite() {
        exp(log_weight - max)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rand_core::TryRng;

    use super::*;

    /// Gives the one `u64` it holds, and counts how often it was asked.
    struct Fixed(u64, u32);
    impl TryRng for Fixed {
        type Error = Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            unreachable!("chance is drawn from u64s")
        }
        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            self.1 += 1;
            Ok(self.0)
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("chance is drawn from u64s")
        }
    }

    const LARGEST: u64 = u64::MAX; // u = 2^-53 in accept, 1 - 2^-53 in choose
    const SMALLEST: u64 = 0; // u = 1 in accept, 0 in choose

    /// The answers to `f` for uniforms on the grid (i + 1/2)/n.
    fn on_grid<T>(n: u64, f: impl Fn(&mut Fixed) -> T) -> Vec<T> {
        (0..n)
            .map(|i| {
                let mut rng = Fixed(((u128::from(2 * i + 1) << 63) / u128::from(n)) as u64, 0);
                let answer = f(&mut rng);
                assert_eq!(rng.1, 1, "exactly one u64 is spent");
                answer
            })
            .collect()
    }

    #[test]
    fn accept_has_probability_exp_log_prob() {
        for p in [0.0, 0.1, 0.25, 0.5, 0.999, 1.0, 7.0] {
            let accepted = on_grid(1000, |rng| rng.accept(f64::ln(p)))
                .into_iter()
                .filter(|&a| a)
                .count();
            assert_eq!(
                accepted,
                (1000.0 * f64::min(p, 1.0)).round() as usize,
                "p = {p}"
            );
        }
    }

    #[test]
    fn accept_is_right_at_the_ends_of_the_uniform() {
        for u in [SMALLEST, LARGEST] {
            assert!(
                Fixed(u, 0).accept(0.0),
                "an equal weight is accepted with certainty"
            );
            assert!(Fixed(u, 0).accept(f64::INFINITY));
            assert!(!Fixed(u, 0).accept(f64::NEG_INFINITY));
            assert!(!Fixed(u, 0).accept(f64::NAN));
            assert!(!Fixed(u, 0).accept(-300.0));
        }
        assert!(!Fixed(SMALLEST, 0).accept(-1e-12));
        assert!(Fixed(LARGEST, 0).accept(-36.0));
    }

    #[test]
    fn choose_has_the_softmax_law() {
        let log_weights = [0.1f64, 0.0, 0.25, 0.4, f64::NAN, 0.25].map(|w| w.ln() + 500.0);
        let mut counts = [0; 6];
        for k in on_grid(1000, |rng| rng.choose(&log_weights)) {
            counts[k.expect("finite entries")] += 1;
        }
        assert_eq!(counts, [100, 0, 250, 400, 0, 250]);
    }

    #[test]
    fn choose_is_right_at_the_ends_of_the_uniform() {
        let ninf = f64::NEG_INFINITY;
        let log_weights = [ninf, f64::NAN, 0.0, ninf, 1.0, f64::INFINITY, ninf];
        assert_eq!(Fixed(SMALLEST, 0).choose(&log_weights), Some(2));
        assert_eq!(Fixed(LARGEST, 0).choose(&log_weights), Some(4));
        assert_eq!(
            Fixed(LARGEST, 0).choose(&[0.0, -2000.0]),
            Some(0),
            "a weight that underflows is zero"
        );
    }

    #[test]
    fn a_choice_by_weight_has_the_law_of_the_weights() {
        let weights = [0.2, 0.0, 0.5, 0.8, 0.0, 0.5];
        let mut counts = [0; 6];
        for k in on_grid(1000, |rng| rng.choose_by_weight(&weights)) {
            counts[k.expect("positive weights")] += 1;
        }
        assert_eq!(counts, [100, 0, 250, 400, 0, 250]);
        assert_eq!(Fixed(SMALLEST, 0).choose_by_weight(&weights), Some(0));
        assert_eq!(Fixed(LARGEST, 0).choose_by_weight(&weights), Some(5));
        for weights in [
            &[][..],
            &[0.0, 0.0],
            &[1.0, f64::INFINITY],
            &[f64::NAN, 1.0],
        ] {
            assert_eq!(Fixed(7, 0).choose_by_weight(weights), None);
            let outcomes = crate::enumerate(|chance| chance.choose_by_weight(weights));
            assert_eq!(outcomes, [(1.0, None)]);
        }
        let outcomes = crate::enumerate(|chance| chance.choose_by_weight(&weights));
        let expected = [(0.1, 0), (0.25, 2), (0.4, 3), (0.25, 5)];
        assert_eq!(outcomes.len(), 4);
        for ((p, k), (expected_p, expected_k)) in outcomes.into_iter().zip(expected) {
            assert!((p - expected_p).abs() < 1e-15 && k == Some(expected_k));
        }
    }

    #[test]
    fn choose_among_nothing_is_none() {
        for log_weights in [&[][..], &[f64::NEG_INFINITY, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(Fixed(7, 0).choose(log_weights), None);
        }
    }
}
