//! Metropolis independence sampling.

use helmholtz_random::Chance;

use super::index_kernel::metropolis;
use crate::{IndexKernel, Info};

/// K Metropolis independence moves in sequence, one a proposal: K transitions from K proposals.
///
/// Move k compares the k-th proposal with the state the chain is in *then*, and accepts it with probability
/// min(1, w(h_k) / w(h)), that is iff ln u < ℓ_k - ℓ. The target is invariant under each move, and the moves are in
/// detailed balance with it. (Hastings, 1970; for joint stochastic approximation Ou and Song, 2020.)
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{IndexKernel, Mis, Visits};
///
/// let mut visits = Vec::new();
/// let mut stream = Stream::new(1, Purpose::new("accept"), [0, 0]);
/// let info = Mis.run(-3.0, &[-350.0, -1.0], &mut stream, &mut visits);
/// assert_eq!(visits, [0, 2]); // rejected, then accepted
/// assert_eq!(Visits::new(&visits).coefficients(3), [0.5, 0.0, 0.5]);
/// assert_eq!(info.accepted, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mis;

impl IndexKernel for Mis {
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
            if metropolis(proposal, log_w, chance) {
                info.accepted += 1;
                (state, log_w) = (k, proposal);
            }
            visits.push(state);
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Purpose, Stream, enumerate};
    use proptest::prelude::*;

    use super::*;

    const NINF: f64 = f64::NEG_INFINITY;

    /// Every visit sequence with its probability.
    fn branches(current: f64, proposals: &[f64]) -> Vec<(f64, Vec<u32>)> {
        enumerate(|chance| {
            let mut visits = vec![99]; // must be replaced
            Mis.run(current, proposals, chance, &mut visits);
            visits
        })
    }

    #[test]
    fn a_proposal_without_a_finite_weight_is_rejected_first() {
        for bad in [NINF, f64::NAN, f64::INFINITY] {
            for current in [0.0, NINF, f64::NAN] {
                assert_eq!(branches(current, &[bad]), [(1.0, vec![0])]);
            }
        }
    }

    #[test]
    fn a_current_state_without_a_finite_weight_is_left_at_once() {
        for current in [NINF, f64::NAN, f64::INFINITY] {
            assert_eq!(
                branches(current, &[NINF, -500.0, f64::NAN]),
                [(1.0, vec![0, 2, 2])]
            );
        }
    }

    #[test]
    fn equal_weights_are_always_accepted() {
        assert_eq!(branches(-80.0, &[-80.0; 4]), [(1.0, vec![1, 2, 3, 4])]);
    }

    #[test]
    fn a_dominating_state_is_found_and_kept() {
        let kept = branches(0.0, &[300.0, 80.0, -80.0]);
        assert!(
            (kept
                .iter()
                .filter(|b| b.1 == [1, 1, 1])
                .map(|b| b.0)
                .sum::<f64>()
                - 1.0)
                .abs()
                < 1e-15
        );
    }

    #[test]
    fn a_state_taken_with_its_index_brings_its_weight() {
        // From weight 1: up to 4 for certain, then down to 1 with probability 1/4. Were the reference not moved, the
        // second would be certain.
        let outcomes = branches(0.0, &[4f64.ln(), 0.0]);
        let moved: f64 = outcomes.iter().filter(|b| b.1 == [1, 2]).map(|b| b.0).sum();
        assert!((moved - 0.25).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn visits_never_go_back_and_step_only_to_the_proposal_at_hand(
            seed: u64,
            current in -5.0f64..5.0,
            proposals in prop::collection::vec(prop_oneof![8 => -5.0f64..5.0, 1 => Just(NINF), 1 => Just(f64::NAN)], 0..12),
        ) {
            let mut visits = Vec::new();
            let mut stream = Stream::new(seed, Purpose::new("test"), [0, 0]);
            let info = Mis.run(current, &proposals, &mut stream, &mut visits);
            prop_assert_eq!(visits.len(), proposals.len());
            let mut before = 0;
            let mut accepted = 0;
            for (k, &i) in (1..).zip(&visits) {
                prop_assert!(i == before || i == k);
                accepted += u64::from(i == k);
                before = i;
            }
            prop_assert_eq!((info.moves, info.accepted), (proposals.len() as u64, accepted));
        }
    }
}
