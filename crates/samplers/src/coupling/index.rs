//! Index kernels for two chains at once.

use helmholtz_random::Chance;

use super::{CoupledKernel, accept_both, choose_both};
use crate::kernels::index::mtmis::log_ratio;
use crate::{
    Barker, Cis, Independence, IndependenceProposal, IndexKernel, Info, Kernel, Mis, Mtmis, Target,
};

/// An index kernel that can run two chains on the same proposals.
///
/// Index 0 is the current state of each, j ≥ 1 the j-th proposal, the same for both. Chains that end in the same j have
/// met. Each run alone has the law of [`IndexKernel::run`], and chains with one current state end in one state.
pub trait CoupledIndexKernel: IndexKernel {
    /// Runs the kernel for both from state 0, and writes to `visits` as [`IndexKernel::run`] does.
    fn run_both(
        &self,
        log_w_current: [f64; 2],
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: [&mut Vec<u32>; 2],
    ) -> [Info; 2];
}

/// K moves of two chains, with a common uniform for each. `log_prob` is that of accepting a finite proposal against a
/// finite reference.
fn moves(
    log_w_current: [f64; 2],
    log_w_proposals: &[f64],
    chance: &mut (impl Chance + ?Sized),
    visits: [&mut Vec<u32>; 2],
    log_prob: impl Fn(f64, f64) -> f64,
) -> [Info; 2] {
    let mut infos = log_w_current.map(|current| Info::of_weights(current, log_w_proposals));
    let (mut state, mut log_w) = ([0, 0], log_w_current);
    let [a, b] = visits;
    let mut visits = [a, b];
    visits.iter_mut().for_each(|visits| visits.clear());
    for (k, &proposal) in (1..).zip(log_w_proposals) {
        let log_probs = log_w.map(|reference| match proposal.is_finite() {
            false => f64::NEG_INFINITY,
            true if reference.is_finite() => log_prob(proposal, reference),
            true => 0.0,
        });
        let accepted = accept_both(log_probs, chance);
        for chain in 0..2 {
            infos[chain].moves += 1;
            if accepted[chain] {
                infos[chain].accepted += 1;
                (state[chain], log_w[chain]) = (k, proposal);
            }
            visits[chain].push(state[chain]);
        }
    }
    infos
}

impl CoupledIndexKernel for Mis {
    fn run_both(
        &self,
        log_w_current: [f64; 2],
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: [&mut Vec<u32>; 2],
    ) -> [Info; 2] {
        let log_prob = |proposal, reference| proposal - reference;
        moves(log_w_current, log_w_proposals, chance, visits, log_prob)
    }
}

impl CoupledIndexKernel for Barker {
    fn run_both(
        &self,
        log_w_current: [f64; 2],
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: [&mut Vec<u32>; 2],
    ) -> [Info; 2] {
        // ln(w' / (w + w')).
        let log_prob = |proposal: f64, reference: f64| {
            let rise = proposal - reference;
            rise.min(0.0) - (-rise.abs()).exp().ln_1p()
        };
        moves(log_w_current, log_w_proposals, chance, visits, log_prob)
    }
}

impl CoupledIndexKernel for Cis {
    /// The two choices are drawn from their maximal coupling.
    fn run_both(
        &self,
        log_w_current: [f64; 2],
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: [&mut Vec<u32>; 2],
    ) -> [Info; 2] {
        let weights = log_w_current.map(|current| [&[current], log_w_proposals].concat());
        let chosen = choose_both(weights.each_ref().map(Vec::as_slice), chance);
        let mut infos = log_w_current.map(|current| Info::of_weights(current, log_w_proposals));
        for ((info, chosen), visits) in infos.iter_mut().zip(chosen).zip(visits) {
            let chosen = chosen.unwrap_or(0) as u32;
            info.moves += 1;
            info.accepted += u64::from(chosen > 0);
            *visits = vec![chosen];
        }
        infos
    }
}

impl CoupledIndexKernel for Mtmis {
    /// Both are offered the same trial J, whose law ω_j / W does not depend on the current states, and accept it by a
    /// common uniform. They end in one proposal with probability Σ_j min(P(j), P'(j)), which no coupling exceeds.
    fn run_both(
        &self,
        log_w_current: [f64; 2],
        log_w_proposals: &[f64],
        chance: &mut (impl Chance + ?Sized),
        visits: [&mut Vec<u32>; 2],
    ) -> [Info; 2] {
        let trial = chance.choose(log_w_proposals);
        let accepted = trial.map_or([false; 2], |j| {
            let log_ratios = log_w_current.map(|current| log_ratio(current, log_w_proposals, j));
            accept_both(log_ratios, chance)
        });
        let mut infos = log_w_current.map(|current| Info::of_weights(current, log_w_proposals));
        for ((info, accepted), visits) in infos.iter_mut().zip(accepted).zip(visits) {
            info.moves = 1;
            info.accepted = u64::from(accepted);
            let moved = trial.filter(|_| accepted);
            visits.clear();
            visits.push(moved.map_or(0, |j| j as u32 + 1));
        }
        infos
    }
}

