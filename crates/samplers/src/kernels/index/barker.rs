//! Barker's acceptance.

use helmholtz_random::Chance;

use crate::{IndexKernel, Info};

/// K moves in sequence, one a proposal, each accepted with probability w(h_k) / (w(h_k) + w(h)).
///
/// In logarithms -ln(1 + exp(ℓ - ℓ_k)). Each move is in detailed balance with the target. Equal weights are accepted
/// half of the time, where [`Mis`](crate::Mis) accepts always. Barker's rule is dominated by the Metropolis rule
/// (Peskun, 1973). It raises the asymptotic variance σ² of the Metropolis rule to at most 2 σ² + Var f (Łatuszyński and
/// Roberts, 2013). Its acceptance probability is smooth in the weights. (Barker, 1965.)
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Barker, IndexKernel};
///
/// let mut visits = Vec::new();
/// let mut stream = Stream::new(1, Purpose::new("accept"), [0, 0]);
/// Barker.run(-300.0, &[-950.0, -1.0], &mut stream, &mut visits);
/// assert_eq!(visits, [0, 2]); // rejected, then accepted
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Barker;

impl IndexKernel for Barker {
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let mut info = Info::of_weights(log_w_current, log_w_proposals);
        visits.clear();
        let (mut state, mut log_w) = (0, log_w_current);
        for (k, &proposal) in (1..).zip(log_w_proposals) {
            info.moves += 1;
            if barker(proposal, log_w, chance) {
                info.accepted += 1;
                (state, log_w) = (k, proposal);
            }
            visits.push(state);
        }
        info
    }
}

/// Barker's test with the conventions of [`IndexKernel`].
fn barker(proposal: f64, reference: f64, chance: &mut (impl Chance + ?Sized)) -> bool {
    proposal.is_finite()
        && (!reference.is_finite() || chance.accept(log_sigmoid(proposal - reference)))
}

/// ln(1 / (1 + e^-x)), without overflow.
fn log_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    /// Every visit sequence with its probability.
    fn branches(current: f64, proposals: &[f64]) -> Vec<(f64, Vec<u32>)> {
        enumerate(|chance| {
            let mut visits = vec![99]; // must be replaced
            Barker.run(current, proposals, chance, &mut visits);
            visits
        })
    }

    #[test]
    fn weights_that_are_not_finite_are_treated_as_by_every_kernel() {
        for bad in [NINF, f64::NAN, f64::INFINITY] {
            for current in [0.0, NINF, f64::NAN] {
                assert_eq!(branches(current, &[bad]), [(1.0, vec![0])]);
            }
            assert_eq!(branches(bad, &[NINF, -500.0]), [(1.0, vec![0, 2])]);
        }
    }

    #[test]
    fn the_probability_is_w_new_over_the_sum() {
        for (current, proposal) in [(1.0f64, 1.0f64), (1.0, 3.0), (3.0, 1.0), (1e-9, 1.0)] {
            let accepted = branches(current.ln() - 600.0, &[proposal.ln() - 600.0])
                .into_iter()
                .find(|b| b.1 == [1])
                .map_or(0.0, |b| b.0);
            assert!((accepted - proposal / (current + proposal)).abs() < 1e-12);
        }
    }

    #[test]
    fn extremes_are_resolved() {
        assert_eq!(log_sigmoid(800.0), 0.0);
        assert_eq!(log_sigmoid(-800.0), -800.0);
        assert_eq!(log_sigmoid(f64::INFINITY), 0.0);
        assert_eq!(log_sigmoid(NINF), NINF);
        assert_eq!(log_sigmoid(0.0), -(2f64.ln()));
    }

    #[test]
    fn a_state_taken_with_its_index_brings_its_weight() {
        // From weight 1 up to 3 with probability 3/4, then down to 1 with probability 1/4; a reference left behind
        // would make the second a half.
        let moved: f64 = branches(0.0, &[3f64.ln(), 0.0])
            .iter()
            .filter(|b| b.1 == [1, 2])
            .map(|b| b.0)
            .sum();
        assert!((moved - 3.0 / 16.0).abs() < 1e-15);
    }
}
