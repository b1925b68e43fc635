//! A published defect, kept as an ablation.

use helmholtz_random::Chance;

use super::index_kernel::metropolis;
use crate::{IndexKernel, Info};

/// The defect of released code in which the accept test is never told that the chain moved. **Not** a sampler of the
/// target: for comparison with published figures only.
///
/// It is [`Mis`](crate::Mis), but all K proposals are tested against the log-weight of the state the run *started* in.
/// With Z(x) = E_q[min(1, w(h) / w(x))], K tests lead from x to h with probability
/// `(1 - (1 - Z(x))^K) · q(h) min(1, w(h)/w(x)) / Z(x) + (1 - Z(x))^K · 1[h = x]`. This is reversible with respect to
/// π_K(h) ∝ p(h | x) · Z(h) / (1 - (1 - Z(h))^K): the target only for K = 1. For more, states of high weight are too
/// rare. (The categorical script released with Ou and Song, 2020.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrozenReferenceMis;

impl IndexKernel for FrozenReferenceMis {
    fn run(
        &self,
        log_w_current: f64,
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: &mut Vec<u32>,
    ) -> Info {
        let mut info = Info::of_weights(log_w_current, log_w_proposals);
        visits.clear();
        let mut state = 0;
        for (k, &proposal) in (1..).zip(log_w_proposals) {
            info.moves += 1;
            if metropolis(proposal, log_w_current, chance) {
                info.accepted += 1;
                state = k;
            }
            visits.push(state);
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::enumerate;

    use super::*;

    #[test]
    fn the_reference_stays_frozen_while_the_index_moves() {
        // Up from weight 1 to 4, then "down" to 1 for certain, since it is compared with the start.
        let outcomes = enumerate(|chance| {
            let mut visits = Vec::new();
            FrozenReferenceMis.run(0.0, &[4f64.ln(), 0.0], chance, &mut visits);
            visits
        });
        assert_eq!(outcomes, [(1.0, vec![1, 2])]);
    }
}
