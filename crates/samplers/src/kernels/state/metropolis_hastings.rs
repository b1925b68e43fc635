//! Metropolis-Hastings with a proposal that starts at the current state.

use helmholtz_random::Chance;

use crate::{Info, Kernel, Proposal, Target};

/// Proposes x' from q(· | x) and accepts it with probability min(1, p(x') q(x | x') / (p(x) q(x' | x))).
///
/// The transition is in detailed balance with p. Both densities of q are asked for, so that an asymmetric proposal
/// cannot be used as though it were symmetric by leaving one out. With [`RandomWalk`](crate::RandomWalk) it is
/// random-walk Metropolis. (Metropolis et al., 1953; Hastings, 1970.)
///
/// A proposed state whose log-density is not finite, or whose log q(x' | x) or log q(x | x') is not, is rejected and
/// counted, before any coin is tossed. A current state without a finite log-density is left for the first one that has
/// it.
///
/// ```
/// use helmholtz_samplers::random::{Purpose, Stream};
/// use helmholtz_samplers::{Kernel, MetropolisHastings, RandomWalk};
///
/// let target = |x: &Vec<f64>| -0.5 * (x[0] * x[0] + 4.0 * x[1] * x[1]);
/// let kernel = MetropolisHastings::new(target, RandomWalk::new(1.2)?);
/// let (mut x, mut stream) = (vec![3.0, 3.0], Stream::new(7, Purpose::new("chain"), [0, 0]));
/// let accepted: u64 = (0..1000).map(|_| kernel.step(&mut x, &mut stream).accepted).sum();
/// assert!((200..800).contains(&accepted));
/// # Ok::<(), helmholtz_samplers::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MetropolisHastings<T, Q> {
    target: T,
    proposal: Q,
}

impl<T, Q> MetropolisHastings<T, Q> {
    /// The kernel of `target` with `proposal`.
    pub fn new(target: T, proposal: Q) -> Self {
        Self { target, proposal }
    }
}

impl<S, C, T, Q> Kernel<S, C> for MetropolisHastings<T, Q>
where
    C: Chance + ?Sized,
    T: Target<S>,
    Q: Proposal<S, C>,
{
    type Info = Info;

    fn step(&self, state: &mut S, chance: &mut C) -> Info {
        let proposed = self.proposal.propose(state, chance);
        let log_p = self.target.log_density(state);
        let log_p_new = self.target.log_density(&proposed);
        // Apart from p: an impossible way back must reject, where an impossible current state must not.
        let log_q_ratio = self.proposal.log_density(&proposed, state)
            - self.proposal.log_density(state, &proposed);
        let possible = log_p_new.is_finite() && log_q_ratio.is_finite();
        let accepted =
            possible && (!log_p.is_finite() || chance.accept(log_p_new - log_p + log_q_ratio));
        if accepted {
            *state = proposed;
        }
        Info::of_move(
            accepted,
            u64::from(!possible) + u64::from(!log_p.is_finite()),
        )
    }
}

#[cfg(test)]
mod tests {
    use helmholtz_random::{Enumerator, enumerate};

    use super::*;

    /// From `from` to `from` + 1 for certain, with the log-densities given for the way there and the way back.
    struct Up {
        there: f64,
        back: f64,
    }

    impl<C: ?Sized> Proposal<usize, C> for Up {
        fn propose(&self, from: &usize, _: &mut C) -> usize {
            from + 1
        }
        fn log_density(&self, from: &usize, to: &usize) -> f64 {
            if from < to { self.there } else { self.back }
        }
    }

    /// The probability of leaving 0 for 1, and what was counted as not finite.
    fn leaves(log_p: [f64; 2], there: f64, back: f64) -> (f64, u64) {
        let kernel = MetropolisHastings::new(|&x: &usize| log_p[x], Up { there, back });
        let outcomes = enumerate(|chance: &mut Enumerator| {
            let mut state = 0;
            let info = kernel.step(&mut state, chance);
            assert_eq!((info.moves, info.accepted), (1, state as u64));
            (state, info.non_finite)
        });
        let moved = outcomes.iter().filter(|o| o.1.0 == 1).map(|o| o.0).sum();
        (moved, outcomes[0].1.1)
    }

    #[test]
    fn the_ratio_is_of_target_and_both_proposal_densities() {
        let (p, _) = leaves([0.0, 2f64.ln()], 0.8f64.ln(), 0.1f64.ln());
        assert!((p - 2.0 * 0.1 / 0.8).abs() < 1e-15);
        assert_eq!(leaves([0.0, 0.0], 0.1f64.ln(), 0.8f64.ln()).0, 1.0);
    }

    #[test]
    fn what_is_not_finite_is_rejected_and_counted() {
        let ninf = f64::NEG_INFINITY;
        for bad in [ninf, f64::NAN, f64::INFINITY] {
            assert_eq!(leaves([0.0, bad], 0.0, 0.0), (0.0, 1));
            assert_eq!(leaves([bad, bad], 0.0, 0.0), (0.0, 2));
            assert_eq!(leaves([bad, -900.0], 0.0, 0.0), (1.0, 1), "left at once");
            assert_eq!(leaves([0.0, 0.0], bad, 0.0), (0.0, 1));
            assert_eq!(leaves([0.0, 0.0], 0.0, bad), (0.0, 1), "no way back");
        }
    }
}