impl<S, C, T, Q, K> CoupledKernel<S, C> for Independence<T, Q, K>
where
    S: Clone,
    C: Chance + ?Sized,
    T: Target<S>,
    Q: IndependenceProposal<S, C>,
    K: CoupledIndexKernel,
{
    fn step_both(&self, states: [&mut S; 2], chance: &mut C) -> [<Self as Kernel<S, C>>::Info; 2] {
        let (proposals, log_w) = self.proposals(chance);
        let current = states.each_ref().map(|state| self.log_weight(state));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let infos = self
            .kernel()
            .run_both(current, &log_w, chance, [&mut a, &mut b]);
        for (state, visits) in states.into_iter().zip([a, b]) {
            let last = crate::Visits::new(&visits).last();
            if let Some(taken) = last.checked_sub(1) {
                *state = proposals[taken].clone();
            }
        }
        infos
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use helmholtz_random::{Enumerator, enumerate};

    use super::*;
    use crate::Visits;

    const WEIGHTS: [[f64; 2]; 4] = [
        [0.0, 1.2],
        [-0.7, -0.7],
        [f64::NEG_INFINITY, 0.4],
        [3.0, -5.0],
    ];
    const PROPOSALS: [&[f64]; 3] = [&[0.6], &[-1.0, f64::NAN, 2.0], &[f64::NEG_INFINITY, 0.1]];

    fn law(branches: impl IntoIterator<Item = (f64, Vec<u32>)>) -> HashMap<Vec<u32>, f64> {
        let mut law = HashMap::new();
        for (p, visits) in branches {
            *law.entry(visits).or_default() += p;
        }
        law
    }

    /// What two chains do that they must not, if anything.
    fn defect(kernel: impl CoupledIndexKernel) -> Option<&'static str> {
        for current in WEIGHTS {
            for proposals in PROPOSALS {
                let pairs = enumerate(|chance: &mut Enumerator| {
                    let (mut a, mut b) = (vec![9], vec![9]);
                    let infos = kernel.run_both(current, proposals, chance, [&mut a, &mut b]);
                    (a, b, infos)
                });
                for (chain, log_w) in current.into_iter().enumerate() {
                    let of_pairs = pairs
                        .iter()
                        .map(|(p, (a, b, _))| (*p, if chain == 0 { a.clone() } else { b.clone() }));
                    let alone = law(enumerate(|chance: &mut Enumerator| {
                        let mut visits = Vec::new();
                        kernel.run(log_w, proposals, chance, &mut visits);
                        visits
                    }));
                    let of_pairs = law(of_pairs);
                    let close = |(visits, p): (&Vec<u32>, &f64)| {
                        (of_pairs.get(visits).unwrap_or(&0.0) - p).abs() < 1e-14
                    };
                    if of_pairs.len() != alone.len() || !alone.iter().all(close) {
                        return Some("another law than its own");
                    }
                }
                for (_, (a, b, infos)) in &pairs {
                    if current[0] == current[1] && a != b {
                        return Some("apart after they met");
                    }
                    for (info, visits) in infos.iter().zip([a, b]) {
                        let end = Visits::new(visits).last();
                        if info.moves != visits.len() as u64 || (end == 0) != (info.accepted == 0) {
                            return Some("a wrong report");
                        }
                    }
                }
            }
        }
        None
    }

    #[test]
    fn each_of_two_chains_has_its_own_law_and_equal_ones_stay_equal() {
        assert_eq!(defect(Mis), None);
        assert_eq!(defect(Barker), None);
        assert_eq!(defect(Cis), None);
        assert_eq!(defect(Mtmis), None);
    }

    /// Couplings of [`Mtmis`] that are none.
    enum Broken {
        OwnTrials,
        FirstDecides,
    }

    impl IndexKernel for Broken {
        fn run(
            &self,
            log_w_current: f64,
            log_w_proposals: &[f64],
            chance: &mut (impl Chance + ?Sized),
            visits: &mut Vec<u32>,
        ) -> Info {
            Mtmis.run(log_w_current, log_w_proposals, chance, visits)
        }
    }

    impl CoupledIndexKernel for Broken {
        fn run_both(
            &self,
            [first, second]: [f64; 2],
            log_w_proposals: &[f64],
            chance: &mut (impl Chance + ?Sized),
            [a, b]: [&mut Vec<u32>; 2],
        ) -> [Info; 2] {
            let info = self.run(first, log_w_proposals, chance, a);
            match self {
                Self::OwnTrials => [info, self.run(second, log_w_proposals, chance, b)],
                Self::FirstDecides => {
                    b.clone_from(a);
                    [info; 2]
                }
            }
        }
    }

    #[test]
    fn twins_of_the_coupled_multiple_trials_are_found() {
        assert_eq!(defect(Broken::OwnTrials), Some("apart after they met"));
        let other_law = Some("another law than its own");
        assert_eq!(defect(Broken::FirstDecides), other_law);
    }

    #[test]
    fn multiple_trials_meet_in_a_proposal_as_often_as_can_be() {
        for current in WEIGHTS {
            for proposals in PROPOSALS {
                let pairs = enumerate(|chance: &mut Enumerator| {
                    let (mut a, mut b) = (Vec::new(), Vec::new());
                    Mtmis.run_both(current, proposals, chance, [&mut a, &mut b]);
                    [a[0], b[0]]
                });
                let together = pairs.iter().filter(|(_, [a, b])| a == b && *a > 0);
                let found: f64 = together.map(|(p, _)| p).sum();
                let laws = current.map(|log_w| {
                    law(enumerate(|chance: &mut Enumerator| {
                        let mut visits = Vec::new();
                        Mtmis.run(log_w, proposals, chance, &mut visits);
                        visits
                    }))
                });
                let most: f64 = (1..=proposals.len() as u32)
                    .map(|j| {
                        let [p, q] = laws.each_ref().map(|law| law.get(&vec![j]).unwrap_or(&0.0));
                        p.min(*q)
                    })
                    .sum();
                assert!((found - most).abs() < 1e-14, "{found} {most}");
            }
        }
    }
}
