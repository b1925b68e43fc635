//! Conditional importance sampling.

use std::iter::once;

use helmholtz_random::Chance;

use crate::{IndexKernel, Info};

/// One transition: the next state is chosen among the current one and the K proposals.
///
/// State j of 0..=K is chosen with probability ω_j / Σ ω_i, the softmax of the log-weights. The target is invariant and
/// the transition reversible. With one proposal it is [`Barker`](crate::Barker); without the current state it would be
/// plain importance resampling, which is biased. It is the retained particle of conditional SMC with one step (Andrieu,
/// Doucet and Holenstein, 2010). It is also the kernel of Markovian score climbing (Naesseth, Lindsten and Blei, 2020,
/// Algorithm 2).
///
/// [`Mtmis`](crate::Mtmis) leaves the state at least as often for the same proposals, and so has an asymptotic
/// variance that is not larger (Peskun, 1973).
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Cis, IndexKernel};
///
/// let mut visits = Vec::new();
/// let mut stream = Stream::new(1, Purpose::new("accept"), [0, 0]);
/// Cis.run(-300.0, &[-350.0, -1.0, -360.0], &mut stream, &mut visits);
/// assert_eq!(visits, [2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cis;

impl IndexKernel for Cis {
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let mut info = Info::of_weights(log_w_current, log_w_proposals);
        let log_w: Vec<f64> = once(log_w_current)
            .chain(log_w_proposals.iter().copied())
            .collect();
        // Only finite weights can be chosen; without any the chain stays.
        let chosen = chance.choose(&log_w).unwrap_or(0);
        info.moves = 1;
        info.accepted = u64::from(chosen > 0);
        visits.clear();
        visits.push(chosen as u32);
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    /// The probability of each resulting index.
    fn law(current: f64, proposals: &[f64]) -> Vec<f64> {
        let mut law = vec![0.0; proposals.len() + 1];
        let outcomes = enumerate(|chance| {
            let mut visits = vec![99]; // must be replaced
            let info = Cis.run(current, proposals, chance, &mut visits);
            assert_eq!(visits.len(), 1);
            assert_eq!((info.moves, info.accepted), (1, u64::from(visits[0] > 0)));
            visits[0]
        });
        for (p, i) in outcomes {
            law[i as usize] += p;
        }
        law
    }

    #[test]
    fn the_law_is_the_softmax_of_all_log_weights() {
        let weights = [3.0f64, 0.5, 2.0, 1.5];
        let log_w = weights.map(|w| w.ln() + 700.0);
        for (p, w) in law(log_w[0], &log_w[1..]).iter().zip(weights) {
            assert!((p - w / 7.0).abs() < 1e-12);
        }
    }

    #[test]
    fn weights_that_are_not_finite_are_zero() {
        for bad in [NINF, f64::NAN, f64::INFINITY] {
            assert_eq!(law(0.0, &[bad, bad]), [1.0, 0.0, 0.0]);
            assert_eq!(law(bad, &[bad, bad]), [1.0, 0.0, 0.0]);
            assert_eq!(
                law(bad, &[bad, -700.0]),
                [0.0, 0.0, 1.0],
                "an impossible state is left at once"
            );
        }
        assert_eq!(law(0.0, &[]), [1.0]);
    }

    /// R8: what is left without the retained particle are the normalised weights of reweighted wake-sleep.
    #[test]
    fn without_the_current_state_it_is_importance_resampling() {
        let weights = [0.5f64, 2.0, 1.5];
        let law = law(NINF, &weights.map(f64::ln));
        for (p, w) in law[1..].iter().zip(weights) {
            assert!((p - w / 4.0).abs() < 1e-15);
        }
    }

    #[test]
    fn extremes_are_kept_apart_without_overflow() {
        assert_eq!(law(0.0, &[300.0, 0.0, -80.0])[1], 1.0);
        assert!(law(300.0, &[0.0, 0.0])[0] > 1.0 - 1e-15);
        let down = law(0.0, &[-80.0]);
        assert!(
            (down[1] / (-80f64).exp() - 1.0).abs() < 1e-12,
            "e^-80 is resolved"
        );
    }
}
